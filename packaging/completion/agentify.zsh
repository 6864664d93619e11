#compdef agentify
# Completes the command line of agentify in zsh: its commands, options and their values, the daemon
# and its arguments.

local probes='tcp\: unix\: http\:// https\:// exec\: file\:'
local signals='(TERM INT QUIT HUP USR1 USR2 KILL)'

local -a own=()
local inits='(systemd openrc runit s6 busybox sysvinit finit procd dinit)'
case $words[2] in
  run | unit)
    own=(
      '--name=[by which upgraderctl finds it]:name:'
      '--releases=[run and follow the releases of]:directory:_files -/'
      '*--upgrader=[an option of the upgrader]:option:'
    )
    ;|
  run) own+=('--print[print the command line of the upgrader]') ;;
  unit)
    own+=(
      "--init=[the init system that reads the file]:init:$inits"
      '--user=[as whom all of it runs]:user:_users'
      '--replaces=[the own service of the distribution]:service:'
      '--prepare=[run by root before each start]:command:'
    )
    ;;
esac
if [[ $words[2] == doctor ]]; then
  words=(agentify "${(@)words[3,-1]}")
  ((CURRENT -= 1))
  _arguments -S '--name=[by which upgraderctl finds it]:name:' \
    '(- *)'{-h,--help}'[print the options and exit]' \
    '(-)1:daemon:_command_names -e' '*::argument:_normal'
  return
fi
if (($#own)); then
  words=(agentify "${(@)words[3,-1]}")
  ((CURRENT -= 1))
fi

_agentify_programs() {
  (($#own)) || _wanted commands expl command compadd run unit doctor
  _command_names -e
}

_arguments -S $own \
  '--check=[run while held]:command:' \
  '--check-timeout=[how long the check may take]:duration:_upgrader_durations' \
  "--ready=[when the daemon works]:kind:(started notify fd\: after\: $probes)" \
  '--settle=[how long it must work on trial before healthy is said]:duration:_upgrader_durations' \
  '--vouch=[whether to say healthy for it]:whether:(yes no)' \
  "--health=[ask it again and again]:kind:($probes)" \
  '--health-interval=[how often]:duration:_upgrader_durations' \
  '--health-failures=[how many failures in a row count]:number:(1 3 10)' \
  '--health-action=[what follows]:deed:(silence exit)' \
  '--ca-file=[whose certificates https has to show, or none]:file:_files' \
  "--stop=[how to stop it]:signals:$signals" \
  '--version-command=[prints the version of the daemon]:command:' \
  '--last-words=-[add its last line to the reason, and keep more in a file]::file:_files' \
  '--follow=[ask for the releases of]:directory:_files -/' \
  '--follow-keys=[public keys that are trusted]:directory:_files -/' \
  '(- *)'{-h,--help}'[print the options and exit]' \
  '(- *)--version=-[print the version and exit, or the version of the daemon]::version:' \
  '(-)1:command or daemon:_agentify_programs' \
  '*::argument:_normal'

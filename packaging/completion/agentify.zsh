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
      '--name=[name by which upgraderctl finds the upgrader]:name:'
      '--releases=[directory of the releases to run and follow]:directory:_files -/'
      '*--upgrader=[option to pass to the upgrader]:option:'
    )
    ;|
  run) own+=('--print[print the command line of the upgrader and exit]') ;;
  unit)
    own+=(
      "--init=[init system that reads the service file]:init:$inits"
      '--user=[user as whom the daemon and the upgrader run]:user:_users'
      '--replaces=[service of the distribution that must not run]:service:'
      '--prepare=[command that root runs before each start]:command:'
    )
    ;;
esac
if [[ $words[2] == doctor ]]; then
  words=(agentify "${(@)words[3,-1]}")
  ((CURRENT -= 1))
  _arguments -S '--name=[name of the upgrader of the daemon]:name:' \
    '(- *)'{-h,--help}'[print the help and exit]' \
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
  '--check=[command to run while the old daemon still serves]:command:' \
  '--check-timeout=[longest time that the check may take]:duration:_upgrader_durations' \
  "--ready=[condition for a working daemon]:kind:(started notify fd\: after\: $probes)" \
  '--settle=[time to work on trial before healthy is said]:duration:_upgrader_durations' \
  '--vouch=[whether agentify says healthy for a daemon on trial]:whether:(yes no)' \
  "--health=[health check to repeat while the daemon is ready]:kind:($probes)" \
  '--health-interval=[time between two health checks]:duration:_upgrader_durations' \
  '--health-failures=[bad answers in a row that make a failure]:number:(1 3 10)' \
  '--health-action=[reaction to a failed health check]:deed:(silence exit)' \
  '--ca-file=[PEM file of trusted certificates, or none]:file:_files' \
  "--stop=[signals that stop the daemon]:signals:$signals" \
  '--version-command=[command that prints the version of the daemon]:command:' \
  '--last-words=-[add the last output to the reason for a failure, or keep a file]::file:_files' \
  '--follow=[directory of agent-releases whose releases to request]:directory:_files -/' \
  '--follow-keys=[directory of trusted public keys]:directory:_files -/' \
  '(- *)'{-h,--help}'[print the help and exit]' \
  '(- *)--version=-[print the version and exit, or set the version of the daemon]::version:' \
  '(-)1:command or daemon:_agentify_programs' \
  '*::argument:_normal'

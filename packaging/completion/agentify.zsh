#compdef agentify
# Completion of agentify's command line in zsh: options and their values, the daemon and its
# arguments.

local probes='tcp\: unix\: http\:// exec\: file\:' signals='(TERM INT QUIT HUP USR1 USR2 KILL)'

_arguments -S \
  '--check=[run while held]:command:' \
  '--check-timeout=[how long the check may take]:duration:_upgrader_durations' \
  "--ready=[when the daemon works]:kind:(started notify fd\: after\: $probes)" \
  '--settle=[how long it must work on trial before healthy is said]:duration:_upgrader_durations' \
  '--vouch=[whether to say healthy for it]:whether:(yes no)' \
  "--health=[ask it again and again]:kind:($probes)" \
  '--health-interval=[how often]:duration:_upgrader_durations' \
  '--health-failures=[how many failures in a row count]:number:(1 3 10)' \
  '--health-action=[what follows]:deed:(silence exit)' \
  "--stop=[how to stop it]:signals:$signals" \
  '--version-command=[prints the version of the daemon]:command:' \
  '--follow=[ask for the releases of]:directory:_files -/' \
  '--follow-keys=[public keys that are trusted]:directory:_files -/' \
  '(- *)'{-h,--help}'[print the options and exit]' \
  '(- *)--version=-[print the version and exit, or the version of the daemon]::version:' \
  '(-)1:daemon:_command_names -e' \
  '*::argument:_normal'

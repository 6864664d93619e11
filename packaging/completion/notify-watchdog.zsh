#compdef notify-watchdog
# Completes the command line of notify-watchdog in zsh: options, their values, PROGRAM and its
# arguments.

_notify_watchdog_program() {
  _alternative 'commands:program:_command_names -e' 'files:program:_files'
}

_arguments -S \
  '--device=[watchdog device]:device:_files' \
  '--timeout=[time without feeding until the reset]:duration:_upgrader_durations' \
  '--start-timeout=[longest time until PROGRAM says READY=1]:duration:_upgrader_durations' \
  '--stop-timeout=[longest time from stop to exit]:duration:_upgrader_durations' \
  '(- *)'{-h,--help}'[print the help and exit]' \
  '(- *)--version[print the version and exit]' \
  '(-)1:program:_notify_watchdog_program' \
  '*::argument:_normal'

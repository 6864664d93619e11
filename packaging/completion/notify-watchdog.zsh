#compdef notify-watchdog
# Completes the command line of notify-watchdog in zsh: options, their values, PROGRAM and its
# arguments.

_notify_watchdog_program() {
  _alternative 'commands:program:_command_names -e' 'files:program:_files'
}

_arguments -S \
  '--device=[the watchdog]:device:_files' \
  '--timeout=[after so much silence the device resets the machine]:duration:_upgrader_durations' \
  '--start-timeout=[how long PROGRAM may take to say READY=1]:duration:_upgrader_durations' \
  '--stop-timeout=[how long PROGRAM may take to end when it stops]:duration:_upgrader_durations' \
  '(- *)'{-h,--help}'[print the options and exit]' \
  '(- *)--version[print the version and exit]' \
  '(-)1:program:_notify_watchdog_program' \
  '*::argument:_normal'

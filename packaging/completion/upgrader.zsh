#compdef upgrader
# Completes the command line of upgrader in zsh: options, their values, AGENT and its arguments.

_upgrader_duration_or_zero() {
  local expl
  _alternative 'zero:no limit, or at once:(0)' 'durations:duration:_upgrader_durations'
}

_upgrader_agent() {
  _alternative 'commands:agent:_command_names -e' 'files:agent:_files'
}

local modes='(parallel sequential)' stops='(fallback continue)' levels='(error warning info debug)'
local falls='(cold warm)' gates='(none confirm)' commits='(survive healthy)'

_arguments -S \
  "--mode=[for upgrades that do not say]:mode:$modes" \
  '--start-timeout=[from the start of a process to its ready]:duration:_upgrader_duration_or_zero' \
  '--stop-timeout=[from stop to stopped]:duration:_upgrader_durations' \
  '--exit-grace=[from stopped to the exit]:duration:_upgrader_duration_or_zero' \
  '--trial=[from activate to the commit]:duration:_upgrader_duration_or_zero' \
  "--on-unclean-stop=[what follows an unclean stop]:deed:$stops" \
  "--fallback=[what a failed trial goes back to: started then, or kept ready]:how:$falls" \
  "--gate=[whether a parallel upgrade waits to be confirmed]:gate:$gates" \
  '--confirm-timeout=[how long it waits]:duration:_upgrader_duration_or_zero' \
  "--commit=[what ends a trial well]:rule:$commits" \
  '--relink[make the link AGENT name what is committed]' \
  '--previous=[a link to what was committed before]:link:_files' \
  '--attempts=[starts in vain before that is started]:number:(0 3)' \
  '--lock=[at most one active agent, by a lock that agents inherit]:file:_files' \
  '--lock-timeout=[how long to wait for the lock]:duration:_upgrader_duration_or_zero' \
  '--control=[where to say how things stand, and take requests]:directory:_files -/' \
  '--notify-fd=[where to tell that the first agent is active]:descriptor:(3 4 5)' \
  '--subreaper[reap orphans of agents, as process 1 does]' \
  '*--adapter=[the program that runs AGENT; again: its arguments]:word:_upgrader_agent' \
  "--log-level=[what to log on standard error]:level:$levels" \
  '(- *)'{-h,--help}'[print the options and exit]' \
  '(- *)--version[print the version and exit]' \
  '(-)1:agent:_upgrader_agent' \
  '*::argument:_normal'

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
  "--mode=[mode of upgrades whose request names none]:mode:$modes" \
  '--start-timeout=[from the start of an agent to its ready]:duration:_upgrader_duration_or_zero' \
  '--stop-timeout=[time from stop to stopped]:duration:_upgrader_durations' \
  '--exit-grace=[time from stopped to the exit]:duration:_upgrader_duration_or_zero' \
  '--trial=[length of the trial of a new version]:duration:_upgrader_duration_or_zero' \
  "--on-unclean-stop=[what to do after an unclean stop of the old agent]:deed:$stops" \
  "--fallback=[start the old version after a failed trial, or keep it ready]:how:$falls" \
  "--gate=[whether parallel upgrades wait for confirm]:gate:$gates" \
  '--confirm-timeout=[how long the gate waits]:duration:_upgrader_duration_or_zero' \
  "--commit=[how to pass a trial]:rule:$commits" \
  '--relink[point the link AGENT to the committed version]' \
  '--previous=[link to the version committed before]:link:_files' \
  '--attempts=[failed starts before the previous version is started]:number:(0 3)' \
  '--lock=[allow only one active agent, by a lock that agents inherit]:file:_files' \
  '--lock-timeout=[how long to wait for the lock]:duration:_upgrader_duration_or_zero' \
  '--control=[directory for status.json and requests]:directory:_files -/' \
  '--notify-fd=[descriptor that gets a newline when the first agent is active]:descriptor:(3 4 5)' \
  '--subreaper[reap orphaned descendants of agents, as process 1 does]' \
  '*--adapter=[program that runs AGENT, then its arguments]:word:_upgrader_agent' \
  "--log-level=[least severe messages to log on standard error]:level:$levels" \
  '(- *)'{-h,--help}'[print the help and exit]' \
  '(- *)--version[print the version and exit]' \
  '(-)1:agent:_upgrader_agent' \
  '*::argument:_normal'

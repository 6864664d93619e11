#compdef upgraderctl
# Completes the command line of upgraderctl in zsh: the names of upgraders, commands, options and
# their values, EXECUTABLE and its arguments.

_upgraderctl_duration_or_zero() {
  local expl
  _alternative 'zero:no limit, or at once:(0)' 'durations:duration:_upgrader_durations'
}

local -A about=(
  list 'list upgraders, with phase, version and last upgrade'
  status 'show the active agent, and the current and last upgrade'
  upgrade 'start an upgrade and wait until the upgrade has ended'
  rehearse 'test the start of a new version, then cancel the upgrade'
  confirm 'let the upgrade that waits for confirm continue'
  cancel 'cancel the upgrade, unless the old agent was told to stop'
  commit 'end the trial now and keep the new version'
  rollback 'end the trial now and go back to the previous version'
  history 'list how upgrades ended, also before the last restart'
  why 'show why the last failed upgrade has failed'
  wait 'wait for the end of the upgrade under way, or for a phase'
  on 'run a command at each event: good, commit or fallback'
  shutdown 'stop the agent and the upgrader, and wait for their end'
)
local phases='(starting running preparing confirming switching replacing trial abandoning'
phases+=' rolling_back falling_back shutting_down ended)'
local modes='(parallel sequential)' stops='(fallback continue)'
local duration=:duration:_upgraderctl_duration_or_zero
local -a options=(
  '--dir=[control directory of the upgrader]:directory:_files -/'
  '(- *)'{-h,--help}'[print the help and exit]'
  '(- *)--version[print the version and exit]'
)
local -a timeout=("--timeout=[longest time to wait in all]$duration")
local -a json=('--json[print the data of the upgrader unchanged, as JSON]')
local -a reason=('--reason=[reason for the request, for the log and the status]:reason: ')
local -a terms=(
  "--start-timeout=[longest time until the new version is ready]$duration"
  "--confirm-timeout=[longest time that the ready new version waits for confirm]$duration"
  '--no-args[start the new version without arguments]'
  '--previous[use the previously committed executable]'
)

# Finds the NAME and the command before the cursor.
local command= name=
integer at=2
while ((at < CURRENT)); do
  case $words[at] in
    -*) ;;
    *)
      if ((${+about[$words[at]]})); then
        command=$words[at]
        break
      fi
      name=$words[at]
      ;;
  esac
  ((at += 1))
done

if [[ -z $command ]]; then
  local base=${UPGRADERCTL_BASE:-/run/upgrader} own=$XDG_RUNTIME_DIR/upgrader
  [[ -n $UPGRADERCTL_BASE ]] && own=$base
  local -a first=(${(k)about})
  [[ -n $name ]] || first+=($base/*(N-/:t) $own/*(N-/:t))
  _arguments -S $options "*:command or name:($first)"
  return
fi

words=("${(@)words[at,-1]}")
((CURRENT -= at - 1))
case $command in
  list | history) options+=($json) ;;
  status) options+=($json '--watch[keep running and show every change]') ;;
  upgrade)
    options+=(
      $terms $timeout
      "--mode=[start the new version beside the active agent, or after its stop]:mode:$modes"
      '--gate=[whether the ready new version waits for confirm]:gate:(none confirm)'
      '--commit=[how to pass the trial]:rule:(survive healthy)'
      '--stop-timeout=[longest time until the old agent stops]:duration:_upgrader_durations'
      "--trial=[length of the trial of the new version]$duration"
      "--on-unclean-stop=[what to do after an unclean stop of the old agent]:deed:$stops"
      '--fallback=[start the old version after a failed trial, or keep it ready]:when:(cold warm)'
      '--id=[name of the upgrade]:id: '
      '--no-wait[exit when the upgrade has been accepted]'
    )
    ;;
  rehearse) options+=($terms $timeout) ;;
  cancel | rollback) options+=($reason $timeout '1::id: ') ;;
  confirm | commit) options+=($timeout '1::id: ') ;;
  wait) options+=($timeout "--for=[phase of the upgrader to wait for]:phase:$phases") ;;
  on)
    options+=(
      '--exec=[command that /bin/sh runs at each event]:command: '
      "--after=[time for which an agent must be active to be good]$duration"
      '1:event:(good commit fallback)'
    )
    ;;
  shutdown) options+=($timeout) ;;
esac
case $command in
  upgrade | rehearse) options+=('(-)1:executable:_files' '*::argument:_normal') ;;
esac
_arguments -S $options

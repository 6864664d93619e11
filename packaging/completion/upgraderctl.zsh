#compdef upgraderctl
# Completes the command line of upgraderctl in zsh: the names of upgraders, commands, options and
# their values, EXECUTABLE and its arguments.

_upgraderctl_duration_or_zero() {
  local expl
  _alternative 'zero:no limit, or at once:(0)' 'durations:duration:_upgrader_durations'
}

local -A about=(
  list 'every upgrader below /run/upgrader'
  status 'what runs, what is under way, and how the last upgrade ended'
  upgrade 'start an upgrade and wait for its end'
  rehearse 'start the candidate of an upgrade, and cancel it when ready'
  confirm 'open the gate of the upgrade under way'
  cancel 'give the upgrade under way up, before anything is stopped'
  commit 'vouch for the agent on trial'
  rollback 'roll the agent on trial back'
  history 'how upgrades ended, in this life of the upgrader and before'
  why 'why the last upgrade that failed has failed'
  wait 'wait for the end of the upgrade under way, or for a phase'
  on 'run a command whenever an agent is good, or an upgrade has ended'
  shutdown 'end the upgrader and its agent, and wait for that'
)
local phases='(starting running preparing confirming switching replacing trial abandoning'
phases+=' rolling_back falling_back shutting_down ended)'
local modes='(parallel sequential)' stops='(fallback continue)'
local duration=:duration:_upgraderctl_duration_or_zero
local -a options=(
  '--dir=[the control directory]:directory:_files -/'
  '(- *)'{-h,--help}'[print the options and exit]'
  '(- *)--version[print the version and exit]'
)
local -a timeout=("--timeout=[how long to wait in all]$duration")
local -a json=('--json[what the upgrader has written, as it is]')
local -a reason=('--reason=[why, for the log and the status]:reason: ')
local -a terms=(
  "--start-timeout=[from the start of the candidate to its ready]$duration"
  "--confirm-timeout=[from its ready to confirm]$duration"
  '--no-args[start EXECUTABLE without arguments]'
  '--previous[to what was committed before]'
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
  status) options+=($json '--watch[go on, and show every change]') ;;
  upgrade)
    options+=(
      $terms $timeout
      "--mode=[how the upgrade proceeds]:mode:$modes"
      '--gate=[hold the candidate until confirm]:gate:(none confirm)'
      '--commit=[what passes the trial]:rule:(survive healthy)'
      '--stop-timeout=[from stop to stopped]:duration:_upgrader_durations'
      "--trial=[from activate to the commit]$duration"
      "--on-unclean-stop=[what follows an unclean stop]:deed:$stops"
      '--fallback=[when the previous program is started again]:when:(cold warm)'
      '--id=[what the upgrade is called]:id: '
      '--no-wait[do not wait for more than that it has begun]'
    )
    ;;
  rehearse) options+=($terms $timeout) ;;
  cancel | rollback) options+=($reason $timeout '1::id: ') ;;
  confirm | commit) options+=($timeout '1::id: ') ;;
  wait) options+=($timeout "--for=[the phase that is waited for]:phase:$phases") ;;
  on)
    options+=(
      '--exec=[what /bin/sh is to run]:command: '
      "--after=[how long an agent has to be active to be good]$duration"
      '1:event:(good commit fallback)'
    )
    ;;
  shutdown) options+=($timeout) ;;
esac
case $command in
  upgrade | rehearse) options+=('(-)1:executable:_files' '*::argument:_normal') ;;
esac
_arguments -S $options

# Checks the manual pages of the fleet's programs against the programs: every option, every command
# of fleetctl, every exit status, every kind of record.

fleet_checks='fleet_options fleet_commands fleet_statuses fleet_records'

# Sets `program` to the path of a program of the build. Fails if the program is missing.
fleet_program() {
  program=$(dirname "$UPGRADER")/$1
  [ -x "$program" ] || { echo "$program: has not been built"; return 1; }
}

# Lists the commands of fleetctl, one on each line, each with all its words, such as `status` or
# `rollout start`.
fleetctl_commands() {
  commands_below() { sed -nE '1,/^Subcommands:/d; s/^  ([a-z][a-z-]*) .*/\1/p'; }
  "$program" --help | commands_below | while IFS= read -r first; do
    below=$("$program" "$first" --help | commands_below)
    [ -n "$below" ] || echo "$first"
    for second in $below; do echo "$first $second"; done
  done
}

# Lists the options that a help text names, without their explanations.
options_of_help() {
  sed -nE 's/^  (-h,)?(--[a-z][a-z-]+).*/\2/p'
}

options_of_fleet_page() {
  sed -nE 's/^\.It Fl (h , )?(-[a-z-]+).*/-\2/p' "$1"
}

check_fleet_options() {
  for name in fleet-agent fleet-controller fleet-signer; do
    fleet_program $name || continue
    {
      "$program" --help
      [ $name != fleet-agent ] || "$program" join --help
    } | options_of_help >"$scratch/help"
    options_of_fleet_page man/$name.8 >"$scratch/page"
    differ "$name --help" "$scratch/help" man/$name.8 "$scratch/page"
  done
  fleet_program fleetctl || return
  {
    "$program" --help
    fleetctl_commands | while IFS= read -r command; do
      # shellcheck disable=SC2086  # one or two words
      "$program" $command --help
    done
  } | options_of_help >"$scratch/help"
  options_of_fleet_page man/fleetctl.1 >"$scratch/page"
  differ 'fleetctl --help' "$scratch/help" man/fleetctl.1 "$scratch/page"
}

canary_fleet_options() {
  sed -i 's/^\.It Fl -label/.It Fl -lable/' man/fleet-agent.8
  echo 'in fleet-agent --help and not in man/fleet-agent.8: --label'
  echo 'in man/fleet-agent.8 and not in fleet-agent --help: --lable'
  printf '.It Fl -planted\n' >>man/fleet-controller.8
  echo 'in man/fleet-controller.8 and not in fleet-controller --help: --planted'
  sed -i 's/^\.It Fl -canary/.It Fl -finch/' man/fleetctl.1
  echo 'in fleetctl --help and not in man/fleetctl.1: --canary'
  echo 'in man/fleetctl.1 and not in fleetctl --help: --finch'
}

check_fleet_commands() {
  fleet_program fleetctl || return
  fleetctl_commands >"$scratch/help"
  section man/fleetctl.1 DESCRIPTION | sed -nE 's/^\.It Cm ([a-z -]+)$/\1/p' >"$scratch/page"
  differ 'fleetctl --help' "$scratch/help" man/fleetctl.1 "$scratch/page"
}

canary_fleet_commands() {
  sed -i 's/^\.It Cm rollout abort/.It Cm rollout abandon/' man/fleetctl.1
  echo 'in fleetctl --help and not in man/fleetctl.1: rollout abort'
  echo 'in man/fleetctl.1 and not in fleetctl --help: rollout abandon'
}

check_fleet_statuses() {
  sed -nE 's/.* exit_[a-z_]+ = ([0-9]+);/\1/p' fleet/fleetctl/exit_status.h >"$scratch/code"
  section man/fleetctl.1 'EXIT STATUS' | sed -nE 's/^\.It ([0-9]+)$/\1/p' >"$scratch/page"
  differ fleet/fleetctl "$scratch/code" man/fleetctl.1 "$scratch/page"
}

canary_fleet_statuses() {
  sed -i 's/^\.It 5$/.It 9/' man/fleetctl.1
  echo 'in fleet/fleetctl and not in man/fleetctl.1: 5'
}

# Compares the kinds of records on the page fleet(7) with keys.cc. For the parts of a key that vary,
# the page has ID, UUID, RID, N and the like, and keys.cc has signs. Both are replaced by NAME
# first.
check_fleet_records() {
  sed -nE 's/.*KeyKind::[a-z_]+, "([^"]+)".*/\1/p' fleet/model/keys.cc |
    sed -E ':again; s/(^|\/)[*cV#E](\/|$)/\1NAME\2/; t again' >"$scratch/code"
  section man/fleet.7 RECORDS | sed -nE 's/^\.It Pa //p' | sed 's/ , /\n/g' |
    sed -E 's/\b[A-Z]+\b/NAME/g' >"$scratch/page"
  differ fleet/model/keys.cc "$scratch/code" man/fleet.7 "$scratch/page"
}

canary_fleet_records() {
  sed -i 's/KeyKind::stop, "stop"/KeyKind::stop, "halt"/' fleet/model/keys.cc
  echo 'in fleet/model/keys.cc and not in man/fleet.7: halt'
  echo 'in man/fleet.7 and not in fleet/model/keys.cc: stop'
}

# Checks words in files: no note of unfinished work is left, tests do not sleep, no path of one
# machine occurs, and each thing has one word. The patterns are written so that they do not find
# themselves.

word_checks='unfinished sleeps machine_paths documents vocabulary named_rules'

check_unfinished() {
  tree_files | xargs grep -nIE '\b(TOD[O]|FIXM[E]|XX[X]|HAC[K])\b' | cut -c 1-100
}

canary_unfinished() {
  printf '// Planted.\n// TOD%s: later\n' O >upgrader/planted.h
  echo 'upgrader/planted.h:2:'
}

# Checks that tests wait for a condition, with a deadline, and do not sleep. A millisecond between
# two looks does not count as sleep, and a benchmark may measure a sleep.
check_sleeps() {
  call='sleep_fo[r]|sleep_unti[l]|uslee[p]|nanoslee[p]|\bslee[p] *\('
  pause='poll\((nullptr|NULL|0), *0, *[0-9]{3}'
  command='(^|[;&|({] *|do +|then +)slee[p] +["$0-9]'
  # Leaves out scripts of virtual machines, whose clock is their own.
  apart='benchmark/|adversity/power/(common|hang|memory|worker)\.sh'
  tree_files | grep '^tests/' | grep -vE "^tests/($apart)" |
    xargs grep -nIE "$call|$pause|$command" | cut -c 1-120
}

canary_sleeps() {
  printf '// Planted.\nvoid f() { std::this_thread::sleep%s(1s); }\n' _for >tests/planted.cc
  echo 'tests/planted.cc:2:'
  printf '# Planted.\nuntil test -e a; do sleep%s; done\n' ' 1' >tests/planted.sh
  echo 'tests/planted.sh:2:'
  printf '# Planted.\nimport time\ntime.sleep%s\n' '(1)' >tests/planted.py
  echo 'tests/planted.py:3:'
}

# Finds paths that exist only on the machine of one developer, such as those in a home directory.
check_machine_paths() {
  tree_files | xargs grep -nIE '(^|[^A-Za-z0-9_.])/(wor[k]|hom[e]|roo[t]|User[s])/' | cut -c 1-120
}

canary_machine_paths() {
  printf '// Planted.\n// see /hom%s/planted\n' e >upgrader/planted.h
  echo 'upgrader/planted.h:2:'
}

# Checks that the documents exist to which a text refers.
check_documents() {
  tree_files | grep -v '^tests/judging/tidy/' | xargs grep -noIE '([a-z-]+/)*\b[A-Z]{3,}\.md\b' |
    while IFS=: read -r file line document; do
      [ -e "$document" ] || [ -e "$(dirname "$file")/$document" ] ||
        echo "$file:$line: $document is not in the tree"
    done
}

canary_documents() {
  printf '// See PLANTE%s.md.\n' D >upgrader/planted.h
  echo 'upgrader/planted.h:1: PLANTED.md'
}

# Finds words for which this project has another word: see docs/words.md. For example, a rollout has
# a soak, and only an agent has a trial.
check_vocabulary() {
  { product_files; page_files; tree_files | grep '\.md$'; } | grep -v '^STYLE\.md$' \
    >"$scratch/files"
  {
    xargs grep -niE '\b(maste[r]|slav[e]|probatio[n]|subproces[s]|daemoniz[e])\b' \
      <"$scratch/files" | grep -vF '"--daemonize no"'  # an option of redis
    grep -vE '^(fleet/|man/fleet|ARCHITECTURE\.md$|docs/words\.md$)' "$scratch/files" |
      xargs grep -niE '\bsoa[k](ing)?\b' |
      sed 's/ --soak=[^ ]*//g' |  # an option of fleetctl
      grep -iE '\bsoa[k](ing)?\b'
  } | cut -c 1-120
}

canary_vocabulary() {
  printf '// Planted.\nint maste%s;\n' r >upgrader/planted.h
  printf '// Planted.\nint soa%s;  // as --soak=1s\n' k >upgrader/planted_too.h
  echo 'upgrader/planted.h:2:'
  echo 'upgrader/planted_too.h:2:'
}

# Checks the names of invariants, rules of the shell and layers of tests, such as S1 or V10. Each
# name that is used must be defined, and only once.
check_named_rules() {
  name='(S[1-9][0-9]?b?|IO-[1-9][0-9]?|V[1-9][0-9]?)'
  sed -nE "s/^\| $name \|.*/\1/p" tests/INVARIANTS.md ARCHITECTURE.md >"$scratch/defined"
  sort "$scratch/defined" | uniq -d | sed 's/$/ is written down twice/'
  tree_files | grep -vE '^tests/(adversity/fuzz/inputs|together/releases/inputs|judging/tidy)' |
    xargs grep -noIwE "$name" |
    awk -F: -v defined="$scratch/defined" '
      BEGIN { while ((getline name < defined) > 0) is_defined[name] }
      !($3 in is_defined) {
        print $1 ":" $2 ": " $3 " is not in tests/INVARIANTS.md or ARCHITECTURE.md"
      }'
}

canary_named_rules() {
  printf '// S%s and IO-%s must hold.\n' 99 98 >upgrader/planted.h
  echo 'upgrader/planted.h:1: S99 is not'
  echo 'upgrader/planted.h:1: IO-98 is not'
  printf '| V%s | planted | twice |\n' 1 >>tests/INVARIANTS.md
  echo 'V1 is written down twice'
}

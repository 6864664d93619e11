# Checks the wording of files: no note of unfinished work is left, tests do not sleep, no path of a
# developer's machine occurs, each thing is called by one word, and sentences have none of the
# faults that a script can find (sentences.py). The patterns are written so that they do not match
# their own lines in this file.

word_checks='unfinished sleeps machine_paths documents vocabulary named_rules page_sentences
  comment_sentences'

check_unfinished() {
  tree_files | xargs grep -nIE '\b(TOD[O]|FIXM[E]|XX[X]|HAC[K])\b' | cut -c 1-100
}

canary_unfinished() {
  printf '// Planted.\n// TOD%s: later\n' O >upgrader/planted.h
  echo 'upgrader/planted.h:2:'
}

# Checks that tests wait for a condition, with a deadline, and do not sleep. A pause of less than
# 100 ms between two checks of the condition does not count as a sleep.
check_sleeps() {
  call='sleep_fo[r]|sleep_unti[l]|uslee[p]|nanoslee[p]|\bslee[p] *\('
  pause='poll\((nullptr|NULL|0), *0, *[0-9]{3}'
  command='(^|[;&|({] *|do +|then +)slee[p] +["$0-9]'
  # The files that check_sleeps leaves out: benchmarks, and the scripts that run in virtual
  # machines, whose clock does not depend on the host's speed.
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

# Checks that each document to which a text refers exists.
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

# Finds words for which this project has another word: see docs/words.md. For example, only a
# rollout of the fleet has a soak; the time for which an agent is judged is a trial.
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

# Checks the names of invariants such as S1, of layers of tests such as V10, and of the rules for
# the upgrader's shell (the code around the decisions) such as IO-1. Each name that is used must be
# defined, and only once.
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

# Checks the sentences of all pages except tests/VERIFICATION.md, which scripts write.
check_page_sentences() {
  { page_files; tree_files | grep '\.md$' | grep -vx tests/VERIFICATION.md; } |
    only_planted | xargs python3 -B "$root/tests/judging/tidy/sentences.py" pages
}

canary_page_sentences() {
  word=$(printf 'planted %.0s' 1 2 3 4 5 6 7)
  cat >man/planted.1 <<PAGE
.Dd November 20, 2026
.Sh SYNOPSIS
What a synopsis has is no sentence.
.Sh DESCRIPTION
What was planted
.Em here
is found.
What is this?
Whoever plants, and
.Ic waits ,
finds.
Nothing: it is planted.
It is planted.
Here $word
$word
.Bl -tag -width Ds
.It Fl -planted
$word
.El
$word
$word
$word
$word
$word
$word .
PAGE
  echo 'man/planted.1:5: begins with a clause: What was planted here is found.'
  echo 'man/planted.1:9: begins with a clause: Whoever plants'
  echo 'man/planted.1:12: is no sentence: Nothing:'
  echo 'man/planted.1:20: 42 words'
  cat >planted.md <<PAGE
# What a heading says is no sentence

Planted. Where it grows
it is found. * None: not at the beginning.

* None: planted.
* [what a test is called, $word](tests/planted_test.cc) $word $word $word $word $word is short.
* [what a page is called, $word](planted.md) $word $word $word $word $word is long.

| a | Empty: planted. |

    What is literal is left alone.
PAGE
  echo 'planted.md:3: begins with a clause: Where it grows it is found.'
  echo 'planted.md:6: is no sentence: None:'
  echo 'planted.md:8: 49 words'
  echo 'planted.md:10: is no sentence: Empty:'
}

check_comment_sentences() {
  code_files | only_planted | xargs python3 -B "$root/tests/judging/tidy/sentences.py" comments
}

canary_comment_sentences() {
  first=fleet/cell
  cat >"$first/planted.h" <<'CODE'
// Plants. What it plants
// What is left of a sentence is no beginning.
int planted;      // 0: none
int found;        // none, or 0: no
// Nothing: it was not planted. Whoever
// looks finds. Is planted.
// Who looks finds.

// Plants, and returns nothing.
void plant(int seed);
// Where it grows: everything that was planted.
// When it rains.
[[nodiscard]] int grown(const Field& field) const;
// Only where it rains.
int rain = fall(3);
// Only where it grows.
static bool grows(int seed) {
CODE
  echo "$first/planted.h:1: What it plants"
  echo "$first/planted.h:3: 0: none"
  echo "$first/planted.h:5: Nothing: it was not planted."
  echo "$first/planted.h:5: Whoever"
  echo "$first/planted.h:7: Who looks finds."
  echo "$first/planted.h:11: says not what the function does: Where it grows"
  echo "$first/planted.h:16: says not what the function does: Only where it grows."
}

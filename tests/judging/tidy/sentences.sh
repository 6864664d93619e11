# Checks the wording of pages and comments, by faults that a script can find: see sentences.py.

sentence_checks='page_sentences comment_sentences'

# tests/VERIFICATION.md is left out, since scripts write it.
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

# Checks the pages that a stranger reads first: the front page and its doors (five ways to begin
# with the upgrader), the pictures, the site of `make html`, the first change in CONTRIBUTING.md,
# `make help`, and the headings of old and new results in tests/VERIFICATION.md.

front_checks='front_page doors pictures site help old_rows'

front_page_words_max=1600

# Checks that the front page is short. Figures, packages and long tables belong in docs/ instead.
check_front_page() {
  words=$(wc -w <README.md)
  [ "$words" -le $front_page_words_max ] || echo "README.md: $words words; docs/ has room"
}

canary_front_page() {
  yes 'planted words' | head -n $front_page_words_max >>README.md
  echo 'words; docs/ has room'
}

# Prints lines `DOOR | PAGE LINKED | COMMAND` for the doors of the front page. A door is one of five
# ways to begin with the upgrader: a section with a few commands, and links to pages.
lines_of_doors() {
  awk '
    function end() {
      for (i = 1; i <= commands; i++)
        for (j = 1; j <= pages; j++) print door " | " page[j] " | " command[i]
      if (door != "" && (!commands || !pages)) print door " | | "
      commands = pages = 0
    }
    /^## / { end(); door = ""; inside = ($0 == "## Five doors"); next }
    inside && /^### / { end(); door = substr($0, 5); next }
    !inside { next }
    /^    / { sub(/^ +/, ""); sub(/ *[\\&]$/, ""); command[++commands] = $0; next }
    { while (match($0, /\]\([^)]*\)/)) {
        page[++pages] = substr($0, RSTART + 2, RLENGTH - 3); $0 = substr($0, RSTART + RLENGTH) } }
  ' README.md
}

# Checks the doors, which are five ways to begin with the upgrader. Each command in a door must also
# be on a page to which that door has a link. Tests run the commands of these pages, so each command
# of a door is tested.
check_doors() {
  lines_of_doors >"$scratch/doors"
  [ "$(cut -d '|' -f 1 "$scratch/doors" | sort -u | wc -l)" = 5 ] ||
    echo 'README.md: there are not five doors, each with a command and a page'
  awk '
    function text_of(page, line) {
      if (!(page in text)) {
        text[page] = ""
        while ((getline line < page) > 0) {
          sub(/\\e$/, "", line)
          gsub(/\\-/, "-", line)
          text[page] = text[page] line "\n"
        }
      }
      return text[page]
    }
    {
      split($0, part, / \| /)
      command = substr($0, length(part[1] part[2]) + 7)
      row[NR] = "README.md: " part[1] ": on no page that is linked there: " command
      command_of[NR] = command
      if (index(text_of(part[2]), command)) is_found[command]
    }
    END {
      for (i = 1; i <= NR; i++)
        if (!(command_of[i] in is_found)) print row[i]
    }
  ' "$scratch/doors"
}

canary_doors() {
  sed -i 's/rehearse \/opt/rehears \/opt/' README.md
  echo 'README.md: Operate: on no page that is linked there: upgraderctl agent rehears /opt'
}

# Checks that the pictures in docs/ show the figures of the table in docs/measurements.md.
check_pictures() {
  python3 -B packaging/html/draw.py --check
}

canary_pictures() {
  sed -i 's/^\(| the gap with 1000 ms .* (0\)\.[0-9]*/\1.999/' docs/measurements.md
  echo 'docs/hand-over.svg: is not as'
  echo 'docs/measurements.svg: is not as'
}

# Checks the links in the site that `make html` makes. Each link must lead to an existing page of
# the site. If the link has an anchor, this anchor must exist on the page.
check_site() {
  for program in cmark-gfm mandoc; do
    command -v $program >/dev/null && continue
    echo "$program is not installed"
    return 77
  done
  python3 -B packaging/html/site.py "$scratch/site" >"$scratch/site.log" 2>&1 ||
    cat "$scratch/site.log"
  python3 -B packaging/html/site.py --check "$scratch/site"
}

canary_site() {
  printf '\n[planted](#planted-place) [too](planted-page.html)\n' >>docs/limits.md
  echo 'docs/limits.html: leads nowhere: #planted-place'
  echo 'docs/limits.html: leads nowhere: planted-page.html'
}

# Checks that the change that CONTRIBUTING.md prints works. In a copy of the tree, the change must
# alter a source file and a test. Both must keep their format and compile, and make must build the
# test, by itself and in `make quick`.
check_first_change() {
  copy=$scratch/first
  rm -rf "$copy"
  mkdir "$copy"
  tree_files | tar -c -T - | tar -x -C "$copy"
  fenced CONTRIBUTING.md sh >"$scratch/first.sh"
  sed '/^# Build that test/,$d' "$scratch/first.sh" >"$scratch/first-edits.sh"
  (cd "$copy" && sh -eu "$scratch/first-edits.sh") 2>&1
  for file in upgrader/core/supervisor.cc tests/decisions/unit/supervisor_says_test.cc; do
    ! cmp -s "$file" "$copy/$file" || echo "CONTRIBUTING.md: its change leaves $file as it was"
  done
  (
    cd "$copy" || exit
    unset MAKEFLAGS MAKELEVEL MFLAGS BUILD
    "${CXX:-g++}" -std=c++20 -fsyntax-only -I. upgrader/core/supervisor.cc \
      tests/decisions/unit/supervisor_says_test.cc 2>&1
    for target in $(grep -oE '^make [a-z_/]+' "$scratch/first.sh" | cut -d ' ' -f 2); do
      make -n "$target" >../first.log 2>&1
      program=tests/decisions/unit/supervisor_says_test
      case $target in build/*) program=${target#build/} ;; esac
      grep -qF "$program.cc" ../first.log ||
        echo "CONTRIBUTING.md: make $target does not build $program.cc"
    done
    program=$(clang_format | head -n 1)
    [ -z "$program" ] || "$program" --dry-run upgrader/core/supervisor.cc \
      tests/decisions/unit/supervisor_says_test.cc 2>&1 | grep 'warning:'
  )
}

canary_first_change() {
  sed -i 's/^    open_gate();/    open_the_gate();/' upgrader/core/supervisor.cc
  sed -i 's/make quick$/make lines/' CONTRIBUTING.md
  echo 'CONTRIBUTING.md: its change leaves upgrader/core/supervisor.cc as it was'
  echo 'CONTRIBUTING.md: make lines does not build tests/decisions/unit/supervisor_says_test.cc'
  sed -i 's/^TEST_CASE(/PLANTED_CASE(/' CONTRIBUTING.md
  echo 'PLANTED_CASE'
}

# Checks that `make help` shows ten targets. Another check, check_targets, is for the longer list of
# `make help-all`.
check_help() {
  shown=$(env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL make -s help | grep -c '^make .*  ')
  [ "$shown" = 10 ] || echo "make help shows $shown targets, and not ten"
}

canary_help() {
  sed -i 's/^help:$/&\n\t@echo "make planted    one more"/' Makefile
  echo 'make help shows 11 targets'
}

# Checks that each row of results in tests/VERIFICATION.md stands under the right heading: rows
# under the heading of the newest commit must be of that commit, and all rows of older commits must
# stand under the heading for older rows.
check_old_rows() {
  awk '
    /^##/ { commit = /^### Of the newest commit, / ? $NF : ""; old = /^### OLDER ROWS/ }
    /^###/ { canaries = /Canaries/ }
    !/^\| / || /^\| step \|/ || canaries || old { next }
    commit == "" || !index($0, " | " commit) {
      print "tests/VERIFICATION.md:" FNR ": an older row that is not headed as one" }
  ' tests/VERIFICATION.md
}

canary_old_rows() {
  sed -i '0,/^### Of the newest commit, /s/^\(### Of the newest commit, \).*/\10123456789/' \
    tests/VERIFICATION.md
  echo 'an older row that is not headed as one'
}

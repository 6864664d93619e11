# Prints each function, test case or other block with a body that is longer than `limit` lines, as
# `FILE:LINE: N lines: its first line`. Relies on clang-format: a body that begins at indentation I
# ends at the first line that is I and a brace. Looks at the top level and one level into classes.

function indent_of(line) {
  match(line, /^ */)
  return RLENGTH
}

function is_container(text) {
  return text ~ /^ *(extern "C"|(inline )?namespace|(template.*)?(class|struct|union|enum)) / && \
    text !~ /\(/
}

FNR == 1 { head = ""; body = 0; in_class = 0 }

# This line ends the body of a function or another block.
body && indent_of($0) == indent && /^ *\}/ {
  lines = FNR - start + 1
  if (lines > limit) printf "%s:%d: %d lines: %s\n", FILENAME, start, lines, name
  body = 0
  head = ""
  next
}
body { next }

/^ *(\/\/|\/\*|\*|#)/ || /^ *$/ { head = ""; next }
/^\}/ { in_class = 0; head = ""; next }

# This line may belong to the head of a block, such as a function's name and parameters. The block
# starts at the first line of its head.
{
  depth = indent_of($0)
  if (depth != 0 && !(in_class && depth == 2) && head == "") next
  if (head == "") {
    head_line = FNR
    head_indent = depth
  }
  head = head $0
}

/\{$/ {
  if (is_container(head)) {
    if (head !~ /namespace|extern "C"/) in_class = 1
  } else if (head ~ /\(/) {  # a table may be as long as it needs
    body = 1
    indent = head_indent
    start = head_line
    name = head
  }
  head = ""
  next
}
/[;}]$/ { head = "" }
/^ *(public|private|protected):$/ { head = "" }

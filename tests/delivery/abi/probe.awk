# Makes a C program from agent_protocol.h that shows everything a compiled agent relies on. Its
# assembly has a line `->KIND NAME NUMBER...` for each structure (size), member (offset, size) and
# constant, so that it can be made for any machine without running there.

BEGIN {
  print "#include <agent-protocol/agent_protocol.h>"
  print "#define say(text, a) __asm__ volatile(\".ascii \\\"->\" text \" %c0\\\"\" : : \"i\"(a))"
  print "#define say2(text, a, b) \\"
  print "  __asm__ volatile(\".ascii \\\"->\" text \" %c0 %c1\\\"\" : : \"i\"(a), \"i\"(b))"
  print "void probe(void);"
  print "void probe(void) {"
}

{ gsub(/\/\*.*\*\//, "") }  # removes comments within a line; those of several lines begin with ` *`
/^\/\*/ || /^ \*/ { next }

/^struct [a-z_]+ \{$/ { of = $2; printf "say(\"struct %s\", sizeof(struct %s));\n", of, of; next }
/^enum [a-z_]+ \{$/ { in_enum = 1; next }
/^\}/ { of = ""; in_enum = 0; next }

of != "" && /;/ {
  match($0, /[a-z_]+;/)
  name = substr($0, RSTART, RLENGTH - 1)
  printf "say2(\"member %s.%s\", offsetof(struct %s, %s), sizeof(((struct %s*)0)->%s));\n", \
    of, name, of, name, of, name
}
in_enum && match($0, /AGENT_PROTOCOL_[A-Z_]+/) {
  name = substr($0, RSTART, RLENGTH)
  printf "say(\"constant %s\", %s);\n", name, name
}

END { print "}" }

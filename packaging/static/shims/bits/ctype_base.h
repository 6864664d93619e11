// Replaces libstdc++'s header of the same name, which uses glibc's tables of character classes. The
// upgrader does not use the masks defined here, but other headers mention them.
#pragma once

namespace std {

struct ctype_base {
  using __to_type = const int*;
  using mask = unsigned short;
  static const mask upper = 1, lower = 2, alpha = 4, digit = 8, xdigit = 16, space = 32, print = 64,
                    cntrl = 128, punct = 256, alnum = alpha | digit, graph = alnum | punct,
                    blank = 512;
};

}  // namespace std

// Prints texts through stdio, and finds out whether the whole output of a program has been written.
#pragma once

#include <string>
#include <string_view>

namespace upgrader {

// Flushes standard output. Returns `status`, the exit status of the program, if the whole output
// has been written. Otherwise, for example if the disk is full, writes a line to standard error
// that begins with `program` and contains the reason if it is known. Then returns `status` if it is
// not 0, and `status_unwritten` if it is.
[[nodiscard]] int finish_output(std::string_view program, int status, int status_unwritten = 1);

// Prints a text such as the help: to standard output if `status` is 0, otherwise to standard error.
// Then does the same as finish_output().
[[nodiscard]] int print_text(std::string_view program, const std::string& text, int status = 0,
                             int status_unwritten = 1);

}  // namespace upgrader

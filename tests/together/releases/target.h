// Gives bytes to all code of agent-releases that reads bytes from outside: manifests, signatures,
// keys, ledgers, lists of files, a status.json, and archives, which are unpacked into a directory.
// The first byte of an input selects which of these kinds the rest is. Aborts the process if an
// accepted input breaks a rule.
#pragma once

#include <string_view>

namespace releases_target {

// The number of kinds of input, and the number of the kind that is an archive. An input's kind is
// its first byte, modulo the number of kinds.
inline constexpr unsigned kinds = 6;
inline constexpr unsigned archive = 5;

// Errors that a canary plants in results. An error shows only if the input is accepted.
enum class Planted { nothing, name_that_leads_out, entry_of_nothing, file_that_is_not_listed };
extern Planted planted;

void take(std::string_view input);

}  // namespace releases_target

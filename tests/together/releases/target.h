// All of agent-releases that takes bytes from elsewhere: manifests, signatures, keys, ledgers,
// lists of files, a status.json, and archives, which are unpacked into a directory of their own.
// The first byte of an input says which. Everything that is accepted has to keep its promises:
// otherwise it aborts.
#pragma once

#include <string_view>

namespace releases_target {

// So many kinds of input there are; of an archive the first byte is this, or the same modulo that.
inline constexpr unsigned kinds = 6;
inline constexpr unsigned archive = 5;

// Errors in what is judged, for a canary: each is seen only by an input that is taken.
enum class Planted { nothing, name_that_leads_out, entry_of_nothing, file_that_is_not_listed };
extern Planted planted;

void take(std::string_view input);

}  // namespace releases_target

// Makes the messages about a stop, which is the order that nothing begins in the whole cell. This
// file does no input or output.
#pragma once

#include <string>

namespace fleet {

// Returns a text that continues a sentence about the stop: since when nothing begins, who has
// ordered that, and why, as far as the record `stop` says so. `stop` is the text of the record.
[[nodiscard]] std::string stop_words(const std::string& stop);

// Returns a message for a person whose order is refused because of the stop.
[[nodiscard]] std::string why_nothing_begins(const std::string& stop);

// Returns a message for a person who has ended the stop. `epoch` is the text of the record `epoch`,
// or null if there is none. If nobody has accepted a restored store yet, the message warns that
// nodes do not act before that.
[[nodiscard]] std::string words_after_stop(const std::string* epoch);

}  // namespace fleet

#include "fleet/model/record_archive.h"

#include <cerrno>
#include <charconv>

namespace fleet {

void RecordReader::refuse(std::string_view what) {
  if (!refusal_) refusal_ = path_ + " " + std::string(what);
}

bool RecordReader::is(std::size_t index, Kind kind, std::string_view otherwise) {
  if (line_.node(index).kind == kind) return true;
  refuse(otherwise);
  return false;
}

void RecordReader::read(std::size_t index, std::string& value) {
  if (!is(index, Kind::text, "is no text")) return;
  value = line_.text(index);
  // The parser turns half of a UTF-16 surrogate pair, which is not a character, into U+0000. So
  // this check also finds such halves.
  if (value.find('\0') != std::string::npos) refuse("holds U+0000 or half a character");
}

void RecordReader::read(std::size_t index, bool& value) {
  if (is(index, Kind::boolean, "is neither true nor false")) value = line_.node(index).size == 1;
}

void RecordReader::read(std::size_t index, std::int64_t& value) {
  if (!is(index, Kind::number, "is no number")) return;
  const std::string_view digits = line_.text(index);
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc{} || end != digits.data() + digits.size()) {
    refuse("is no integer of at most 18 digits");
  } else {
    value = number;
  }
}

void RecordWriter::write_name(std::string_view name) {
  if (!text_.empty() && text_.back() != '{') text_ += ',';
  agent_protocol::append_quoted(text_, name);
  text_ += ':';
}

}  // namespace fleet

// Archives for the serialization library cereal: RecordReader reads a record from JSON, and
// RecordWriter writes a record as JSON. The reader ignores unknown members. If a member is absent,
// the reader leaves the value in memory as it was. If a member has the wrong type or occurs twice,
// the reader refuses the whole record. JsonLine (base/json_line.h) parses the JSON.
#pragma once

#include <cereal/cereal.hpp>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/escape.h"
#include "base/json_line.h"
#include "fleet/model/records/enum_text.h"

namespace fleet {

class RecordReader : public cereal::InputArchive<RecordReader> {
 public:
  // The reader keeps a reference to `line`, the parsed JSON, so `line` must outlive the reader.
  explicit RecordReader(const agent_protocol::JsonLine& line)
      : cereal::InputArchive<RecordReader>(this), line_(line) {}

  // Returns the first fault that was found in the record, such as `terms.batch is no integer`, or
  // no value if none was found.
  [[nodiscard]] const std::optional<std::string>& refusal() const { return refusal_; }

  template <class Value>
  void read_member(std::string_view name, Value& value) {
    const agent_protocol::JsonLine::Found found = line_.find(object_, name);
    if (found.index == agent_protocol::JsonLine::root) return;
    const std::size_t path_bytes = enter(name);
    if (found.twice) refuse("is there twice");
    read(found.index, value);
    path_.resize(path_bytes);
  }

  // Reads a record that is a flat map: stores each member whose value is a string in `values`,
  // under the member's name. Skips members of other types.
  void read_texts(std::map<std::string, std::string>& values) { read_map(object_, values, false); }

 private:
  using Kind = agent_protocol::JsonLine::Kind;

  // Adds the name of a member to path_. Returns the size that path_ had before.
  std::size_t enter(std::string_view name);
  void refuse(std::string_view what);
  bool is(std::size_t index, Kind kind, std::string_view otherwise);

  void read(std::size_t index, std::string& value);
  void read(std::size_t index, bool& value);
  void read(std::size_t index, std::int64_t& value);

  template <NamedEnum Enum>
  void read(std::size_t index, Enum& value) {
    std::string text;
    if (!is(index, Kind::text, "is no text")) return;
    read(index, text);
    value = value_of<Enum>(text);
  }

  template <class Value>
  void read(std::size_t index, std::vector<Value>& values) {
    if (!is(index, Kind::array, "is no array")) return;
    values.clear();
    const std::size_t end = line_.after(index);
    for (std::size_t element = index + 1; element < end; element = line_.after(element)) {
      read(element, values.emplace_back());
    }
  }

  template <class Value>
  void read(std::size_t index, std::map<std::string, Value>& values) {
    if (is(index, Kind::object, "is no object")) read_map(index, values, true);
  }

  template <class Value>
  void read_map(std::size_t object, std::map<std::string, Value>& values, bool all) {
    values.clear();
    const std::size_t end = line_.after(object);
    for (std::size_t name = object + 1; name < end; name = line_.after(name + 1)) {
      if (!all && line_.node(name + 1).kind != Kind::text) continue;
      std::string key;
      read(name, key);
      // The name is from the record, and may be very long.
      constexpr std::size_t shown_max = 255;
      const std::size_t path_bytes = enter(std::string_view(key).substr(0, shown_max));
      read(name + 1, values[key]);
      path_.resize(path_bytes);
    }
  }

  // Reads a nested structure, by calling the function `serialize` for its type.
  template <class Value>
  void read(std::size_t index, Value& value) {
    if (!is(index, Kind::object, "is no object")) return;
    const std::size_t outer = std::exchange(object_, index);
    (*this)(value);
    object_ = outer;
  }

  const agent_protocol::JsonLine& line_;
  // The JSON object whose members are being read.
  std::size_t object_ = agent_protocol::JsonLine::root;
  std::string path_;  // the path of the member being read, for error messages
  std::optional<std::string> refusal_;
};

// Writes the members of a record as JSON, on one line. A member that is `false`, or an empty
// string, list or map, is left out: members have these values by default, so a reader does not need
// the member.
class RecordWriter : public cereal::OutputArchive<RecordWriter> {
 public:
  RecordWriter() : cereal::OutputArchive<RecordWriter>(this) {}

  // Returns the written members as JSON. The caller adds the braces around them.
  [[nodiscard]] const std::string& members() const { return text_; }

  template <class Value>
  void write_member(std::string_view name, const Value& value) {
    if (is_absent(value)) return;
    write_name(name);
    write(value);
  }

  void write_texts(const std::map<std::string, std::string>& values) {
    for (const auto& [name, value] : values) {
      write_name(name);
      write(value);
    }
  }

 private:
  template <class Value>
  static bool is_absent(const Value& value) {
    if constexpr (requires { value.empty(); }) return value.empty();
    if constexpr (std::is_same_v<Value, bool>) return !value;
    return false;
  }

  void write_name(std::string_view name);
  void write(const std::string& value) { agent_protocol::append_quoted(text_, value); }
  void write(bool value) { text_ += value ? "true" : "false"; }
  void write(std::int64_t value) { text_ += std::to_string(value); }

  template <NamedEnum Enum>
  void write(const Enum& value) {
    agent_protocol::append_quoted(text_, text_of(value));
  }

  template <class Value>
  void write(const std::vector<Value>& values) {
    text_ += '[';
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (i > 0) text_ += ',';
      write(values[i]);
    }
    text_ += ']';
  }

  template <class Value>
  void write(const std::map<std::string, Value>& values) {
    text_ += '{';
    for (const auto& [name, value] : values) {
      write_name(name);
      write(value);
    }
    text_ += '}';
  }

  template <class Value>
  void write(const Value& value) {
    text_ += '{';
    (*this)(value);
    text_ += '}';
  }

  std::string text_;
};

// Collects the names of a record's members. Writes nothing.
class RecordNames : public cereal::OutputArchive<RecordNames> {
 public:
  RecordNames() : cereal::OutputArchive<RecordNames>(this) {}

  std::vector<std::string> names;
};

// Connects cereal to RecordReader, RecordWriter and RecordNames: cereal passes each member of a
// record as a pair of a name and a value.
template <class Value>
void save(RecordNames& archive, const cereal::NameValuePair<Value>& pair) {
  archive.names.emplace_back(pair.name);
}

template <class Value>
void load(RecordReader& archive, cereal::NameValuePair<Value>& pair) {
  archive.read_member(pair.name, pair.value);
}

template <class Value>
void save(RecordWriter& archive, const cereal::NameValuePair<Value>& pair) {
  archive.write_member(pair.name, std::as_const(pair.value));
}

inline std::size_t RecordReader::enter(std::string_view name) {
  const std::size_t before = path_.size();
  if (!path_.empty()) path_ += '.';
  path_ += name;
  return before;
}

// The path is empty while the name of a member is read.
inline void RecordReader::refuse(std::string_view what) {
  if (!refusal_) refusal_ = (path_.empty() ? "a name" : path_) + " " + std::string(what);
}

inline bool RecordReader::is(std::size_t index, Kind kind, std::string_view otherwise) {
  if (line_.node(index).kind == kind) return true;
  refuse(otherwise);
  return false;
}

inline void RecordReader::read(std::size_t index, std::string& value) {
  if (!is(index, Kind::text, "is no text")) return;
  value = line_.text(index);
  // The parser turns an unpaired UTF-16 surrogate, which is not a character, into U+0000. So this
  // check finds unpaired surrogates, too.
  if (value.find('\0') != std::string::npos) refuse("holds U+0000 or half a character");
}

inline void RecordReader::read(std::size_t index, bool& value) {
  if (is(index, Kind::boolean, "is neither true nor false")) value = line_.node(index).size == 1;
}

inline void RecordReader::read(std::size_t index, std::int64_t& value) {
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

inline void RecordWriter::write_name(std::string_view name) {
  if (!text_.empty() && text_.back() != '{') text_ += ',';
  agent_protocol::append_quoted(text_, name);
  text_ += ':';
}

}  // namespace fleet

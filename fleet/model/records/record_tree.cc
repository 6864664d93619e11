#include "fleet/model/records/record_tree.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/escape.h"
#include "base/json_line.h"

namespace fleet {
namespace {

using agent_protocol::JsonLine;
using agent_protocol::Refusal;
using agent_protocol::Result;

bool is_integer(std::string_view digits) {
  if (digits.starts_with('-')) digits.remove_prefix(1);
  return !digits.empty() && digits.size() <= 18 &&
         std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; });
}

class Reader {
 public:
  Reader(const JsonLine& line, bool foreign) : line_(line), foreign_(foreign) {}

  JsonTree read(std::size_t index) {
    const JsonLine::Node& node = line_.node(index);
    switch (node.kind) {
      case JsonLine::Kind::null:
        return {};
      case JsonLine::Kind::boolean:
        return {.kind = JsonTree::Kind::boolean, .truth = node.size == 1};
      case JsonLine::Kind::number:
        return number(line_.text(index));
      case JsonLine::Kind::text:
        return json_text(std::string(line_.text(index)));
      case JsonLine::Kind::array:
        return array(index);
      case JsonLine::Kind::object:
        return object(index);
    }
    return {};
  }

  std::optional<std::string> refusal;

 private:
  JsonTree number(std::string_view digits) {
    if (is_integer(digits)) {
      return {.kind = JsonTree::Kind::number, .text = std::string(digits)};
    }
    if (!foreign_) refuse(place() + " is no integer of at most 18 digits");
    return {};
  }

  JsonTree array(std::size_t index) {
    JsonTree tree{.kind = JsonTree::Kind::array};
    const std::size_t end = line_.after(index);
    for (std::size_t at = index + 1; at < end; at = line_.after(at)) {
      tree.elements.push_back(read(at));
    }
    return tree;
  }

  JsonTree object(std::size_t index) {
    JsonTree tree = json_object();
    const std::size_t end = line_.after(index);
    for (std::size_t at = index + 1; at < end; at = line_.after(at + 1)) {
      const std::string name(line_.text(at));
      place_.push_back(name);
      JsonTree member = read(at + 1);
      if (!tree.members.emplace(name, std::move(member)).second)
        refuse(place() + " is there twice");
      place_.pop_back();
    }
    return tree;
  }

  // Keeps only the first reason: later faults may be consequences of the first one.
  void refuse(const std::string& reason) {
    if (!refusal) refusal = reason;
  }

  // Returns the path to the member that is being read: the names of the members, from the outermost
  // to the innermost.
  [[nodiscard]] std::string place() const {
    std::string path;
    for (const std::string& name : place_) {
      path += (path.empty() ? "" : ".") + name;
    }
    return path;
  }

  const JsonLine& line_;
  bool foreign_;
  std::vector<std::string> place_;
};

Result<JsonTree> parse(std::string_view text, bool foreign) {
  const auto line = JsonLine::parse(text);
  if (!line) return Refusal{line.reason()};
  Reader reader(line.value(), foreign);
  JsonTree tree = reader.read(JsonLine::root);
  if (reader.refusal) return Refusal{*reader.refusal};
  return tree;
}

void append(std::string& text, const JsonTree& tree) {
  switch (tree.kind) {
    case JsonTree::Kind::null:
      text += "null";
      return;
    case JsonTree::Kind::boolean:
      text += tree.truth ? "true" : "false";
      return;
    case JsonTree::Kind::number:
      text += tree.text;
      return;
    case JsonTree::Kind::text:
      agent_protocol::append_quoted(text, tree.text);
      return;
    case JsonTree::Kind::array:
    case JsonTree::Kind::object:
      break;
  }
  text += tree.is_array() ? '[' : '{';
  bool is_first = true;
  const auto comma = [&] {
    if (!std::exchange(is_first, false)) text += ',';
  };
  for (const JsonTree& element : tree.elements) {
    comma();
    append(text, element);
  }
  for (const auto& [name, member] : tree.members) {
    comma();
    agent_protocol::append_quoted(text, name);
    text += ':';
    append(text, member);
  }
  text += tree.is_array() ? ']' : '}';
}

void select(const JsonTree& from, std::string_view path, JsonTree& into) {
  into.kind = from.kind;
  if (from.is_array()) {
    into.elements.resize(from.elements.size());
    for (std::size_t i = 0; i < from.elements.size(); ++i) {
      select(from.elements[i], path, into.elements[i]);
    }
    return;
  }
  const std::size_t dot = path.find('.');
  const std::string name(path.substr(0, dot));
  const JsonTree* member = from.find(name);
  if (member == nullptr) return;
  if (dot == std::string_view::npos) {
    into.members[name] = *member;
  } else if (member->is_object() || member->is_array()) {
    select(*member, path.substr(dot + 1), into.members[name]);
  }
}

}  // namespace

const JsonTree* JsonTree::find(const std::string& name) const {
  const auto at = members.find(name);
  return at == members.end() ? nullptr : &at->second;
}

std::string JsonTree::text_of(const std::string& name) const {
  const JsonTree* member = find(name);
  return member != nullptr && member->kind == Kind::text ? member->text : "";
}

bool JsonTree::is_true(const std::string& name) const {
  const JsonTree* member = find(name);
  return member != nullptr && member->kind == Kind::boolean && member->truth;
}

JsonTree json_text(std::string text) {
  return {.kind = JsonTree::Kind::text, .text = std::move(text)};
}

JsonTree json_number(std::int64_t number) {
  return {.kind = JsonTree::Kind::number, .text = std::to_string(number)};
}

JsonTree json_truth(bool truth) {
  return {.kind = JsonTree::Kind::boolean, .truth = truth};
}

JsonTree json_object() {
  return {.kind = JsonTree::Kind::object};
}

JsonTree json_texts(const std::vector<std::string>& texts) {
  JsonTree list{.kind = JsonTree::Kind::array};
  for (const std::string& text : texts) {
    list.elements.push_back(json_text(text));
  }
  return list;
}

Result<JsonTree> parse_tree(std::string_view text) {
  return parse(text, false);
}

Result<JsonTree> parse_foreign_tree(std::string_view text) {
  return parse(text, true);
}

std::string write_tree(const JsonTree& tree) {
  std::string text;
  append(text, tree);
  return text;
}

JsonTree merge_patch(JsonTree target, const JsonTree& patch) {
  if (!patch.is_object()) return patch;
  if (!target.is_object()) target = json_object();
  for (const auto& [name, member] : patch.members) {
    if (member.kind == JsonTree::Kind::null) {
      target.members.erase(name);
    } else {
      JsonTree& place = target.members[name];
      place = merge_patch(std::move(place), member);
    }
  }
  return target;
}

JsonTree select_fields(const JsonTree& tree, std::string_view fields) {
  JsonTree selected{.kind = tree.kind};
  while (!fields.empty()) {
    const std::size_t comma = fields.find(',');
    select(tree, fields.substr(0, comma), selected);
    fields.remove_prefix(comma == std::string_view::npos ? fields.size() : comma + 1);
  }
  return selected;
}

}  // namespace fleet

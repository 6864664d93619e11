#include "fleet/cell/cell_order.h"

#include <algorithm>

namespace fleet {
namespace {

constexpr std::string_view member_word = "member ";
constexpr std::string_view controller_word = "controller ";
constexpr std::string_view signer_word = "signer ";

std::string other_address(const CellMachine& before, const CellMachine& wanted) {
  return wanted.name + " has the address " + before.address + " in this cell, not " +
         wanted.address;
}

std::optional<CellMachine> split(std::string_view text, char between) {
  const std::size_t at = text.find(between);
  if (at == 0 || at == std::string_view::npos || at + 1 == text.size()) return std::nullopt;
  return CellMachine{.name = std::string(text.substr(0, at)),
                     .address = std::string(text.substr(at + 1))};
}

}  // namespace

std::string cell_text(const CellTerms& terms) {
  std::string text;
  for (const CellMachine& one : terms.members) {
    text += std::string(member_word) + one.name + " " + one.address + "\n";
  }
  for (const CellMachine& one : terms.controllers) {
    text += std::string(controller_word) + one.name + " " + one.address + "\n";
  }
  for (const std::string& one : terms.signers) {
    text += std::string(signer_word) + one + "\n";
  }
  return text;
}

upgrader::Result<CellTerms> cell_in(std::string_view text) {
  CellTerms terms;
  for (int number = 1; !text.empty(); ++number) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.starts_with(signer_word)) {
      terms.signers.emplace_back(line.substr(signer_word.size()));
      continue;
    }
    const bool is_member = line.starts_with(member_word);
    const bool is_controller = line.starts_with(controller_word);
    line.remove_prefix(is_member ? member_word.size() : is_controller ? controller_word.size() : 0);
    const auto machine = split(line, ' ');
    if (!machine || !(is_member || is_controller)) {
      return upgrader::Refusal{
          "line " + std::to_string(number) +
          " is not `member NAME ADDRESS`, `controller NAME ADDRESS` or `signer "
          "NAME`"};
    }
    (is_member ? terms.members : terms.controllers).push_back(*machine);
  }
  if (const std::string why = why_no_cell(terms); !why.empty()) return upgrader::Refusal{why};
  return terms;
}

std::optional<CellMachine> machine_in(std::string_view text) {
  return split(text, '=');
}

upgrader::Result<CellTerms> merged(const std::optional<CellTerms>& before,
                                   const CellTerms& wanted) {
  CellTerms terms = before.value_or(wanted);
  if (before) {
    for (const CellMachine& one : wanted.members) {
      const CellMachine* there = machine_named(terms.members, one.name);
      if (there == nullptr) {
        return upgrader::Refusal{one.name +
                                 " is no member of this cell; how a store that runs gets another "
                                 "member is in fleet(7), Replacing a member"};
      }
      if (there->address != one.address) return upgrader::Refusal{other_address(*there, one)};
    }
    for (const CellMachine& one : wanted.controllers) {
      const CellMachine* there = machine_named(terms.controllers, one.name);
      if (there == nullptr) {
        terms.controllers.push_back(one);
      } else if (there->address != one.address) {
        return upgrader::Refusal{other_address(*there, one)};
      }
    }
    for (const std::string& one : wanted.signers) {
      const auto& all = terms.signers;
      if (std::find(all.begin(), all.end(), one) == all.end()) terms.signers.push_back(one);
    }
  }
  if (const std::string why = why_no_cell(terms); !why.empty()) return upgrader::Refusal{why};
  return terms;
}

}  // namespace fleet

#include "fleet/model/nodes/target_match.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>

#include "fleet/model/nodes/target.h"

namespace fleet {
namespace {

using Kind = TargetTerm::Kind;

// Returns the index after the bracket expression, such as `[a-z]`, that begins at `at`. Returns
// npos if the closing bracket is missing. A `]` directly after the opening bracket (or after `[!`)
// is one of the listed characters, and does not close the expression.
std::size_t bracket_end(std::string_view pattern, std::size_t at) {
  std::size_t first = at + 1;
  if (first < pattern.size() && pattern[first] == '!') ++first;
  const std::size_t end = pattern.find(']', first + 1);
  return end == std::string_view::npos ? end : end + 1;
}

// Returns whether the set contains `c`. `set` is the text between two brackets, such as `a-z` or
// `!a-z`.
bool is_in(std::string_view set, char c) {
  const bool negated = set.starts_with('!');
  if (negated) set.remove_prefix(1);
  bool found = false;
  for (std::size_t i = 0; i < set.size(); ++i) {
    if (i + 2 < set.size() && set[i + 1] == '-') {
      found = found || (set[i] <= c && c <= set[i + 2]);
      i += 2;
    } else {
      found = found || set[i] == c;
    }
  }
  return found != negated;
}

// Matches the character `c` with the pattern's element at the index `at`, which is not a star.
// Returns the index of the next element, or npos if `c` does not match.
std::size_t take(std::string_view pattern, std::size_t at, char c) {
  if (at >= pattern.size()) return std::string_view::npos;
  if (pattern[at] == '?') return at + 1;
  if (pattern[at] != '[') return pattern[at] == c ? at + 1 : std::string_view::npos;
  const std::size_t end = bracket_end(pattern, at);
  if (end == std::string_view::npos) return end;
  return is_in(pattern.substr(at + 1, end - at - 2), c) ? end : std::string_view::npos;
}

// The limit for PCRE's steps in one match. A node's name has at most 63 bytes, so an expression
// that needs more steps is a mistake or an attack.
constexpr std::uint32_t match_steps_max = 100'000;
constexpr std::uint32_t match_heap_kib_max = 1'024;
// The limit for the nesting of parentheses, since PCRE's compiler needs stack for each level.
constexpr std::uint32_t parentheses_max = 50;

struct FreePcre {
  void operator()(pcre2_code* code) const { pcre2_code_free(code); }
  void operator()(pcre2_match_data* data) const { pcre2_match_data_free(data); }
  void operator()(pcre2_match_context* context) const { pcre2_match_context_free(context); }
  void operator()(pcre2_compile_context* context) const { pcre2_compile_context_free(context); }
};
template <class Thing>
using Owned = std::unique_ptr<Thing, FreePcre>;

PCRE2_SPTR bytes_of(std::string_view text) {
  return reinterpret_cast<PCRE2_SPTR>(text.data());
}

std::string message_of(int error) {
  std::array<PCRE2_UCHAR, 256> buffer{};
  pcre2_get_error_message(error, buffer.data(), buffer.size());
  return reinterpret_cast<const char*>(buffer.data());
}

class Regex {
 public:
  explicit Regex(std::string_view pattern) {
    const Owned<pcre2_compile_context> context(pcre2_compile_context_create(nullptr));
    pcre2_set_parens_nest_limit(context.get(), parentheses_max);
    int error = 0;
    std::size_t at = 0;
    code_.reset(pcre2_compile(bytes_of(pattern), pattern.size(),
                              PCRE2_ANCHORED | PCRE2_ENDANCHORED | PCRE2_NEVER_BACKSLASH_C, &error,
                              &at, context.get()));
    if (!code_) {
      error_ = RegexError{at, message_of(error)};
      return;
    }
    data_.reset(pcre2_match_data_create_from_pattern(code_.get(), nullptr));
    limits_.reset(pcre2_match_context_create(nullptr));
    pcre2_set_match_limit(limits_.get(), match_steps_max);
    pcre2_set_heap_limit(limits_.get(), match_heap_kib_max);
  }

  [[nodiscard]] const std::optional<RegexError>& error() const { return error_; }

  // Returns whether the whole text matches, or no value if the match takes too many steps.
  [[nodiscard]] std::optional<bool> matches(std::string_view text) const {
    const int found =
        pcre2_match(code_.get(), bytes_of(text), text.size(), 0, 0, data_.get(), limits_.get());
    if (found >= 0) return true;
    if (found == PCRE2_ERROR_NOMATCH) return false;
    return std::nullopt;
  }

 private:
  Owned<pcre2_code> code_;
  Owned<pcre2_match_data> data_;
  Owned<pcre2_match_context> limits_;
  std::optional<RegexError> error_;
};

bool has_fact(const NodeInfo& info, const TargetTerm& term) {
  if (const auto fact = info.facts.find(term.key); fact != info.facts.end()) {
    return glob_matches(term.pattern, fact->second);
  }
  const auto label = info.labels.find(term.key);
  return label != info.labels.end() && glob_matches(term.pattern, label->second);
}

// A target with its regular expressions compiled.
class Matcher {
 public:
  explicit Matcher(const Target& target) : target_(target) {
    for (const TargetTerm& term : target.terms) {
      regexes_.push_back(term.kind == Kind::regex ? std::make_unique<Regex>(term.pattern)
                                                  : nullptr);
    }
  }

  Result<bool> means(const TargetNode& node) const {
    std::vector<bool> values;
    for (std::size_t i = 0; i < target_.terms.size(); ++i) {
      if (!apply(i, node, values)) {
        return Refusal{"E@" + target_.terms[i].pattern + " takes too long on " + node.id};
      }
    }
    return values.size() == 1 && values.back();
  }

 private:
  static bool pop(std::vector<bool>& values) {
    const bool last = !values.empty() && values.back();
    if (!values.empty()) values.pop_back();
    return last;
  }

  bool apply(std::size_t index, const TargetNode& node, std::vector<bool>& values) const {
    const TargetTerm& term = target_.terms[index];
    switch (term.kind) {
      case Kind::glob:
        values.push_back(glob_matches(term.pattern, node.id));
        return true;
      case Kind::list:
        values.push_back(std::binary_search(term.listed.begin(), term.listed.end(), node.id));
        return true;
      case Kind::fact:
        values.push_back(has_fact(node.info, term));
        return true;
      case Kind::regex: {
        if (regexes_[index]->error()) return false;
        const std::optional<bool> matches = regexes_[index]->matches(node.id);
        values.push_back(matches.value_or(false));
        return matches.has_value();
      }
      case Kind::negation:
        values.push_back(!pop(values));
        return true;
      case Kind::conjunction:
      case Kind::disjunction: {
        const bool right = pop(values);
        const bool left = pop(values);
        values.push_back(term.kind == Kind::conjunction ? left && right : left || right);
        return true;
      }
    }
    return false;
  }

  const Target& target_;
  std::vector<std::unique_ptr<Regex>> regexes_;
};

}  // namespace

bool glob_matches(std::string_view pattern, std::string_view text) {
  std::size_t at = 0;
  std::size_t behind_star = std::string_view::npos;
  std::size_t star_took = 0;  // the index in the text at which the match of the last star ends
  std::size_t i = 0;
  while (i < text.size()) {
    if (at < pattern.size() && pattern[at] == '*') {
      behind_star = ++at;
      star_took = i;
      continue;
    }
    const std::size_t next = take(pattern, at, text[i]);
    if (next != std::string_view::npos) {
      at = next;
      ++i;
      continue;
    }
    if (behind_star == std::string_view::npos) return false;
    at = behind_star;
    i = ++star_took;
  }
  while (at < pattern.size() && pattern[at] == '*')
    ++at;
  return at == pattern.size();
}

bool is_glob(std::string_view pattern) {
  std::size_t at = 0;
  while (at < pattern.size()) {
    at = pattern[at] == '[' ? bracket_end(pattern, at) : at + 1;
    if (at == std::string_view::npos) return false;
  }
  return true;
}

std::optional<RegexError> why_no_regex(std::string_view pattern) {
  return Regex(pattern).error();
}

Result<Selection> select_nodes(const Target& target, const std::vector<TargetNode>& nodes) {
  const Matcher matcher(target);
  std::set<std::string> reporting;
  std::set<std::string> others;
  std::set<std::string_view> known;
  for (const TargetNode& node : nodes) {
    known.insert(node.id);
    const Result<bool> meant = matcher.means(node);
    if (!meant) return meant.refusal();
    if (meant.value()) (node.reports ? reporting : others).insert(node.id);
  }
  // A list in a target may name a node that is not in `nodes`. Only its name is known, so this node
  // is selected if its name alone matches the target.
  for (const TargetTerm& term : target.terms) {
    for (const std::string& id : term.listed) {
      if (known.contains(id)) continue;
      const Result<bool> meant = matcher.means({.id = id});
      if (!meant) return meant.refusal();
      if (meant.value()) others.insert(id);
    }
  }
  return Selection{{reporting.begin(), reporting.end()}, {others.begin(), others.end()}};
}

}  // namespace fleet

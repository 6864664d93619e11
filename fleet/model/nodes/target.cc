#include "fleet/model/nodes/target.h"

#include <algorithm>
#include <optional>

#include "fleet/model/nodes/target_match.h"
#include "fleet/model/records/keys.h"

namespace fleet {
namespace {

using Kind = TargetTerm::Kind;

constexpr std::string_view white_space = " \t\r\n";

bool is_white(char c) {
  return white_space.find(c) != std::string_view::npos;
}

// A term or an operation of the expression, and its position in the expression.
struct Token {
  std::string text = {};
  std::size_t at = 0;
  bool quoted = false;  // a text in quotes is a term, even the text `and`
};

Refusal refuse(std::size_t at, const std::string& what) {
  return Refusal{"at byte " + std::to_string(at + 1) + ": " + what};
}

// Divides the expression into terms, operations and parentheses.
class Tokens {
 public:
  explicit Tokens(std::string_view text) : text_(text) {}

  Result<std::vector<Token>> cut() {
    std::vector<Token> tokens;
    while (skip_white()) {
      const char c = text_[at_];
      if (c == '(' || c == ')') {
        tokens.push_back({std::string(1, c), at_++, false});
        continue;
      }
      auto word = cut_word();
      if (!word) return word.refusal();
      tokens.push_back(std::move(word.value()));
    }
    return tokens;
  }

 private:
  bool skip_white() {
    while (at_ < text_.size() && is_white(text_[at_]))
      ++at_;
    return at_ < text_.size();
  }

  Result<Token> cut_word() {
    Token token{.at = at_};
    int open = 0;
    for (; at_ < text_.size() && !is_white(text_[at_]); ++at_) {
      const char c = text_[at_];
      if (c == '"') {
        const std::size_t end = text_.find('"', at_ + 1);
        if (end == std::string_view::npos) return refuse(at_, "a quote that does not end");
        token.text += text_.substr(at_ + 1, end - at_ - 1);
        token.quoted = true;
        at_ = end;
        continue;
      }
      if ((c == '(' || c == ')') && !token.text.starts_with("E@")) break;
      if (c == '(') ++open;
      if (c == ')' && open-- == 0) break;
      token.text += c;
    }
    return token;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

Result<TargetTerm> list_term(const Token& token) {
  TargetTerm term{.kind = Kind::list};
  std::size_t begin = 2;
  while (begin <= token.text.size()) {
    const std::size_t end = std::min(token.text.find(',', begin), token.text.size());
    std::string id = token.text.substr(begin, end - begin);
    if (!is_id(id)) return refuse(token.at, "L@ names \"" + id + "\", which is no id");
    term.listed.push_back(std::move(id));
    begin = end + 1;
  }
  std::sort(term.listed.begin(), term.listed.end());
  term.listed.erase(std::unique(term.listed.begin(), term.listed.end()), term.listed.end());
  return term;
}

Result<TargetTerm> glob_term(const Token& token, TargetTerm term) {
  if (term.pattern.empty()) return refuse(token.at, "a pattern is empty");
  if (!is_glob(term.pattern)) return refuse(token.at, "a [ without its ]");
  return term;
}

Result<TargetTerm> term_of(const Token& token) {
  const std::string_view text = token.text;
  if (text.starts_with("L@")) return list_term(token);
  if (text.starts_with("E@")) {
    if (text.size() == 2) return refuse(token.at, "E@ without an expression");
    if (const auto wrong = why_no_regex(text.substr(2))) {
      return refuse(token.at + 2 + wrong->at, wrong->what);
    }
    return TargetTerm{.kind = Kind::regex, .pattern = std::string(text.substr(2))};
  }
  if (text.starts_with("G@")) {
    const std::size_t colon = text.find(':');
    if (colon == std::string_view::npos || colon == 2) {
      return refuse(token.at, "G@ is followed by FACT:PATTERN");
    }
    return glob_term(token, {.kind = Kind::fact,
                             .key = std::string(text.substr(2, colon - 2)),
                             .pattern = std::string(text.substr(colon + 1))});
  }
  if (text.size() > 1 && text[1] == '@' && text[0] >= 'A' && text[0] <= 'Z') {
    return refuse(token.at,
                  "no such kind of target: " + token.text.substr(0, 2) + " (there are E@, L@, G@)");
  }
  return glob_term(token, {.kind = Kind::glob, .pattern = token.text});
}

// Puts each operation after the terms that it combines (Dijkstra's shunting yard algorithm).
class Parser {
 public:
  Result<Target> parse(const std::vector<Token>& tokens, std::size_t end) {
    for (const Token& token : tokens) {
      if (auto wrong = take(token)) return *wrong;
      if (target_.terms.size() > target_terms_max) {
        return refuse(token.at, "more than " + std::to_string(target_terms_max) + " terms");
      }
    }
    if (operand_wanted_) return refuse(end, "a target was expected");
    while (!waiting_.empty()) {
      if (waiting_.back().text == "(") return refuse(waiting_.back().at, "a ( without its )");
      apply_last();
    }
    return target_;
  }

 private:
  static int strength(const Token& token) {
    if (token.text == "not") return 3;
    if (token.text == "and") return 2;
    if (token.text == "or") return 1;
    return 0;  // an open parenthesis is weaker than all operations
  }

  void apply_last() {
    const int by = strength(waiting_.back());
    target_.terms.push_back({.kind = by == 3   ? Kind::negation
                                     : by == 2 ? Kind::conjunction
                                               : Kind::disjunction});
    waiting_.pop_back();
  }

  std::optional<Refusal> take(const Token& token) {
    const bool word = !token.quoted;
    if (word && (token.text == "and" || token.text == "or")) return take_operation(token);
    if (word && token.text == ")") return close(token);
    if (!operand_wanted_) return refuse(token.at, "and, or or ) was expected");
    if (word && (token.text == "(" || token.text == "not")) {
      waiting_.push_back(token);
      return std::nullopt;
    }
    auto term = term_of(token);
    if (!term) return term.refusal();
    target_.terms.push_back(std::move(term.value()));
    operand_wanted_ = false;
    return std::nullopt;
  }

  std::optional<Refusal> take_operation(const Token& token) {
    if (operand_wanted_) return refuse(token.at, "a target was expected");
    while (!waiting_.empty() && strength(waiting_.back()) >= strength(token))
      apply_last();
    waiting_.push_back(token);
    operand_wanted_ = true;
    return std::nullopt;
  }

  std::optional<Refusal> close(const Token& token) {
    if (operand_wanted_) return refuse(token.at, "a target was expected");
    while (!waiting_.empty() && waiting_.back().text != "(")
      apply_last();
    if (waiting_.empty()) return refuse(token.at, "a ) without its (");
    waiting_.pop_back();
    return std::nullopt;
  }

  Target target_;
  std::vector<Token> waiting_;
  bool operand_wanted_ = true;
};

}  // namespace

Result<Target> parse_target(std::string_view text) {
  if (text.size() > target_bytes_max) {
    return refuse(target_bytes_max,
                  "a target has at most " + std::to_string(target_bytes_max) + " bytes");
  }
  const auto tokens = Tokens(text).cut();
  if (!tokens) return tokens.refusal();
  return Parser().parse(tokens.value(), text.size());
}

}  // namespace fleet

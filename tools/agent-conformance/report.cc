#include "tools/agent-conformance/report.h"

#include <array>
#include <cstdio>
#include <sstream>

#include "tools/agent-conformance/messages.h"

namespace conformance {

// ---- the report in plain text, for people who do not know the protocol yet

namespace {

using Verdict = Result::Verdict;

constexpr std::size_t columns = 96;

// Breaks a text into lines. The first line begins with `head`. The other lines are indented by the
// width of `head`.
std::string wrapped(const std::string& head, const std::string& text) {
  std::string result = head;
  const std::string margin(head.size(), ' ');
  std::size_t column = head.size();
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    if (column > head.size() && column + 1 + word.size() > columns) {
      result += "\n" + margin;
      column = head.size();
    }
    if (column > head.size()) result += ' ';
    result += word;
    column += word.size() + 1;
  }
  return result + "\n";
}

std::string quote_in_words(const Quote& quote) {
  return wrapped("  agent-protocol(7):  ",
                 "\"" + std::string(quote.sentence) + "\" (" + std::string(quote.section) + ")");
}

std::string conversation(const Result& result) {
  std::string text =
      "  The conversation, in seconds; 1> is what it said, 1< what it was told, 1! "
      "what it\n  wrote to standard error:\n";
  for (const std::string& line : result.transcript.lines())
    text += "  " + line + "\n";
  return text;
}

std::string fault_in_words(const Result& result) {
  const Check& check = *result.check;
  return wrapped("  What was done:      ", std::string(check.doing)) +
         wrapped("  What was expected:  ", std::string(check.expected)) +
         quote_in_words(quote_of(result)) + wrapped("  What came instead:  ", result.fault.came) +
         conversation(result) + "\n";
}

std::string notes_in_words(const Result& result) {
  std::string text;
  for (const std::string& note : result.notes)
    text += wrapped("    note: ", note);
  return text;
}

}  // namespace

std::string in_words(const Result& result) {
  const std::string name(result.check->name);
  switch (result.verdict) {
    case Verdict::passed:
      return "ok          " + name + "\n" + notes_in_words(result);
    case Verdict::not_judged:
      return "not judged  " + name + ": it needs what the check " + std::string(result.missing) +
             " looks for\n";
    case Verdict::failed:
      return "WRONG       " + name + "\n" + fault_in_words(result) + notes_in_words(result);
    case Verdict::advised:
      break;
  }
  return "advice      " + name + ": no upgrader of today needs this, a later one may\n" +
         fault_in_words(result) + notes_in_words(result);
}

bool conforms(const Results& results) {
  return count(results, Verdict::failed) == 0 && count(results, Verdict::not_judged) == 0;
}

std::string sum_in_words(const Subject& subject, const Results& results) {
  const std::size_t failed = count(results, Verdict::failed);
  const std::size_t open = count(results, Verdict::not_judged);
  std::string agent;
  for (const std::string& word : subject.command)
    agent += (agent.empty() ? "" : " ") + shown(word);
  if (conforms(results)) {
    return agent + " conforms to agent-protocol(7), version 1, as far as " +
           std::to_string(results.size()) + (results.size() == 1 ? " check" : " checks") +
           " can tell.\n";
  }
  std::string text = agent + " does not conform to agent-protocol(7), version 1: of " +
                     std::to_string(results.size()) + " checks " + std::to_string(failed) +
                     " found something wrong";
  if (open > 0) text += ", and " + std::to_string(open) + " could not be judged because of that";
  return text + ".\n";
}

std::string described(const std::vector<const Check*>& checks) {
  std::string text;
  for (const Check* check : checks) {
    if (!text.empty()) text += "\n";
    text += std::string(check->name) + (check->is_advice ? " (advice)" : "") + "\n";
    text += wrapped("  What is done:       ", std::string(check->doing));
    text += wrapped("  What is expected:   ", std::string(check->expected));
    for (const Quote& quote : check->quotes)
      text += quote_in_words(quote);
  }
  return text;
}

// ---- the reports for programs: TAP 13, JUnit's XML, JSON

namespace {

std::string seconds(Time time) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.3f", static_cast<double>(time.count()) / 1'000'000);
  return text.data();
}

// Escapes a text for XML. shown() has already made the strings of agents valid UTF-8 without
// control characters. Of the remaining characters XML forbids only U+FFFE and U+FFFF, which become
// `?`.
std::string xml(std::string_view text) {
  std::string result;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    const bool is_no_character =
        text.substr(at).starts_with("\xef\xbf\xbe") || text.substr(at).starts_with("\xef\xbf\xbf");
    if (is_no_character) {
      result += '?';
      at += 2;
    } else if (c == '<') {
      result += "&lt;";
    } else if (c == '>') {
      result += "&gt;";
    } else if (c == '&') {
      result += "&amp;";
    } else if (c == '"') {
      result += "&quot;";
    } else if (c == '\n') {
      result += "&#10;";
    } else {
      result += c;
    }
  }
  return result;
}

std::string commented(const std::string& text) {
  std::string result;
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = text.find('\n', begin);
    result += "# " + text.substr(begin, end - begin) + "\n";
    if (end == std::string::npos) break;
    begin = end + 1;
  }
  return result;
}

std::string list(const std::vector<std::string>& texts) {
  std::string result;
  for (const std::string& text : texts)
    result += (result.empty() ? "" : ",") + text;
  return "[" + result + "]";
}

std::string quote_as_json(const Quote& quote) {
  return Object().text("section", quote.section).text("sentence", quote.sentence).json();
}

const char* verdict_name(Verdict verdict) {
  switch (verdict) {
    case Verdict::passed:
      return "passed";
    case Verdict::failed:
      return "failed";
    case Verdict::advised:
      return "advised";
    case Verdict::not_judged:
      break;
  }
  return "not judged";
}

std::vector<std::string> as_texts(const std::vector<std::string>& lines) {
  std::vector<std::string> result;
  for (const std::string& line : lines)
    result.push_back(conformance::quoted(shown_whole(line)));
  return result;
}

std::string result_as_json(const Result& result) {
  Object object;
  object.text("name", result.check->name)
      .text("verdict", verdict_name(result.verdict))
      .raw("seconds", seconds(result.took));
  if (!result.notes.empty()) object.raw("notes", list(as_texts(result.notes)));
  if (result.verdict == Verdict::not_judged) object.text("needs", result.missing);
  if (result.verdict != Verdict::failed && result.verdict != Verdict::advised) {
    return object.json();
  }
  return object.text("done", result.check->doing)
      .text("expected", result.check->expected)
      .raw("page", quote_as_json(quote_of(result)))
      .text("came", result.fault.came)
      .raw("conversation", list(as_texts(result.transcript.lines())))
      .json();
}

std::string case_as_junit(const Result& result) {
  std::string text = "  <testcase classname=\"agent-conformance\" name=\"" +
                     xml(result.check->name) + "\" time=\"" + seconds(result.took) + "\"";
  if (result.verdict == Verdict::not_judged) {
    return text + "><skipped message=\"it needs what the check " + xml(result.missing) +
           " looks for\"/></testcase>\n";
  }
  if (result.verdict == Verdict::failed) {
    return text + "><failure message=\"" + xml(result.fault.came) + "\">" + xml(in_words(result)) +
           "</failure></testcase>\n";
  }
  if (result.notes.empty() && result.verdict == Verdict::passed) return text + "/>\n";
  return text + "><system-out>" + xml(in_words(result)) + "</system-out></testcase>\n";
}

}  // namespace

std::string tap_head(std::size_t checks) {
  return "TAP version 13\n1.." + std::to_string(checks) + "\n";
}

std::string as_tap(std::size_t number, const Result& result) {
  const std::string line = std::to_string(number) + " - " + std::string(result.check->name);
  const std::string words = in_words(result);
  const std::string details = words.substr(words.find('\n') + 1);
  switch (result.verdict) {
    case Verdict::passed:
      return "ok " + line + "\n" + commented(details);
    case Verdict::failed:
      return "not ok " + line + "\n" + commented(details);
    case Verdict::advised:
      return "not ok " + line +
             " # TO"
             "DO advice\n" +
             commented(details);
    case Verdict::not_judged:
      break;
  }
  return "ok " + line + " # SKIP it needs what the check " + std::string(result.missing) +
         " looks for\n";
}

std::string as_junit(const Subject& subject, const Results& results) {
  Time total{0};
  std::string cases;
  for (const Result& result : results) {
    total += result.took;
    cases += case_as_junit(result);
  }
  return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"agent-conformance " +
         xml(shown(subject.command.front())) + "\" tests=\"" + std::to_string(results.size()) +
         "\" failures=\"" + std::to_string(count(results, Verdict::failed)) +
         "\" errors=\"0\" skipped=\"" + std::to_string(count(results, Verdict::not_judged)) +
         "\" time=\"" + seconds(total) + "\">\n" + cases + "</testsuite>\n";
}

std::string as_json(const Subject& subject, const Results& results) {
  std::vector<std::string> checks;
  for (const Result& result : results)
    checks.push_back(result_as_json(result));
  return Object()
      .raw("agent", list(as_texts(subject.command)))
      .text("version", subject.kit_version)
      .boolean("conforms", conforms(results))
      .raw("checks", list(checks))
      .line();
}

std::string described_as_json(const std::vector<const Check*>& checks) {
  std::vector<std::string> descriptions;
  for (const Check* check : checks) {
    std::vector<std::string> quotes;
    for (const Quote& quote : check->quotes)
      quotes.push_back(quote_as_json(quote));
    descriptions.push_back(Object()
                               .text("name", check->name)
                               .boolean("advice", check->is_advice)
                               .text("done", check->doing)
                               .text("expected", check->expected)
                               .raw("page", list(quotes))
                               .json());
  }
  return Object().raw("checks", list(descriptions)).line();
}

}  // namespace conformance

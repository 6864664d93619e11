// The report in plain text, for people who do not know the protocol yet.
#include <sstream>

#include "tools/agent-conformance/messages.h"
#include "tools/agent-conformance/report.h"

namespace conformance {

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

}  // namespace conformance

// Prints the notes of the second table (second_words.h). Equal notes have equal texts. The texts
// are short, because the exploration makes one at every step.
#include <charconv>

#include "tests/decisions/explore/second_words.h"

namespace upgrader::test {
namespace {

using namespace agent_protocol;

class Printer {
 public:
  Printer() { text_.reserve(160); }

  void put(std::int64_t number) {
    char digits[24];
    const auto end = std::to_chars(digits, digits + sizeof digits - 1, number);
    *end.ptr = ' ';
    text_.append(digits, end.ptr + 1);
  }
  void put(const std::string& text) { text_.append(text).push_back(' '); }
  template <class Value>
  void put(const std::optional<Value>& value) {
    if (value) return put(*value);
    text_.append("- ");
  }
  void put(Duration time) { put(static_cast<std::int64_t>(time.count())); }

  void put(const Party& party);
  void put(const Failure& failure);
  void put(const Request& request);

  [[nodiscard]] std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

void Printer::put(const Party& party) {
  put(party.generation);
  if (party.generation == 0) return;
  put(static_cast<std::int64_t>(party.role));
  put(static_cast<std::int64_t>(party.program));
  put(party.version);
  put(party.limit);
  put(party.grace);
  put(party.beat);
  put(party.hello);
  put(party.lasts);
  put(std::int64_t{party.stood_by} * 32 + std::int64_t{party.told_why} * 16 +
      std::int64_t{party.promises_word} * 8 + std::int64_t{party.works} * 4 +
      std::int64_t{party.silent} * 2 + std::int64_t{party.left_unfit});
}

void Printer::put(const Failure& failure) {
  put(static_cast<std::int64_t>(failure.stage));
  put(failure.exit_status);
  put(failure.signal);
  put(failure.errno_name);
}

void Printer::put(const Request& request) {
  put(request.id);
  if (request.id.empty()) return;
  const Terms& terms = request.terms;
  std::int64_t flags = 0;
  for (const bool flag :
       {request.by_signal, request.by_control, request.of_agent, request.told,
        terms.mode == Mode::sequential, terms.gate == Gate::confirm,
        terms.commit == CommitRule::healthy, terms.on_unclean_stop == UncleanStop::carry_on,
        terms.fallback == FallbackMode::warm}) {
    flags = flags * 2 + flag;
  }
  put(flags);
  for (const Duration limit :
       {terms.start_timeout, terms.confirm_timeout, terms.stop_timeout, terms.trial})
    put(limit);
  put(request.generation);
  put(static_cast<std::int64_t>(request.program));
  put(static_cast<std::int64_t>(request.previous));
  put(request.previous_version);
  put(request.failed_version);
  put(request.limit);
  put(request.cause);
  put(request.boot.has_value());
  if (!request.boot) return;
  put(request.boot->failure);
  put(request.boot->version);
}

}  // namespace

std::string print(const Notes& notes) {
  Printer printer;
  printer.put(notes.a);
  printer.put(notes.b);
  printer.put(notes.last);
  printer.put(notes.request);
  printer.put(std::int64_t{notes.clean} * 2 + std::int64_t{notes.attempts_over});
  printer.put(notes.left);
  printer.put(std::int64_t{notes.end});
  printer.put(notes.verdict ? std::int64_t{*notes.verdict} : -1);
  return printer.take();
}

}  // namespace upgrader::test

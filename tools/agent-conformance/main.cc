// The program agent-conformance: performs the chosen checks, and prints the results.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <iostream>

#include "base/version.h"
#include "tools/agent-conformance/agent_process.h"
#include "tools/agent-conformance/checks.h"
#include "tools/agent-conformance/options.h"
#include "tools/agent-conformance/report.h"
#include "tools/agent-conformance/stage.h"

namespace conformance {

namespace {

// When a check is repeated, the stop timeout and the time for which the agent is watched are
// multiplied by this factor. A check that depends on time is repeated if it finds a fault, because
// a loaded machine may have caused the fault.
constexpr int second_patience = 4;

bool names(const std::vector<std::string>& list, std::string_view name) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

std::vector<const Check*> chosen_checks(const Options& options) {
  std::vector<const Check*> chosen;
  for (const Check& check : all_checks()) {
    const bool is_wanted = options.only.empty() || names(options.only, check.name);
    if (is_wanted && !names(options.skip, check.name)) chosen.push_back(&check);
  }
  return chosen;
}

class Runner {
 public:
  explicit Runner(const Options& options) : options_(options), checks_(chosen_checks(options)) {}

  int run() {
    print_head();
    for (const Check* check : checks_) {
      Result result = make(*check);
      if (!not_started_.empty()) {
        std::cerr << "agent-conformance: " << options_.command.front()
                  << " cannot be started: " << not_started_ << "\n";
        return exit_cannot_be_made;
      }
      if (signal_ != 0) {
        std::cerr << "agent-conformance: interrupted; the agent has been killed\n";
        return exit_signal_base + signal_;
      }
      results_.push_back(std::move(result));
      print(results_.back());
    }
    return print_end();
  }

 private:
  Result make(const Check& check) {
    Result result{.check = &check, .fault = {}, .missing = {}, .notes = {}, .transcript = {}};
    if (const auto missing = missing_need(check, results_)) {
      result.verdict = Result::Verdict::not_judged;
      result.missing = *missing;
      return result;
    }
    play(check, options_.terms, result);
    if (result.verdict != Result::Verdict::passed && check.twice && signal_ == 0) {
      Terms longer = options_.terms;
      longer.stop_timeout *= second_patience;
      longer.watch *= second_patience;
      play(check, longer, result);
    }
    return result;
  }

  void play(const Check& check, const Terms& terms, Result& result) {
    const std::uint64_t begin = uv_hrtime();
    Play play(check, terms);
    signal_ = Stage(options_.command).play(play, ends_at_end_of_input());
    not_started_ = play.not_started();
    result.verdict = Result::Verdict::passed;
    if (play.fault()) {
      result.verdict = check.is_advice ? Result::Verdict::advised : Result::Verdict::failed;
      result.fault = *play.fault();
    }
    result.notes = play.notes();
    result.transcript = play.transcript();
    result.took += std::chrono::duration_cast<Time>(std::chrono::nanoseconds(uv_hrtime() - begin));
  }

  // Returns false if a check has found that the agent does not exit when its input ends, and true
  // otherwise. After such a finding, the agents of later checks are killed immediately, without
  // time to exit.
  [[nodiscard]] bool ends_at_end_of_input() const {
    return std::none_of(results_.begin(), results_.end(), [](const Result& result) {
      const std::string_view name = result.check->name;
      return result.verdict == Result::Verdict::failed &&
             (name == "held-end-of-input" || name == "active-end-of-input");
    });
  }

  void print_head() const {
    if (options_.form == Options::Form::tap) std::cout << tap_head(checks_.size());
    std::cout.flush();
  }

  void print(const Result& result) const {
    if (options_.form == Options::Form::text) std::cout << in_words(result);
    if (options_.form == Options::Form::tap) std::cout << as_tap(results_.size(), result);
    std::cout.flush();
  }

  [[nodiscard]] int print_end() const {
    const Subject subject{.command = options_.typed, .kit_version = upgrader::upgrader_version};
    if (options_.form == Options::Form::text) std::cout << sum_in_words(subject, results_);
    if (options_.form == Options::Form::json) std::cout << as_json(subject, results_);
    std::cout.flush();
    if (!options_.junit.empty() && !write_junit(subject)) return exit_cannot_be_made;
    return conforms(results_) ? exit_conforms : exit_does_not_conform;
  }

  [[nodiscard]] bool write_junit(const Subject& subject) const {
    std::ofstream file(options_.junit);
    file << as_junit(subject, results_);
    file.close();
    if (file) return true;
    std::cerr << "agent-conformance: cannot write " << options_.junit << "\n";
    return false;
  }

  const Options& options_;
  std::vector<const Check*> checks_;
  Results results_;
  std::string not_started_;
  int signal_ = 0;  // the signal that has ended a check, or 0
};

int print_description(const Options& options) {
  const auto checks = chosen_checks(options);
  std::cout << (options.form == Options::Form::json ? described_as_json(checks)
                                                    : described(checks));
  return exit_conforms;
}

int check(Options options) {
  const std::string wrong = resolve(options.command);
  if (!wrong.empty()) {
    std::cerr << "agent-conformance: the agent cannot be started: " << wrong << "\n";
    return exit_cannot_be_made;
  }
  ::signal(SIGPIPE, SIG_IGN);
  options.terms.has_strace = strace_works();
  return Runner(options).run();
}

int run(const std::vector<std::string>& args) {
  auto parsed = parse_options(args);
  if (const auto* error = std::get_if<UsageError>(&parsed)) {
    std::cerr << "agent-conformance: " << error->what << "; see agent-conformance --help\n";
    return exit_usage;
  }
  Options& options = std::get<Options>(parsed);
  switch (options.deed) {
    case Options::Deed::help:
      std::cout << help_text();
      return exit_conforms;
    case Options::Deed::version:
      std::cout << "agent-conformance " << upgrader::upgrader_version << "\n";
      return exit_conforms;
    case Options::Deed::describe:
      return print_description(options);
    case Options::Deed::check:
      break;
  }
  return check(std::move(options));
}

// Opens /dev/null on each standard descriptor that is closed. Otherwise a pipe of an agent could
// get the number of such a descriptor. /dev/null is opened only for reading, so that printing fails
// as it would on a closed descriptor.
void fill_standard_descriptors() {
  int fd = ::open("/dev/null", O_RDONLY);
  while (fd >= 0 && fd <= STDERR_FILENO)
    fd = ::dup(fd);
  if (fd > STDERR_FILENO) ::close(fd);
}

}  // namespace

}  // namespace conformance

int main(int argc, char** argv) {
  conformance::fill_standard_descriptors();
  const int status = conformance::run({argv + 1, argv + argc});
  if (std::cout.flush()) return status;
  std::cerr << "agent-conformance: cannot write standard output\n";
  return conformance::exit_cannot_be_made;
}

// A fixture with a control directory, the event loop that reads requests from the directory, and a
// supervisor whose status the directory shows.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <uv.h>

#include <catch2/catch.hpp>
#include <optional>
#include <string>
#include <vector>

#include "tests/support/bench.h"
#include "tests/support/temporary_directory.h"
#include "upgrader/shell/control.h"

// At the start of a test, the control directory is open. No request is read before the test calls
// take(). The supervisor has an active agent. All programs of the fixture are /bin/true.
class Desk {
 public:
  Desk() {
    REQUIRE(uv_loop_init(&loop) == 0);
    bench.reach(upgrader::Phase::running);
    for (int i = 0; i < 4; ++i)
      (void)programs_.add(std::move(upgrader::check_program("/bin/true", "true", {}).value()));
    control.emplace(logbook_, programs_, previous_, attempt_);
    REQUIRE(control->open(directory / "ctl") == "");
  }
  ~Desk() {
    control.reset();
    uv_run(&loop, UV_RUN_DEFAULT);
    CHECK(uv_loop_close(&loop) == 0);
  }
  Desk(const Desk&) = delete;
  Desk& operator=(const Desk&) = delete;

  // Claims the control directory, so that its requests are read. After this, settle() reads lines
  // from the directory's FIFO. The tests must write only lines that are not valid requests. For
  // each such line, the text that the upgrader would log is appended to `shown`.
  bool take() {
    return control->claim(
        &loop, [](const auto&) { FAIL("a request"); },
        [this](const upgrader::Notice& notice) { shown.push_back(notice.text); }, [] {});
  }
  // Replaces the supervisor with a new supervisor that is in this phase.
  void reach(upgrader::Phase phase) {
    bench = upgrader::test::Bench();
    bench.reach(phase);
  }
  void settle(upgrader::Time now) { control->settle(bench.state(), now); }
  // Returns whether status.json names this phase.
  [[nodiscard]] bool says(const std::string& phase) const {
    return content_of(directory / "ctl/status.json").find("\"phase\":\"" + phase + "\"") !=
           std::string::npos;
  }
  // Returns the text of the log, which has only warnings and errors in this fixture.
  [[nodiscard]] std::string told() const {
    char text[4'096];
    const ssize_t bytes = ::pread(log_.get(), text, sizeof text, 0);
    return {text, bytes > 0 ? static_cast<std::size_t>(bytes) : 0};
  }

  TemporaryDirectory directory;
  upgrader::test::Bench bench;
  uv_loop_t loop{};
  std::optional<upgrader::Control> control;
  std::vector<std::string> shown;

 private:
  upgrader::OwnedFd log_{::memfd_create("log", MFD_CLOEXEC)};
  upgrader::Programs programs_;
  std::optional<std::string> previous_;
  upgrader::Attempts attempt_;
  upgrader::Logbook logbook_{upgrader::LogLevel::warning, nullptr, log_.get()};
};

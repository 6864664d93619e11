// Runs the upgrader's loop in the test's own process.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <string>

#include "base/lock.h"
#include "base/owned_fd.h"
#include "upgrader/shell/init_system.h"
#include "upgrader/shell/log.h"
#include "upgrader/shell/loop.h"

// The result of running the upgrader's loop: the exit status, and the errors in the log.
struct RunOutcome {
  int status = 0;
  std::string told;
};

inline RunOutcome outcome_of_running(const upgrader::Options& options,
                                     upgrader::LogLevel level = upgrader::LogLevel::error,
                                     upgrader::Lock* lock = nullptr) {
  const upgrader::OwnedFd log(::memfd_create("log", MFD_CLOEXEC));
  REQUIRE(log);
  upgrader::Logbook logbook(level, nullptr, log.get());
  upgrader::InitSystem init_system(nullptr);
  upgrader::Loop loop(options, logbook, init_system, lock);
  const int status = loop.run({});
  char text[4'096];
  const ssize_t bytes = ::pread(log.get(), text, sizeof text, 0);
  return {status, {text, bytes > 0 ? static_cast<std::size_t>(bytes) : 0}};
}

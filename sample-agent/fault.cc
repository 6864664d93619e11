// The faults of the faulty variants of this agent. A real agent has no such file.
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>

#include "sample-agent/copier.h"
#include "sample-agent/file.h"
#include "sample-agent/variant.h"

namespace sample_agent {
namespace {

[[noreturn]] void crash() {
  const rlimit no_core{.rlim_cur = 0, .rlim_max = 0};
  setrlimit(RLIMIT_CORE, &no_core);
  std::abort();
}

[[noreturn]] void hang() {
  // Let the kernel kill this agent when the upgrader dies: otherwise an agent that hangs would stay
  // for ever.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  while (true)
    pause();
}

void append(const Configuration& configuration, const std::string& text) {
  const auto output = File::open(configuration.output, O_WRONLY | O_APPEND | O_CREAT);
  if (output && !output.value().write(text)) crash();
}

void write_too_early(const Configuration& configuration) {
  std::string text;
  append_record(text, {.number = 1,
                       .version = variant.version.text(),
                       .time_us = now_us(),
                       .line = "written too early"});
  append(configuration, text);
}

}  // namespace

void misbehave_at_start(const Configuration& configuration) {
  if (variant.fault == Fault::crash_at_start) crash();
  if (variant.fault == Fault::hang_at_start) hang();
  if (variant.fault == Fault::writes_too_early) write_too_early(configuration);
}

void crash_while_writing(const Configuration& configuration) {
  append(configuration, "17 " + variant.version.text() + " torn");
  crash();
}

}  // namespace sample_agent

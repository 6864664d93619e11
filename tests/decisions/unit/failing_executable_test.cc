// Tests the judgement of a program whose disk fails. The error must say that the program cannot be
// read, and not that the program is bad.
#include "base/executable.h"

#include <fcntl.h>

#include "base/owned_fd.h"
#include "tests/decisions/unit/failing_calls.h"
#include "tests/decisions/unit/temporary_directory.h"

namespace failing_executable_test {

using namespace upgrader;

namespace {

// Judges the program at `path`. Its first `reads_before` reads of that file succeed, all others
// fail with EIO. Returns the refusal.
agent_protocol::Refusal refusal_of(const std::string& path, int reads_before) {
  const OwnedFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  const Failing failing(Call::pread, EIO, reads_before);
  const auto judged = judge_executable(fd.get());
  INFO("after " << reads_before << " reads");
  CHECK(failing.fired());
  const auto* const refusal = judged ? nullptr : &judged.refusal();
  if (refusal == nullptr) FAIL("it is no program that can be read, and was taken");
  return *refusal;
}

const std::string unreadable = "cannot be read: Input/output error (EIO)";

}  // namespace

TEST_CASE("a program that cannot be read is not called truncated, wherever reading fails") {
  // To judge this program, four reads are made: of the first bytes, the header, the table of
  // segments and the loader's name.
  for (int reads = 0; reads < 4; ++reads) {
    const agent_protocol::Refusal refusal = refusal_of("/proc/self/exe", reads);
    CHECK(refusal.error_number == EIO);
    CHECK(refusal.reason == unreadable);
  }
}

TEST_CASE("a loader that cannot be read is not called a bad one") {
  const agent_protocol::Refusal refusal = refusal_of("/proc/self/exe", 4);

  CHECK(refusal.error_number == EIO);
  CHECK(refusal.reason.starts_with("its loader /"));
  CHECK(refusal.reason.ends_with(unreadable));
}

TEST_CASE("an interpreter that cannot be read is told as such") {
  const TemporaryDirectory directory;
  const std::string script = directory.write("script", "#!/bin/sh\n");

  constexpr int its_own_reads = 2;  // reads of the script itself; the second finds its end
  const agent_protocol::Refusal refusal = refusal_of(script, its_own_reads);

  CHECK(refusal.error_number == EIO);
  CHECK(refusal.reason == "its interpreter /bin/sh " + unreadable);
}

}  // namespace failing_executable_test

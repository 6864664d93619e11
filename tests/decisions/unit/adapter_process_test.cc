// Tests how an adapter is started. An adapter is a program that is started instead of the agent's
// program. From its arguments, environment variables and descriptors, the adapter learns which
// program it must run as the agent.
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "base/descriptors.h"
#include "base/process.h"
#include "tests/decisions/unit/processes.h"

namespace adapter_process_test {

using namespace upgrader;

namespace {

using Words = std::vector<std::string>;

const std::string echo = "while read -r line; do echo $line; done";

// Returns the setting for a child process that is started with an adapter. The adapter is a shell
// that echoes each line that it reads.
ChildSetting with_adapter(const std::string& path = "/bin/sh") {
  return {.environment = {.entries = {"A=1"}, .listen_pid = std::nullopt},
          .passed = 0,
          .adapter = program_of(path, {"-c", echo})};
}

// Starts an agent as the upgrader does if it has an adapter: executes the adapter, and not the
// agent's program. The destructor kills and reaps the adapter.
class Adapter {
 public:
  Adapter(const Program& program, const ChildSetting& setting) {
    auto result = start_process(program, setting);
    if (const auto* failure = std::get_if<StartFailed>(&result)) {
      FAIL("not started: errno " << failure->error);
    }
    started_ = std::get<Started>(std::move(result));
    REQUIRE(::write(started_.input.get(), "x\n", 2) == 2);
    REQUIRE(read_from(started_.output.get(), 2) == "x\n");
  }
  Adapter(const Adapter&) = delete;
  Adapter& operator=(const Adapter&) = delete;
  ~Adapter() {
    ::kill(started_.pid, SIGKILL);
    ::waitpid(started_.pid, nullptr, 0);
  }

  [[nodiscard]] Words argv() const { return texts_of(started_.pid, "cmdline"); }
  [[nodiscard]] Words environment() const { return texts_of(started_.pid, "environ"); }
  [[nodiscard]] std::map<int, std::string> descriptors() const {
    return descriptors_of(started_.pid);
  }
  // Returns the inode of a file that the adapter uses. `place` is a link below the adapter's
  // /proc/PID, such as "/exe" for its program. Works even if the file has been deleted.
  [[nodiscard]] ino_t inode_of(const std::string& place) const {
    struct stat status {};
    REQUIRE(::stat(("/proc/" + std::to_string(started_.pid) + place).c_str(), &status) == 0);
    return status.st_ino;
  }

 private:
  Started started_;
};

ino_t inode_of(const std::string& path) {
  struct stat status {};
  REQUIRE(::stat(path.c_str(), &status) == 0);
  return status.st_ino;
}

}  // namespace

TEST_CASE("an adapter has its own arguments, two dashes, and the command line that it replaces") {
  const Program program = program_of("/bin/true", {"b", "", "--"});

  const Adapter adapter(program, with_adapter());

  CHECK(adapter.argv() == Words{"/bin/sh", "-c", echo, "--", "/bin/true", "b", "", "--"});
  CHECK(adapter.inode_of("/exe") == inode_of("/bin/sh"));
}

TEST_CASE("an adapter is told the program's path, and has an open descriptor of the very file") {
  mark_close_on_exec_from(first_passed_descriptor);
  const TemporaryDirectory directory;
  const std::string path = directory.write("daemon", content_of("/bin/true"));
  const ino_t file = inode_of(path);
  const Program program = program_of(directory.link("link", path));
  const bool replaced = GENERATE(false, true);
  if (replaced) std::filesystem::rename(directory.write("new", "other"), path);

  const Adapter adapter(program, with_adapter());

  const std::string number = std::to_string(program.descriptor.get());
  CHECK(adapter.environment() ==
        Words{"A=1", "AGENT_PROTOCOL_PROGRAM=" + path, "AGENT_PROTOCOL_PROGRAM_FD=" + number});
  CHECK(adapter.descriptors().size() == 4);
  CHECK(adapter.inode_of("/fd/" + number) == file);
  CHECK((::fcntl(program.descriptor.get(), F_GETFD) & FD_CLOEXEC) != 0);
}

TEST_CASE("an adapter gets a program that cannot be read as a path that is open") {
  mark_close_on_exec_from(first_passed_descriptor);
  const TemporaryDirectory directory;
  REQUIRE(::chmod(directory.path().c_str(), 0755) == 0);
  const std::string path = directory.write("daemon", content_of("/bin/true"), 0111);
  const bool root = ::geteuid() == 0;
  if (root) REQUIRE(::seteuid(65534) == 0);
  const Program program = program_of(path);
  if (root) REQUIRE(::seteuid(0) == 0);

  const Adapter adapter(program, with_adapter());

  const std::string number = std::to_string(program.descriptor.get());
  CHECK(adapter.environment().back() == "AGENT_PROTOCOL_PROGRAM_FD=" + number);
  CHECK(adapter.inode_of("/fd/" + number) == inode_of(path));
  CHECK((::fcntl(program.descriptor.get(), F_GETFL) & O_PATH) != 0);
}

TEST_CASE("an adapter gets the path of a script, and no descriptor") {
  mark_close_on_exec_from(first_passed_descriptor);
  const TemporaryDirectory directory;
  const Program script = program_of(directory.write("script", "#!/bin/sh\n"));

  const Adapter adapter(script, with_adapter());

  CHECK(adapter.environment() == Words{"A=1", "AGENT_PROTOCOL_PROGRAM=" + directory / "script"});
  CHECK(adapter.descriptors().size() == 3);
}

TEST_CASE("a script whose path no longer names it is not given to an adapter") {
  const TemporaryDirectory directory;
  const std::string path = directory.write("script", "#!/bin/sh\n");
  const Program script = program_of(path);
  std::filesystem::rename(directory.write("new", "#!/bin/sh\n"), path);

  const auto result = start_process(script, with_adapter());

  CHECK(std::get<StartFailed>(result) == StartFailed{.error = ESTALE, .exec_failed = true});
}

TEST_CASE("an adapter whose file was replaced is started as it was; a script is not") {
  const TemporaryDirectory directory;
  const Program program = program_of("/bin/true");
  const std::string path = directory / "adapter";

  SECTION("a program") {
    directory.write("adapter", content_of("/bin/sh"));
    const ino_t file = inode_of(path);
    const ChildSetting setting = with_adapter(path);
    std::filesystem::rename(directory.write("new", "other"), path);
    const Adapter adapter(program, setting);
    CHECK(adapter.inode_of("/exe") == file);
  }
  SECTION("a script") {
    directory.write("adapter", "#!/bin/sh\n");
    const ChildSetting setting = with_adapter(path);
    std::filesystem::rename(directory.write("new", "#!/bin/sh\n"), path);
    const auto result = start_process(program, setting);
    CHECK(std::get<StartFailed>(result) == StartFailed{.error = ESTALE, .exec_failed = true});
  }
}

}  // namespace adapter_process_test

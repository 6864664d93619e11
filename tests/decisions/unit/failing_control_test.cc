// Tests the control directory and the file of --attempts while file system calls fail, which is
// rare in reality. Such a failure loses a request or a new status. One log line must report the
// loss, and the old file must stay.
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include <csignal>
#include <filesystem>
#include <set>

#include "base/json_line.h"
#include "tests/decisions/unit/control_desk.h"
#include "tests/decisions/unit/failing_calls.h"
#include "upgrader/shell/agents.h"
#include "upgrader/shell/attempts_file.h"

namespace failing_control_test {

namespace {

using namespace upgrader;
using namespace upgrader::test;
using namespace std::chrono_literals;

int times_told(const Desk& desk, const std::string& what) {
  const std::string all = desk.told();
  int times = 0;
  for (std::size_t at = 0; (at = all.find(what, at)) != std::string::npos; ++at)
    ++times;
  return times;
}

// Returns the text that must be logged for a line of the FIFO that is not JSON.
std::string said_of(const std::string& line) {
  const Result<agent_protocol::JsonLine> parsed = agent_protocol::JsonLine::parse(line);
  return "control directory: stray output: " + parsed.reason() + ": " + line;
}

std::set<std::string> names_in(const std::string& directory) {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(directory))
    names.insert(entry.path().filename().string());
  return names;
}

OwnedFd writer_of(const Desk& desk) {
  return OwnedFd(
      ::open((desk.directory / "ctl/control").c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC));
}

AttemptsFile attempts_beside(const TemporaryDirectory& directory) {
  AttemptsFile file;
  REQUIRE(file.open(directory / "previous") == 0);
  return file;
}

// Limits the size of the files that this process may write, for as long as this object exists.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    rlimit limit = before_;
    limit.rlim_cur = bytes;
    REQUIRE(::setrlimit(RLIMIT_FSIZE, &limit) == 0);
  }
  ~FileSizeLimit() { ::setrlimit(RLIMIT_FSIZE, &before_); }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

 private:
  rlimit before_{};
};

}  // namespace

TEST_CASE("a count of attempts that cannot be written leaves the one before, and nothing else") {
  const TemporaryDirectory directory;
  const AttemptsFile file = attempts_beside(directory);
  const Attempts before{2, "/opt/agent", "ended"};
  const bool is_there = GENERATE(false, true);
  if (is_there) REQUIRE(file.write(before) == 0);
  const auto call = GENERATE(Call::openat, Call::write, Call::fsync, Call::renameat);
  {
    // AttemptsFile::write() opens an existing file twice: first to read it, then to overwrite a
    // part of it. If there is no file, or if the second open fails, as here, write() makes a new
    // file. While it does so, the system call `call` fails.
    constexpr int reads = 1;
    const Failing opening(Call::openat, EIO, reads, is_there ? 1 : 0);
    const Failing failing(call, EIO, call == Call::openat ? reads + (is_there ? 1 : 0) : 0);
    CHECK(file.write({3, "/opt/agent", ""}) == EIO);
    CHECK(failing.fired());
  }

  CHECK(file.read() == (is_there ? before : Attempts{}));
  const std::filesystem::directory_iterator files(directory.path());
  CHECK(std::distance(begin(files), end(files)) == (is_there ? 1 : 0));
}

TEST_CASE("a count of attempts that cannot be written in place is written into a new file") {
  const TemporaryDirectory directory;
  const AttemptsFile file = attempts_beside(directory);
  REQUIRE(file.write({2, "/opt/agent", "ended"}) == 0);
  const auto call = GENERATE(Call::write, Call::fdatasync);
  const Failing failing(call, EIO);
  CHECK(file.write({3, "/opt/agent", ""}) == 0);
  CHECK(failing.fired());
  CHECK(file.read() == Attempts{3, "/opt/agent", ""});
}

TEST_CASE("a count of attempts of which a part was written was not written") {
  const TemporaryDirectory directory;
  const AttemptsFile file = attempts_beside(directory);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  {
    const FileSizeLimit limit(5);
    CHECK(file.write({3, "/opt/agent", ""}) == EFBIG);
  }
  std::signal(SIGXFSZ, handler);

  CHECK(file.read() == Attempts{});
}

TEST_CASE("a count of attempts that is in its place, but not durable, is told; unless in a hurry") {
  const TemporaryDirectory directory;
  const AttemptsFile file = attempts_beside(directory);
  const Failing failing(Call::fsync, EIO);

  CHECK(file.write({1, "/opt/agent", ""}, true) == 0);
  CHECK_FALSE(failing.fired());
  CHECK(file.write({1, "/opt/agent", ""}) == EIO);
}

TEST_CASE("a count of attempts that cannot be read is none") {
  const TemporaryDirectory directory;
  CHECK(AttemptsFile().open(directory / "none/previous") == ENOENT);
  const AttemptsFile file = attempts_beside(directory);
  REQUIRE(file.write({2, "/opt/agent", ""}) == 0);
  const Failing failing(Call::pread, EIO);

  CHECK(file.read() == Attempts{});
  CHECK(failing.fired());
}

TEST_CASE("a control directory that cannot be looked at, or belongs to others, is refused") {
  const TemporaryDirectory directory;
  const std::string path = directory / "ctl";
  {
    const Failing failing(Call::fstat, EIO);
    CHECK(ControlDirectory().open(path) == "--control=" + path + ": Input/output error (EIO)");
  }
  const bool is_root = ::geteuid() == 0;
  const std::string another = is_root ? path : "/usr";
  if (is_root) REQUIRE(::chown(path.c_str(), 1, 1) == 0);

  CHECK(ControlDirectory().open(another + "//") ==
        "--control=" + another + ": belongs to another user");
}

TEST_CASE("the root directory keeps its slash") {
  ControlDirectory root;

  (void)root.open("//");

  CHECK(root.path() == "/");
}

TEST_CASE("the kernel is asked on which file system a control directory is") {
  ControlDirectory processes;
  REQUIRE(processes.open("/proc/self/fd") == "");
  CHECK_FALSE(processes.is_in_memory());
  const Failing failing(Call::fstatfs, EIO);

  CHECK(processes.is_in_memory());  // the answer that causes no warning
  CHECK(failing.fired());
}

TEST_CASE("a control directory on FAT is refused before anything in it is touched") {
  const TemporaryDirectory scratch;
  const std::string path = scratch / "ctl";
  ControlDirectory directory;
  file_system_told = GENERATE(0x4d44U, 0x2011bab0U);

  CHECK(directory.open(path) == "--control=" + path + ": is on FAT, which has no FIFOs");
  CHECK(names_in(path).empty());
  file_system_told.reset();

  CHECK(directory.open(path) == "");
}

TEST_CASE("nobody is warned of a disk where the control directory is in memory") {
  Desk desk;
  const Failing failing(Call::fstatfs, EIO);

  CHECK(desk.take());
  CHECK_FALSE(failing.fired());
  desk.settle(0s);

  CHECK(failing.fired());
  CHECK(desk.told() == "");
}

TEST_CASE("a control directory on a tmpfs is in memory") {
  const std::string shared = "/dev/shm";
  struct statfs status {};
  constexpr unsigned long tmpfs = 0x01021994;
  const bool there = ::statfs(shared.c_str(), &status) == 0 && ::access(shared.c_str(), W_OK) == 0;
  if (!there || static_cast<unsigned long>(status.f_type) != tmpfs) return;
  std::string path = shared + "/upgrader-XXXXXX";
  REQUIRE(::mkdtemp(path.data()) != nullptr);
  ControlDirectory control;

  CHECK(control.open(path) == "");

  CHECK(control.is_in_memory());
  ::rmdir(path.c_str());
}

TEST_CASE("status.json is written in spite of interruptions, and stays where it cannot be") {
  const TemporaryDirectory directory;
  ControlDirectory control;
  REQUIRE(control.open(directory / "ctl") == "");
  {
    const Failing failing(Call::write, EINTR);
    CHECK(control.replace_status("one\n") == 0);
    CHECK(failing.fired());
  }
  const auto call = GENERATE(Call::openat, Call::write, Call::renameat);
  {
    const Failing failing(call, ENOSPC);
    CHECK(control.replace_status("two\n") == ENOSPC);
    CHECK(failing.fired());
  }

  CHECK(content_of(directory / "ctl/status.json") == "one\n");
  CHECK_FALSE(std::filesystem::exists(directory / "ctl/.status.json.upgrader"));
}

TEST_CASE(
    "a control directory that another has locked is not taken, and nothing is touched in it") {
  Desk desk;
  {
    const Failing failing(Call::flock, EWOULDBLOCK);
    CHECK_FALSE(desk.take());
  }
  desk.settle(1s);
  desk.control->finish(State{}, 7);

  CHECK(desk.told() == "");
  CHECK(names_in(desk.directory / "ctl") == std::set<std::string>{".lock"});
}

TEST_CASE("a control directory that cannot be locked is not touched, and locked when it can be") {
  Desk desk;
  const Call call = GENERATE(Call::openat, Call::flock);
  std::optional<Failing> failing;
  failing.emplace(call, ENOSPC, 0, 100);
  CHECK(desk.take());
  desk.settle(1s);
  desk.settle(1'500ms);
  desk.settle(2s);

  CHECK(times_told(desk, "ctl is not used: it cannot be locked: ") == 1);
  CHECK_FALSE(std::filesystem::exists(desk.directory / "ctl/control"));
  CHECK_FALSE(std::filesystem::exists(desk.directory / "ctl/status.json"));
  CHECK(desk.control->next_deadline() == Time{3s});
  failing.reset();

  desk.settle(3s);

  CHECK(desk.says("running"));
  CHECK(writer_of(desk));
  CHECK_FALSE(desk.control->next_deadline());
}

TEST_CASE("a control directory that could never be locked is left alone at the end, too") {
  Desk desk;
  const Failing failing(Call::flock, ENOLCK, 0, 100);
  CHECK(desk.take());

  desk.control->finish(State{}, 7);

  CHECK_FALSE(std::filesystem::exists(desk.directory / "ctl/status.json"));
}

TEST_CASE("nobody else can lock a control directory that they may read") {
  Desk desk;
  desk.directory.write("ctl/.lock", "");
  REQUIRE(::chmod((desk.directory / "ctl/.lock").c_str(), 0644) == 0);
  const OwnedFd reader(::open((desk.directory / "ctl").c_str(), O_RDONLY | O_CLOEXEC));
  REQUIRE(::flock(reader.get(), LOCK_EX | LOCK_NB) == 0);

  CHECK(desk.take());

  struct stat status {};
  REQUIRE(::stat((desk.directory / "ctl/.lock").c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0600);
}

TEST_CASE("on a read-only disk the file of the lock is locked as it is") {
  Desk desk;
  desk.directory.write("ctl/.lock", "");
  REQUIRE(::chmod((desk.directory / "ctl/.lock").c_str(), 0600) == 0);
  const Failing failing(Call::openat, EROFS);

  CHECK(desk.take());

  CHECK(failing.fired());
  CHECK(desk.told() == "");
}

TEST_CASE("a last status.json that cannot be kept is told, and the directory is taken") {
  Desk desk;
  const Failing failing(Call::renameat, EACCES);

  CHECK(desk.take());
  desk.settle(0s);

  CHECK(times_told(desk, "cannot keep the last status.json as previous.json: ") == 1);
}

TEST_CASE("an upgrader that ends before an agent was started keeps the last status.json, too") {
  Desk desk;
  desk.directory.write("ctl/status.json", "old\n");
  REQUIRE(desk.take());
  CHECK(content_of(desk.directory / "ctl/status.json") == "old\n");

  desk.control->finish(State{}, 127);

  CHECK(content_of(desk.directory / "ctl/previous.json") == "old\n");
  CHECK(content_of(desk.directory / "ctl/status.json").find("\"exit_status\":127") !=
        std::string::npos);
  CHECK_FALSE(std::filesystem::exists(desk.directory / "ctl/control"));
}

TEST_CASE("without a FIFO no requests are taken until it can be made, and news are written") {
  Desk desk;
  std::optional<Failing> failing;
  failing.emplace(Call::mkfifoat, ENOSPC, 0, 2);
  CHECK(desk.take());
  desk.settle(1s);
  desk.control->read_backlog();
  CHECK(content_of(desk.directory / "ctl/status.json") != "");
  CHECK_FALSE(writer_of(desk));
  CHECK(desk.control->next_deadline() == Time{2s});
  desk.settle(2s);
  CHECK(times_told(desk, "no requests are taken by ") == 1);
  CHECK(desk.control->next_deadline() == Time{3s});

  desk.settle(3s);

  CHECK(writer_of(desk));
  CHECK_FALSE(desk.control->next_deadline());
  CHECK(times_told(desk, "no requests are taken by ") == 1);
}

TEST_CASE("a FIFO that cannot be opened or watched is told once, and tried again every second") {
  Desk desk;
  const bool opens = GENERATE(false, true);
  CHECK(desk.take());
  std::optional<Failing> failing;
  failing.emplace(opens ? Call::uv_poll_init : Call::openat, EMFILE, 0, 2);
  desk.settle(0s);
  // As long as the upgrader does not read the FIFO, a program that opens the FIFO to write a
  // request must get an error immediately, and not wait.
  CHECK_FALSE(writer_of(desk));
  CHECK(desk.control->next_deadline() == Time{1s});
  failing.reset();
  {
    const Failing still(opens ? Call::uv_poll_init : Call::openat, EMFILE);
    desk.settle(1s);
    CHECK(still.fired());
  }
  CHECK(times_told(desk, "no requests are taken by ") == 1);
  CHECK(desk.control->next_deadline() == Time{2s});
  {
    // The settle() at 1.05 s tries in vain to open the FIFO. It does not write status.json: the
    // last write was at 1 s, and two writes must be a tenth of a second apart. So the next deadline
    // is the write at 1.1 s, and not another attempt to open the FIFO.
    const Failing still(opens ? Call::uv_poll_init : Call::openat, EMFILE);
    desk.settle(1'050ms);
    CHECK(desk.control->next_deadline() == Time{1'100ms});
  }

  desk.settle(2s);

  CHECK(writer_of(desk));
  CHECK_FALSE(desk.control->next_deadline());
}

TEST_CASE("a status that could not be written is tried again, though nothing new has happened") {
  Desk desk;
  REQUIRE(desk.take());
  desk.settle(0s);
  desk.reach(Phase::preparing);
  {
    const Failing failing(Call::write, ENOSPC);
    desk.settle(1s);
    CHECK(failing.fired());
  }
  CHECK_FALSE(desk.says("preparing"));
  CHECK(desk.control->next_deadline() == Time{2s});
  {
    const Failing still(Call::write, ENOSPC);
    desk.settle(2s);
    CHECK(still.fired());
  }
  CHECK(desk.control->next_deadline() == Time{3s});
  CHECK(times_told(desk, "cannot write ") == 1);

  desk.settle(3s);

  CHECK(desk.says("preparing"));
  CHECK_FALSE(desk.control->next_deadline());
}

TEST_CASE("a FIFO that cannot be read now is read later") {
  Desk desk;
  REQUIRE(desk.take());
  desk.settle(0s);
  CHECK(times_told(desk, "no requests are taken by ") == 0);
  const OwnedFd writer = writer_of(desk);
  REQUIRE(::write(writer.get(), "one\n", 4) == 4);
  {
    const Failing failing(Call::read, EINTR);
    uv_run(&desk.loop, UV_RUN_ONCE);
    CHECK(failing.fired());
  }
  CHECK(desk.shown.empty());

  while (desk.shown.empty())
    uv_run(&desk.loop, UV_RUN_ONCE);

  CHECK(desk.shown == std::vector<std::string>{said_of("one")});
}

TEST_CASE("lines that a turn has no room for are taken before more is read") {
  Desk desk;
  REQUIRE(desk.take());
  desk.settle(0s);
  const OwnedFd writer = writer_of(desk);
  std::string all;
  for (int line = 0; line < 3'000; ++line)
    all += "x\n";
  REQUIRE(::write(writer.get(), all.data(), all.size()) == static_cast<ssize_t>(all.size()));

  uv_run(&desk.loop, UV_RUN_ONCE);
  CHECK(desk.shown.size() == lines_a_turn);
  CHECK(desk.control->next_deadline() == Time{0});
  uv_run(&desk.loop, UV_RUN_ONCE);
  CHECK(desk.shown.size() == 2 * lines_a_turn);
  while (desk.shown.size() < 3'000) {
    desk.control->read_backlog();
    uv_run(&desk.loop, UV_RUN_NOWAIT);
  }
  CHECK(std::count(desk.shown.begin(), desk.shown.end(), said_of("x")) == 3'000);
}

TEST_CASE("news that cannot be written are told once, and written when they can be") {
  Desk desk;
  REQUIRE(desk.take());
  {
    // The next three calls of renameat() fail. The first would rename the last run's status.json to
    // previous.json. The second and the third would put a new status.json in its place.
    const Failing failing(Call::renameat, ENOSPC, 0, 3);
    desk.settle(1s);
    desk.settle(2s);
  }
  CHECK(times_told(desk, "/status.json: No space left on device (ENOSPC)") == 1);
  CHECK(content_of(desk.directory / "ctl/status.json") == "");

  desk.settle(3s);

  CHECK(content_of(desk.directory / "ctl/status.json") != "");
}

TEST_CASE("a request that is malformed is answered once") {
  Desk desk;
  REQUIRE(desk.take());
  desk.settle(0s);
  const OwnedFd writer = writer_of(desk);
  const std::string line = R"({"type":"confirm","request":"r1"})"
                           "\n";
  const std::string lines = line + line + "end\n";
  REQUIRE(::write(writer.get(), lines.data(), lines.size()) == static_cast<ssize_t>(lines.size()));

  uv_run(&desk.loop, UV_RUN_ONCE);

  REQUIRE(desk.shown.size() == 2);
  CHECK(desk.shown[0].find("request r1 (confirm) refused: ") == 0);
  CHECK(desk.shown[1] == said_of("end"));
}

}  // namespace failing_control_test

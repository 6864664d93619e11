// Tests the log: the form of its lines, and a log pipe that nobody reads. In this case the log may
// drop lines, but must not block the upgrader.
#include "upgrader/shell/log.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "tests/decisions/unit/processes.h"

namespace log_test {

using namespace upgrader;

namespace {

std::string shown(std::string_view bytes) {
  return escape(bytes, 1'000'000);
}

// Both ends of a pipe or socket: a log writes to one end, and the test reads from the other.
struct Stream {
  OwnedFd read;
  OwnedFd write;
};

Stream make_pipe() {
  int ends[2];
  REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
  return {OwnedFd(ends[0]), OwnedFd(ends[1])};
}

Stream make_socket_pair() {
  int ends[2];
  REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
  return {OwnedFd(ends[0]), OwnedFd(ends[1])};
}

OwnedFd reader_of(const std::string& named_pipe) {
  return OwnedFd(::open(named_pipe.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
}

Stream make_named_pipe(const std::string& path) {
  REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
  Stream pipe{reader_of(path), {}};
  pipe.write.reset(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  return pipe;
}

Stream make_terminal() {
  Stream terminal;
  terminal.read.reset(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
  REQUIRE(::grantpt(terminal.read.get()) == 0);
  REQUIRE(::unlockpt(terminal.read.get()) == 0);
  terminal.write.reset(::open(::ptsname(terminal.read.get()), O_RDWR | O_NOCTTY | O_CLOEXEC));
  termios settings{};
  REQUIRE(::tcgetattr(terminal.write.get(), &settings) == 0);
  ::cfmakeraw(&settings);
  REQUIRE(::tcsetattr(terminal.write.get(), TCSANOW, &settings) == 0);
  return terminal;
}

// Reads all bytes that are available on the stream now.
std::string take(const OwnedFd& fd) {
  std::string bytes;
  char buffer[4096];
  pollfd one{.fd = fd.get(), .events = POLLIN, .revents = 0};
  while (::poll(&one, 1, 0) == 1 && (one.revents & POLLIN) != 0) {
    const ssize_t count = ::read(fd.get(), buffer, sizeof buffer);
    if (count <= 0) break;
    bytes.append(buffer, static_cast<std::size_t>(count));
  }
  return bytes;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);)
    lines.push_back(line);
  return lines;
}

std::string written(LogLevel most, LogLevel level, std::string_view text) {
  const Stream pipe = make_pipe();
  Logbook log(most, nullptr, pipe.write.get());
  log.write(level, text);
  return take(pipe.read);
}

std::string journal_stream_of(int fd) {
  struct stat status {};
  REQUIRE(::fstat(fd, &status) == 0);
  return std::to_string(status.st_dev) + ":" + std::to_string(status.st_ino);
}

// Counts lines in the text of a log. The test logs lines of the form "upgrader: N xxx...", where N
// begins at 0 and grows by 1. Warnings between these lines say how many of them were lost.
struct Tally {
  std::size_t whole = 0;
  std::uint64_t told_lost = 0;
  bool in_order = true;
};

Tally tally_of(const std::string& text, const std::string& filler) {
  Tally tally;
  for (const std::string& line : lines_of(text)) {
    const std::string lost_prefix = "upgrader: warning: ";
    if (line.starts_with(lost_prefix)) {
      tally.told_lost += std::stoull(line.substr(lost_prefix.size()));
    } else {
      const std::uint64_t expected = tally.whole + tally.told_lost;
      if (line != "upgrader: " + std::to_string(expected) + " " + filler) tally.in_order = false;
      ++tally.whole;
    }
  }
  return tally;
}

// Writes far more lines to a log than its stream can hold, and reads the stream only now and then.
// Checks that the warnings in the log count every lost line.
void flood(const Stream& stream, std::size_t filler_bytes) {
  constexpr int lines = 3'000;
  const std::string filler(filler_bytes, 'x');
  const int flags = ::fcntl(stream.write.get(), F_GETFL);
  std::string text;
  Logbook log(LogLevel::info, nullptr, stream.write.get());

  for (int i = 0; i < lines; ++i) {
    log.info(std::to_string(i) + " " + filler);
    if (i % 500 == 499) text += take(stream.read);
  }
  const std::uint64_t lost_at_the_end = log.lost();
  text += take(stream.read);
  log.info(std::to_string(lines) + " " + filler);
  for (std::string more = take(stream.read); !more.empty(); more = take(stream.read))
    text += more;

  const Tally tally = tally_of(text.substr(0, text.rfind('\n') + 1), filler);
  CHECK(tally.in_order);
  CHECK(tally.told_lost > 0);
  CHECK(lost_at_the_end > 0);
  CHECK(tally.whole > 5);
  CHECK(::fcntl(stream.write.get(), F_GETFL) == flags);
}

}  // namespace

TEST_CASE("characters that can be shown stay as they are") {
  for (const char* text : {"", "plain", "\xc3\xa4\xe2\x82\xac\xf0\x9f\x90\xa7", "C:\\n \"x\" <3>",
                           "\xed\x9f\xbf\xee\x80\x80\xf4\x8f\xbf\xbf\xe0\xa0\x80\xf0\x90\x80\x80",
                           "\xc2\xa0", "\xdf\xbf\xef\x80\x80"}) {
    CHECK(shown(text) == text);
  }
}

TEST_CASE("control characters are escaped, those of eight bits too") {
  CHECK(shown("a\nb\tc\rd") == "a\\nb\\tc\\rd");
  CHECK(shown("\x1b[31m\x7f") == "\\x1b[31m\\x7f");
  CHECK(shown(std::string("\0", 1)) == "\\x00");
  CHECK(shown("\xc2\x9b\xc2\x9f") == "\\xc2\\x9b\\xc2\\x9f");
  CHECK(shown("\x1f ~\x7f") == "\\x1f ~\\x7f");
}

TEST_CASE("invalid UTF-8 is escaped byte by byte") {
  CHECK(shown("\xff\xfe") == "\\xff\\xfe");
  CHECK(shown("\x80") == "\\x80");
  CHECK(shown("\xc1\xbf") == "\\xc1\\xbf");
  CHECK(shown(std::string_view("\xc3\xa4").substr(0, 1)) == "\\xc3");
  CHECK(shown("\xc3") == "\\xc3");
  CHECK(shown("\xc3x") == "\\xc3x");
  CHECK(shown("\xe2\x82") == "\\xe2\\x82");
  CHECK(shown("\xc0\xaf") == "\\xc0\\xaf");
  CHECK(shown("\xe0\x9f\xbf") == "\\xe0\\x9f\\xbf");
  CHECK(shown("\xf0\x8f\xbf\xbf") == "\\xf0\\x8f\\xbf\\xbf");
  CHECK(shown("\xed\xa0\x80") == "\\xed\\xa0\\x80");
  CHECK(shown("\xf4\x90\x80\x80") == "\\xf4\\x90\\x80\\x80");
  CHECK(shown("\xf5\x80\x80\x80") == "\\xf5\\x80\\x80\\x80");
}

TEST_CASE("escaping twice changes nothing") {
  std::string all;
  for (int byte = 0; byte < 256; ++byte)
    all.push_back(static_cast<char>(byte));

  CHECK(shown(shown(all)) == shown(all));
}

TEST_CASE("more bytes than wanted are cut between characters, and the cut is shown") {
  CHECK(escape("abcdef", 6) == "abcdef");
  CHECK(escape("abcdef", 5) == "abcde...");
  CHECK(escape("ab\xe2\x82\xac", 4) == "ab...");
  CHECK(escape("ab\xe2\x82\xac", 5) == "ab\xe2\x82\xac");
  CHECK(escape("\x80\x80\x80\x80\x80\x80", 5) == "\\x80\\x80\\x80\\x80\\x80...");
  CHECK(escape("\x80\x80\x80", 1) == "\\x80...");
  CHECK(escape("abc", 0) == "...");
  for (const std::size_t bytes : {1U, 2U, 3U, 4U})
    CHECK(escape("a\xf0\x9f\x90\xa7", bytes) == "a...");
  CHECK(escape("\x80\x80\x80\x80", 3) == "\\x80\\x80\\x80...");
  CHECK(escape(std::string(300, '\x01'), stray_bytes_max).size() == 4 * 200 + 3);
}

TEST_CASE("a line says its level, where it is not the usual one") {
  CHECK(written(LogLevel::debug, LogLevel::error, "x") == "upgrader: error: x\n");
  CHECK(written(LogLevel::debug, LogLevel::warning, "x") == "upgrader: warning: x\n");
  CHECK(written(LogLevel::debug, LogLevel::info, "x") == "upgrader: x\n");
  CHECK(written(LogLevel::debug, LogLevel::debug, "x") == "upgrader: debug: x\n");
}

TEST_CASE("lines that are quieter than wanted are not written") {
  const LogLevel levels[] = {LogLevel::error, LogLevel::warning, LogLevel::info, LogLevel::debug};
  for (const LogLevel most : levels) {
    for (const LogLevel level : levels) {
      CHECK(written(most, level, "x").empty() == (level > most));
    }
  }
}

TEST_CASE("a text is one line, whatever it holds") {
  CHECK(written(LogLevel::info, LogLevel::info, "a\nb\x1b") == "upgrader: a\\nb\\x1b\n");
  CHECK(written(LogLevel::info, LogLevel::info, "") == "upgrader: \n");
}

TEST_CASE("a line has a bounded length") {
  const std::string longest(log_line_bytes_max - 1 - std::string("upgrader: ").size(), 'x');

  CHECK(written(LogLevel::info, LogLevel::info, longest) == "upgrader: " + longest + "\n");
  for (const std::string& text : {longest + "x", std::string(70'000, 'x'), std::string(3'000, '\n'),
                                  std::string(70'000, '\xff')}) {
    const std::string line = written(LogLevel::info, LogLevel::info, text);
    CHECK(line.size() == log_line_bytes_max);
    CHECK(line.ends_with("...\n"));
  }
}

TEST_CASE("the journal gets its priorities") {
  const Stream socket = make_socket_pair();
  const std::string stream = journal_stream_of(socket.write.get());
  Logbook log(LogLevel::debug, stream.c_str(), socket.write.get());

  log.error("a");
  log.warning("b");
  log.info("c");
  log.debug("d");

  CHECK(take(socket.read) == "<3>a\n<4>b\n<6>c\n<7>d\n");
}

TEST_CASE("a standard error that is not the journal's gets none, whatever the variable says") {
  const Stream socket = make_socket_pair();
  const std::string other = journal_stream_of(socket.read.get());
  const std::string stream = GENERATE_COPY(values<std::string>({"", ":", "1:2", "x", other}));
  Logbook log(LogLevel::info, stream.c_str(), socket.write.get());

  log.info("a");

  CHECK(take(socket.read) == "upgrader: a\n");
}

TEST_CASE("a full pipe costs lines, and they are counted") {
  flood(make_pipe(), 300);
}

TEST_CASE("a full socket costs lines, and they are counted") {
  flood(make_socket_pair(), 1'000);
}

TEST_CASE("a stopped terminal costs lines, and they are counted") {
  flood(make_terminal(), 333);
}

TEST_CASE("a full pipe that cannot be opened anew does not block either") {
  const Stream pipe = make_pipe();
  REQUIRE(::fcntl(pipe.write.get(), F_SETPIPE_SZ, 8'192) == 8'192);
  rlimit limit{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &limit) == 0);
  const rlimit none{.rlim_cur = 3, .rlim_max = limit.rlim_max};
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &none) == 0);
  Logbook log(LogLevel::info, nullptr, pipe.write.get());

  for (int i = 0; i < 1'000; ++i)
    log.info("a line");
  CHECK(log.lost() > 0);
  const std::uint64_t lost = log.lost();
  take(pipe.read);
  log.info("again");

  CHECK(take(pipe.read) == "upgrader: warning: " + std::to_string(lost) +
                               " lines of this log lost: standard error did not take them\n"
                               "upgrader: again\n");
  CHECK(log.lost() == 0);
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &limit) == 0);
}

TEST_CASE("a log whose reader has gone, or that is closed, only counts") {
  ::signal(SIGPIPE, SIG_IGN);
  Stream stream = GENERATE(0, 1) == 0 ? make_pipe() : make_socket_pair();
  Logbook log(LogLevel::info, nullptr, stream.write.get());
  stream.read.reset();
  Logbook closed(LogLevel::info, nullptr, 12'345);

  log.info("a");
  log.info("b");
  closed.info("a");

  CHECK(log.lost() == 2);
  CHECK(closed.lost() == 1);
}

TEST_CASE("a file is appended to") {
  const TemporaryDirectory directory;
  const std::string path = directory.write("log", "before\n");
  const OwnedFd file(::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
  Logbook log(LogLevel::info, nullptr, file.get());

  log.info("a");
  log.info("b");

  CHECK(content_of(path) == "before\nupgrader: a\nupgrader: b\n");
}

TEST_CASE("a single line that is lost is told as one") {
  const Stream pipe = make_pipe();
  const int bytes = ::fcntl(pipe.write.get(), F_SETPIPE_SZ, 4'096);
  const std::string full(static_cast<std::size_t>(bytes), 'x');
  REQUIRE(::write(pipe.write.get(), full.data(), full.size()) == bytes);
  Logbook log(LogLevel::info, nullptr, pipe.write.get());
  log.info("a");
  CHECK(take(pipe.read) == full);

  log.info("b");

  CHECK(take(pipe.read) ==
        "upgrader: warning: 1 line of this log lost: standard error did not take them\n"
        "upgrader: b\n");
}

TEST_CASE("a named pipe from which nobody reads does not hold the log up") {
  const TemporaryDirectory directory;
  const Stream pipe = make_named_pipe(directory / "fifo");
  Logbook log(LogLevel::info, nullptr, pipe.write.get());

  log.info("a");
  CHECK(take(pipe.read) == "upgrader: a\n");
  for (int i = 0; i < 20'000; ++i)
    log.info("b");
  CHECK(log.lost() > 0);
}

TEST_CASE("a named pipe whose reader goes before the first line, and comes back, gets the rest") {
  ::signal(SIGPIPE, SIG_IGN);
  const TemporaryDirectory directory;
  Stream pipe = make_named_pipe(directory / "fifo");
  Logbook log(LogLevel::info, nullptr, pipe.write.get());
  pipe.read.reset();

  log.info("a");
  pipe.read = reader_of(directory / "fifo");
  log.info("b");

  CHECK(take(pipe.read) ==
        "upgrader: warning: 1 line of this log lost: standard error did not take them\n"
        "upgrader: b\n");
}

}  // namespace log_test

// Tests which files the upgrader accepts as programs, and which facts it keeps about each program.
// Some tests also let the kernel execute the file: the kernel must agree with the upgrader. Also
// tests the list of programs, which keeps the files of programs open, and gives each program a
// number.
#include "base/program.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cerrno>
#include <cstring>

#include "tests/decisions/unit/processes.h"
#include "tests/support/temporary_directory.h"
#include "upgrader/shell/programs.h"

namespace program_test {

using namespace upgrader;

namespace {

// Returns the errno with which the kernel refuses to execute the file, or 0.
int kernel_refusal(const std::string& path) {
  int report[2];
  REQUIRE(::pipe2(report, O_CLOEXEC) == 0);
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    char* const argv[] = {const_cast<char*>(path.c_str()), nullptr};
    char* const envp[] = {nullptr};
    ::execve(path.c_str(), argv, envp);
    const int error = errno;
    if (::write(report[1], &error, sizeof error) != sizeof error) ::_exit(2);
    ::_exit(1);
  }
  ::close(report[1]);
  int error = 0;
  const ssize_t count = ::read(report[0], &error, sizeof error);
  ::close(report[0]);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  return count == 0 ? 0 : error;
}

int error_of(const std::string& path) {
  const agent_protocol::Result<Program> checked = check_program(path, path, {});
  const agent_protocol::Refusal* const refusal = checked ? nullptr : &checked.refusal();
  return refusal != nullptr ? refusal->error_number : 0;
}

agent_protocol::Refusal refusal_of(const std::string& path) {
  agent_protocol::Result<Program> checked = check_program(path, path, {});
  REQUIRE_FALSE(static_cast<bool>(checked));
  return checked.refusal();
}

// The bytes of /bin/true, a small dynamic program, for tests that damage them.
class ElfBytes {
 public:
  ElfBytes() : bytes_(content_of("/bin/true")) { REQUIRE(bytes_.size() > sizeof(ElfW(Ehdr))); }

  template <class Change>
  ElfBytes& header(Change change) {
    ElfW(Ehdr) header;
    std::memcpy(&header, bytes_.data(), sizeof header);
    change(header);
    std::memcpy(bytes_.data(), &header, sizeof header);
    return *this;
  }

  template <class Change>
  ElfBytes& segment(unsigned type, Change change) {
    ElfW(Ehdr) header;
    std::memcpy(&header, bytes_.data(), sizeof header);
    for (unsigned i = 0; i < header.e_phnum; ++i) {
      const std::size_t at = header.e_phoff + i * sizeof(ElfW(Phdr));
      ElfW(Phdr) segment;
      std::memcpy(&segment, bytes_.data() + at, sizeof segment);
      if (segment.p_type != type) continue;
      change(segment);
      std::memcpy(bytes_.data() + at, &segment, sizeof segment);
    }
    return *this;
  }

  ElfBytes& loader(std::string name) {
    name.push_back('\0');
    const std::size_t at = bytes_.size();
    bytes_ += name;
    return segment(PT_INTERP, [&](ElfW(Phdr) & interp) {
      interp.p_offset = at;
      interp.p_filesz = name.size();
    });
  }

  [[nodiscard]] std::string bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

// Takes root's rights from the process, if it has them, for as long as this object exists.
class Unprivileged {
 public:
  Unprivileged() {
    if (::geteuid() == 0) dropped_ = ::seteuid(65534) == 0;
  }
  Unprivileged(const Unprivileged&) = delete;
  Unprivileged& operator=(const Unprivileged&) = delete;
  ~Unprivileged() {
    if (dropped_ && ::seteuid(0) != 0) std::abort();
  }

 private:
  bool dropped_ = false;
};

}  // namespace

TEST_CASE("a program is resolved through all links and keeps the name it was given") {
  const TemporaryDirectory directory;
  const std::string real = directory.write("real", content_of("/bin/true"));
  directory.link("second", "real");
  const std::string first = directory.link("first", directory / "second");

  const agent_protocol::Result<Program> checked = check_program(first, "name", {"a", ""});

  const Program& program = checked.value();
  CHECK(program.name == "name");
  CHECK(program.path == real);
  CHECK(program.args == std::vector<std::string>{"a", ""});
  CHECK(program.kind == ExecutableKind::elf);
  CHECK((::fcntl(program.descriptor.get(), F_GETFD) & FD_CLOEXEC) != 0);
}

TEST_CASE("a path that leads nowhere is missing") {
  const TemporaryDirectory directory;
  const std::string file = directory.write("file", "");

  for (const std::string& path :
       {directory / "none", directory / "none/none", directory.link("dangling", "none")}) {
    CHECK(refusal_of(path).error_number == ENOENT);
    CHECK(refusal_of(path).missing);
  }
  CHECK(refusal_of(file + "/below").error_number == ENOTDIR);
  CHECK(refusal_of(file + "/below").missing);
  CHECK(refusal_of("").missing);
}

TEST_CASE("for a dangling link the refusal names the missing file") {
  const TemporaryDirectory directory;
  const std::string none = ": No such file or directory (ENOENT)";
  const std::string relative = directory.link("relative", "releases/1.1");
  const std::string absolute = directory.link("absolute", "/none/at/all");
  const std::string second = directory.link("second", "relative");

  CHECK(refusal_of(relative).reason ==
        relative + ": leads to " + (directory / "releases/1.1") + none);
  CHECK(refusal_of(absolute).reason == absolute + ": leads to /none/at/all" + none);
  CHECK(refusal_of(second).reason == second + ": leads to " + (directory / "releases/1.1") + none);
  CHECK(refusal_of(directory / "no-link").reason == (directory / "no-link") + none);
  CHECK(refusal_of(directory.link("below-a-file", "/bin/true/x")).reason ==
        (directory / "below-a-file") + ": leads to /bin/true/x: Not a directory (ENOTDIR)");
}

TEST_CASE("a path that cannot be followed is not missing but refused") {
  const TemporaryDirectory directory;
  const std::string loop = directory.link("loop", "loop");

  CHECK(refusal_of(loop).error_number == ELOOP);
  CHECK_FALSE(refusal_of(loop).missing);
  CHECK(refusal_of(directory / std::string(300, 'x')).error_number == ENAMETOOLONG);
}

TEST_CASE("a file that is not regular is refused, without being opened") {
  const TemporaryDirectory directory;
  const std::string fifo = directory / "fifo";
  REQUIRE(::mkfifo(fifo.c_str(), 0777) == 0);
  const std::string socket_path = directory / "socket";
  const OwnedFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  REQUIRE(socket_path.size() < sizeof address.sun_path);
  std::memcpy(address.sun_path, socket_path.c_str(), socket_path.size() + 1);
  REQUIRE(::bind(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);

  for (const std::string& path :
       {directory.path(), fifo, socket_path, std::string("/dev/null"), std::string("/dev/tty")}) {
    INFO(path);
    CHECK(refusal_of(path).error_number == EACCES);
    CHECK_FALSE(refusal_of(path).missing);
  }
  CHECK(refusal_of(directory.path()).reason == directory.path() + ": is a directory");
}

TEST_CASE("a file that is not executable is refused") {
  const TemporaryDirectory directory;
  const std::string path = directory.write("file", content_of("/bin/true"), 0644);

  CHECK(refusal_of(path).error_number == EACCES);
  CHECK(kernel_refusal(path) == EACCES);
}

TEST_CASE("a file that others may execute is refused to us") {
  const TemporaryDirectory directory;
  REQUIRE(::chmod(directory.path().c_str(), 0755) == 0);
  const bool root = ::geteuid() == 0;
  const std::string path = directory.write("file", content_of("/bin/true"), root ? 0744 : 0655);
  const Unprivileged unprivileged;

  CHECK(refusal_of(path).error_number == EACCES);
}

TEST_CASE("a file that may be executed but not read is left to the kernel") {
  const TemporaryDirectory directory;
  REQUIRE(::chmod(directory.path().c_str(), 0755) == 0);
  const std::string path = directory.write("file", content_of("/bin/true"), 0111);
  const Unprivileged unprivileged;

  const Program program = program_of(path);

  CHECK(program.kind == ExecutableKind::unreadable);
  CHECK(can_start_again(program));
}

TEST_CASE("a file that begins as neither ELF nor script is refused as the kernel refuses it") {
  const TemporaryDirectory directory;
  const std::string text = GENERATE(std::string(), std::string("echo hello\n"), std::string("#"),
                                    std::string("# !/bin/true\n"), std::string(1000, '\0'),
                                    std::string("\x7f"
                                                "EL"),
                                    std::string("\x7f"
                                                "ELF"),
                                    std::string("\xef\xbb\xbf#!/bin/true\n"));
  const std::string path = directory.write("file", text);

  CHECK(refusal_of(path).error_number == ENOEXEC);
  CHECK(kernel_refusal(path) == ENOEXEC);
}

TEST_CASE("an ELF file of another class, byte order, machine or type is refused") {
  const TemporaryDirectory directory;
  const auto refusal = [&](auto change) {
    return refusal_of(directory.write("file", ElfBytes().header(change).bytes())).error_number;
  };

  CHECK(refusal([](ElfW(Ehdr) & h) { h.e_ident[EI_CLASS] ^= ELFCLASS32 ^ ELFCLASS64; }) == ENOEXEC);
  CHECK(refusal([](ElfW(Ehdr) & h) { h.e_ident[EI_DATA] ^= ELFDATA2LSB ^ ELFDATA2MSB; }) ==
        ENOEXEC);
  CHECK(refusal([](ElfW(Ehdr) & h) { h.e_machine = EM_PPC; }) == ENOEXEC);
  CHECK(refusal([](ElfW(Ehdr) & h) { h.e_type = ET_REL; }) == ENOEXEC);
  CHECK(refusal([](ElfW(Ehdr) & h) { h.e_type = ET_CORE; }) == ENOEXEC);
  CHECK(refusal([](ElfW(Ehdr) & h) { h.e_phentsize = 1; }) == ENOEXEC);
  CHECK(refusal([](ElfW(Ehdr) & h) { h.e_phnum = 0; }) == ENOEXEC);
  CHECK(refusal([](ElfW(Ehdr) & h) { h.e_phnum = 0xffff; }) == ENOEXEC);
  CHECK(refusal([](ElfW(Ehdr) & h) { h.e_phoff = std::uint64_t{1} << 40; }) == ENOEXEC);
}

TEST_CASE("a truncated program is refused, wherever it has been cut") {
  const TemporaryDirectory directory;
  const std::string whole = ElfBytes().bytes();
  const std::size_t kept = GENERATE(as<std::size_t>{}, 4, 16, 63, 64, 65, 200, 1000, 10'000);
  REQUIRE(kept < whole.size());

  CHECK(refusal_of(directory.write("file", whole.substr(0, kept))).error_number == ENOEXEC);
}

TEST_CASE("a segment beyond the end of the file is refused, however its numbers wrap") {
  const TemporaryDirectory directory;
  const auto refusal = [&](auto change) {
    return error_of(directory.write("file", ElfBytes().segment(PT_LOAD, change).bytes()));
  };

  CHECK(refusal([](ElfW(Phdr) & s) { s.p_filesz = ~s.p_filesz; }) == ENOEXEC);
  CHECK(refusal([](ElfW(Phdr) & s) { s.p_offset = ~s.p_offset; }) == ENOEXEC);
  CHECK(refusal([](ElfW(Phdr) & s) { s.p_filesz = s.p_offset - 1 - 2 * s.p_offset; }) == ENOEXEC);
}

TEST_CASE("a program's loader must exist and be a program for this machine") {
  const TemporaryDirectory directory;
  const auto error_with_loader = [&](const std::string& loader) {
    const std::string path = directory.write("file", ElfBytes().loader(loader).bytes());
    CHECK(error_of(path) == kernel_refusal(path));
    return error_of(path);
  };

  CHECK(error_with_loader(directory / "none") == ENOENT);
  CHECK(error_with_loader(directory.path()) == EACCES);
  CHECK(error_with_loader(directory.write("plain", content_of("/bin/true"), 0644)) == EACCES);
  CHECK(error_with_loader(directory.write("text", std::string(1000, 'x'))) == ELIBBAD);
  CHECK_FALSE(refusal_of(directory / "file").missing);
}

TEST_CASE("a loader's name that is malformed is refused") {
  const TemporaryDirectory directory;
  const auto refusal = [&](auto change) {
    return error_of(directory.write("file", ElfBytes().segment(PT_INTERP, change).bytes()));
  };

  CHECK(refusal([](ElfW(Phdr) & s) { s.p_filesz = 0; }) == ENOEXEC);
  CHECK(refusal([](ElfW(Phdr) & s) { s.p_filesz = 1; }) == ENOEXEC);
  CHECK(refusal([](ElfW(Phdr) & s) { s.p_filesz -= 1; }) == ENOEXEC);
  CHECK(refusal([](ElfW(Phdr) & s) { s.p_filesz = 1u << 30; }) == ENOEXEC);
  CHECK(refusal([](ElfW(Phdr) & s) { s.p_offset = std::uint64_t{1} << 50; }) == ENOEXEC);
}

TEST_CASE("a program without a loader is a program") {
  const TemporaryDirectory directory;
  const std::string path = directory.write(
      "file", ElfBytes().segment(PT_INTERP, [](ElfW(Phdr) & s) { s.p_type = PT_NULL; }).bytes());

  CHECK(program_of(path).kind == ExecutableKind::elf);
}

TEST_CASE("the #! line is read as the kernel reads it") {
  const TemporaryDirectory directory;
  const std::string blanks(400, ' ');
  const std::string interpreter = "/bin/true";
  const std::string line = GENERATE_COPY(values<std::string>({
      "#!/bin/true\n",
      "#!/bin/true",
      "#! /bin/true\n",
      "#!\t /bin/true \t\n",
      "#!/bin/true -x y\nrest",
      "#!/bin/true\tx",
      "#!/bin/true\r\n",
      std::string("#!/bin/true\0x\n", 14),
      "#!\n/bin/true\n",
      "#! \n",
      "#!" + blanks + "\n",
      "#!" + blanks.substr(0, 254 - interpreter.size() - 2) + interpreter + "\n",
      "#!" + blanks.substr(0, 255 - interpreter.size() - 2) + interpreter + "\n",
      "#!" + blanks.substr(0, 256 - interpreter.size() - 2) + interpreter + "\n",
      "#!" + blanks.substr(0, 257 - interpreter.size() - 2) + interpreter + "\n",
      "#!" + blanks.substr(0, 253 - interpreter.size() - 2) + interpreter + " x\n",
      "#!" + blanks.substr(0, 254 - interpreter.size() - 2) + interpreter + " x\n",
      "#!" + blanks.substr(0, 255 - interpreter.size() - 2) + interpreter + " x\n",
      "#!" + blanks.substr(0, 254 - interpreter.size() - 2) + interpreter,
      "#!" + blanks.substr(0, 255 - interpreter.size() - 2) + interpreter,
      "#!" + interpreter + " " + blanks + "x\n",
      "#!true\n",
      "#!/no/such/interpreter\n",
      "#!/\n",
      "#!/dev/null\n",
      "#!/etc/hostname/x\n",
  }));
  const std::string path = directory.write("script", line);
  INFO(line);

  CHECK(error_of(path) == kernel_refusal(path));
}

TEST_CASE("a #! line that names no interpreter is refused, as the kernel does") {
  const TemporaryDirectory directory;
  const std::string line = GENERATE(std::string("#!"), std::string("#! \t"), std::string("#!\n"),
                                    std::string("#!\0/bin/true\n", 13));
  const std::string path = directory.write("script", line);

  CHECK(error_of(path) == ENOEXEC);
  CHECK(kernel_refusal(path) != 0);
}

TEST_CASE("an interpreter is judged like a program") {
  const TemporaryDirectory directory;
  const auto error_with_interpreter = [&](const std::string& interpreter) {
    const std::string path = directory.write("script", "#!" + interpreter + "\n");
    CHECK(error_of(path) == kernel_refusal(path));
    return error_of(path);
  };

  CHECK(error_with_interpreter("/bin/true") == 0);
  CHECK(error_with_interpreter(directory / "none") == ENOENT);
  CHECK(error_with_interpreter(directory.path()) == EACCES);
  CHECK(error_with_interpreter(directory.write("text", "text\n")) == ENOEXEC);
  CHECK(error_with_interpreter(directory.write("plain", content_of("/bin/true"), 0644)) == EACCES);
  CHECK(error_with_interpreter(directory.write(
            "loaderless", ElfBytes().loader(directory / "none").bytes())) == ENOENT);
  const agent_protocol::Refusal refusal = refusal_of(directory / "script");
  CHECK_FALSE(refusal.missing);
  CHECK(refusal.reason.find("its interpreter " + (directory / "loaderless")) != std::string::npos);
}

TEST_CASE("scripts are followed as far as the kernel follows them") {
  const TemporaryDirectory directory;
  std::string interpreter = "/bin/true";
  for (int depth = 1; depth <= 8; ++depth) {
    interpreter = directory.write("s" + std::to_string(depth), "#!" + interpreter + "\n");
    INFO(depth);
    CHECK(error_of(interpreter) == kernel_refusal(interpreter));
    CHECK(error_of(interpreter) == (depth <= 5 ? 0 : ELOOP));
  }
  const std::string itself = directory.write("itself", "#!" + (directory / "itself") + "\n");
  CHECK(error_of(itself) == ELOOP);
}

TEST_CASE("a program keeps its file when the path has been replaced or deleted") {
  const TemporaryDirectory directory;
  const std::string path = directory.write("file", content_of("/bin/true"));
  const Program program = program_of(path);
  REQUIRE(program.path_changed() == 0);

  std::filesystem::rename(directory.write("new", content_of("/bin/true")), path);
  CHECK(program.path_changed() == ESTALE);
  CHECK(can_start_again(program));

  std::filesystem::remove(path);
  CHECK(program.path_changed() == ENOENT);
  CHECK(can_start_again(program));
}

TEST_CASE("a script can be started again only while its path names the same file") {
  const TemporaryDirectory directory;
  const std::string path = directory.write("script", "#!/bin/true\n");
  const Program program = program_of(path);
  CHECK(program.kind == ExecutableKind::script);
  CHECK(can_start_again(program));

  std::filesystem::rename(path, directory / "elsewhere");
  CHECK_FALSE(can_start_again(program));
  directory.write("script", "#!/bin/true\n");
  CHECK_FALSE(can_start_again(program));
  std::filesystem::rename(directory / "elsewhere", path);
  CHECK(can_start_again(program));
}

TEST_CASE("a name is looked up in PATH, and only executable files count") {
  const TemporaryDirectory directory;
  for (const char* name : {"one", "two", "three"})
    std::filesystem::create_directory(directory / name);
  std::filesystem::create_directory(directory / "one/agent");
  directory.write("two/agent", "x", 0644);
  const std::string right = directory.write("three/agent", "x", 0755);
  const std::string one = directory / "one";
  const std::string two = directory / "two";
  const std::string three = directory / "three";
  const auto find = [](const std::string& name, const std::string& path) {
    return find_in_path(name, path.c_str());
  };

  CHECK(find("agent", one + ":" + two + ":/none:" + three).value() == right);
  CHECK(find("a/b", one).value() == "a/b");
  const agent_protocol::Refusal not_executable = find("agent", one + ":" + two).refusal();
  CHECK(not_executable.error_number == EACCES);
  CHECK(not_executable.reason == one + "/agent: is not executable");
  CHECK_FALSE(not_executable.missing);
  const agent_protocol::Refusal missing = find("other", one + ":" + three).refusal();
  CHECK(missing.error_number == ENOENT);
  CHECK(missing.missing);
  CHECK(find("", three).refusal().missing);
  CHECK(static_cast<bool>(find_in_path("sh", nullptr)));
}

TEST_CASE("an empty directory in PATH is the present one") {
  const TemporaryDirectory directory;
  directory.write("agent", "x");
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(directory.path());

  for (const char* path : {"", ":/none", "/none:", "/none::/none"}) {
    const agent_protocol::Result<std::string> found = find_in_path("agent", path);
    CHECK(found.value() == "./agent");
  }

  std::filesystem::current_path(before);
}

TEST_CASE("AGENT keeps its name as given, whichever file was found for it") {
  const agent_protocol::Result<Program> checked = check_agent("true", {"x"});

  const Program& program = checked.value();
  CHECK(program.name == "true");
  CHECK(program.path.ends_with("/true"));
  CHECK(program.args == std::vector<std::string>{"x"});
}

// ---- the list of programs

TEST_CASE("a program is kept under the next number, and closed when it is named no more") {
  const auto before = descriptors_of(::getpid());
  Programs programs;
  CHECK(programs.add(program_of("/bin/true")) == 1);
  CHECK(programs.add(program_of("/bin/false")) == 2);
  CHECK(programs.add(program_of("/bin/cat")) == 3);
  CHECK(programs.at(2).name == "/bin/false");

  programs.keep_only({3, 1});
  CHECK(descriptors_of(::getpid()).size() == before.size() + 2);
  CHECK(programs.at(3).name == "/bin/cat");
  CHECK(programs.add(program_of("/bin/sh")) == 4);

  programs.keep_only({});
  CHECK(descriptors_of(::getpid()) == before);
}

}  // namespace program_test

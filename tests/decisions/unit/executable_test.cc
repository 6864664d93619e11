// Tests which files count as programs. The tests write the files byte by byte, and as small as
// possible. program_test.cc compares the upgrader's judgment of a file with the kernel's judgment.
#include "base/executable.h"

#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>

#include <catch2/catch.hpp>
#include <cerrno>
#include <fstream>
#include <vector>

#include "base/owned_fd.h"
#include "tests/support/temporary_directory.h"

namespace executable_test {

using namespace upgrader;

namespace {

std::string bytes_of(const auto& value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

// The parts of a program file: an ELF header, a table of segments, and the bytes to which the
// segments refer.
struct Elf {
  Elf() {
    std::ifstream ours("/proc/self/exe", std::ios::binary);
    ours.read(reinterpret_cast<char*>(&header), sizeof header);
    REQUIRE(ours);
    header.e_type = ET_DYN;
    header.e_phoff = sizeof header;
    header.e_phentsize = sizeof(ElfW(Phdr));
  }

  Elf& add(unsigned type, std::size_t offset, std::size_t size) {
    ElfW(Phdr) segment{};
    segment.p_type = type;
    segment.p_offset = offset;
    segment.p_filesz = size;
    segments.push_back(segment);
    return *this;
  }
  // Adds a segment that names a program's loader. Writes the name without a terminating NUL.
  Elf& add_loader(const std::string& name) {
    constexpr std::size_t beyond_the_table = 4096;
    rest.resize(std::max(rest.size(), beyond_the_table));
    add(PT_INTERP, rest.size(), name.size());
    rest += name;
    return *this;
  }
  [[nodiscard]] std::string bytes() const {
    ElfW(Ehdr) counted = header;
    counted.e_phnum = static_cast<ElfW(Half)>(segments.size());
    std::string all = bytes_of(counted);
    for (const ElfW(Phdr) & segment : segments)
      all += bytes_of(segment);
    if (all.size() < rest.size()) all += rest.substr(all.size());
    return all;
  }

  ElfW(Ehdr) header{};
  std::vector<ElfW(Phdr)> segments;
  // The bytes of the file after the header and the table of segments. `rest` begins with unused
  // bytes in place of the header and the table, so that offsets in `rest` are offsets in the file.
  std::string rest;
};

// The result of judging a file: the errno and the reason with which the file is refused as a
// program. The reason is empty if the file is accepted.
struct Verdict {
  int error = 0;
  std::string reason;
};

Verdict verdict_on_file(const std::string& path) {
  const OwnedFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  const auto judged = judge_executable(fd.get());
  const auto* const refusal = judged ? nullptr : &judged.refusal();
  if (refusal == nullptr) return {};
  CHECK(refusal->error_number != 0);
  return {refusal->error_number, refusal->reason};
}

Verdict verdict_on(const std::string& content) {
  const TemporaryDirectory directory;
  return verdict_on_file(directory.write("file", content));
}

std::string reason_for(const Elf& elf) {
  return verdict_on(elf.bytes()).reason;
}

const std::string malformed_header = "has a malformed ELF header";
const std::string truncated = "is a truncated program";
const std::string malformed_loader = "its loader's name is malformed";
const std::string other_machine = "is an ELF file, but no program for this machine";

constexpr std::size_t file_bytes = sizeof(ElfW(Ehdr)) + sizeof(ElfW(Phdr));

}  // namespace

TEST_CASE("a header and one segment make a program, at a fixed address or not") {
  CHECK(reason_for(Elf().add(PT_LOAD, 0, file_bytes)).empty());
  Elf fixed = Elf().add(PT_LOAD, 0, file_bytes);
  fixed.header.e_type = ET_EXEC;
  CHECK(reason_for(fixed).empty());
}

TEST_CASE("each mark of another machine is enough") {
  const auto spoil = GENERATE(
      as<void (*)(ElfW(Ehdr)&)>(), [](ElfW(Ehdr) & h) { h.e_ident[EI_CLASS] ^= 3; },
      [](ElfW(Ehdr) & h) { h.e_ident[EI_DATA] ^= 3; }, [](ElfW(Ehdr) & h) { h.e_machine ^= 1; },
      [](ElfW(Ehdr) & h) { h.e_type = ET_REL; }, [](ElfW(Ehdr) & h) { h.e_type = ET_CORE; });
  Elf elf = Elf().add(PT_LOAD, 0, file_bytes);
  spoil(elf.header);

  const Verdict verdict = verdict_on(elf.bytes());

  CHECK(verdict.error == ENOEXEC);
  CHECK(verdict.reason == other_machine);
}

TEST_CASE("a loader is known by each byte of its magic number") {
  const TemporaryDirectory directory;
  const std::size_t spoilt = GENERATE(0U, 1U, 2U, 3U);
  Elf loader = Elf().add(PT_LOAD, 0, file_bytes);
  loader.header.e_ident[spoilt] ^= 1;
  const std::string path = directory.write("loader", loader.bytes());

  const Verdict verdict = verdict_on(Elf().add_loader(path + '\0').bytes());

  CHECK(verdict.error == ELIBBAD);
  CHECK(verdict.reason == "its loader " + path + " is no program for this machine");
}

TEST_CASE("a table of segments of another form, or none, is malformed") {
  Elf other_size = Elf().add(PT_LOAD, 0, file_bytes);
  other_size.header.e_phentsize += 1;
  CHECK(reason_for(other_size) == malformed_header);
  CHECK(reason_for(Elf()) == malformed_header);
}

TEST_CASE("a table of segments is as large as the kernel takes it, and no larger") {
  Elf elf;
  elf.segments.resize(65'536 / sizeof(ElfW(Phdr)));
  CHECK(reason_for(elf).empty());
  elf.segments.emplace_back();
  CHECK(reason_for(elf) == malformed_header);
}

TEST_CASE("a segment that is loaded lies within the file") {
  CHECK(reason_for(Elf().add(PT_LOAD, 1, file_bytes - 1)).empty());
  CHECK(reason_for(Elf().add(PT_LOAD, file_bytes, 0)).empty());
  CHECK(reason_for(Elf().add(PT_LOAD, 1, file_bytes)) == truncated);
  CHECK(reason_for(Elf().add(PT_LOAD, file_bytes + 1, 0)) == truncated);
}

TEST_CASE("each segment of a long table is looked at") {
  const auto place = GENERATE(std::size_t{0}, std::size_t{15}, std::size_t{16}, std::size_t{17},
                              std::size_t{32}, std::size_t{40});
  Elf beyond;
  beyond.segments.resize(41);
  beyond.segments[place].p_type = PT_LOAD;
  beyond.segments[place].p_offset = 1 << 20;
  Elf loaded;
  loaded.segments.resize(place);
  loaded.add_loader(std::string("/no/such/loader\0", 16)).segments.resize(41);

  CHECK(reason_for(beyond) == truncated);
  CHECK(verdict_on(loaded.bytes()).error == ENOENT);
}

TEST_CASE("a segment that is not loaded may lie anywhere") {
  CHECK(reason_for(Elf().add(PT_NOTE, file_bytes + 1, file_bytes)).empty());
}

TEST_CASE("a program cut off within its table of segments is truncated") {
  const std::string whole = Elf().add(PT_LOAD, 0, 1).bytes();

  CHECK(verdict_on(whole.substr(0, whole.size() - 1)).reason == truncated);
  CHECK(verdict_on(whole.substr(0, sizeof(ElfW(Ehdr)) - 1)).reason == truncated);
}

TEST_CASE("the name of a loader ends with NUL, and has a length within limits") {
  const std::string one_byte(1, '\0');
  const std::string shortest("/\0", 2);
  std::string longest = "/bin/true";
  longest = std::string(PATH_MAX - 1 - longest.size(), '/') + longest + '\0';

  CHECK(reason_for(Elf().add_loader(one_byte)) == malformed_loader);
  CHECK(reason_for(Elf().add_loader(shortest)).starts_with("its loader /: "));
  CHECK(reason_for(Elf().add_loader("/bin/true")) == malformed_loader);
  CHECK(reason_for(Elf().add_loader(longest)).empty());
  CHECK(reason_for(Elf().add_loader('/' + longest)) == malformed_loader);
}

TEST_CASE("the name of a loader goes to its first NUL") {
  const std::string padded("/no/such/loader\0\0x\0", 19);

  const Verdict verdict = verdict_on(Elf().add_loader(padded).bytes());

  CHECK(verdict.error == ENOENT);
  CHECK(verdict.reason == "its loader /no/such/loader: does not exist");
}

TEST_CASE("in a file with two loaders the first is judged") {
  const std::string good("/bin/true\0", 10);
  const std::string bad("/no/such/loader\0", 16);

  CHECK(reason_for(Elf().add_loader(good).add_loader(bad)).empty());
  CHECK(verdict_on(Elf().add_loader(bad).add_loader(good).bytes()).error == ENOENT);
}

TEST_CASE("why an interpreter is none is said in words") {
  const TemporaryDirectory directory;
  const auto refusal = [](const std::string& path) {
    return verdict_on("#!" + path + "\n").reason;
  };

  CHECK(refusal("/no/such") == "its interpreter /no/such: does not exist");
  CHECK(refusal(directory.path()) ==
        "its interpreter " + directory.path() + ": Permission denied (EACCES)");
  CHECK(refusal(directory.write("empty", "")) ==
        "its interpreter " + (directory / "empty") + " is empty");
}

TEST_CASE("an interpreter may be named from the present directory") {
  const TemporaryDirectory directory;
  directory.write("interpreter", content_of("/bin/true"));
  const std::string script = directory.write("script", "#!interpreter\n");
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(directory.path());

  const Verdict verdict = verdict_on_file(script);

  std::filesystem::current_path(before);
  CHECK(verdict.reason.empty());
}

TEST_CASE("a file is said to be empty, or neither a program nor a script") {
  CHECK(verdict_on("").reason == "is empty");
  CHECK(verdict_on("x").reason ==
        "is neither a program for this machine nor a script that begins with #!");
  CHECK(verdict_on("#!\n").reason == "has a #! line that names no interpreter");
  const agent_protocol::Result<ExecutableKind> judged = judge_executable(-1);
  CHECK(judged.refusal().reason == "cannot be read: Bad file descriptor (EBADF)");
}

}  // namespace executable_test

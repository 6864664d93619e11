// Tests packing: for which processor a program is built, which trees and programs are accepted, why
// all other trees and programs are refused, and that keys and signatures have minisign's format.
// The expected processors are those of the table in agent-releases(1), which this file repeats.
#include "tools/agent-releases/core/packing.h"

#include <elf.h>

#include <catch2/catch.hpp>
#include <cstring>
#include <fstream>
#include <string>

#include "agent-releases/processor.h"
#include "tools/agent-releases/core/member.h"
#include "tools/agent-releases/core/minisign.h"

using namespace agent_releases;

namespace packing_test {

constexpr Moment now = 1'800'000'000;
constexpr Found::Kind file = Found::Kind::file;
constexpr Found::Kind directory = Found::Kind::directory;
constexpr Found::Kind symbolic_link = Found::Kind::link;

Found script(const std::string& path) {
  return {.path = path, .kind = file, .mode = 0755, .bytes = 20, .beginning = "#!/bin/sh\n"};
}

// Returns an ELF file, 64-bit and little-endian by default. Machine 62 is x86_64, 183 is aarch64.
Found elf(const std::string& path, char machine, char type = 3, char order = 1) {
  std::string header(elf_header_bytes, '\0');
  header.replace(0, 7, "\177ELF\2\1\1");
  header[5] = order;
  header[order == 1 ? 16 : 17] = type;
  header[order == 1 ? 18 : 19] = machine;
  return {.path = path, .kind = file, .mode = 0755, .bytes = 64, .beginning = header};
}

Wanted wanted(const std::string& arch = "", const std::string& entry = "") {
  return {.name = "agent", .version = *Version::parse("1.2.3+b"), .arch = arch, .entry = entry};
}

std::string refusal_of(const Wanted& words, std::vector<Found> tree) {
  const auto packing = plan_tree(words, std::move(tree));
  return packing ? "none" : packing.reason();
}

// Returns the beginning of an ELF file. Uses the structures of the system's elf.h, and writes each
// number in the byte order `order`.
template <class Header>
std::string elf_of(unsigned char bits, unsigned char order, unsigned machine, unsigned flags = 0) {
  const auto number = [&](unsigned value, auto& member) {
    std::array<unsigned char, sizeof member> bytes{};
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      const std::size_t at = order == ELFDATA2MSB ? bytes.size() - 1 - i : i;
      bytes[at] = static_cast<unsigned char>(value >> (8 * i));
    }
    std::memcpy(&member, bytes.data(), bytes.size());
  };
  Header header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = bits;
  header.e_ident[EI_DATA] = order;
  number(machine, header.e_machine);
  number(flags, header.e_flags);
  std::string text(reinterpret_cast<const char*>(&header), sizeof header);
  text.resize(elf_header_bytes, 'x');
  return text;
}

std::string elf_32(unsigned char order, unsigned machine, unsigned flags = 0) {
  return elf_of<Elf32_Ehdr>(ELFCLASS32, order, machine, flags);
}

std::string elf_64(unsigned char order, unsigned machine, unsigned flags = 0) {
  return elf_of<Elf64_Ehdr>(ELFCLASS64, order, machine, flags);
}

std::string name_of(const std::string& beginning) {
  return std::string(processor_of_elf(beginning).value_or("none"));
}

}  // namespace packing_test

using namespace packing_test;

TEST_CASE("class, byte order, machine and flags of an ELF file name its processor") {
  CHECK(name_of(elf_64(ELFDATA2LSB, EM_X86_64)) == "x86_64");
  CHECK(name_of(elf_32(ELFDATA2LSB, EM_386)) == "i386");
  CHECK(name_of(elf_64(ELFDATA2LSB, EM_AARCH64)) == "aarch64");
  CHECK(name_of(elf_32(ELFDATA2LSB, EM_ARM, EF_ARM_EABI_VER5 | EF_ARM_ABI_FLOAT_HARD)) == "armhf");
  CHECK(name_of(elf_32(ELFDATA2LSB, EM_ARM, EF_ARM_EABI_VER5 | EF_ARM_ABI_FLOAT_SOFT)) == "armel");
  CHECK(name_of(elf_32(ELFDATA2MSB, EM_MIPS, EF_MIPS_ARCH_32R2)) == "mips");
  CHECK(name_of(elf_32(ELFDATA2LSB, EM_MIPS, EF_MIPS_ARCH_32R2)) == "mipsel");
  CHECK(name_of(elf_64(ELFDATA2LSB, EM_RISCV)) == "riscv64");
  CHECK(name_of(elf_64(ELFDATA2LSB, EM_PPC64, 2)) == "ppc64le");
  CHECK(name_of(elf_64(ELFDATA2MSB, EM_S390)) == "s390x");
}

TEST_CASE("a file for a processor without a name, or of another kind, has none") {
  // A 32-bit ELF file for x86-64 has the ABI x32, for which agent-releases has no name.
  CHECK(name_of(elf_32(ELFDATA2LSB, EM_X86_64)) == "none");
  CHECK(name_of(elf_64(ELFDATA2MSB, EM_PPC64)) == "none");
  // A 32-bit MIPS file with this flag has the ABI n32, for which agent-releases has no name.
  CHECK(name_of(elf_32(ELFDATA2MSB, EM_MIPS, EF_MIPS_ABI2)) == "none");
  CHECK(name_of(elf_64(ELFDATA2LSB, EM_MIPS)) == "none");
  CHECK(name_of(elf_32(ELFDATA2MSB, EM_ARM)) == "none");
  CHECK(name_of(elf_64(7, EM_X86_64)) == "none");
  CHECK(name_of(elf_64(ELFDATA2LSB, EM_X86_64).substr(0, 63)) == "none");
  CHECK(name_of("#!/bin/sh\n" + std::string(100, 'x')) == "none");
  CHECK(name_of("") == "none");
}

TEST_CASE("this program's own file is for the processor that it was built for") {
  std::ifstream program("/proc/self/exe", std::ios::binary);
  std::string beginning(elf_header_bytes, '\0');
  REQUIRE(program.read(beginning.data(), static_cast<std::streamsize>(beginning.size())));

  CHECK(name_of(beginning) == processor_built_for());
  CHECK(is_for_this_processor(processor_built_for()));
}

TEST_CASE("a release is for programs of its processor, whatever the kernel's is") {
  CHECK(is_for_processor("armhf", "armhf"));
  CHECK(is_for_processor("any", "armhf"));
  CHECK(is_for_processor("any", "other"));
  CHECK_FALSE(is_for_processor("aarch64", "armhf"));
  CHECK_FALSE(is_for_processor("armel", "armhf"));
  CHECK_FALSE(is_for_processor("other", "other"));
  CHECK_FALSE(is_for_processor("", "armhf"));
}

TEST_CASE("names that manifests had before are read as today's") {
  CHECK(is_for_processor("armv7l", "armhf"));
  CHECK(is_for_processor("i686", "i386"));
  CHECK_FALSE(is_for_processor("armv7l", "armel"));
  CHECK_FALSE(is_for_processor("armv6l", "armhf"));
}

TEST_CASE("a program of another byte order has its type where its processor reads it") {
  // The file is for s390x, which is big-endian.
  const auto packing = plan_file(wanted(), elf("agent", 22, 2, 2));

  REQUIRE(packing);
  CHECK(packing.value().arch == "s390x");
  CHECK(published_file(wanted(), packing.value()) == "agent-1.2.3-s390x");
  CHECK(plan_file(wanted(), elf("agent", 22, 1, 2)).reason().find("is no program") !=
        std::string::npos);
}

TEST_CASE("a file that ends within its ELF header is no program") {
  Found cut = elf("agent", 62);
  cut.beginning.resize(elf_header_bytes - 1);

  CHECK_FALSE(plan_file(wanted(), cut));
}

TEST_CASE("a tree is packed in the order of its paths, directories before what is in them") {
  const auto packing = plan_tree(wanted(), {script("bin/agent"),
                                            {.path = "bin-x", .kind = directory},
                                            {.path = "bin", .kind = directory},
                                            script("agent")});

  REQUIRE(packing);
  std::vector<std::string> paths;
  for (const Found& found : packing.value().tree)
    paths.push_back(found.path);
  CHECK(paths == std::vector<std::string>{"agent", "bin", "bin-x", "bin/agent"});
  CHECK(packing.value().entry == "agent");
}

TEST_CASE(
    "a program decides for which processor a tree is, and a script leaves it to the libraries") {
  const std::vector<Found> mixed{elf("a.so", 62), elf("b.so", char(183)), script("agent")};

  CHECK(plan_tree(wanted(), {elf("agent", 62), elf("b.so", char(183))}).value().arch == "x86_64");
  CHECK(plan_tree(wanted(), {script("agent")}).value().arch == "any");
  CHECK(plan_tree(wanted("armel"), {script("agent")}).value().arch == "armel");
  CHECK(plan_tree(wanted("aarch64"), mixed).value().arch == "aarch64");
  CHECK(plan_tree(wanted("any"), mixed).value().arch == "any");
  CHECK(refusal_of(wanted(), mixed).find("several processors, aarch64, x86_64") !=
        std::string::npos);
  CHECK(refusal_of(wanted("any"), {elf("agent", 62)}) == "agent is for x86_64, and not for any");
}

TEST_CASE("a tree that no archive may contain is refused before it is packed") {
  CHECK(refusal_of(wanted(), {}) == "the directory is empty");
  CHECK(refusal_of(wanted(),
                   {script("agent"), {.path = "l", .kind = symbolic_link, .target = "../x"}}) ==
        "the link l: its target ../x leads out of its directory");
  CHECK(refusal_of(wanted(), {script("agent"), {.path = "l", .kind = symbolic_link}}) ==
        "the link l: its target  is empty");
  CHECK(refusal_of(wanted(), std::vector<Found>(members_max + 1, script("agent"))) ==
        "the directory has more than 100,000 entries");
  CHECK(refusal_of(wanted(), {script("agent"), script(std::string(300, 'x'))})
            .ends_with("is too long"));
  CHECK(
      refusal_of(wanted("", "agent"), {{.path = "agent", .kind = symbolic_link, .target = "x"}}) ==
      "agent is no regular file, so it cannot be what is executed");
}

TEST_CASE("a publisher's secret key is never packed") {
  const Found key{.path = "x/release.key", .kind = file, .is_secret_key = true};

  CHECK(refusal_of(wanted(), {script("agent"), key}) ==
        "x/release.key is a secret key, which everybody could read in the release: move it out of "
        "the directory");
}

TEST_CASE("a secret key in a package that somebody else has published is packed") {
  Wanted words = wanted();
  words.packages = "node_modules";
  const auto key = [](const std::string& path) {
    return Found{.path = path, .kind = file, .is_secret_key = true};
  };

  CHECK(plan_tree(words, {script("agent"), key("node_modules/dep/test/secret.key")}));
  CHECK_FALSE(plan_tree(words, {script("agent"), key("node_modules.key")}));
  CHECK_FALSE(plan_tree(words, {script("agent"), key("lib/node_modules/secret.key")}));
}

// Plans the packing of two trees. The list of members of the first tree has the maximum number of
// bytes that `add` accepts. The second tree is the same, except that one name is a byte longer.
TEST_CASE("a tree whose names are too long together is refused before it is packed") {
  constexpr std::size_t lines = 65'536;
  const std::vector<std::pair<Listed::Kind, Found::Kind>> kinds{
      {Listed::Kind::file, file},
      {Listed::Kind::link, symbolic_link},
      {Listed::Kind::directory, directory}};
  std::vector<Found> tree;
  while (tree.size() < lines) {
    const auto& [listed, found_kind] = kinds[tree.size() % kinds.size()];
    Found found = script(std::to_string(tree.size()));
    found.kind = found_kind;
    found.target = "x";
    const std::string line =
        to_line({.kind = listed, .sha256 = std::string(64, 'a'), .path = found.path});
    found.path += std::string(member_list_bytes_max / lines - line.size(), 'x');
    tree.push_back(found);
  }
  const Wanted words = wanted("", tree.front().path);

  CHECK(refusal_of(words, tree) == "none");
  tree.back().path += "x";
  CHECK(refusal_of(words, tree) ==
        "the list of the directory's files would have more than 16,777,216 bytes, so no machine "
        "would add the release");
}

TEST_CASE("contents that would not be unpacked are refused") {
  Found large = script("agent");
  large.bytes = unpacked_bytes_max(1'000) + 1;

  CHECK_FALSE(check_unpacked_bytes({large}, 1'000));
  CHECK(check_unpacked_bytes({large}, 1'001));
}

TEST_CASE("a manifest that is written is read again as it was") {
  Wanted words = wanted();
  words.expires = now;
  const auto packing = plan_tree(words, {script("agent")});
  const Manifest manifest = manifest_of(words, packing.value(), 7, std::string(64, 'a'));

  const auto read = parse_manifest(to_text(manifest));

  REQUIRE(read);
  CHECK(to_text(read.value()) == to_text(manifest));
  CHECK(read.value().version.build == "b");
  CHECK(read.value().url == "agent-1.2.3-any.tar.zst");
  CHECK(check_wanted(words, now - 1));
  CHECK_FALSE(check_wanted(words, now));
}

TEST_CASE("a signature is accepted for the signed message alone") {
  Randomness drawn;
  drawn.seed.fill(7);
  drawn.number = {1, 2, 3, 4, 5, 6, 7, 0xf8};
  const SecretKey key = make_key(drawn);
  const auto half = parse_public_key(public_key_text(public_key_of(key)));
  REQUIRE(half);

  const std::string signature = sign(key, "message", "agent.json", now);

  const auto good = verify_signature("message", signature, {half.value()});
  REQUIRE(good);
  CHECK(good.value() == "timestamp:1800000000\tfile:agent.json\thashed");
  CHECK_FALSE(verify_signature("massage", signature, {half.value()}));
  CHECK(shown_key_number(key.number) == "F807060504030201");
}

TEST_CASE("a secret key without a password is read again, and a damaged one is not") {
  Randomness drawn;
  drawn.seed.fill(9);
  const SecretKey key = make_key(drawn);
  const std::string text = secret_key_text(key, "", drawn).value();

  const auto parsed = parse_secret_key(text);
  REQUIRE(parsed);
  CHECK_FALSE(parsed.value().has_password);
  CHECK(open_secret_key(parsed.value(), "").value().bytes == key.bytes);

  SecretKeyFile damaged = parsed.value();
  damaged.content[20] ^= 1;
  CHECK(open_secret_key(damaged, "").reason() == "it is damaged");
  CHECK_FALSE(parse_secret_key(text.substr(0, 100)));
  CHECK_FALSE(parse_secret_key(public_key_text(public_key_of(key))));
}

TEST_CASE("a key whose password would take all memory is refused before it is tried") {
  const std::string plain = secret_key_text(make_key({}), "", {}).value();
  const std::size_t begin = plain.find('\n') + 1;
  std::array<unsigned char, 158> bytes{};
  REQUIRE(decode_base64(std::string_view(plain).substr(begin, plain.size() - begin - 1), bytes));
  const auto text = [&] {
    return plain.substr(0, begin) +
           encode_base64({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  };

  bytes[2] = 'S';
  bytes[3] = 'c';
  CHECK(parse_secret_key(text()).value().has_password);
  // Eight bytes of the key say how much memory its password needs. This changes the highest of
  // these bytes, so that the key demands far more than 1 GiB.
  bytes[46 + 7] = 1;
  const auto refused = parse_secret_key(text());

  REQUIRE_FALSE(refused);
  CHECK(refused.reason().starts_with("its password would need more than 1 GiB"));
}

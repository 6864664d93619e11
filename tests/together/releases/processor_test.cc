// Tests for which processor an ELF file is, and which releases fit this machine. The table of
// agent-releases(1), which is written a second time here, has the right answers.
#include <elf.h>

#include <catch2/catch.hpp>
#include <cstring>
#include <fstream>
#include <string>

#include "agent-releases/processor.h"

namespace processor_test {

using namespace agent_releases;

namespace {

// Returns the beginning of an ELF file, by the system's own elf.h; a big-endian one is written byte
// by byte.
template <class Header>
std::string elf(unsigned char bits, unsigned char order, unsigned machine, unsigned flags = 0) {
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
  return elf<Elf32_Ehdr>(ELFCLASS32, order, machine, flags);
}

std::string elf_64(unsigned char order, unsigned machine, unsigned flags = 0) {
  return elf<Elf64_Ehdr>(ELFCLASS64, order, machine, flags);
}

std::string name_of(const std::string& beginning) {
  return std::string(processor_of_elf(beginning).value_or("none"));
}

}  // namespace

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
  // An ELF file of 32 bits for x86-64 has the ABI x32.
  CHECK(name_of(elf_32(ELFDATA2LSB, EM_X86_64)) == "none");
  CHECK(name_of(elf_64(ELFDATA2MSB, EM_PPC64)) == "none");
  // A MIPS file of 32 bits with this flag has the ABI n32.
  CHECK(name_of(elf_32(ELFDATA2MSB, EM_MIPS, EF_MIPS_ABI2)) == "none");
  CHECK(name_of(elf_64(ELFDATA2LSB, EM_MIPS)) == "none");
  CHECK(name_of(elf_32(ELFDATA2MSB, EM_ARM)) == "none");
  CHECK(name_of(elf_64(7, EM_X86_64)) == "none");
  CHECK(name_of(elf_64(ELFDATA2LSB, EM_X86_64).substr(0, 63)) == "none");
  CHECK(name_of("#!/bin/sh\n" + std::string(100, 'x')) == "none");
  CHECK(name_of("") == "none");
}

TEST_CASE("this program's own file is for the processor that it was built for") {
  std::ifstream file("/proc/self/exe", std::ios::binary);
  std::string beginning(elf_header_bytes, '\0');
  REQUIRE(file.read(beginning.data(), static_cast<std::streamsize>(beginning.size())));

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

}  // namespace processor_test

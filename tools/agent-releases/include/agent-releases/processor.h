// Processors, by their names in manifests: x86_64, i386, aarch64, armhf, armel, mips, mipsel,
// riscv64, ppc64le, s390x. A release can be added only if its manifest names `any`, or the
// processor for which this system's programs were built. `uname -m` shows the kernel's processor,
// which may differ: a 64-bit kernel also runs programs for 32-bit processors.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace agent_releases {

// How many bytes at the start of an ELF file are needed to recognize the processor.
inline constexpr std::size_t elf_header_bytes = 64;

// Returns the processor of an ELF file, from the class, byte order, machine and flags in its first
// bytes. Returns nothing if the file is not an ELF file, or if the comment at the top of this file
// does not list its processor.
[[nodiscard]] std::optional<std::string_view> processor_of_elf(std::string_view first_bytes);

// Returns true if `name` is one of the processor names that the comment at the top of this file
// lists.
[[nodiscard]] bool is_processor_name(std::string_view name);

// Returns the current name of the processor in a manifest's `arch`: older manifests have `armv7l`
// for `armhf` and `i686` for `i386`. Any other name is returned unchanged.
[[nodiscard]] std::string_view todays_processor_name(std::string_view arch);

// Returns the processor for which this program was built, or `other` if that processor has no name
// in manifests.
[[nodiscard]] std::string_view processor_built_for();

// Returns true if a release whose manifest has this `arch` is for the same processor as this
// program, or for `any`.
[[nodiscard]] bool is_for_this_processor(std::string_view arch);

// Returns true if a release whose manifest has this `arch` is for `processor`, or for `any`.
[[nodiscard]] bool is_for_processor(std::string_view arch, std::string_view processor);

}  // namespace agent_releases

// Processors, by their names in manifests: x86_64, i386, aarch64, armhf, armel, mips, mipsel,
// riscv64, ppc64le, s390x. A release is for the processor that the programs of this system were
// built for. That may differ from the kernel's, which `uname -m` shows: a 64-bit kernel runs
// programs for 32-bit processors, too.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace agent_releases {

// The number of bytes at the start of an ELF file that are needed to recognise its processor.
inline constexpr std::size_t elf_header_bytes = 64;

// Returns the processor of an ELF file, by class, byte order, machine and flags in its first bytes.
// Returns nothing if it is another kind of file, or for a processor without a name here.
[[nodiscard]] std::optional<std::string_view> processor_of_elf(std::string_view first_bytes);

// Returns true if the text is one of the names of processors above.
[[nodiscard]] bool is_processor_name(std::string_view name);

// Returns the present name for a manifest's `arch`: older manifests have `armv7l` and `i686` for
// `armhf` and `i386`. Any other text is returned unchanged.
[[nodiscard]] std::string_view todays_processor_name(std::string_view arch);

// Returns the processor for which this program was built, or `other` if it has no name here.
[[nodiscard]] std::string_view processor_built_for();

// Returns true if a release whose manifest has this `arch` is for the same processor as this
// program, or for `any`.
[[nodiscard]] bool is_for_this_processor(std::string_view arch);

// Returns true if a release whose manifest has this `arch` is for `processor`, or for `any`.
[[nodiscard]] bool is_for_processor(std::string_view arch, std::string_view processor);

}  // namespace agent_releases

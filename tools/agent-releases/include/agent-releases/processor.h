// Processors, by the names that manifests have for them: x86_64, i386, aarch64, armhf, armel, mips,
// mipsel, riscv64, ppc64le, s390x. A 64-bit kernel runs programs for 32-bit processors, too, so a
// release is for the processor that the programs of this system were built for; `uname -m` tells
// that of the kernel.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace agent_releases {

// So many bytes of an ELF file say which processor it is for.
inline constexpr std::size_t elf_header_bytes = 64;

// Which processor an ELF file is for, by class, byte order, machine and flags in its first bytes.
// Nothing where it is another kind of file, or for a processor without a name here.
[[nodiscard]] std::optional<std::string_view> processor_of_elf(std::string_view first_bytes);

// Whether it is one of the names above.
[[nodiscard]] bool is_processor_name(std::string_view name);

// The name that a manifest's `arch` has now: of `armv7l` and `i686`, as manifests had them before,
// it is `armhf` and `i386`. Any other text stays as it is.
[[nodiscard]] std::string_view todays_processor_name(std::string_view arch);

// The processor for which this program was built. `other` has no name here.
[[nodiscard]] std::string_view processor_built_for();

// Whether a release whose manifest has this `arch` is for programs such as this one, or for `any`.
[[nodiscard]] bool is_for_this_processor(std::string_view arch);

// The same, for another processor than that of this program.
[[nodiscard]] bool is_for_processor(std::string_view arch, std::string_view processor);

}  // namespace agent_releases

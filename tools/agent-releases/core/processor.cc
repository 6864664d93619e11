// Finds out for which processor a program was built.
#include "agent-releases/processor.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace agent_releases {
namespace {

enum class Bits : unsigned char { b32 = 1, b64 = 2 };
enum class Order : unsigned char { little = 1, big = 2 };

struct Processor {
  std::string_view name;
  Bits bits;
  Order order;
  std::uint32_t machine;  // the value of e_machine
  std::uint32_t mask;     // the bits of e_flags that must have the value `flags`
  std::uint32_t flags;    // the value of e_flags in the bits of `mask`
};

constexpr std::uint32_t arm_hard_float = 0x400;
constexpr std::uint32_t mips_n32 = 0x20;

constexpr std::array<Processor, 10> processors{{
    {"x86_64", Bits::b64, Order::little, 62, 0, 0},
    {"i386", Bits::b32, Order::little, 3, 0, 0},
    {"aarch64", Bits::b64, Order::little, 183, 0, 0},
    {"armhf", Bits::b32, Order::little, 40, arm_hard_float, arm_hard_float},
    {"armel", Bits::b32, Order::little, 40, arm_hard_float, 0},
    {"mips", Bits::b32, Order::big, 8, mips_n32, 0},
    {"mipsel", Bits::b32, Order::little, 8, mips_n32, 0},
    {"riscv64", Bits::b64, Order::little, 243, 0, 0},
    {"ppc64le", Bits::b64, Order::little, 21, 0, 0},
    {"s390x", Bits::b64, Order::big, 22, 0, 0},
}};

// Reads an unsigned number of `bytes` bytes, at most 4.
std::uint32_t number_at(std::string_view text, std::size_t at, std::size_t bytes, Order order) {
  std::uint32_t number = 0;
  for (std::size_t i = 0; i < bytes; ++i) {
    const std::size_t next = order == Order::big ? i : bytes - 1 - i;
    number = number << 8U | static_cast<unsigned char>(text[at + next]);
  }
  return number;
}

}  // namespace

std::optional<std::string_view> processor_of_elf(std::string_view first_bytes) {
  constexpr std::size_t class_at = 4;
  constexpr std::size_t order_at = 5;
  constexpr std::size_t machine_at = 18;
  constexpr std::size_t flags_at_of_32_bits = 36;
  constexpr std::size_t flags_at_of_64_bits = 48;
  if (first_bytes.size() < elf_header_bytes || !first_bytes.starts_with("\177ELF")) {
    return std::nullopt;
  }
  const auto bits = static_cast<Bits>(first_bytes[class_at]);
  const auto order = static_cast<Order>(first_bytes[order_at]);
  const std::uint32_t machine = number_at(first_bytes, machine_at, 2, order);
  const std::size_t flags_at = bits == Bits::b32 ? flags_at_of_32_bits : flags_at_of_64_bits;
  const std::uint32_t flags = number_at(first_bytes, flags_at, 4, order);
  for (const Processor& known : processors) {
    if (known.bits == bits && known.order == order && known.machine == machine &&
        (flags & known.mask) == known.flags) {
      return known.name;
    }
  }
  return std::nullopt;
}

std::string_view todays_processor_name(std::string_view arch) {
  if (arch == "armv7l") return "armhf";
  if (arch == "i686") return "i386";
  return arch;
}

bool is_processor_name(std::string_view name) {
  return std::ranges::any_of(processors, [&](const Processor& each) { return each.name == name; });
}

std::string_view processor_built_for() {
#if defined(__x86_64__) && defined(__LP64__)
  return "x86_64";
#elif defined(__i386__)
  return "i386";
#elif defined(__aarch64__) && defined(__AARCH64EL__) && defined(__LP64__)
  return "aarch64";
#elif defined(__arm__) && defined(__ARMEL__) && defined(__ARM_PCS_VFP)
  return "armhf";
#elif defined(__arm__) && defined(__ARMEL__)
  return "armel";
#elif defined(__mips__) && defined(_ABIO32) && _MIPS_SIM == _ABIO32 && defined(__MIPSEB__)
  return "mips";
#elif defined(__mips__) && defined(_ABIO32) && _MIPS_SIM == _ABIO32 && defined(__MIPSEL__)
  return "mipsel";
#elif defined(__riscv) && __riscv_xlen == 64
  return "riscv64";
#elif defined(__powerpc64__) && defined(__LITTLE_ENDIAN__)
  return "ppc64le";
#elif defined(__s390x__)
  return "s390x";
#else
  return "other";
#endif
}

bool is_for_processor(std::string_view arch, std::string_view processor) {
  return arch == "any" || (todays_processor_name(arch) == processor && processor != "other");
}

bool is_for_this_processor(std::string_view arch) {
  return is_for_processor(arch, processor_built_for());
}

}  // namespace agent_releases

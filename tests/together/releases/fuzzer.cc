// Runs libFuzzer on all code that reads bytes from outside: see target.h. FUZZ_TARGET, a number,
// selects one kind of input: inputs of other kinds are ignored, and no input is changed into one of
// them. PLANTED_FAULT, a number, plants an error that the fuzzer must find.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tests/together/releases/tar_mutation.h"
#include "tests/together/releases/target.h"

namespace {

std::optional<unsigned> number_of(const char* variable) {
  const char* const text = std::getenv(variable);
  if (text == nullptr) return std::nullopt;
  return static_cast<unsigned>(std::atoi(text));
}

std::optional<unsigned> kind;

}  // namespace

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t*, std::size_t, std::size_t);
extern "C" int LLVMFuzzerInitialize(int*, char***);
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t*, std::size_t, std::size_t, unsigned);

namespace {

// Changes only the text between two neighbouring quotes, blanks or ends of lines. If any byte could
// change, hardly any changed manifest would still be JSON.
std::size_t mutate_word(std::uint8_t* text, std::size_t size, std::size_t size_max, unsigned luck) {
  const std::string_view whole(reinterpret_cast<const char*>(text), size);
  std::vector<std::size_t> begins{0};
  for (std::size_t i = 0; i < size; ++i) {
    if (whole[i] == '"' || whole[i] == ' ' || whole[i] == '\n') begins.push_back(i + 1);
  }
  const std::size_t begin = begins[luck % begins.size()];
  const std::string rest(whole.substr(std::min(whole.find_first_of("\" \n", begin), size)));
  const std::size_t room = size_max - begin - rest.size();
  if (room == 0) return size;
  const std::size_t word = LLVMFuzzerMutate(text + begin, size - begin - rest.size(), room);
  std::ranges::copy(rest, text + begin + word);
  return begin + word + rest.size();
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  if (const auto fault = number_of("PLANTED_FAULT")) {
    releases_target::planted = static_cast<releases_target::Planted>(*fault);
  }
  kind = number_of("FUZZ_TARGET");
  return 0;
}

// Changes an input. In one call of four, on average, libFuzzer changes bytes at any place. In the
// other calls only one entry of an archive or one word of a text changes, so that the input remains
// an archive or a text.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t size_max, unsigned luck) {
  if (size == 0) data[size++] = 0;
  if (kind) data[0] = static_cast<std::uint8_t>(*kind);
  const bool anywhere = luck % 4 == 0;
  const bool archive = data[0] % releases_target::kinds == releases_target::archive;
  if (anywhere) {
    size = 1 + LLVMFuzzerMutate(data + 1, size - 1, size_max - 1);
  } else if (!archive) {
    return 1 + mutate_word(data + 1, size - 1, size_max - 1, luck / 4);
  }
  if (!archive) return size;
  const std::span<std::uint8_t> tar(data + 1, size - 1);
  if (!anywhere) releases_target::mutate_entry(tar, luck / 4);
  if (luck % 16 != 0) releases_target::mend_checksums(tar);
  return size;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (kind && (size == 0 || data[0] % releases_target::kinds != *kind)) return 0;
  releases_target::take({reinterpret_cast<const char*>(data), size});
  return 0;
}

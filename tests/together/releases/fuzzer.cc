// Runs libFuzzer on all code that reads bytes from outside: see target.h. The variable FUZZ_TARGET,
// a number, selects one kind of input: inputs of other kinds are ignored, and changes to an input
// do not change its kind. The variable PLANTED_FAULT, a number, injects an error that the fuzzer
// must find.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tests/together/releases/target.h"

namespace releases_target {
namespace {

// The functions below change a tar archive into a different archive with valid checksums. Random
// changes of bytes would seldom have this result, because every header has a checksum.

// The layout of the header of an entry in a tar file, in bytes.
constexpr std::size_t block_bytes = 512;
constexpr std::size_t name_bytes = 100;
constexpr std::size_t mode_at = 100;
constexpr std::size_t size_at = 124;
constexpr std::size_t number_bytes = 12;
constexpr std::size_t checksum_at = 148;
constexpr std::size_t checksum_bytes = 8;
constexpr std::size_t kind_at = 156;
constexpr std::size_t link_at = 157;
constexpr std::size_t magic_at = 257;

using namespace std::string_view_literals;
constexpr std::array names{"a"sv,         "a/b"sv,     "bin"sv,  "bin/agent"sv,  "conf"sv,
                           "../x"sv,      "/x"sv,      ".."sv,   "bin/../x"sv,   "a//./b"sv,
                           "."sv,         ""sv,        "link"sv, "bin/link/y"sv, "A"sv,
                           "\xc3\xa9"sv,  "\xff"sv,    "a\n"sv,  "bin/"sv,       "../conf"sv,
                           "a/../../x"sv, "bin/link"sv};
constexpr std::array modes{"0000755"sv, "0000644"sv, "0004755"sv, "0002755"sv, "0000000"sv};
constexpr std::array sizes{"00000000000"sv, "00000000001"sv, "00000000777"sv, "77777777777"sv};
constexpr std::string_view kinds{"0123456789gxKLSV\0", 17};

using Block = std::span<std::uint8_t>;

void put(Block block, std::size_t at, std::size_t room, std::string_view text) {
  std::fill_n(block.begin() + static_cast<std::ptrdiff_t>(at), room, std::uint8_t{0});
  std::ranges::copy(text, block.begin() + static_cast<std::ptrdiff_t>(at));
}

std::size_t size_of(Block header) {
  std::size_t size = 0;
  for (const std::uint8_t digit : header.subspan(size_at, number_bytes)) {
    if (digit >= '0' && digit <= '7') size = size * 8 + (digit - '0');
  }
  return size;
}

bool begins_like_one(std::span<const std::uint8_t> tar) {
  return tar.size() >= block_bytes && std::ranges::equal(tar.subspan(magic_at, 5), "ustar"sv);
}

// Returns the headers of all entries of a tar archive, without the entries' contents.
std::vector<Block> headers_of(std::span<std::uint8_t> tar) {
  std::vector<Block> headers;
  if (!begins_like_one(tar)) return headers;
  for (std::size_t at = 0; tar.size() - at >= block_bytes;) {
    const Block header = tar.subspan(at, block_bytes);
    if (std::ranges::all_of(header, [](std::uint8_t byte) { return byte == 0; })) break;
    headers.push_back(header);
    const std::size_t held = (size_of(header) + block_bytes - 1) / block_bytes * block_bytes;
    if (held > tar.size() - at - block_bytes) break;
    at += block_bytes + held;
  }
  return headers;
}

template <typename Choices>
auto pick(const Choices& choices, unsigned luck) {
  return choices[luck % choices.size()];
}

// Changes one property of one entry: the entry's name, kind, target, mode, size or position.
// `luck`, a random number, selects the property and the entry. Changes nothing if the bytes do not
// begin like an uncompressed tar archive.
void mutate_entry(std::span<std::uint8_t> tar, unsigned luck) {
  const std::vector<Block> headers = headers_of(tar);
  if (headers.empty()) return;
  const Block header = pick(headers, luck / 8);
  const unsigned rest = luck / 512;
  switch (luck % 8) {
    case 0:
    case 1:
      put(header, 0, name_bytes, pick(names, rest));
      break;
    case 2:
      header[kind_at] = static_cast<std::uint8_t>(pick(kinds, rest));
      break;
    case 3:
      header[kind_at] = '2';
      put(header, link_at, name_bytes, pick(names, rest));
      break;
    case 4:
      header[kind_at] = '1';
      put(header, link_at, name_bytes, pick(names, rest));
      break;
    case 5:
      put(header, mode_at, checksum_bytes, pick(modes, rest));
      break;
    case 6:
      put(header, size_at, number_bytes, pick(sizes, rest));
      break;
    default:
      std::ranges::swap_ranges(header, pick(headers, rest));
      break;
  }
}

// Writes the correct checksum into every header.
void mend_checksums(std::span<std::uint8_t> tar) {
  for (const Block header : headers_of(tar)) {
    const Block checksum = header.subspan(checksum_at, checksum_bytes);
    std::ranges::fill(checksum, std::uint8_t{' '});
    unsigned sum = std::accumulate(header.begin(), header.end(), 0U);
    for (std::size_t digit = 6; digit-- > 0; sum /= 8)
      checksum[digit] = static_cast<std::uint8_t>('0' + sum % 8);
    checksum[6] = 0;
  }
}

}  // namespace

}  // namespace releases_target

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

// Changes one word of a text. A word ends at a quote, a blank or the end of a line. Changes of
// arbitrary bytes would turn most manifests into invalid JSON.
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

// Changes an input. In one of four calls, on average, libFuzzer's own code changes arbitrary bytes.
// In all other calls, only one entry of an archive or one word of a text changes, so that the input
// remains a valid archive or text.
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

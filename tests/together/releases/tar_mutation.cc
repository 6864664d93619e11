#include "tests/together/releases/tar_mutation.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <string_view>
#include <vector>

namespace releases_target {
namespace {

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

// Finds the headers of all entries. Skips the content of each entry.
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

}  // namespace

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

}  // namespace releases_target

// Changes a tar archive into another valid one. Random changes of bytes would seldom do so, since
// every header has a checksum.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace releases_target {

// Changes one property of one entry: its name, kind, target, mode, size or position. `luck` chooses
// the property and the entry. Changes nothing if the bytes do not begin like an uncompressed tar
// archive.
void mutate_entry(std::span<std::uint8_t> tar, unsigned luck);

// Gives every header its right checksum.
void mend_checksums(std::span<std::uint8_t> tar);

}  // namespace releases_target

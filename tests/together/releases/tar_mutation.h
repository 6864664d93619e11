// Changes to an archive that leave it one: random bytes seldom do, since every header of a tar has
// a checksum.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace releases_target {

// Changes one thing of one entry, as `luck` says: its name, its kind, where it leads, its mode, its
// size, or its place. Bytes that do not begin like a plain tar stay as they are.
void mutate_entry(std::span<std::uint8_t> tar, unsigned luck);

// Gives every header the checksum that it should have.
void mend_checksums(std::span<std::uint8_t> tar);

}  // namespace releases_target

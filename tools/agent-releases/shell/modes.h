// The modes of the files and directories in releases.
#pragma once

#include <sys/stat.h>

#include <cstdint>

namespace agent_releases {

inline constexpr mode_t release_mode = 0555;
inline constexpr mode_t directory_mode = 0755;
inline constexpr mode_t executable_bits = 0111;
inline constexpr mode_t permission_bits = 07777;
// The unit of st_blocks in stat(2).
inline constexpr std::int64_t disk_block_bytes = 512;

}  // namespace agent_releases

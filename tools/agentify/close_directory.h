// A deleter that closes an open directory, for std::unique_ptr<DIR>.
#pragma once

#include <dirent.h>

namespace agentify {

struct CloseDirectory {
  void operator()(DIR* directory) const { ::closedir(directory); }
};

}  // namespace agentify

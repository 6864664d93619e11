// The directory of a trial cell: locks it, and writes the files that its programs need.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/lock.h"
#include "fleet/cell/dev_cell.h"
#include "fleet/fleetctl/options.h"

namespace fleetctl {

// The directory of a trial cell. If the user has not named a directory, a new one is made, and
// removed at the end with all its files.
class DevDirectory {
 public:
  DevDirectory() = default;
  DevDirectory(const DevDirectory&) = delete;
  DevDirectory& operator=(const DevDirectory&) = delete;
  ~DevDirectory();

  // Opens the directory `wanted`, and makes it if it is absent. If `wanted` is empty, makes one
  // with a new name, which is removed at the end. Locks it, so that no other process uses it.
  // Returns why that failed, or an empty text.
  [[nodiscard]] std::string open(const std::string& wanted);
  // Returns the directory's absolute path, without symbolic links.
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] bool is_kept() const { return is_kept_; }

 private:
  [[nodiscard]] std::string make(const std::string& wanted);
  [[nodiscard]] std::string claim();

  std::string path_;
  bool is_kept_ = true;
  std::optional<upgrader::Lock> lock_;
};

// Writes what is needed: ports, certificates, links and releases. Files of an earlier start stay.
// Returns why that failed, or an empty text.
[[nodiscard]] std::string fill_directory(fleet::DevTerms& terms);

// Returns the manifest of this version of the sample daemon, or an empty text if the directory has
// none.
[[nodiscard]] std::string release_manifest(const std::string& directory, std::string_view version);

// Returns the paths of the needed programs that were found, beside this program or in PATH.
[[nodiscard]] std::map<std::string, std::string> find_programs();

// Returns whether a process accepts connections at this port on 127.0.0.1.
[[nodiscard]] bool is_served(int port);

}  // namespace fleetctl

// The directory of a trial cell: claims it, and fills it with the files that its programs need.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/lock.h"
#include "fleet/cell/dev_cell.h"
#include "fleet/fleetctl/options.h"

namespace fleetctl {

// A directory that is removed with all its files, unless it has to be kept.
class DevDirectory {
 public:
  DevDirectory() = default;
  DevDirectory(const DevDirectory&) = delete;
  DevDirectory& operator=(const DevDirectory&) = delete;
  ~DevDirectory();

  // Makes `wanted` if it is absent. If `wanted` is empty, makes a directory with a new name, which
  // is removed at the end. Returns why it cannot be used, or an empty text if it is open, for this
  // process alone.
  [[nodiscard]] std::string open(const std::string& wanted);
  // Returns the absolute path, without links.
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] bool is_kept() const { return is_kept_; }

 private:
  [[nodiscard]] std::string make(const std::string& wanted);
  [[nodiscard]] std::string claim();

  std::string path_;
  bool is_kept_ = true;
  std::optional<upgrader::Lock> lock_;
};

// Fills the directory: ports, certificates, links, releases. Files of an earlier start stay.
// Returns why that has failed, or an empty text if the directory is filled.
[[nodiscard]] std::string fill_directory(fleet::DevTerms& terms);

// Returns the manifest of a published version of the sample daemon, or an empty text if the
// directory has none.
[[nodiscard]] std::string release_manifest(const std::string& directory, std::string_view version);

// Returns the programs that were found, in the directory of this program or in PATH.
[[nodiscard]] std::map<std::string, std::string> find_programs();

// Returns whether a process accepts connections at this port of 127.0.0.1.
[[nodiscard]] bool is_served(int port);

}  // namespace fleetctl

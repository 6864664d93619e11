// Sets up a trial cell for `fleetctl dev`: makes and locks its directory, writes the programs'
// files, fills the store, and finds out whether all programs work.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/lock.h"
#include "fleet/cell/dev_cell.h"
#include "fleet/fleetctl/options.h"

namespace fleetctl {

// The directory of a trial cell. If the user has named none, it is a new one, which the destructor
// removes.
class DevDirectory {
 public:
  DevDirectory() = default;
  DevDirectory(const DevDirectory&) = delete;
  DevDirectory& operator=(const DevDirectory&) = delete;
  ~DevDirectory();

  // Opens the directory `wanted` and locks it, so that no other `fleetctl dev` uses it. Makes it if
  // it is absent, or a new one if `wanted` is empty. Returns the reason for a failure, or an empty
  // string.
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

// Writes the files that the trial cell needs: ports, certificates, links and releases. Keeps the
// files of an earlier start. Returns an empty string on success, or else the reason for the
// failure.
[[nodiscard]] std::string fill_directory(fleet::DevTerms& terms);

// Returns the manifest of this version of the sample daemon, or an empty string if the directory
// does not contain that version.
[[nodiscard]] std::string release_manifest(const std::string& directory, std::string_view version);

// Looks for the programs of a trial cell in the directory of this program and in PATH. Returns the
// paths of the found programs by their names.
[[nodiscard]] std::map<std::string, std::string> find_programs();

// ---- the store of a trial cell

// Returns whether etcd answers and has a leader.
[[nodiscard]] bool is_store_ready(const fleet::DevTerms& terms);
// Adds users, roles, enrolments and releases to the store, unless they exist already. Returns an
// empty string on success, or else the reason for the failure.
[[nodiscard]] std::string fill_store(const fleet::DevTerms& terms);
// Returns whether a controller serves the web page and every node reports its versions.
[[nodiscard]] bool do_all_report(const fleet::DevTerms& terms);

}  // namespace fleetctl

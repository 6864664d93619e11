// Reads and writes the files of a machine that joins a cell: its key and certificate, the
// authority's certificate, the public keys for releases, and the settings of fleet-agent. Each file
// is replaced atomically and synced to disk. The certificate is written last, so a machine with a
// certificate has all other files, too.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/owned_fd.h"
#include "fleet/model/records/cell_records.h"
#include "fleet/model/records/time.h"

namespace fleet {

class JoinPlace {
 public:
  // `root` is the directory below which all files are written, in place of `/`. An empty `root`
  // means the real `/`.
  explicit JoinPlace(const std::string& root, std::string node);

  // Makes the directories, and takes a lock, so that only one `fleet-agent join` runs at a time.
  // Returns an empty string on success, or else the reason for the failure.
  [[nodiscard]] std::string open();
  // Returns why this machine cannot join with this token under this name, or an empty string. A
  // machine cannot join if it has a certificate or settings for another name, or the certificate of
  // another cell's authority.
  [[nodiscard]] std::string why_taken(const TokenText& token) const;
  // Returns the machine's private key, which is made if its file does not exist. On failure,
  // returns an empty string, and sets `trouble` to the reason.
  [[nodiscard]] std::string key(std::string& trouble) const;
  // Returns whether the machine has already joined under this name, with a certificate that is
  // valid now.
  [[nodiscard]] bool has_joined(UnixSeconds now) const;

  // Writes all files and syncs them to disk. Returns an empty string on success, or else the reason
  // for the failure.
  [[nodiscard]] std::string settle(const TokenText& token, const std::string& authority,
                                   const JoinAnswer& answer) const;

 private:
  [[nodiscard]] std::string path(const std::string& name) const { return files_ + "/" + name; }
  [[nodiscard]] std::string settings(const TokenText& token) const;
  [[nodiscard]] bool has_other_release_keys(const JoinAnswer& answer) const;
  [[nodiscard]] std::string write_release_keys(const TokenText& token,
                                               const JoinAnswer& answer) const;

  std::string files_;     // the directory for the machine's certificates
  std::string defaults_;  // the directory for the settings of services
  std::string node_;
  upgrader::OwnedFd lock_ = {};
};

}  // namespace fleet

// The files of a machine that joins a cell: its key, its certificate, the authority, the public
// keys of releases, and the settings of its service. Each is written whole and durably; the
// certificate is the last, so a machine that has it has everything.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/owned_fd.h"
#include "fleet/model/join_records.h"
#include "fleet/model/time_zone.h"

namespace fleet {

class JoinPlace {
 public:
  // `root` stands in the place of `/`; empty for this machine itself.
  explicit JoinPlace(std::string root, std::string node);

  // Makes the directories, and refuses a second process at work here. Returns why it cannot go on,
  // or an empty text.
  [[nodiscard]] std::string open();
  // Returns why this machine cannot join with this token under this name: it has joined another
  // cell or has another name, or its settings are for something else.
  [[nodiscard]] std::string why_taken(const TokenText& token) const;
  // Reads the machine's key, or makes one. Returns an empty text, and why in `trouble`, if it
  // cannot.
  [[nodiscard]] std::string key(std::string& trouble) const;
  // Returns whether the certificate that is there can be used now.
  [[nodiscard]] bool has_joined(UnixSeconds now) const;

  // Writes all files. Returns why it failed, or an empty text if all is durable.
  [[nodiscard]] std::string settle(const TokenText& token, const std::string& authority,
                                   const JoinAnswer& answer) const;

 private:
  [[nodiscard]] std::string path(const std::string& name) const { return files_ + "/" + name; }
  [[nodiscard]] std::string settings(const TokenText& token) const;
  [[nodiscard]] bool has_release_keys() const;
  [[nodiscard]] std::string write_release_keys(const TokenText& token,
                                               const JoinAnswer& answer) const;

  std::string files_;     // the directory of certificates
  std::string defaults_;  // the directory of settings
  std::string node_;
  upgrader::OwnedFd lock_ = {};
};

}  // namespace fleet

// The place of a symbolic link, which need not exist yet: a directory that is kept open, and a name
// in it. A new link replaces the old one in one step.
#pragma once

#include <string>
#include <variant>

#include "base/owned_fd.h"

namespace upgrader {

class LinkPlace {
 public:
  LinkPlace() = default;  // nowhere

  // An errno value where the directory cannot be opened; EINVAL: there is no name.
  [[nodiscard]] static std::variant<LinkPlace, int> open(const std::string& path);

  // The text of the link; empty, with errno, where there is none (EINVAL: something else is there).
  [[nodiscard]] std::string read() const;

  // Makes a link of this text beside the place, to be put there. Returns 0 or an errno value.
  [[nodiscard]] int prepare(const std::string& target) const;
  // Puts it there, or takes it away again if that fails.
  [[nodiscard]] int put() const;
  // Takes away what was prepared.
  void discard() const;

  // Both at once.
  [[nodiscard]] int replace(const std::string& target) const;

  // 0 while the path, as it was given, leads to the directory that is open here; otherwise ESTALE.
  [[nodiscard]] int moved() const;

  // How `path`, absolute and resolved, is reached from the directory; `path` itself where that
  // cannot be told.
  [[nodiscard]] std::string way_to(const std::string& path) const;

  [[nodiscard]] int directory() const { return directory_.get(); }
  [[nodiscard]] const std::string& given_directory() const { return given_directory_; }
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const std::string& prepared_name() const { return prepared_; }

 private:
  LinkPlace(OwnedFd directory, std::string given_directory, std::string name);

  OwnedFd directory_;
  std::string given_directory_;  // from the root
  std::string name_;
  std::string prepared_;  // one fixed name: what a killed upgrader left there is replaced
};

}  // namespace upgrader

// The file of --attempts: beside the link of --previous, under its name with `.attempts` behind it.
#pragma once

#include <optional>
#include <string>

#include "upgrader/core/attempts.h"
#include "upgrader/shell/link_place.h"

namespace upgrader {

class AttemptsFile {
 public:
  // `path` is that of the link of --previous. ENOENT etc., as an errno value, where its directory
  // cannot be opened.
  [[nodiscard]] static std::variant<AttemptsFile, int> open(const std::string& path);

  // Returns the file's contents; no attempts if it cannot be read, is damaged, or is a link.
  [[nodiscard]] Attempts read() const;

  // Makes it say this, durably unless `hurried`. Returns 0 or an errno value; then it is as it was.
  [[nodiscard]] int write(const Attempts& attempts, bool hurried = false) const;

 private:
  explicit AttemptsFile(LinkPlace place) : place_(std::move(place)) {}

  LinkPlace place_;
};

}  // namespace upgrader

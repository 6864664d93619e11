// Reads a source of releases, that is, a server that lists new versions. Fetches the manifests of a
// release one after the other, each with its signature. Decides nothing: see
// fleet/model/release_watcher.h.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "fleet/common/outside.h"
#include "fleet/common/release_draft.h"

namespace fleet {

class ReleaseSource {
 public:
  using Then = std::function<void(const agent_protocol::Result<Release>&)>;

  // `outside` must live longer than this object.
  explicit ReleaseSource(Outside& outside) : outside_(outside) {}

  void fetch(const std::string& component, std::vector<std::string> urls,
             const std::string& version, Then then);

 private:
  struct Fetch {
    std::string component;
    std::vector<std::string> urls;  // the URLs of manifests that have still to be fetched
    std::string version;
    ReleaseDraft draft;
    Then then;
  };

  void fetch_next(const std::shared_ptr<Fetch>& fetch);

  Outside& outside_;
};

}  // namespace fleet

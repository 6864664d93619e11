// Downloads a release in two steps. The first step fetches the manifest and its signature, verifies
// the signature, and decides whether the release may be added to the directory of releases now. The
// second step fetches the bytes of the release into the subdirectory .staging.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "agent-releases/manifest.h"
#include "agent-releases/releases.h"
#include "base/sha256.h"
#include "tools/agent-releases/shell/directory.h"
#include "tools/agent-releases/shell/fetch.h"
#include "tools/agent-releases/shell/store.h"

namespace agent_releases {

// A manifest that was fetched, and its signature.
struct Publication {
  Manifest manifest;
  std::string text;       // the manifest's text, as it was signed
  std::string signature;  // the text of the signature; empty if no keys were given
  std::string trusted_comment;
  std::string url;  // the URL of the manifest
};

// Fetches and checks a manifest. Refuses if the release must not be added to this directory now.
[[nodiscard]] Result<Publication> fetch_publication(const Store& store,
                                                    const Releases::Adding& adding,
                                                    Fetcher& fetcher);

// Returns the name of the file that holds the bytes of a release while they are downloaded.
[[nodiscard]] std::string part_name(const Manifest& manifest);

// Returns the time limit for one call of run(): ten minutes, plus the time that the file takes at 8
// KiB a second. A later call of run() can continue the download.
[[nodiscard]] constexpr std::chrono::milliseconds fetch_limit(std::int64_t bytes) {
  constexpr std::int64_t bytes_a_second = 8'192;
  return std::chrono::minutes(10) + std::chrono::seconds(bytes / bytes_a_second);
}

// The download of the bytes of one release. Continues an interrupted download, fetches no more
// bytes than the manifest states, and checks the hash of the whole file.
class Download {
 public:
  Download(Fetcher& fetcher, const Manifest& manifest, const Directory& staging,
           const std::function<void(const Progress&)>& progress);

  // Downloads the file, or the rest of a file that is partly downloaded. After success, the file
  // has the size and the hash that the manifest states.
  [[nodiscard]] Outcome run(const std::string& url);

  [[nodiscard]] int descriptor() const { return part_.get(); }
  [[nodiscard]] const std::string& path() const { return path_; }

  // Returns true if some bytes of the file have been written, so that a later call of run() can
  // continue after these bytes.
  [[nodiscard]] bool has_begun() const { return bytes_ > 0; }

 private:
  Outcome open();
  Outcome take_up();
  Outcome start_anew();
  Outcome fetch_rest(const std::string& url);
  Outcome write_piece(std::string_view bytes);
  [[nodiscard]] Refusal cut_off(const std::string& url, const std::string& why) const;

  [[nodiscard]] std::chrono::milliseconds time_left() const;

  Fetcher& fetcher_;
  const Manifest& manifest_;
  const Directory& staging_;
  const std::function<void(const Progress&)>& progress_;
  std::string name_;
  std::string path_;
  upgrader::OwnedFd part_;
  Hash hash_;
  std::int64_t bytes_ = 0;  // how many bytes of the file have been written
  std::int64_t from_ = 0;   // how many bytes of the file an earlier fetch has written
  // the file was fetched in several parts, and may have changed on the server in between
  bool in_parts_ = false;
  std::chrono::steady_clock::time_point ends_;
};

}  // namespace agent_releases

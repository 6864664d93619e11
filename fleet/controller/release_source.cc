#include "fleet/controller/release_source.h"

#include <utility>

namespace fleet {

using agent_protocol::Refusal;

void ReleaseSource::fetch(const std::string& component, std::vector<std::string> urls,
                          const std::string& version, Then then) {
  auto fetch = std::make_shared<Fetch>();
  fetch->component = component;
  fetch->urls = std::move(urls);
  fetch->version = version;
  fetch->then = std::move(then);
  fetch_next(fetch);
}

void ReleaseSource::fetch_next(const std::shared_ptr<Fetch>& fetch) {
  if (fetch->urls.empty()) {
    if (fetch->draft.version() == fetch->version)
      return fetch->then(fetch->draft.release(fetch->component));
    return fetch->then(Refusal{"its manifests are of " + fetch->draft.version()});
  }
  const std::string url = fetch->urls.back();
  fetch->urls.pop_back();
  outside_.get(url, [this, fetch, url](const OutsideAnswer& manifest) {
    if (!manifest.is_good()) return fetch->then(Refusal{url + ": " + manifest.error});
    outside_.get(url + ".minisig",
                 [this, fetch, url, text = manifest.body](const OutsideAnswer& signature) {
                   if (!signature.is_good())
                     return fetch->then(Refusal{url + ".minisig: " + signature.error});
                   const std::string why = fetch->draft.add(text, signature.body, url);
                   if (!why.empty()) return fetch->then(Refusal{url + ": " + why});
                   fetch_next(fetch);
                 });
  });
}

}  // namespace fleet

#include "fleet/model/signer/write_pace.h"

#include <algorithm>
#include <utility>

namespace fleet {

void WritePace::copied(Revision copy) {
  if (copy < std::exchange(seen_, copy)) awaited_ = 0;
}

void WritePace::committed(Revision revision) {
  awaited_ = revision;
  denied_pause_ = write_pause_ms;
  line_.clear();
}

WritePace::Rest WritePace::failed(const Outcome& outcome) {
  if (const auto* denied = std::get_if<Denied>(&outcome))
    return stuck("the store denies a write: " + denied->reason);
  if (const auto* unknown = std::get_if<Unknown>(&outcome))
    return with_news({write_pause_ms, "the outcome of a write is unknown: " + unknown->reason});
  return {.pause = write_pause_ms};
}

WritePace::Rest WritePace::stuck(const std::string& trouble) {
  const Ms pause = denied_pause_;
  denied_pause_ = std::min(denied_pause_ * 2, write_pause_max_ms);
  return with_news({pause, trouble});
}

WritePace::Rest WritePace::with_news(Rest rest) {
  if (std::exchange(line_, rest.line) == rest.line) rest.line.clear();
  return rest;
}

}  // namespace fleet

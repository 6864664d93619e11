#include "fleet/common/known_store_file.h"

#include <fstream>

#include "fleet/common/text_file.h"

namespace fleet {

KnownStore read_known_store(const std::string& path) {
  std::ifstream file(path);
  KnownStore known;
  if (file >> known.epoch >> known.revision) return known;
  return {};
}

// Writes the file without a sync. After a loss of power the file may hold an earlier revision. That
// does no harm: the store's present revision is higher, so the node accepts it.
std::string write_known_store(const std::string& path, const KnownStore& known) {
  return replace_file(path,
                      std::to_string(known.epoch) + " " + std::to_string(known.revision) + "\n");
}

}  // namespace fleet

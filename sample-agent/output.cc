#include "sample-agent/output.h"

#include <filesystem>
#include <utility>

namespace sample_agent {

Result<Output> Output::open(const std::string& path) {
  Result<File> file = File::open(path, O_WRONLY | O_APPEND | O_CREAT);
  if (!file) return Refusal{file.reason()};
  // The directory is synced even if the file exists: another agent may have made the file and been
  // killed before it synced the directory.
  const std::filesystem::path directory = std::filesystem::path(path).parent_path();
  if (Outcome synced = sync_directory(directory.empty() ? "." : directory); !synced) {
    return Refusal{synced.reason()};
  }
  return Output(std::move(file.value()));
}

Outcome Output::flush() {
  Outcome written = file_.write(pending_);
  pending_.clear();
  return written;
}

Outcome Output::sync() {
  if (Outcome written = flush(); !written) return written;
  return file_.sync();
}

}  // namespace sample_agent

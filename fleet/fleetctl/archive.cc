#include "fleet/fleetctl/archive.h"

#include <archive.h>
#include <archive_entry.h>

#include <memory>

namespace fleetctl {
namespace {

struct Freed {
  void operator()(archive* one) const { archive_write_free(one); }
  void operator()(archive_entry* one) const { archive_entry_free(one); }
};

// The most bytes of an archive. The settings, certificates and texts of one machine need far less.
constexpr std::size_t archive_bytes_max = 1'048'576;

bool add(archive* out, const fleet::MachineFile& file, std::int64_t seconds) {
  const std::unique_ptr<archive_entry, Freed> entry(archive_entry_new());
  archive_entry_set_pathname(entry.get(), file.path.c_str());
  archive_entry_set_size(entry.get(), static_cast<la_int64_t>(file.content.size()));
  archive_entry_set_filetype(entry.get(), AE_IFREG);
  archive_entry_set_perm(entry.get(), static_cast<__LA_MODE_T>(file.mode));
  archive_entry_set_uname(entry.get(), "root");
  archive_entry_set_gname(entry.get(), file.group.c_str());
  archive_entry_set_mtime(entry.get(), seconds, 0);
  const auto size = static_cast<la_ssize_t>(file.content.size());
  return archive_write_header(out, entry.get()) == ARCHIVE_OK &&
         archive_write_data(out, file.content.data(), file.content.size()) == size;
}

}  // namespace

std::string archive_of(const std::vector<fleet::MachineFile>& files, std::int64_t seconds) {
  const std::unique_ptr<archive, Freed> out(archive_write_new());
  std::string bytes(archive_bytes_max, '\0');
  std::size_t used = 0;
  bool good = archive_write_set_format_ustar(out.get()) == ARCHIVE_OK &&
              archive_write_open_memory(out.get(), bytes.data(), bytes.size(), &used) == ARCHIVE_OK;
  for (const fleet::MachineFile& file : files) {
    good = good && add(out.get(), file, seconds);
  }
  good = archive_write_close(out.get()) == ARCHIVE_OK && good;
  bytes.resize(good ? used : 0);
  return bytes;
}

}  // namespace fleetctl

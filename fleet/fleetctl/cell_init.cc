// Implements `fleetctl cell init`, which makes the authorities and certificates of a new cell, and
// an archive of files for each of the cell's machines.

#include <archive.h>
#include <archive_entry.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "fleet/cell/cell_terms.h"
#include "fleet/cell/machine_files.h"
#include "fleet/common/certificate.h"
#include "fleet/common/text_file.h"
#include "fleet/fleetctl/cell_directory.h"
#include "fleet/fleetctl/commands.h"

namespace fleetctl {
namespace {

// Frees libarchive's objects.
struct Freed {
  void operator()(archive* one) const { archive_write_free(one); }
  void operator()(archive_entry* one) const { archive_entry_free(one); }
};

// The maximum size of an archive: far more than the settings, certificates and texts of one
// machine.
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

// Returns a tar archive of the files, or an empty string if libarchive fails. All files belong to
// root and have the time `seconds`, so the same files always make the same archive.
[[nodiscard]] std::string archive_of(const std::vector<fleet::MachineFile>& files,
                                     std::int64_t seconds) {
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

using fleet::content_of_file;

void add_word(std::string& list, const std::string& word) {
  list += (list.empty() ? "" : ", ") + word;
}

// Makes the archive of each machine, unless it exists. Returns the first error, which names all
// archives that exist with different content, or an empty string on success.
std::string make_archives(const std::string& directory, const fleet::CellTerms& terms,
                          std::string& made) {
  std::string older;
  const auto content = [&directory](const std::string& file) {
    return content_of_file(directory + "/" + file);
  };
  const auto issued = fleet::issued_of(content("ca.pem"));
  for (const std::string& machine : machines_of(terms)) {
    const auto& signers = terms.signers;
    const bool signs = std::find(signers.begin(), signers.end(), machine) != signers.end();
    if (signs && content("ca.key").empty()) {
      if (::access((directory + "/" + machine + ".tar").c_str(), F_OK) == 0) continue;
      return directory + "/" + machine + ".tar is missing, and ca.key, which it has, is not there";
    }
    const std::string archive =
        archive_of(machine_files(terms, machine, content), issued ? issued->issued : 0);
    const std::string file = machine + ".tar";
    const std::string path = directory + "/" + file;
    if (archive.empty()) return path + " cannot be made";
    if (::access(path.c_str(), F_OK) == 0) {
      if (content_of_file(path) != archive) add_word(older, file);
      continue;
    }
    const std::string why = fleet::replace_file(path, archive, secret_mode);
    if (!why.empty()) return why;
    add_word(made, file);
  }
  return older.empty() ? ""
                       : directory + ": not made of what is there now: " + older +
                             "; move each such archive away, and a new one is made";
}

void say_what_is_next(const std::string& directory, const fleet::CellTerms& terms) {
  for (const std::string& machine : machines_of(terms)) {
    say(machine + ": unpack " + directory + "/" + machine + ".tar there, as root: tar -xpf " +
        machine + ".tar -C /; etc/fleet/README says the rest");
  }
  say("then: fleetctl cell start " + directory);
}

}  // namespace

int init_cell(const Options& options) {
  CellDirectory directory;
  if (const std::string why = directory.open(options.directory, true); !why.empty())
    return refuse(why);
  const auto before = directory.terms();
  if (!before) return refuse(before.reason());
  const auto terms = fleet::merged(before.value(), options.cell);
  if (!terms) return refuse(terms.reason());
  const CertificatesMade certificates =
      make_certificates(directory.path(), certificates_of(terms.value()));
  for (const std::string& why : certificates.refused) {
    complain(directory.path() + ": " + why);
  }
  if (!certificates.refused.empty()) return exit_refused;
  std::string made;
  for (const std::string& file : certificates.files) {
    add_word(made, file + ".pem");
  }
  const std::string& path = directory.path();
  std::string why = fleet::replace_file(path + "/cell", cell_text(terms.value()), secret_mode);
  if (why.empty()) {
    why = fleet::replace_file(path + "/env", shell_environment(terms.value(), path, "root"),
                              secret_mode);
  }
  if (why.empty()) why = make_archives(path, terms.value(), made);
  say(made.empty() ? "all is there already" : "made: " + made);
  if (!why.empty()) return refuse(why);
  if (const std::string advice = fleet::advice_on_members(terms.value()); !advice.empty())
    complain(advice);
  say_what_is_next(path, terms.value());
  return exit_done;
}

}  // namespace fleetctl

// The files in the archive of each machine of a cell: settings, certificates, and a page that says
// what to install. Pure.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "fleet/cell/cell_terms.h"

namespace fleet {

struct MachineFile {
  std::string path = {};  // without the first slash
  std::string content = {};
  unsigned int mode = 0644;
  std::string group = "root";  // the owner is root
};

// The port at which controllers serve HTTPS.
inline constexpr int controller_port = 8'443;

// Returns the names of members, controllers and signers, each machine once, in the order of the
// terms.
[[nodiscard]] std::vector<std::string> machines_of(const CellTerms& terms);

// Returns the files of one machine, which gets no secrets but its own keys; a machine with
// fleet-signer also gets the keys of the authority and of the store's root. `content` returns the
// content of a file of the cell's directory, such as `ca.pem`.
[[nodiscard]] std::vector<MachineFile> machine_files(
    const CellTerms& terms, const std::string& machine,
    const std::function<std::string(const std::string& file)>& content);

// Returns the URLs at which machines reach the controllers.
[[nodiscard]] std::vector<std::string> controller_urls(const CellTerms& terms);

// Returns the text in single quotes, as a shell reads it.
[[nodiscard]] std::string shell_quoted(std::string_view text);
// Returns shell commands that let fleetctl find a cell and show the certificate in OWN.pem.
[[nodiscard]] std::string shell_environment(const CellTerms& terms, const std::string& directory,
                                            const std::string& own);

}  // namespace fleet

// The files of each machine of a cell, as its archive has them: settings, certificates, and a page
// that says what to install. Pure.
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

// Members and controllers, each machine once, in the order of the terms.
[[nodiscard]] std::vector<std::string> machines_of(const CellTerms& terms);

// The files of one machine. `content` gives what the cell's directory has under a name, such as
// `ca.pem`. Of what is secret the machine gets its own keys alone.
[[nodiscard]] std::vector<MachineFile> machine_files(
    const CellTerms& terms, const std::string& machine,
    const std::function<std::string(const std::string& file)>& content);

// In single quotes, for a shell.
[[nodiscard]] std::string shell_quoted(std::string_view text);
// Commands of the shell that let fleetctl find a cell, with the certificate in OWN.pem.
[[nodiscard]] std::string shell_environment(const CellTerms& terms, const std::string& directory,
                                            const std::string& own);

}  // namespace fleet

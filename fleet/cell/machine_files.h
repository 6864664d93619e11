// This file makes the content of the archive for each machine of a cell: settings, certificates,
// and a page that says what to install. It does no input or output.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "fleet/cell/cell_terms.h"

namespace fleet {

struct MachineFile {
  std::string path = {};  // the file's absolute path, without the leading slash
  std::string content = {};
  unsigned int mode = 0644;
  std::string group = "root";  // the group of the installed file, whose owner is root
};

// The port on which controllers serve HTTPS.
inline constexpr int controller_port = 8'443;

// Returns the names of all machines of the cell, each name once: first the members of the store,
// then the controllers and the signers.
[[nodiscard]] std::vector<std::string> machines_of(const CellTerms& terms);

// Returns the files for one machine, with its own private keys. A machine with fleet-signer also
// gets the private keys of the authority and of the store's user `root`. `content` reads a file in
// the cell's directory, such as `ca.pem`.
[[nodiscard]] std::vector<MachineFile> machine_files(
    const CellTerms& terms, const std::string& machine,
    const std::function<std::string(const std::string& file)>& content);

// Returns the URLs at which other machines reach the controllers.
[[nodiscard]] std::vector<std::string> controller_urls(const CellTerms& terms);

// Returns the text in single quotes, so that a shell reads it unchanged.
[[nodiscard]] std::string shell_quoted(std::string_view text);
// Returns shell commands that set the environment variables with which fleetctl finds the cell and
// uses the certificate OWN.pem.
[[nodiscard]] std::string shell_environment(const CellTerms& terms, const std::string& directory,
                                            const std::string& own);

}  // namespace fleet

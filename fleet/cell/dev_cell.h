// Describes a trial cell, which `fleetctl dev` runs on one machine: its directory, its programs,
// the versions of its sample daemon, and the messages for people. This file does no input or
// output.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "fleet/cell/cell_terms.h"
#include "fleet/cell/dev_life.h"

namespace fleet {

inline constexpr int dev_nodes_max = 50;  // more nodes might not start in time on a laptop

// The sample daemon that each node of a trial cell runs besides fleet-agent, and its versions.
inline constexpr std::string_view dev_component = "shop";
inline constexpr std::string_view dev_installed = "1.0.0";
inline constexpr std::string_view dev_good = "1.1.0";
// A version that is bad on purpose: its daemon exits soon after its start.
inline constexpr std::string_view dev_bad = "1.2.0";

// The name of the person in the certificate that commands use in a trial cell.
inline constexpr std::string_view dev_person = "you";

struct DevPorts {
  int clients = 0;  // the port on which etcd serves its clients
  int peers = 0;
  int page = 0;   // the port of the controller that serves the web page over plain HTTP
  int https = 0;  // the port of the controller that serves HTTPS
};

struct DevTerms {
  std::string directory = {};                        // the cell's directory, as an absolute path
  std::map<std::string, std::string> programs = {};  // the path of each program
  DevPorts ports = {};
  int nodes = 3;
};

// A program that a trial cell starts, and the Debian package of the program. `package` is empty for
// this project's own programs.
struct DevNeed {
  std::string_view program;
  std::string_view package;
};
[[nodiscard]] const std::vector<DevNeed>& dev_needs();
// Returns a message that names the missing programs and the packages to install, or an empty string
// if no program is missing.
[[nodiscard]] std::string missing_words(const std::map<std::string, std::string>& programs);

[[nodiscard]] CellTerms dev_cell_terms(const DevPorts& ports);
// Returns the certificates that a trial cell needs: the result of certificates_of(), and further
// certificates for each node and for the person who uses the cell.
[[nodiscard]] std::vector<CertificateWanted> dev_certificates(const DevTerms& terms);
// Returns the name of the node with this number: n1, n2 and so on.
[[nodiscard]] std::string dev_node(int number);
[[nodiscard]] std::vector<DevProgram> dev_programs(const DevTerms& terms);

// Returns the subdirectories that must exist in the trial cell's directory before the programs
// start.
[[nodiscard]] std::vector<std::string> dev_directories(const DevTerms& terms);
// Returns the sample daemon of this version, a shell script.
[[nodiscard]] std::string dev_daemon(std::string_view version);
// Returns the command line that installs the sample daemon on a machine, so that an undo can return
// to this release. `home` is the daemon's directory; in a shell script, it begins with `$home`.
[[nodiscard]] std::vector<std::string> dev_install(const DevTerms& terms, const std::string& home);
// Returns the path of the installed release in this directory of the daemon.
[[nodiscard]] std::string dev_installed_release(const std::string& home);
// Returns shell commands that set the environment variables with which fleetctl finds the cell.
[[nodiscard]] std::string dev_environment(const DevTerms& terms);
// Returns the URL of the controller that serves HTTPS.
[[nodiscard]] std::string dev_https(const DevTerms& terms);
// Returns a shell script that lets one more machine join the trial cell, and runs the programs of
// that machine.
[[nodiscard]] std::string dev_machine(const DevTerms& terms);
// Returns the lines to print for the person when all programs of the cell work.
[[nodiscard]] std::vector<std::string> dev_welcome(const DevTerms& terms, bool is_kept);

// These functions convert the port numbers to the text of a file, and back. ports_in() returns 0
// for each port if the text is damaged.
[[nodiscard]] std::string ports_text(const DevPorts& ports);
[[nodiscard]] DevPorts ports_in(std::string_view text);

}  // namespace fleet

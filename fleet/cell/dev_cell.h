// The parts of a trial cell of `fleetctl dev`: its directory, its programs, the versions of its
// sample daemon, and the texts for people. Pure.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "fleet/cell/cell_terms.h"
#include "fleet/cell/dev_life.h"

namespace fleet {

inline constexpr int dev_nodes_max = 50;  // more would not start in time on a laptop

// The component beside fleet-agent, and its versions.
inline constexpr std::string_view dev_component = "shop";
inline constexpr std::string_view dev_installed = "1.0.0";
inline constexpr std::string_view dev_good = "1.1.0";
inline constexpr std::string_view dev_bad = "1.2.0";  // ends soon after its start

// The person whose certificate the trial's commands use.
inline constexpr std::string_view dev_person = "you";

struct DevPorts {
  int clients = 0;  // of etcd
  int peers = 0;
  int page = 0;  // of the controller
};

struct DevTerms {
  std::string directory = {};                        // absolute
  std::map<std::string, std::string> programs = {};  // the path of each program
  DevPorts ports = {};
  int nodes = 3;
};

// A program that a trial cell starts, and the Debian package that contains it. The package is empty
// for a program of this project.
struct DevNeed {
  std::string_view program;
  std::string_view package;
};
[[nodiscard]] const std::vector<DevNeed>& dev_needs();
// Names the programs that were not found, and the packages to install. Returns an empty text if all
// were found.
[[nodiscard]] std::string missing_words(const std::map<std::string, std::string>& programs);

[[nodiscard]] CellTerms dev_cell_terms(const DevPorts& ports);
// Returns the certificates that a trial needs beside those of its cell: one for each node, and one
// for the person.
[[nodiscard]] std::vector<CertificateWanted> dev_certificates(const DevTerms& terms);
// Returns the node's name: n1, n2 and so on.
[[nodiscard]] std::string dev_node(int number);
[[nodiscard]] std::vector<DevProgram> dev_programs(const DevTerms& terms);

// The directories below the trial's that must be there before its programs start.
[[nodiscard]] std::vector<std::string> dev_directories(const DevTerms& terms);
// Returns the script that is this version of the sample daemon.
[[nodiscard]] std::string dev_daemon(std::string_view version);
// Returns the commands of the shell that set fleetctl's environment, so that fleetctl finds the
// cell.
[[nodiscard]] std::string dev_environment(const DevTerms& terms);
// Returns the lines that the person reads once the cell is whole.
[[nodiscard]] std::vector<std::string> dev_welcome(const DevTerms& terms, bool is_kept);

// Converts the ports to the text of their file, and back. For any other text, all ports are 0.
[[nodiscard]] std::string ports_text(const DevPorts& ports);
[[nodiscard]] DevPorts ports_in(std::string_view text);

}  // namespace fleet

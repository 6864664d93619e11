#include "fleet/fleetctl/dev_setup.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>

#include "base/directory.h"
#include "base/program.h"
#include "base/temporary_path.h"
#include "fleet/common/certificate.h"
#include "fleet/common/text_file.h"
#include "fleet/fleetctl/asker.h"
#include "fleet/fleetctl/cell_directory.h"
#include "fleet/fleetctl/child.h"
#include "fleet/fleetctl/commands.h"
#include "fleet/fleetctl/enrolment.h"
#include "fleet/model/nodes/node_view.h"
#include "fleet/model/records/keys.h"

namespace fleetctl {
namespace {

namespace files = std::filesystem;
using fleet::content_of_file;
using fleet::replace_file;

constexpr mode_t own_mode = 0700;
constexpr unsigned int program_mode = 0755;
constexpr unsigned int text_mode = 0644;

// The versions of the sample daemon that are packed and published.
constexpr std::string_view dev_versions[] = {fleet::dev_installed, fleet::dev_good, fleet::dev_bad};

std::string words_of(const std::string& path) {
  return path + ": " + std::strerror(errno);
}

// Returns whether the path has only characters that URLs allow, and no comma or colon, which
// separate values of some options.
bool is_plain(const std::string& path) {
  return std::all_of(path.begin(), path.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::strchr("/._+-", c) != nullptr;
  });
}

struct Bound {
  upgrader::OwnedFd socket = {};
  int port = 0;  // the bound port; 0 if the bind failed
};

// Binds a socket to this port of 127.0.0.1. If `port` is 0, the kernel chooses a free port.
Bound bind_port(int port) {
  Bound bound{.socket = upgrader::OwnedFd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0))};
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  const int yes = 1;
  ::setsockopt(bound.socket.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  socklen_t size = sizeof address;
  auto* const plain = reinterpret_cast<sockaddr*>(&address);
  if (::bind(bound.socket.get(), plain, size) != 0 ||
      ::getsockname(bound.socket.get(), plain, &size) != 0)
    return bound;
  bound.port = ntohs(address.sin_port);
  return bound;
}

// Chooses the ports of the cell's programs: those of the previous start if they are free, and
// otherwise any free ones. All sockets stay bound until the end, so that no port is chosen twice.
std::string choose_ports(fleet::DevTerms& terms) {
  const std::string path = terms.directory + "/ports";
  const fleet::DevPorts before = fleet::ports_in(content_of_file(path));
  Bound bound[] = {bind_port(before.clients), bind_port(before.peers), bind_port(before.page),
                   bind_port(before.https)};
  for (Bound& one : bound) {
    if (one.port == 0) one = bind_port(0);
    if (one.port == 0) return words_of("a port of 127.0.0.1");
  }
  terms.ports = {bound[0].port, bound[1].port, bound[2].port, bound[3].port};
  return replace_file(path, ports_text(terms.ports), text_mode);
}

// Makes a symbolic link, unless it exists: an upgrade may have changed its target.
std::string link_if_absent(const std::string& target, const std::string& path) {
  if (::symlink(target.c_str(), path.c_str()) == 0 || errno == EEXIST) return "";
  return words_of(path);
}

std::string run_agent_releases(const fleet::DevTerms& terms, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), terms.programs.at("agent-releases"));
  return run_child(
      {.arguments = std::move(arguments), .log = terms.directory + "/log/agent-releases"});
}

std::string pack(const fleet::DevTerms& terms, std::string_view version) {
  const std::string component(fleet::dev_component);
  const std::string program = terms.directory + "/" + component + "-" + std::string(version);
  if (!release_manifest(terms.directory, version).empty()) return "";
  if (auto why = replace_file(program, fleet::dev_daemon(version), program_mode); !why.empty())
    return why;
  return run_agent_releases(terms,
                            {"pack", "--name=" + component, "--version=" + std::string(version),
                             "--out=" + terms.directory + "/releases",
                             "--sign=" + terms.directory + "/release.key", program});
}

std::string fill_releases(const fleet::DevTerms& terms) {
  const std::string secret = terms.directory + "/release.key";
  if (::access(secret.c_str(), F_OK) != 0) {
    const std::string open = "--public=" + terms.directory + "/keys/release.pub";
    auto why = run_agent_releases(terms, {"key", "make", "--no-password", open, secret});
    if (!why.empty()) return why;
  }
  for (const std::string_view version : dev_versions) {
    if (auto why = pack(terms, version); !why.empty()) return why;
  }
  return "";
}

std::string install_daemon(const fleet::DevTerms& terms, const std::string& home) {
  const std::string installed = fleet::dev_installed_release(home);
  if (::access(installed.c_str(), F_OK) != 0) {
    const std::string log = terms.directory + "/log/agent-releases";
    auto why = run_child({.arguments = dev_install(terms, home), .log = log});
    if (!why.empty()) return why;
  }
  return link_if_absent(installed, home + "/current");
}

std::string fill_nodes(const fleet::DevTerms& terms) {
  for (int i = 1; i <= terms.nodes; ++i) {
    const std::string home = terms.directory + "/" + fleet::dev_node(i);
    auto why = link_if_absent(terms.programs.at("fleet-agent"), home + "/current");
    if (!why.empty()) return why;
    why = install_daemon(terms, home + "/" + std::string(fleet::dev_component));
    if (!why.empty()) return why;
  }
  return "";
}

std::string fill_certificates(const fleet::DevTerms& terms) {
  std::string words;
  for (const std::string& why :
       make_certificates(terms.directory, dev_certificates(terms)).refused) {
    words += (words.empty() ? "" : "; ") + why;
  }
  return words;
}

// Returns whether a process accepts connections at this port on 127.0.0.1.
bool is_served(int port) {
  const upgrader::OwnedFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  return ::connect(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
}

}  // namespace

DevDirectory::~DevDirectory() {
  std::error_code ignored;
  if (!is_kept_ && !path_.empty()) files::remove_all(path_, ignored);
}

std::string DevDirectory::open(const std::string& wanted) {
  is_kept_ = !wanted.empty();
  if (auto why = make(wanted); !why.empty()) return why;
  if (!is_plain(path_))
    return path_ + ": the path of a trial cell has letters, digits and `/._+-` alone";
  return claim();
}

std::string DevDirectory::make(const std::string& wanted) {
  std::string path = wanted;
  if (is_kept_) {
    if (::mkdir(path.c_str(), own_mode) != 0 && errno != EEXIST) return words_of(path);
  } else {
    path = upgrader::temporary_path("fleet");
    if (::mkdtemp(path.data()) == nullptr) return words_of(path);
  }
  const auto resolved = upgrader::resolve(path);
  if (!resolved) return words_of(path);
  path_ = *resolved;
  std::error_code error;
  if (!files::is_directory(path_, error)) return path_ + " is not a directory";
  return "";
}

std::string DevDirectory::claim() {
  std::error_code error;
  const bool is_empty = files::is_empty(path_, error);
  if (error) return path_ + ": " + error.message();
  const std::string file = path_ + "/lock";
  if (!is_empty && ::access(file.c_str(), F_OK) != 0)
    return path_ + " holds files, and none of an earlier `fleetctl dev`: name another directory";
  const int number = upgrader::OwnedFd(::open("/dev/null", O_RDONLY | O_CLOEXEC)).get();
  lock_.emplace(file, number);
  const int refused = lock_->try_lock();
  if (refused == EWOULDBLOCK)
    return path_ + " is in use by another `fleetctl dev`: " + lock_->holder_in_words();
  if (refused != 0) return file + ": " + upgrader::Lock::refusal_in_words(refused);
  lock_->write_holder();
  return "";
}

std::string fill_directory(fleet::DevTerms& terms) {
  for (const std::string& name : dev_directories(terms)) {
    const std::string path = terms.directory + "/" + name;
    if (::mkdir(path.c_str(), own_mode) != 0 && errno != EEXIST) return words_of(path);
  }
  if (auto why = choose_ports(terms); !why.empty()) return why;
  if (auto why = fill_certificates(terms); !why.empty()) return why;
  if (auto why = fill_releases(terms); !why.empty()) return why;
  if (auto why = fill_nodes(terms); !why.empty()) return why;
  if (auto why = replace_file(terms.directory + "/machine", dev_machine(terms), program_mode);
      !why.empty())
    return why;
  return replace_file(terms.directory + "/env", dev_environment(terms), text_mode);
}

std::string release_manifest(const std::string& directory, std::string_view version) {
  const std::string begin = std::string(fleet::dev_component) + "-" + std::string(version) + "-";
  std::error_code error;
  for (const auto& entry : files::directory_iterator(directory + "/releases", error)) {
    const std::string path = entry.path();
    const bool is_it = entry.path().filename().string().starts_with(begin);
    if (is_it && path.ends_with(".json") && files::exists(path + ".minisig", error)) return path;
  }
  return "";
}

std::map<std::string, std::string> find_programs() {
  std::map<std::string, std::string> found;
  const std::string own = upgrader::resolve("/proc/self/exe").value_or("");
  found["fleetctl"] = own;
  for (const fleet::DevNeed& need : fleet::dev_needs()) {
    const std::string beside = own.substr(0, own.rfind('/') + 1) + std::string(need.program);
    if (::access(beside.c_str(), X_OK) == 0) {
      found[std::string(need.program)] = beside;
      continue;
    }
    auto in_path = upgrader::find_in_path(need.program, std::getenv("PATH"));
    if (in_path) found[std::string(need.program)] = in_path.value();
  }
  return found;
}

// ---- the store of a trial cell

namespace {

Options options_of(const fleet::DevTerms& terms, const std::string& who) {
  const std::string own = terms.directory + "/" + who;
  Options options;
  options.store = {
      .endpoints = endpoints_of(dev_cell_terms(terms.ports)),
      .certificates = {
          .authority = terms.directory + "/ca.pem", .own = own + ".pem", .key = own + ".key"}};
  return options;
}

// Makes the owner of each certificate of the cell a user of the store, if the name in the
// certificate has the form KIND:WHO.
std::string let_all_in(const fleet::DevTerms& terms, const Options& options, Asker& asker) {
  for (const fleet::CertificateWanted& one : dev_certificates(terms)) {
    const std::size_t colon = one.name.find(':');
    if (colon == std::string::npos) continue;
    const std::string file = terms.directory + "/" + one.file + ".pem";
    const auto issued = fleet::issued_of(fleet::content_of_file(file));
    if (!issued) return file + " is not a certificate in PEM";
    const Owner owner{one.name.substr(0, colon), one.name.substr(colon + 1)};
    if (let_in(options, asker, owner, *issued) != exit_done)
      return one.name + " is not let into the store";
  }
  return "";
}

bool does_report(const fleet::NodeView& node) {
  return node.reports() && node.versions.running.contains(std::string(fleet::dev_component));
}

}  // namespace

bool is_store_ready(const fleet::DevTerms& terms) {
  if (!is_served(terms.ports.clients)) return false;
  const Options options = options_of(terms, "root");
  Asker asker(options);
  const auto reply = asker.status(options.store.endpoints.front());
  const auto* status = std::get_if<fleet::MemberStatus>(&reply);
  return status != nullptr && status->has_leader;
}

std::string fill_store(const fleet::DevTerms& terms) {
  const Options root = options_of(terms, "root");
  {
    Asker asker(root);
    if (secure_store(asker) != exit_done) return "the store cannot be secured";
    if (std::string why = let_all_in(terms, root, asker); !why.empty()) return why;
    if (name_controllers(root, asker, {dev_https(terms)}) != exit_done)
      return "the address for machines that join is not set";
  }
  Options person = options_of(terms, std::string(fleet::dev_person));
  person.component = fleet::dev_component;
  person.url = "file://" + terms.directory + "/releases";
  for (const std::string_view version : dev_versions) {
    person.manifests = {release_manifest(terms.directory, version)};
    Asker asker(person);
    if (publish(person, asker) != exit_done)
      return std::string(fleet::dev_component) + " " + std::string(version) + " is not published";
  }
  return "";
}

bool do_all_report(const fleet::DevTerms& terms) {
  if (!is_served(terms.ports.page) || !is_served(terms.ports.https)) return false;
  const Options options = options_of(terms, std::string(fleet::dev_person));
  Asker asker(options);
  const auto reply = asker.read({fleet::prefix_of(fleet::KeyKind::node_info), true});
  const auto* reading = std::get_if<fleet::Reading>(&reply);
  if (reading == nullptr) return false;
  const auto nodes = fleet::nodes_in(*reading);
  for (int i = 1; i <= terms.nodes; ++i) {
    const auto is_it = [name = fleet::dev_node(i)](const auto& node) { return node.id == name; };
    const auto found = std::find_if(nodes.begin(), nodes.end(), is_it);
    if (found == nodes.end() || !does_report(*found)) return false;
  }
  return true;
}

}  // namespace fleetctl

// fleetctl enrol: a node gets a certificate for its name, and a role that has its own records.
#include <filesystem>
#include <fstream>
#include <iterator>

#include "fleet/fleetctl/certificate.h"
#include "fleet/fleetctl/commands.h"
#include "fleet/fleetctl/exit_status.h"
#include "fleet/model/keys.h"

namespace fleetctl {
namespace {

using fleet::KeyKind;

std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Below its own name it reads and writes; of the cell it reads what it has to obey. Ranges end in
// `/`, so that n1 has nothing of n10.
fleet::Permissions permissions_of(const std::string& node) {
  return {.user = "node:" + node,
          .writes = {{fleet::node_prefix(node), true}},
          .reads = {{fleet::prefix_of(KeyKind::desired), true},
                    {fleet::prefix_of(KeyKind::release), true},
                    {fleet::prefix_of(KeyKind::plan), true},
                    {fleet::key_of(KeyKind::stop)},
                    {fleet::key_of(KeyKind::epoch)}}};
}

// Whole, or not there.
bool write_file(const std::string& path, const std::string& text) {
  const std::string fresh = path + ".new";
  std::ofstream file(fresh, std::ios::binary | std::ios::trunc);
  file << text;
  file.close();
  std::error_code error;
  if (file) std::filesystem::rename(fresh, path, error);
  return static_cast<bool>(file) && !error;
}

}  // namespace

// Signed first, since that can fail without a trace; let in before the certificate is given away.
int enrol(const Options& options, Asker& asker) {
  const fleet::Permissions permissions = permissions_of(options.node);
  const Signed made = sign({.request = content_of(options.request),
                            .signer = content_of(options.signer),
                            .signer_key = content_of(options.signer_key),
                            .name = permissions.user,
                            .days = options.days});
  if (!made.error.empty()) {
    complain(made.error);
    return exit_refused;
  }
  if (const auto trouble = asker.grant(permissions)) return unreachable(*trouble);
  if (!write_file(options.output, made.certificate)) {
    complain(options.output + ": cannot be written");
    return exit_failed;
  }
  say(options.node + " is enrolled for " + std::to_string(options.days) +
      " days: " + options.output);
  return exit_done;
}

}  // namespace fleetctl

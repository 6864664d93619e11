#include "fleet/agent/join_place.h"

#include <fcntl.h>
#include <sys/file.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "fleet/agent/join.h"
#include "fleet/agent/renewal.h"
#include "fleet/common/authority.h"
#include "fleet/common/public_key.h"
#include "fleet/common/text_file.h"
#include "fleet/model/nodes/identities.h"
#include "fleet/model/signer/joining.h"

namespace fleet {
namespace {

namespace files = std::filesystem;

constexpr unsigned int public_file = 0644;
constexpr unsigned int secret_file = 0600;
constexpr auto public_directory = files::perms::owner_all | files::perms::group_read |
                                  files::perms::group_exec | files::perms::others_read |
                                  files::perms::others_exec;

// Makes the directory and its parents, unless they exist. Every user may read a new directory,
// whatever the umask is.
std::string make_directory(const std::string& path) {
  std::error_code error;
  if (files::create_directories(path, error)) files::permissions(path, public_directory, error);
  return error ? path + ": " + error.message() : "";
}

std::string write_if_absent(const std::string& path, const std::string& content) {
  std::error_code error;
  if (files::exists(path, error)) return "";
  return error ? path + ": " + error.message() : replace_file(path, content, public_file);
}

}  // namespace

JoinPlace::JoinPlace(const std::string& root, std::string node)
    : files_(root + "/etc/fleet"), defaults_(root + "/etc/default"), node_(std::move(node)) {}

std::string JoinPlace::open() {
  for (const std::string& directory : {files_, defaults_, path("keys")}) {
    if (std::string why = make_directory(directory); !why.empty()) return why;
  }
  lock_ = upgrader::OwnedFd(
      ::open(path(".join").c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, secret_file));
  if (!lock_) return path(".join") + ": " + std::strerror(errno);
  if (::flock(lock_.get(), LOCK_EX | LOCK_NB) == 0) return "";
  return files_ + ": another `fleet-agent join` is at work here";
}

std::string JoinPlace::why_taken(const TokenText& token) const {
  const std::string certificate = content_of_file(path("node.pem"));
  const std::string name = certificate_name(node_kind, node_);
  const std::string owner = name_in(certificate).value_or("");
  if (!certificate.empty() && owner != name)
    return path("node.pem") + " is made out to `" + owner + "`, not to `" + name +
           "`: move it away, and this machine can join under another name";
  const std::string authority = content_of_file(path("ca.pem"));
  if (!authority.empty() && key_digest_of_certificate(authority) != token.authority)
    return path("ca.pem") +
           " is another authority than the token's: this machine is in another "
           "cell";
  const std::string options = content_of_file(defaults_ + "/fleet-agent");
  const std::string own = "--node=" + node_;
  const std::size_t at = options.find(own);
  const bool is_ours =
      at != std::string::npos && std::strchr(" \"\n", options[at + own.size()]) != nullptr;
  if (options.empty() || is_ours) return "";
  return defaults_ + "/fleet-agent exists, and does not say " + own + ": move it away";
}

std::string JoinPlace::key(std::string& trouble) const {
  const std::string file = path("node.key");
  std::string key = content_of_file(file);
  if (!key.empty()) {
    if (!fingerprint_of_key(key).empty()) return key;
    trouble = file + " is not a private key in PEM";
    return "";
  }
  std::error_code error;
  if (files::exists(file, error) || error) {
    trouble = file + " cannot be read";
    return "";
  }
  key = new_private_key();
  trouble = key.empty() ? "no key can be made" : replace_file(file, key, secret_file);
  return trouble.empty() ? key : "";
}

bool JoinPlace::has_joined(UnixSeconds now) const {
  const std::string authority = content_of_file(path("ca.pem"));
  const std::string key = content_of_file(path("node.key"));
  std::error_code error;
  return !key.empty() && files::exists(defaults_ + "/fleet-agent", error) &&
         why_unfit(content_of_file(path("node.pem")), key,
                   {.name = certificate_name(node_kind, node_), .authority = authority}, now)
             .empty();
}

std::string JoinPlace::settings(const TokenText& token) const {
  std::string options = "--node=" + node_;
  for (const std::string& url : token.store) {
    options += " --endpoint=" + url;
  }
  return "# Written by `fleet-agent join`; fleet-agent(8) has more options.\n"
         "FLEET_AGENT_OPTIONS=\"" +
         options + "\"\n";
}

// Returns whether the machine has a public key for releases that is not in this answer. Keys of
// this answer may be left from an earlier `fleet-agent join` that was killed.
bool JoinPlace::has_other_release_keys(const JoinAnswer& answer) const {
  std::error_code error;
  const files::directory_iterator all(path("keys"), error);
  return std::any_of(begin(all), end(all), [&answer](const auto& entry) {
    const auto given = answer.release_keys.find(entry.path().filename());
    const bool is_given =
        given != answer.release_keys.end() && content_of_file(entry.path()) == given->second;
    return entry.path().extension() == ".pub" && !is_given;
  });
}

std::string JoinPlace::write_release_keys(const TokenText& token, const JoinAnswer& answer) const {
  if (has_other_release_keys(answer)) return "";
  for (const auto& [name, content] : answer.release_keys) {
    const auto& digests = token.release_keys;
    const bool is_named =
        std::find(digests.begin(), digests.end(), digest_of(content)) != digests.end();
    if (!is_named || !is_release_key_name(name))
      return "the controller sends `" + name + "`, which is not a key of releases of the token";
  }
  for (const auto& [name, content] : answer.release_keys) {
    if (std::string why = replace_file(path("keys/" + name), content, public_file); !why.empty())
      return why;
  }
  return "";
}

std::string JoinPlace::settle(const TokenText& token, const std::string& authority,
                              const JoinAnswer& answer) const {
  std::string why = write_release_keys(token, answer);
  if (why.empty()) why = write_if_absent(path("ca.pem"), authority);
  if (why.empty()) why = write_if_absent(defaults_ + "/fleet-agent", settings(token));
  if (!why.empty()) return why;
  // Remove an earlier certificate that was not valid yet. It may have been revoked, and fleet-agent
  // would put it in the place of the new certificate if it expires later.
  std::error_code error;
  const std::string next = next_beside(path("node.pem"));
  files::remove(next, error);
  if (error) return next + ": " + error.message();
  return replace_file(path("node.pem"), answer.certificate, public_file);
}

}  // namespace fleet

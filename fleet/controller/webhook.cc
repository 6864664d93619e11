#include "fleet/controller/webhook.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <algorithm>
#include <array>

#include "base/check.h"

namespace fleet {
namespace {

using agent_protocol::Refusal;
using Secrets = agent_protocol::Result<std::vector<std::string>>;

constexpr std::string_view secret_prefix = "whsec_";

std::string base64(std::string_view bytes) {
  std::string text(4 * ((bytes.size() + 2) / 3) + 1, '\0');
  const int size = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                                   reinterpret_cast<const unsigned char*>(bytes.data()),
                                   static_cast<int>(bytes.size()));
  text.resize(static_cast<std::size_t>(size));
  return text;
}

// Decodes base64, which must be padded with `=`. Returns the bytes, or an empty string if the text
// is not valid base64.
std::string bytes_in(std::string_view text) {
  if (text.empty() || text.size() % 4 != 0 || text.size() > 2 * webhook_secret_bytes_max) return "";
  std::string bytes(text.size() / 4 * 3, '\0');
  const int size = EVP_DecodeBlock(reinterpret_cast<unsigned char*>(bytes.data()),
                                   reinterpret_cast<const unsigned char*>(text.data()),
                                   static_cast<int>(text.size()));
  if (size < 0) return "";
  const std::size_t padding = text.ends_with("==") ? 2 : text.ends_with('=') ? 1 : 0;
  bytes.resize(static_cast<std::size_t>(size) - padding);
  return base64(bytes) == text ? bytes : "";
}

std::string encoded(std::string_view text) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  std::string value;
  for (const char letter : text) {
    const auto byte = static_cast<unsigned char>(letter);
    if (byte > 0x20 && byte < 0x7f && letter != '"' && letter != '%') {
      value += letter;
    } else {
      value += '%';
      value += digits[byte >> 4U];
      value += digits[byte & 15U];
    }
  }
  return value;
}

std::string hmac(const std::string& secret, const std::string& text) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  UPGRADER_CHECK(HMAC(EVP_sha256(), secret.data(), static_cast<int>(secret.size()),
                      reinterpret_cast<const unsigned char*>(text.data()), text.size(),
                      digest.data(), &size) != nullptr);
  return {reinterpret_cast<const char*>(digest.data()), size};
}

}  // namespace

Secrets webhook_secrets(std::string_view content) {
  std::vector<std::string> secrets;
  while (!content.empty()) {
    const std::size_t end = std::min(content.find('\n'), content.size());
    std::string_view line = content.substr(0, end);
    content.remove_prefix(std::min(end + 1, content.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty()) continue;
    if (!line.starts_with(secret_prefix)) return Refusal{"a line does not begin with whsec_"};
    line.remove_prefix(secret_prefix.size());
    std::string secret = bytes_in(line);
    if (secret.size() < webhook_secret_bytes_min || secret.size() > webhook_secret_bytes_max) {
      return Refusal{"a secret is not 24 to 64 bytes in base64"};
    }
    secrets.push_back(std::move(secret));
    if (secrets.size() > webhook_secrets_max) return Refusal{"more than four secrets"};
  }
  if (secrets.empty()) return Refusal{"no secret"};
  return secrets;
}

std::string webhook_id(std::int64_t number, const FleetEvent& event) {
  return std::to_string(number) + "-" + encoded(event.time);
}

std::vector<std::string> cloud_event_headers(std::int64_t number, const FleetEvent& event) {
  return {"ce-specversion: 1.0",
          "ce-id: " + webhook_id(number, event),
          "ce-source: /fleet/v1/event",
          "ce-type: fleet." + encoded(event.kind),
          "ce-subject: " + encoded(event.subject),
          "ce-time: " + encoded(event.time)};
}

std::vector<std::string> signature_headers(const std::vector<std::string>& secrets,
                                           const std::string& id, std::int64_t now,
                                           const std::string& body) {
  const std::string time = std::to_string(now);
  std::string signatures;
  for (const std::string& secret : secrets) {
    signatures +=
        (signatures.empty() ? "v1," : " v1,") + base64(hmac(secret, id + "." + time + "." + body));
  }
  return {"webhook-id: " + id, "webhook-timestamp: " + time, "webhook-signature: " + signatures};
}

}  // namespace fleet

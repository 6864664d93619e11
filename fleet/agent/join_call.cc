#include "fleet/agent/join_call.h"

#include <curl/curl.h>

#include <memory>
#include <string_view>

#include "fleet/common/key_fingerprint.h"
#include "fleet/model/transaction.h"

namespace fleet {
namespace {

constexpr long connect_ms = 3'000;
// The time limit for one request. A controller may take two seconds to answer; the rest is for a
// slow network.
constexpr long answer_ms = 10'000;

struct EndEasy {
  void operator()(CURL* easy) const { curl_easy_cleanup(easy); }
};
using Easy = std::unique_ptr<CURL, EndEasy>;

std::size_t take_some(char* bytes, std::size_t, std::size_t size, void* text) {
  auto& answer = *static_cast<std::string*>(text);
  if (answer.size() + size > value_bytes_max) return 0;
  answer.append(bytes, size);
  return size;
}

Easy easy_for(const std::string& url) {
  Easy easy(curl_easy_init());
  if (easy == nullptr) return easy;
  curl_easy_setopt(easy.get(), CURLOPT_URL, url.c_str());
  curl_easy_setopt(easy.get(), CURLOPT_PROTOCOLS_STR, "https");
  curl_easy_setopt(easy.get(), CURLOPT_PROXY, "");
  curl_easy_setopt(easy.get(), CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(easy.get(), CURLOPT_CONNECTTIMEOUT_MS, connect_ms);
  curl_easy_setopt(easy.get(), CURLOPT_TIMEOUT_MS, answer_ms);
  curl_easy_setopt(easy.get(), CURLOPT_USERAGENT, "fleet-agent");
  return easy;
}

// Returns the authority's certificate: the one among the server's certificates whose key has this
// digest. Returns an empty text if there is none.
std::string certificate_with(CURL* easy, const std::string& digest) {
  curl_certinfo* found = nullptr;
  if (curl_easy_getinfo(easy, CURLINFO_CERTINFO, &found) != CURLE_OK || found == nullptr) return "";
  for (int i = 0; i < found->num_of_certs; ++i) {
    for (const curl_slist* line = found->certinfo[i]; line != nullptr; line = line->next) {
      constexpr std::string_view name = "Cert:";
      const std::string_view text = line->data;
      if (!text.starts_with(name)) continue;
      const std::string pem(text.substr(name.size()));
      if (key_digest_of_certificate(pem) == digest) return pem;
    }
  }
  return "";
}

// Returns the authority's certificate, which the server sends together with its own. The server
// cannot be checked before the authority's certificate is known, so this function only connects,
// and sends no request. If the server does not send that certificate, returns an empty text, and
// sets the reason in `reply`.
std::string authority_of(const std::string& controller, const std::string& digest,
                         JoinReply& reply) {
  const Easy easy = easy_for(controller);
  if (easy == nullptr) return "";
  curl_easy_setopt(easy.get(), CURLOPT_SSL_VERIFYPEER, 0L);
  curl_easy_setopt(easy.get(), CURLOPT_SSL_VERIFYHOST, 0L);
  curl_easy_setopt(easy.get(), CURLOPT_CERTINFO, 1L);
  curl_easy_setopt(easy.get(), CURLOPT_CONNECT_ONLY, 1L);
  const CURLcode code = curl_easy_perform(easy.get());
  if (code != CURLE_OK) {
    reply.error = controller + ": " + curl_easy_strerror(code);
    return "";
  }
  std::string authority = certificate_with(easy.get(), digest);
  if (authority.empty()) {
    reply.error = controller + " does not show the authority that the token names";
    reply.other_authority = true;
  }
  return authority;
}

}  // namespace

JoinReply ask_to_join(const std::string& controller, const std::string& authority_digest,
                      const std::string& question, std::string& authority) {
  JoinReply reply;
  const std::string found = authority_of(controller, authority_digest, reply);
  if (found.empty()) return reply;
  const Easy easy = easy_for(controller + "/v1/join");
  if (easy == nullptr) return reply;
  curl_slist* list = curl_slist_append(nullptr, "Content-Type: application/json");
  const std::unique_ptr<curl_slist, void (*)(curl_slist*)> headers(list, curl_slist_free_all);
  curl_blob trusted{const_cast<char*>(found.data()), found.size(), CURL_BLOB_COPY};
  curl_easy_setopt(easy.get(), CURLOPT_CAINFO_BLOB, &trusted);
  curl_easy_setopt(easy.get(), CURLOPT_CAPATH, nullptr);
  curl_easy_setopt(easy.get(), CURLOPT_POSTFIELDS, question.c_str());
  curl_easy_setopt(easy.get(), CURLOPT_HTTPHEADER, headers.get());
  curl_easy_setopt(easy.get(), CURLOPT_WRITEFUNCTION, take_some);
  curl_easy_setopt(easy.get(), CURLOPT_WRITEDATA, &reply.body);
  const CURLcode code = curl_easy_perform(easy.get());
  if (code != CURLE_OK) {
    reply.error = controller + ": " + curl_easy_strerror(code);
    reply.other_authority = code == CURLE_PEER_FAILED_VERIFICATION;
    return reply;
  }
  curl_easy_getinfo(easy.get(), CURLINFO_RESPONSE_CODE, &reply.status);
  authority = found;
  return reply;
}

}  // namespace fleet

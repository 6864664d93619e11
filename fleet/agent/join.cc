#include "fleet/agent/join.h"

#include <curl/curl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <iostream>
#include <memory>
#include <string>
#include <string_view>

#include "base/errno_name.h"
#include "fleet/agent/join_place.h"
#include "fleet/agent/join_talk.h"
#include "fleet/common/authority.h"
#include "fleet/common/identity.h"
#include "fleet/common/log_line.h"
#include "fleet/common/public_key.h"
#include "fleet/model/nodes/identities.h"
#include "fleet/model/records/keys.h"
#include "fleet/model/records/record_text.h"
#include "fleet/model/records/transaction.h"
#include "fleet/model/signer/joining.h"

namespace fleet {
namespace {

// The time limit for the connection to a controller.
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

// The certificates that a controller has sent.
struct Shown {
  std::string own = {};        // the first certificate, which is the controller's
  std::string authority = {};  // empty if no certificate has the digest that the token names
};

// Returns the server's certificate, and the first of its certificates whose public key has this
// digest.
Shown certificates_with(CURL* easy, const std::string& digest) {
  Shown shown;
  curl_certinfo* found = nullptr;
  if (curl_easy_getinfo(easy, CURLINFO_CERTINFO, &found) != CURLE_OK || found == nullptr)
    return shown;
  for (int i = 0; i < found->num_of_certs; ++i) {
    for (const curl_slist* line = found->certinfo[i]; line != nullptr; line = line->next) {
      constexpr std::string_view name = "Cert:";
      const std::string_view text = line->data;
      if (!text.starts_with(name)) continue;
      const std::string pem(text.substr(name.size()));
      if (i == 0) shown.own = pem;
      if (shown.authority.empty() && key_digest_of_certificate(pem) == digest)
        shown.authority = pem;
    }
  }
  return shown;
}

// Connects to a controller and returns the authority's certificate, which the controller sends with
// its own. The token contains only the digest of the authority's key. So this function picks the
// certificate whose key has that digest. It does not check the controller's certificate, and sends
// no request. On failure, returns no authority and writes the reason to `reply`.
Shown shown_by(const std::string& controller, const std::string& digest, JoinReply& reply) {
  const Easy easy = easy_for(controller);
  if (easy == nullptr) return {};
  curl_easy_setopt(easy.get(), CURLOPT_SSL_VERIFYPEER, 0L);
  curl_easy_setopt(easy.get(), CURLOPT_SSL_VERIFYHOST, 0L);
  curl_easy_setopt(easy.get(), CURLOPT_CERTINFO, 1L);
  curl_easy_setopt(easy.get(), CURLOPT_CONNECT_ONLY, 1L);
  const CURLcode code = curl_easy_perform(easy.get());
  if (code != CURLE_OK) {
    reply.error = controller + ": " + curl_easy_strerror(code);
    return {};
  }
  Shown shown = certificates_with(easy.get(), digest);
  if (shown.authority.empty()) {
    reply.error = controller + " does not show the authority that the token names";
    reply.other_authority = true;
  }
  return shown;
}

// Returns which of the certificates is not valid at the time of this machine's clock, or an empty
// string if all are valid. Also returns an empty string if the authority has not signed the
// controller's certificate. The text does not contain the changing time, so that it is logged once.
std::string why_wrong_clock(const Shown& shown, UnixSeconds now) {
  if (!is_signed_by(shown.own, shown.authority)) return "";
  for (const auto& [whose, certificate] :
       {std::pair{"the certificate of its authority ", shown.authority},
        std::pair{"its certificate ", shown.own}}) {
    const auto validity = validity_of(certificate);
    const bool is_early = validity && now < validity->from;
    if (!is_early && (!validity || now < validity->until)) continue;
    return whose +
           (is_early ? "begins at " + time_text_of(validity->from) + ", after"
                     : "ended at " + time_text_of(validity->until) + ", before") +
           " the time of this machine's clock; set the clock if it is wrong";
  }
  return "";
}

// Sends the request to join to one controller by HTTPS, if the authority has signed the
// controller's certificate. On success, sets `authority` to the authority's certificate. Blocks for
// some seconds at most.
[[nodiscard]] JoinReply ask_to_join(const std::string& controller,
                                    const std::string& authority_digest,
                                    const std::string& question, std::string& authority) {
  JoinReply reply;
  const Shown shown = shown_by(controller, authority_digest, reply);
  const std::string& found = shown.authority;
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
    const bool is_unverified = code == CURLE_PEER_FAILED_VERIFICATION;
    const std::string clock = is_unverified ? why_wrong_clock(shown, std::time(nullptr)) : "";
    reply.error = controller + ": " + (clock.empty() ? curl_easy_strerror(code) : clock);
    reply.other_authority = is_unverified && clock.empty();
    return reply;
  }
  curl_easy_getinfo(easy.get(), CURLINFO_RESPONSE_CODE, &reply.status);
  authority = found;
  return reply;
}

void tell(const std::string& line) {
  log_line("fleet-agent", line);
}

int fail(const std::string& why) {
  tell("join: " + why);
  return join_failed;
}

upgrader::Time monotonic() {
  return std::chrono::duration_cast<upgrader::Time>(
      std::chrono::steady_clock::now().time_since_epoch());
}

// Reads the token, and at most one byte more than the longest token has, so that a file that is too
// long is recognized.
std::string read_token(const std::string& file) {
  std::string text(join_bytes_max + 1, '\0');
  std::ifstream opened;
  if (file != "-") opened.open(file, std::ios::binary);
  std::istream& in = file == "-" ? std::cin : opened;
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(std::max<std::streamsize>(in.gcount(), 0)));
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r' || text.back() == ' '))
    text.pop_back();
  return text;
}

struct Joining {
  TokenText token = {};
  std::string node = {};
  std::string key = {};
  std::string authority = {};  // the authority's certificate; empty until a controller has sent it
};

// Returns why this machine cannot use the certificate in the answer, or an empty string if it can.
// Ignores the validity, since this machine's clock may be wrong: fleet-agent judges it each time
// that it connects to the store.
std::string why_not_ours(const Joining& one, const JoinAnswer& answer) {
  const std::string why =
      why_mismatched(answer.certificate, one.key,
                     {.name = certificate_name(node_kind, one.node), .authority = one.authority});
  return why.empty() ? "" : "the certificate from the controller " + why;
}

// Asks the controllers in turn until one of them has sent a certificate or a refusal, or until the
// time `patience` is over.
std::variant<JoinAnswer, JoinEnd> ask(Joining& one, upgrader::Duration patience) {
  const std::string question = write_record(
      JoinQuestion{.node = one.node,
                   .secret = one.token.secret,
                   .request = request_for(certificate_name(node_kind, one.node), one.key)});
  JoinTalk talk(one.token.controllers.size(), patience, monotonic());
  JoinNext next = talk.next(monotonic());
  while (true) {
    if (const auto* end = std::get_if<JoinEnd>(&next)) return *end;
    if (const auto* have = std::get_if<JoinHave>(&next)) return have->answer;
    if (const auto* pause = std::get_if<JoinPause>(&next)) {
      if (const std::string news = talk.news(); !news.empty()) tell(news);
      ::poll(nullptr, 0, static_cast<int>(pause->time.count()));
      next = talk.next(monotonic());
      continue;
    }
    const std::string& controller = one.token.controllers[std::get<JoinAsk>(next).controller];
    next = talk.take(ask_to_join(controller, one.token.authority, question, one.authority),
                     monotonic());
  }
}

}  // namespace

int join_cell(const JoinOptions& options) {
  if (options.token.starts_with('{'))
    return fail(
        "a token is read from a file or from standard input (-), since everybody on this "
        "machine can see a command's arguments");
  if (options.token != "-" && ::access(options.token.c_str(), R_OK) != 0)
    return fail("the token in " + options.token +
                " cannot be read: " + upgrader::in_words(upgrader::SystemError{errno}));
  const auto token = token_in(read_token(options.token));
  const std::string source = options.token == "-" ? "standard input" : options.token;
  if (!token) return fail("there is no token in " + source + ": " + token.reason());
  Joining one{.token = token.value(),
              .node = options.node.empty() ? name_of_this_machine() : options.node};
  if (!is_id(one.node))
    return fail("`" + one.node + "`, the name of this machine, cannot be a node's: give --node=ID");
  JoinPlace place(options.root, one.node);
  if (const std::string why = place.open(); !why.empty()) return fail(why);
  if (const std::string why = place.why_taken(one.token); !why.empty()) return fail(why);
  if (place.has_joined(std::time(nullptr))) {
    tell(one.node + " is in the cell already");
    return join_done;
  }
  std::string trouble;
  one.key = place.key(trouble);
  if (one.key.empty()) return fail(trouble);
  tell("asks to be " + one.node + "; the fingerprint of its key is " + fingerprint_of_key(one.key));
  const auto answer = ask(one, std::chrono::seconds(options.wait_s));
  if (const auto* end = std::get_if<JoinEnd>(&answer)) {
    tell("join: " + end->words);
    return end->status;
  }
  const auto& joined = std::get<JoinAnswer>(answer);
  if (const std::string why = why_not_ours(one, joined); !why.empty()) return fail(why);
  if (const std::string why = place.settle(one.token, one.authority, joined); !why.empty())
    return fail(why);
  tell(one.node + " has joined; next: systemctl enable --now fleet-agent");
  return join_done;
}

}  // namespace fleet

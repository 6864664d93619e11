#include "fleet/agent/join.h"

#include <poll.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <iostream>

#include "fleet/agent/join_call.h"
#include "fleet/agent/join_place.h"
#include "fleet/agent/join_talk.h"
#include "fleet/common/authority.h"
#include "fleet/common/identity.h"
#include "fleet/common/key_fingerprint.h"
#include "fleet/common/log_line.h"
#include "fleet/model/identities.h"
#include "fleet/model/ids.h"
#include "fleet/model/joining.h"
#include "fleet/model/record_text.h"

namespace fleet {
namespace {

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

// Reads at most one byte more than a token may have, so that a text that is too long can be
// recognised.
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

// Returns why the certificate in the answer cannot be used by this machine, or an empty text.
std::string why_not_ours(const Joining& one, const JoinAnswer& answer) {
  const std::string why =
      why_unfit(answer.certificate, one.key,
                {.name = certificate_name(node_kind, one.node), .authority = one.authority},
                std::time(nullptr));
  return why.empty() ? "" : "the certificate from the controller " + why;
}

// Asks the controllers until one has answered or `patience` is over.
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

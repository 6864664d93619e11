// Tests the headers of a request to a webhook: those of CloudEvents, and signatures as Standard
// Webhooks specifies them.
#include "fleet/controller/webhook.h"

#include <algorithm>
#include <catch2/catch.hpp>

namespace webhook_test {

namespace {

using namespace fleet;
using Texts = std::vector<std::string>;

// The secret of the example in the specification of Standard Webhooks, which also has a request and
// its signature. The specification's own libraries are tested with this example.
const std::string known_secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

TEST_CASE("the signature is that of Standard Webhooks' own example") {
  const auto secrets = webhook_secrets(known_secret + "\n");
  REQUIRE(secrets);

  CHECK(signature_headers(secrets.value(), "msg_p5jXN8AQM9LWM0D4loKWxJek", 1'614'265'330,
                          R"({"test": 2432232314})") ==
        Texts{"webhook-id: msg_p5jXN8AQM9LWM0D4loKWxJek", "webhook-timestamp: 1614265330",
              "webhook-signature: v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="});
}

TEST_CASE("two secrets sign twice, and another body, id or time gets another signature") {
  const std::string other = "whsec_" + std::string(32, 'A');
  const auto both = webhook_secrets(known_secret + "\n\n" + other);
  REQUIRE(both);
  const auto sign = [&](const std::string& id, std::int64_t now, const std::string& body) {
    return signature_headers(both.value(), id, now, body)[2];
  };

  const std::string first = sign("1-t", 5, "{}");
  CHECK(std::count(first.begin(), first.end(), ' ') == 2);
  CHECK(first.substr(first.find(',')) != first.substr(first.rfind(',')));
  CHECK(sign("1-t", 5, "{ }") != first);
  CHECK(sign("2-t", 5, "{}") != first);
  CHECK(sign("1-t", 6, "{}") != first);
}

TEST_CASE("a file of secrets that is wrong is refused, without its content in the reason") {
  const auto why = [](const std::string& content) {
    const auto secrets = webhook_secrets(content);
    return secrets ? std::string("taken") : secrets.reason();
  };

  CHECK(why("") == "no secret");
  CHECK(why("secret") == "a line does not begin with whsec_");
  for (const std::string& text :
       {std::string("whsec_"), std::string("whsec_c2hvcnQ="), "whsec_" + std::string(31, 'A'),
        "whsec_" + std::string(28, 'A') + "AA=A", "whsec_" + std::string(92, 'A'),
        "whsec_" + std::string(31, 'A') + "-"})
    CHECK(why(text) == "a secret is not 24 to 64 bytes in base64");
  CHECK(why(known_secret + "\r\n") == "taken");
  std::string many;
  for (int i = 0; i < 5; ++i)
    many += known_secret + "\n";
  CHECK(why(many) == "more than four secrets");
}

TEST_CASE("an event is a CloudEvent, and no text in it makes a header of its own") {
  const FleetEvent event{
      .time = "2026-01-01T00:00:00Z", .kind = "rollout-completed", .subject = "rollout/r1"};
  CHECK(cloud_event_headers(17, event) ==
        Texts{"ce-specversion: 1.0", "ce-id: 17-2026-01-01T00:00:00Z", "ce-source: /fleet/v1/event",
              "ce-type: fleet.rollout-completed", "ce-subject: rollout/r1",
              "ce-time: 2026-01-01T00:00:00Z"});

  const FleetEvent evil{.time = "now\r\nx: y", .kind = "a b", .subject = "\xc3\xa4%\"\x7f"};
  CHECK(cloud_event_headers(1, evil) ==
        Texts{"ce-specversion: 1.0", "ce-id: 1-now%0D%0Ax:%20y", "ce-source: /fleet/v1/event",
              "ce-type: fleet.a%20b", "ce-subject: %C3%A4%25%22%7F", "ce-time: now%0D%0Ax:%20y"});
}

}  // namespace

}  // namespace webhook_test

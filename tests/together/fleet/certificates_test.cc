// Tests to whom a certificate belongs, when a certificate is renewed, and to whom renewal is
// refused. Also tests which time a machine uses to judge certificates, since its clock may be
// wrong.
#include "fleet/model/nodes/identities.h"

#include <unistd.h>

#include <catch2/catch.hpp>

#include "fleet/agent/renewal.h"
#include "fleet/common/authority.h"
#include "fleet/common/certificate.h"
#include "fleet/common/text_file.h"
#include "fleet/model/records/effort.h"
#include "fleet/model/records/keys.h"
#include "fleet/model/records/record_text.h"
#include "fleet/model/signer/joining.h"
#include "tests/support/temporary_directory.h"

namespace certificates_test {

namespace {

using namespace fleet;

// ---- the owners of certificates, and the renewal of certificates

RecordsByKey records(const std::optional<Identity>& identity, const std::string& request) {
  RecordsByKey all;
  const auto add = [&all](const std::string& key, const std::string& value, Revision revision) {
    all[key] = {.key = key, .value = value, .created = revision, .modified = revision};
  };
  add(key_of(KeyKind::node_csr, {"n1"}), request, 7);
  add(key_of(KeyKind::node_info, {"n1"}), "{}", 5);
  if (identity) add(key_of(KeyKind::identity, {"node", "n1"}), write_record(*identity), 6);
  return all;
}

const std::string request = write_record(CertificateRequest{.pem = "R"});
const Identity enrolled{.certificates = {{.serial = "0A", .issued = 1'000, .expires = 2'000}}};

PendingRenewal only(const RecordsByKey& all) {
  const auto pending = pending_renewals(all);
  REQUIRE(pending.size() == 1);
  return pending.front();
}

TEST_CASE("a node gets a certificate and its renewal, however long its name may be") {
  const std::string name = "node:" + std::string(id_bytes_max, 'a');
  const std::string authority = new_private_key();
  const Signed root = sign_for_key({.name = "cell", .days = 9, .is_authority = true}, authority);
  REQUIRE(root.error.empty());
  const std::string key = new_private_key();
  const Signed made = sign({.request = request_for(name, key),
                            .signer = {root.certificate, authority},
                            .name = name,
                            .only_renews = true,
                            .days = 3});
  CHECK(made.error.empty());
  CHECK(name_in(made.certificate) == name);
  CHECK(why_not_usable(made.certificate, name, key).empty());
  CHECK(is_signed_by(made.certificate, root.certificate));
}

TEST_CASE("a certificate is renewed when two thirds of its life are over, and not before") {
  CHECK_FALSE(is_renewal_due({.from = 0, .until = 900}, 599));
  CHECK(is_renewal_due({.from = 0, .until = 900}, 600));
  CHECK(is_renewal_due({.from = 0, .until = 900}, 2'000));
  // A clock that shows 1970 is certainly wrong, so it never makes a renewal due.
  CHECK_FALSE(is_renewal_due({.from = 1'000'000, .until = 1'000'900}, 0));
}

TEST_CASE("a request is answered for a node that is enrolled, in the second half of its time") {
  const PendingRenewal pending = only(records(enrolled, request));

  CHECK(pending.node == "n1");
  CHECK(pending.pem == "R");
  CHECK(why_not_renewed(pending, 1'500).empty());
  CHECK(why_not_renewed(pending, 1'499) ==
        "the certificate 0A is good for more than half its life still");
}

TEST_CASE("a certificate that a signer with a fast clock has issued does not delay the next one") {
  constexpr UnixSeconds day = 86'400;
  Identity ahead = enrolled;
  ahead.certificates.push_back({.serial = "0B", .issued = 1'500 + day, .expires = 9 * day});

  CHECK(why_not_renewed(only(records(ahead, request)), 1'499) ==
        "the certificate 0A is good for more than half its life still");
  CHECK(why_not_renewed(only(records(ahead, request)), 1'500) ==
        "the certificate 0B is good for more than half its life still");
  ahead.certificates.back().issued += 1;
  CHECK(why_not_renewed(only(records(ahead, request)), 1'500).empty());
}

TEST_CASE("a request is found without a look at the nodes that ask for nothing") {
  RecordsByKey all = records(enrolled, request);
  RenewalRequests requests;
  for (int i = 100; i < 1'100; ++i) {
    const std::string key = key_of(KeyKind::node_versions, {"n" + std::to_string(i)});
    all[key] = {.key = key, .value = "{}", .created = 8, .modified = 8};
  }
  for (const auto& [key, record] : all)
    requests.take(key);

  const Effort before = effort;
  const auto first = requests.first(all);
  REQUIRE(first);
  CHECK(first->node == "n1");
  CHECK(first->pem == "R");
  CHECK(first->identity_revision == 6);
  // To answer one request for a certificate, only two records are read: the request, and the
  // identity of the node that asks.
  CHECK(effort.records - before.records == 2);
  CHECK(effort.keys == before.keys);

  requests.take_absent(key_of(KeyKind::node_csr, {"n1"}));
  CHECK_FALSE(requests.first(all));
}

TEST_CASE("a node gets no certificate if it is not enrolled, is revoked, or sends no request") {
  Identity revoked = enrolled;
  revoked.revoked = "2026-01-01T00:00:00Z";

  CHECK(why_not_renewed(only(records(std::nullopt, request)), 1'500) == "n1 is not enrolled");
  CHECK(why_not_renewed(only(records(revoked, request)), 1'500) == "n1 is revoked");
  CHECK(why_not_renewed(only(records(enrolled, "no record")), 1'500) == "the request is damaged");
}

TEST_CASE("a request is the node's own if made with its certificate, which is not revoked") {
  PendingRenewal pending = only(records(enrolled, request));
  CHECK(why_not_held(pending, "0A").empty());
  CHECK(why_not_held(pending, "0B") == "the certificate 0B is not one that was given to n1");

  pending.identity->certificates[0].revoked = true;
  CHECK(why_not_held(pending, "0A") == "the certificate 0A is revoked");
  pending.identity.reset();
  CHECK(why_not_held(pending, "0A") == "n1 is not enrolled");
}

TEST_CASE("a node's certificate is in its request, or is the answer to its last request") {
  auto all = records(enrolled, request);
  CHECK(only(all).certificate.empty());

  const std::string last = key_of(KeyKind::node_certificate, {"n1"});
  all[last] = {.key = last, .value = write_record(NodeCertificate{.pem = "last"})};
  CHECK(only(all).certificate == "last");
  const std::string csr = key_of(KeyKind::node_csr, {"n1"});
  all[csr].value = write_record(CertificateRequest{.pem = "R", .certificate = "own"});
  CHECK(only(all).certificate == "own");
}

TEST_CASE("the answer erases the request, and compares that nobody was revoked meanwhile") {
  const PendingRenewal pending = only(records(enrolled, request));

  const Transaction answer = answer_renewal(
      pending, {.pem = "C", .issued = {.serial = "0B", .issued = 1'700, .expires = 2'700}}, 1'700);

  CHECK(answer.compares ==
        std::vector<Compare>{{.key = "/fleet/v1/node/n1/csr", .revision = 7},
                             {.key = "/fleet/v1/identity/node/n1", .revision = 6}});
  CHECK(answer.erases == std::vector<Erase>{{"/fleet/v1/node/n1/csr"}});
  REQUIRE(answer.puts.size() == 2);
  CHECK(answer.puts[0] ==
        Put{"/fleet/v1/node/n1/certificate", write_record(NodeCertificate{.pem = "C"})});
  const auto identity = read_record<Identity>(answer.puts[1].value);
  REQUIRE(identity);
  CHECK(identity.value().certificates.size() == 2);
  CHECK(expiry_of(identity.value()) == 2'700);
}

TEST_CASE("a request that is refused is answered in words, and nobody's identity is written") {
  const Transaction answer =
      answer_renewal(only(records(std::nullopt, request)), {.error = "n1 is not enrolled"}, 1'500);

  REQUIRE(answer.puts.size() == 1);
  CHECK(answer.puts[0].value == write_record(NodeCertificate{.error = "n1 is not enrolled"}));
  CHECK(answer.compares[1].revision == 0);
}

TEST_CASE("expired certificates are not kept, and a node that is enrolled anew is let in again") {
  Identity identity = enrolled;
  identity.revoked = "2026-01-01T00:00:00Z";

  identity = with_certificate(identity, {.serial = "0C", .issued = 2'000, .expires = 9'000}, 2'000);

  CHECK(identity.revoked.empty());
  REQUIRE(identity.certificates.size() == 1);
  CHECK(identity.certificates[0].serial == "0C");
}

TEST_CASE("the newest certificate is kept when the next is added, even by a clock that is fast") {
  Identity identity{
      .certificates = {{.serial = "0A", .expires = 1'000}, {.serial = "0B", .expires = 2'000}}};

  identity = with_certificate(identity, {.serial = "0C", .expires = 99'000}, 90'000);
  REQUIRE(identity.certificates.size() == 2);
  CHECK(identity.certificates[0].serial == "0B");
  identity = with_certificate(identity, {.serial = "0D", .expires = 3'000}, 1'500);
  CHECK(identity.certificates.size() == 3);
}

TEST_CASE("a name gets no certificate that its record could not list") {
  Identity identity;
  for (std::size_t i = 0; i < certificates_max; ++i)
    identity.certificates.push_back({.serial = std::to_string(i), .expires = 100});

  CHECK(why_no_more_certificates(identity, "operator:ci", 99, certificates_max) ==
        "operator:ci has 200 certificates that have not expired, and gets no other until one has");
  CHECK(why_no_more_certificates(identity, "operator:ci", 100, certificates_max).empty());
  identity.certificates.pop_back();
  CHECK(why_no_more_certificates(identity, "operator:ci", 99, certificates_max).empty());
}

TEST_CASE("after a new enrolment only the new certificate is let in, and none revoked before") {
  const Identity before =
      revoked({.certificates = {{.serial = "0A", .expires = 9'000}}}, "2026-01-01T00:00:00Z");
  CHECK(before.revoked == "2026-01-01T00:00:00Z");
  CHECK(revoked(before, "2027-01-01T00:00:00Z").revoked == "2026-01-01T00:00:00Z");
  // Earlier versions of fleetctl marked a revoked identity as revoked, but not its certificates.
  Identity old = before;
  old.certificates[0].revoked = false;

  for (const Identity& one : {before, old}) {
    const Identity again = with_certificate(one, {.serial = "0C", .expires = 9'000}, 2'000);

    REQUIRE(again.certificates.size() == 2);
    CHECK(again.certificates[0].revoked);
    CHECK_FALSE(again.certificates[1].revoked);
  }
}

TEST_CASE("a revoked identity may have open connections until the members were restarted") {
  CHECK_FALSE(may_have_streams(enrolled));
  Identity one = revoked(enrolled, "2026-01-01T00:00:00Z");
  CHECK(may_have_streams(one));
  one.shut_out = "2026-01-01T00:01:00Z";
  CHECK_FALSE(may_have_streams(one));
  CHECK_FALSE(may_have_streams(revoked(one, "2026-01-02T00:00:00Z")));
  SECTION("enrolled and revoked again") {
    one = with_certificate(one, {.serial = "0C", .issued = 1'500, .expires = 9'000}, 1'500);
    CHECK(may_have_streams(revoked(one, "2026-01-03T00:00:00Z")));
  }
}

TEST_CASE("the name in a certificate has the kind of its owner") {
  CHECK(certificate_name("node", "n1") == "node:n1");
  CHECK(is_role("operator"));
  CHECK_FALSE(is_role("node"));
  CHECK_FALSE(is_role("root"));
}

// ---- the time by which certificates are judged: the clock's, or the last time that was saved on
// disk, whichever is later

constexpr UnixSeconds hour = 3'600;
constexpr UnixSeconds today = 1'795'348'800;  // this is 2026-11-22T12:00:00Z
constexpr Validity own{.from = today - 24 * hour, .until = today + 24 * hour};

}  // namespace

TEST_CASE("certificates are judged by the later of the clock and the last durable time") {
  CHECK(judging_time({.clock = today, .durable = 0}) == today);
  CHECK(judging_time({.clock = today, .durable = today - hour}) == today);
  CHECK(judging_time({.clock = today - hour, .durable = today}) == today);
  CHECK(judging_time({.clock = 60, .durable = today}) == today);
  CHECK(judging_words({.clock = today, .durable = 60}) ==
        "2026-11-22T12:00:00Z, which this machine's clock shows");
  CHECK(judging_words({.clock = 60, .durable = today}) ==
        "2026-11-22T12:00:00Z, the last time that was kept here");
}

TEST_CASE("a machine waits while its own certificate has not begun by any time it knows") {
  CHECK(why_too_early({.clock = today, .durable = 0}, own).empty());
  CHECK(why_too_early({.clock = own.from, .durable = 0}, own).empty());
  CHECK(why_too_early({.clock = 60, .durable = today}, own).empty());

  CHECK(why_too_early({.clock = 60, .durable = 0}, own) ==
        "this machine's certificate begins at 2026-11-21T12:00:00Z, after 1970-01-01T00:01:00Z, "
        "which this machine's clock shows: waits until the clock is set");
  CHECK(why_too_early({.clock = 60, .durable = own.from - 1}, own) ==
        "this machine's certificate begins at 2026-11-21T12:00:00Z, after 2026-11-21T11:59:59Z, "
        "the last time that was kept here: waits until the clock is set");
}

TEST_CASE("the time is made durable once an hour, at once with a certificate, and never back") {
  CHECK(durable_from({.clock = today, .durable = 0}, own, false) == today);
  CHECK(durable_from({.clock = today, .durable = today - hour}, own, false) == today);
  CHECK_FALSE(durable_from({.clock = today, .durable = today - hour + 1}, own, false));
  CHECK(durable_from({.clock = today, .durable = today - 1}, own, true) == today);
  CHECK_FALSE(durable_from({.clock = today, .durable = today}, own, true));
  CHECK_FALSE(durable_from({.clock = today, .durable = today + 1}, own, true));
  CHECK_FALSE(durable_from({.clock = 60, .durable = today}, own, true));
}

TEST_CASE("a time that contradicts the machine's own certificate is not made durable") {
  CHECK(durable_from({.clock = own.until - 1, .durable = today}, own, false) == own.until - 1);
  CHECK_FALSE(durable_from({.clock = own.until, .durable = today}, own, true));
  CHECK_FALSE(durable_from({.clock = today + 100'000 * hour, .durable = today}, own, true));
  CHECK_FALSE(durable_from({.clock = own.from - 1, .durable = 0}, own, true));
  CHECK_FALSE(durable_from({.clock = today, .durable = 0}, std::nullopt, true));
}

TEST_CASE("a durable time is read as it was written, and another text is no time") {
  CHECK(durable_of(durable_text(today)) == today);
  for (const char* const text :
       {"", "\n", "x\n", "17953", "-5\n", "1795348800 \n", "1\n2\n", "99999999999999999999\n"}) {
    INFO(text);
    CHECK(durable_of(text) == 0);
  }
}

TEST_CASE("a certificate that is kept is used once it is valid, unless it is not needed any more") {
  const TemporaryDirectory directory;
  const std::string file = directory / "node.pem";
  const std::string key = new_private_key();
  const auto made = [](int days, const std::string& for_key) {
    return sign_for_key({.name = "cell", .days = days, .is_authority = true}, for_key).certificate;
  };
  const CertificateClock clock(directory / "time",
                               {.own = file, .key = directory.write("node.key", key)});
  const std::string first = made(3, key);
  const std::string second = made(4, key);
  REQUIRE(replace_file(file, first, 0644).empty());
  CHECK_FALSE(clock.next());

  REQUIRE(clock.keep_next(second).empty());
  CHECK(clock.next());
  CHECK(clock.judge().wait.empty());
  CHECK(content_of_file(file) == second);
  CHECK_FALSE(clock.next());

  REQUIRE(clock.keep_next(first).empty());
  clock.use_next();
  CHECK(content_of_file(file) == second);
  CHECK_FALSE(clock.next());

  // This certificate is for a different key than the machine's own, as if the machine had changed
  // its key after the request. So the certificate must not be used.
  REQUIRE(clock.keep_next(made(5, new_private_key())).empty());
  CHECK_FALSE(clock.next());
  CHECK(clock.judge().wait.empty());
  CHECK(content_of_file(file) == second);
}

TEST_CASE("a later time that another process has made durable stays") {
  const TemporaryDirectory directory;
  const std::string file = directory / "time";
  CertificateClock clock(file, {});
  CHECK(clock.time().durable == 0);

  REQUIRE(replace_file(file, durable_text(today), 0600).empty());
  clock.look();

  CHECK(clock.time().durable == today);
  CHECK(CertificateClock(file, {}).time().durable == today);
}

}  // namespace certificates_test

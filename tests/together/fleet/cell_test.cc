// Tests which certificates a new cell (a store, controllers and their machines) needs. Also tests
// when `fleetctl dev`, which runs a whole cell for a trial on one machine, starts and ends its
// programs. The tested code only makes these decisions, without files and processes.
#include <algorithm>
#include <catch2/catch.hpp>
#include <ctime>

#include "fleet/cell/cell_terms.h"
#include "fleet/cell/dev_cell.h"
#include "fleet/cell/dev_life.h"
#include "fleet/common/authority.h"

namespace cell_test {

namespace {

using namespace fleet;
using upgrader::Time;
using namespace std::chrono_literals;

// ---- when a trial cell's programs start and end

constexpr std::size_t store = 0, controller = 1, node = 2;

// The object under test, with a clock that the test moves. The object decides when the programs of
// a trial cell start and end.
class Trial {
 public:
  DevActions take(const DevEvent& event) { return life_.step(event, now_); }
  DevActions wait(Time time) {
    now_ += time;
    return take(DevTimePassed{});
  }
  [[nodiscard]] std::optional<Time> due() const {
    const auto next = life_.next_deadline();
    if (!next) return std::nullopt;
    return *next - now_;
  }
  void start_all() {
    take(DevBegan{});
    take(DevRoundReady{});
    take(DevRoundReady{});
  }

 private:
  DevLife life_{{{.name = "etcd", .log = "e", .starts = 0, .stops = 2},
                 {.name = "controller", .log = "c", .starts = 1, .stops = 1},
                 {.name = "n1", .log = "n", .starts = 1, .stops = 0}}};
  Time now_{1'000'000};
};

bool has(const DevActions& actions, const DevAction& wanted) {
  return std::find(actions.begin(), actions.end(), wanted) != actions.end();
}

TEST_CASE("a trial's programs are started when those before them are ready") {
  Trial trial;
  CHECK(trial.take(DevBegan{}) == DevActions{DevStart{store}, DevAwait{0}});
  CHECK(trial.take(DevRoundReady{}) ==
        DevActions{DevStart{controller}, DevStart{node}, DevAwait{1}});
  CHECK(trial.take(DevRoundReady{}) == DevActions{DevAnnounce{}});
  CHECK(trial.due() == std::nullopt);
}

TEST_CASE("a trial's programs are stopped one round after the other, the store last") {
  Trial trial;
  trial.start_all();
  CHECK(trial.take(DevStopAsked{}) == DevActions{DevTerminate{node}});
  CHECK(trial.take(DevEnded{node, "exited"}) == DevActions{DevTerminate{controller}});
  CHECK(trial.take(DevEnded{controller, "exited"}) == DevActions{DevTerminate{store}});
  CHECK(trial.take(DevEnded{store, "exited"}) == DevActions{DevFinish{false}});
}

TEST_CASE("a stop before all have started ends those that live") {
  Trial trial;
  trial.take(DevBegan{});
  CHECK(trial.take(DevStopAsked{}) == DevActions{DevTerminate{store}});
  CHECK(trial.take(DevRoundReady{}).empty());
  CHECK(trial.take(DevEnded{store, "exited"}) == DevActions{DevFinish{false}});
}

TEST_CASE("a program that dies is started again, later each time") {
  Trial trial;
  trial.start_all();
  const Time first = 1s, most = 32s;
  for (Time pause = first; pause <= most; pause *= 2) {
    const DevActions said = trial.take(DevEnded{node, "was killed"});
    REQUIRE(said.size() == 1);
    CHECK(std::get<DevSay>(said[0]).text == "n1 was killed; its log is n; it is started again in " +
                                                std::to_string(pause.count() / 1'000) + " s");
    CHECK(trial.due() == pause);
    CHECK(trial.wait(pause - 1ms).empty());
    CHECK(trial.wait(1ms) == DevActions{DevStart{node}});
  }
  trial.take(DevEnded{node, "was killed"});
  CHECK(trial.due() == most);
  trial.wait(most);
  trial.wait(60s);
  trial.take(DevEnded{node, "was killed"});
  CHECK(trial.due() == first);
}

TEST_CASE("a program that has died is not started again after a stop was requested") {
  Trial trial;
  trial.start_all();
  trial.take(DevEnded{node, "was killed"});
  CHECK(trial.take(DevStopAsked{}) == DevActions{DevTerminate{controller}});
  CHECK_FALSE(has(trial.wait(2s), DevStart{node}));
}

TEST_CASE("a program that ends before it was ready ends the trial") {
  Trial trial;
  trial.take(DevBegan{});
  CHECK(trial.take(DevEnded{store, "exited with status 1"}) ==
        DevActions{DevSay{"etcd exited with status 1; its log is e", true}, DevFinish{true}});
}

TEST_CASE("a trial that is not ready in time, or cannot be, is ended") {
  Trial trial;
  trial.take(DevBegan{});
  if (GENERATE(true, false)) {
    CHECK(trial.wait(30s) ==
          DevActions{DevSay{"the cell is not ready after 30 s; the logs say why", true},
                     DevTerminate{store}});
  } else {
    CHECK(trial.take(DevFailed{"no"}) == DevActions{DevSay{"no", true}, DevTerminate{store}});
  }
  CHECK(trial.take(DevEnded{store, "exited"}) == DevActions{DevFinish{true}});
}

TEST_CASE("a program that does not stop is killed after ten seconds, or by a second request") {
  Trial trial;
  trial.start_all();
  trial.take(DevStopAsked{});
  if (GENERATE(true, false)) {
    CHECK(trial.wait(10s) ==
          DevActions{DevSay{"n1 does not stop, and is killed", true}, DevKill{node}});
  } else {
    CHECK(trial.take(DevStopAsked{}) ==
          DevActions{DevKill{store}, DevKill{controller}, DevKill{node}});
  }
}

// ---- the parts of a trial cell

TEST_CASE("a missing program is named, with its package") {
  std::map<std::string, std::string> found;
  for (const DevNeed& need : dev_needs()) {
    found[std::string(need.program)] = "/usr/bin/" + std::string(need.program);
  }
  CHECK(missing_words(found).empty());
  found.erase("agentify");
  CHECK(missing_words(found) == "agentify must stand beside fleetctl, or in PATH");
  found.erase("etcd");
  CHECK(missing_words(found) ==
        "etcd is missing: apt-get install etcd-server; "
        "agentify must stand beside fleetctl, or in PATH");
}

TEST_CASE("the file of ports is read as it was written, and no other") {
  const DevPorts ports{1, 65'535, 8'080, 8'443};
  const DevPorts read = ports_in(ports_text(ports));
  CHECK(std::tie(read.clients, read.peers, read.page, read.https) ==
        std::tie(ports.clients, ports.peers, ports.page, ports.https));
  for (const std::string_view wrong : {"", "1 2 3\n", "1 2 3 4", "0 2 3 4\n", "1 2 3 65536\n",
                                       "-1 2 3 4\n", "1 2 3 4\n5", "1  2 3 4\n", "a"}) {
    CHECK(ports_in(wrong).clients == 0);
  }
}

TEST_CASE("a trial cell has its own hooks, a signer, and controllers with HTTP and HTTPS") {
  const DevTerms terms{.directory = "/d", .ports = {1, 2, 8'080, 8'443}, .nodes = 1};
  std::map<std::string, std::string> options;
  for (const DevProgram& one : dev_programs(terms)) {
    for (const std::string& word : one.arguments)
      options[one.name] += word + " ";
  }
  const auto has_option = [&options](const std::string& program, const std::string& option) {
    return options[program].find(" " + option + " ") != std::string::npos;
  };

  CHECK(has_option("fleet-controller c1", "--http=127.0.0.1:8443"));
  CHECK(has_option("fleet-controller c1", "--http-ca=/d/ca.pem"));
  CHECK(has_option("fleet-controller c1", "--cert=/d/c1-controller.pem"));
  CHECK(has_option("fleet-controller c2", "--http=127.0.0.1:8080"));
  CHECK(options["fleet-controller c2"].find("--http-c") == std::string::npos);
  CHECK(has_option("n1", "--hooks=/d/hooks"));
  CHECK(std::ranges::count(dev_directories(terms), "hooks") == 1);
  CHECK(has_option("fleet-signer", "--cert=/d/root.pem"));
  CHECK(has_option("fleet-signer", "--signer-key=/d/ca.key"));
  CHECK(dev_https(terms) == "https://127.0.0.1:8443");
}

// ---- the certificates of a cell

CellTerms three() {
  return {.members = {{"m1", "192.0.2.1"}, {"m2", "192.0.2.2"}, {"m3", "192.0.2.3"}},
          .controllers = {{"m1", "192.0.2.1"}}};
}

std::map<std::string, CertificateThere> all_there() {
  std::map<std::string, CertificateThere> there;
  for (const CertificateWanted& one : certificates_of(three())) {
    there[one.file] = {.certificate = true, .key = true};
  }
  return there;
}

std::vector<std::string> made(const std::map<std::string, CertificateThere>& there) {
  std::vector<std::string> files;
  const CertificatePlan plan = plan_certificates(certificates_of(three()), there);
  CHECK(plan.refused.empty());
  for (const CertificateWanted& one : plan.make) {
    files.push_back(one.file);
  }
  return files;
}

std::vector<std::string> refused(const std::map<std::string, CertificateThere>& there) {
  const CertificatePlan plan = plan_certificates(certificates_of(three()), there);
  CHECK(plan.make.empty());
  return plan.refused;
}

TEST_CASE("terms that no cell can have are refused, with the name") {
  CHECK(why_no_cell(three()).empty());
  CHECK(why_no_cell({}) == "a cell needs at least one --member");
  CellTerms terms = three();
  terms.members[1].name = "m1";
  CHECK(why_no_cell(terms) == "m1 is twice a member");
  terms.members[1] = {"m2", "192.0.2.1"};
  CHECK(why_no_cell(terms) == "m2 and m1 have one address, 192.0.2.1");
  terms = three();
  terms.members[0].name = "M1";
  CHECK(why_no_cell(terms) == "M1: a name has at most 63 small letters, digits, `.` and `-`");
  terms = three();
  terms.controllers[0].address = "192.0.2.9";
  CHECK(why_no_cell(terms) == "m1 has two addresses, 192.0.2.1 and 192.0.2.9");
}

TEST_CASE("a machine's name that would give its certificate the file of another one is refused") {
  const std::string name = GENERATE("ca", "root", "members", "m1-members");
  CellTerms terms = three();
  terms.members[1].name = name;
  CHECK(why_no_cell(terms) ==
        name + ": " + name + ".pem is another certificate; give it another name");
  terms = three();
  terms.members[1].name = terms.controllers[0].name + "-http";
  CHECK_FALSE(why_no_cell(terms).empty());
}

TEST_CASE("an even number of members is advised against") {
  CellTerms terms = three();
  CHECK(advice_on_members(terms).empty());
  terms.members.pop_back();
  CHECK(advice_on_members(terms) ==
        "2 members: the store stops when more than 0 of them fail, as with 1; use an odd number");
  terms.members.pop_back();
  CHECK(advice_on_members(terms).empty());
}

TEST_CASE("an empty directory gets all certificates, and a full one none") {
  CHECK(made({}) == std::vector<std::string>{"ca", "members", "root", "m1", "m1-members", "m2",
                                             "m2-members", "m3", "m3-members", "m1-controller",
                                             "m1-http"});
  CHECK(made(all_there()).empty());
}

TEST_CASE("a directory that is half there gets what it lacks") {
  auto there = all_there();
  there.erase("m2");
  // A call of fleetctl was interrupted after it had made m3's key, and before it made m3's
  // certificate.
  there["m3"].certificate = false;
  CHECK(made(there) == std::vector<std::string>{"m2", "m3"});
}

TEST_CASE("a new authority is not put beside certificates of an older one") {
  auto there = all_there();
  there.erase("ca");
  CHECK(refused(there) ==
        std::vector<std::string>{"ca.pem and ca.key are missing, but root.pem, which they have "
                                 "signed, is there; put them back"});
}

TEST_CASE("an authority's key may be elsewhere, until it has something to sign") {
  auto there = all_there();
  there["ca"].key = false;
  CHECK(made(there).empty());
  there.erase("m2");
  CHECK(refused(there) == std::vector<std::string>{"m2.pem is missing, and ca.key, which would "
                                                   "sign it, is not there; put it back"});
}

TEST_CASE("a certificate that cannot be used, or has no key, lets nothing be made") {
  auto there = all_there();
  there.erase("m1");
  there["m2"].unfit = "ended yesterday";
  there["m3"].key = false;
  CHECK(refused(there) ==
        std::vector<std::string>{
            "m2.pem ended yesterday; move it and its key away, and a new one is made",
            "m3.pem is there without m3.key; put the key back, or move the certificate away"});
}

TEST_CASE("a certificate is not replaced for a wrong clock, nor an authority that has signed one") {
  auto there = all_there();
  there["ca"] = {.certificate = true, .key = true, .unfit = "begins tomorrow", .wrong_time = true};
  there["members"].unfit = "is not for the key beside it";
  there["m2"] = {.certificate = true, .key = true, .unfit = "ended yesterday", .wrong_time = true};
  CHECK(refused(there) ==
        std::vector<std::string>{
            "ca.pem begins tomorrow; set the clock if it is wrong; otherwise sign it again with "
            "its own key: see fleet(7), The certificate of an authority ends",
            "members.pem is not for the key beside it; put back the certificate and the key that "
            "have signed m1-members.pem",
            "m2.pem ended yesterday; set the clock if it is wrong; otherwise move it and its key "
            "away, and a new one is made"});
}

TEST_CASE(
    "a file that cannot be read is named once, and only a machine's certificate is replaced") {
  auto there = all_there();
  there["ca"].unread = "ca.key is empty";
  there.erase("m1");
  there["m2"] = {.certificate = true, .key = true, .unread = "m2.key cannot be read"};
  CHECK(refused(there) ==
        std::vector<std::string>{
            "ca.key is empty; mend this file",
            "m2.key cannot be read; mend this file, or move m2.pem and m2.key away, and new ones "
            "are made"});
}

TEST_CASE("an authority that has signed nothing is replaced") {
  CHECK(refused({{"ca", {.certificate = true, .key = true, .unfit = "is not a certificate"}}}) ==
        std::vector<std::string>{"ca.pem is not a certificate; move it and its key away, "
                                 "and a new one is made"});
}

// ---- certificates are made and checked

struct Pair {
  std::string certificate;
  std::string key;
};

Pair make(Signing signing, const Pair& authority = {}) {
  const std::string key = new_private_key();
  signing.signer = {authority.certificate, authority.key};
  const Signed made = sign_for_key(std::move(signing), key);
  CHECK(made.error.empty());
  return {made.certificate, key};
}

TEST_CASE("a certificate is judged by its name, key, authority, role, address and time") {
  constexpr UnixSeconds day_s = 86'400;
  const UnixSeconds now = std::time(nullptr);
  const Pair ca = make({.name = "ca", .days = 10, .is_authority = true});
  const Pair other = make({.name = "ca", .days = 10, .is_authority = true});
  const Pair server = make({.name = "m1", .days = 2, .addresses = {"192.0.2.1", "::1"}}, ca);
  const Pair client = make({.name = "m1", .days = 2}, ca);
  const CertificateNeed need{
      .name = "m1", .authority = ca.certificate, .addresses = {"192.0.2.1", "::1"}};
  const CertificateNeed authority{.name = "ca", .is_authority = true};
  const auto why = [now](const Pair& pair, const CertificateNeed& wanted, UnixSeconds later = 0) {
    return why_unfit(pair.certificate, pair.key, wanted, now + later);
  };

  CHECK(why(server, need).empty());
  CHECK(why(ca, authority).empty());
  CHECK(why_unfit(ca.certificate, "", authority, now).empty());
  CHECK(why(client, {.name = "m1", .authority = ca.certificate}).empty());

  CHECK(why({"rubbish", server.key}, need) == "is not a certificate in PEM");
  CHECK(why({server.certificate, client.key}, need) == "is not for the key beside it");
  CHECK(why(client, need) == "is not a server's");
  CHECK(why(server, {.name = "m1", .is_authority = true}) == "is not an authority's");
  CHECK(why(ca, {.name = "ca", .authority = ca.certificate}) == "is an authority's");
  CHECK(why(server, {.name = "m2", .authority = ca.certificate}) ==
        "is made out to `m1`, not to `m2`");
  CHECK(why(server, {.name = "m1", .authority = other.certificate}) ==
        "is signed by another authority");
  CHECK(why(server, {.name = "m1", .authority = ca.certificate, .addresses = {"192.0.2.2"}}) ==
        "does not have the address 192.0.2.2");
  CHECK(why(server, need, -2 * day_s).starts_with("begins at "));
  CHECK(why(server, need, 3 * day_s).starts_with("ended at "));
}

}  // namespace

}  // namespace cell_test

// Tests texts that an agent cannot send. The library must refuse each of these texts with an errno
// that gives the reason, and send nothing. The library must neither truncate nor change a text.
#include <catch2/catch.hpp>
#include <string>
#include <string_view>

#include "agent-protocol/agent_protocol.h"
#include "tests/decisions/unit/agent_bench.h"

namespace agent_texts_test {

using namespace bench;

namespace {

const std::string not_utf8 = "not \xff UTF-8";

std::string long_text(std::size_t bytes) {
  return std::string(bytes, 'x');
}

const char* name_of(int error) {
  switch (error) {
    case 0:
      return "";
    case EAGAIN:
      return " EAGAIN";
    case ECANCELED:
      return " ECANCELED";
    case EILSEQ:
      return " EILSEQ";
    case EINVAL:
      return " EINVAL";
    case EMSGSIZE:
      return " EMSGSIZE";
    case EPROTO:
      return " EPROTO";
    default:
      return " another errno";
  }
}

// Reports to the test that the call succeeded, or reports its errno.
template <class Call>
void try_call(agent_protocol_agent* agent, const std::string& name, const Call& call) {
  errno = 0;
  const int answer = call();
  const int error = errno;
  report(name + name_of(answer == 0 ? 0 : error) + ": " +
         (answer == 0 ? "done" : agent_protocol_error(agent)));
}

int request(agent_protocol_agent* agent, const std::string& id, const std::string& executable,
            const char* arg = nullptr) {
  agent_protocol_upgrade upgrade = AGENT_PROTOCOL_UPGRADE_INIT;
  const char* const args[] = {arg, nullptr};
  upgrade.id = id.c_str();
  upgrade.executable = executable.c_str();
  if (arg != nullptr) upgrade.args = args;
  return agent_protocol_request_upgrade(agent, &upgrade);
}

int stopped_with(agent_protocol_agent* agent, std::string_view state) {
  return agent_protocol_stopped_with(agent, state.data(), state.size());
}

agent_protocol_agent* run_until_stop() {
  agent_protocol_agent* agent = run_until_active();
  while (agent_protocol_wait(agent, -1)->type != AGENT_PROTOCOL_STOP) {
  }
  return agent;
}

int fail_with(void* why, char* reason, std::size_t size) {
  std::snprintf(reason, size, "%s", static_cast<const std::string*>(why)->c_str());
  return 1;
}

}  // namespace

TEST_CASE("a state that holds U+0000 is refused, and so is one that is no UTF-8 or too long") {
  const bool alone = GENERATE(false, true);
  const auto before = [alone] {
    if (alone) ::unsetenv("AGENT_PROTOCOL");
  };
  Upgrader upgrader(
      [alone] {
        agent_protocol_agent* agent = alone ? run_until_active() : run_until_stop();
        if (alone) {
          ::raise(SIGTERM);
          agent_protocol_wait(agent, -1);
        }
        for (const std::string& state :
             {std::string("line 7\0line 8", 13), not_utf8, long_text(32'769),
              std::string(32'501, '\n'), std::string("\0", 1)}) {
          try_call(agent, "stopped", [&] { return stopped_with(agent, state); });
        }
        try_call(agent, "no bytes", [&] { return agent_protocol_stopped_with(agent, nullptr, 1); });
        try_call(agent, "text", [&] { return agent_protocol_stopped(agent, not_utf8.c_str()); });
        try_call(agent, "good", [&] { return stopped_with(agent, "line 7, and more"); });
        return 0;
      },
      before);

  if (!alone) {
    upgrader.lead_to_active();
    upgrader.say(stop_shutdown);
  }
  const std::string refused = ": cannot say stopped: \"state\" ";
  CHECK(upgrader.is_reported() == "stopped EINVAL" + refused + "holds U+0000 or a lone surrogate");
  CHECK(upgrader.is_reported() == "stopped EILSEQ" + refused + "is no UTF-8");
  CHECK(upgrader.is_reported() == "stopped EMSGSIZE" + refused + "is longer than 32768 bytes");
  CHECK(upgrader.is_reported() ==
        "stopped EMSGSIZE" + refused + "is longer than 65000 bytes when it is escaped");
  CHECK(upgrader.is_reported() == "stopped EINVAL" + refused + "holds U+0000 or a lone surrogate");
  CHECK(upgrader.is_reported() == "no bytes EINVAL: cannot say stopped: there is no state");
  CHECK(upgrader.is_reported() == "text EILSEQ" + refused + "is no UTF-8");
  CHECK(upgrader.is_reported() == "good: done");
  if (!alone) CHECK(upgrader.hears() == R"({"type":"stopped","state":"line 7, and more"})");
  CHECK(upgrader.hears() == "(end)");
}

TEST_CASE("a state of no bytes is a state, and none is none") {
  const char* state = GENERATE("", static_cast<const char*>(nullptr));
  Upgrader upgrader([state] {
    agent_protocol_agent* agent = run_until_stop();
    return agent_protocol_stopped_with(agent, state, 0);
  });

  upgrader.lead_to_active();
  upgrader.say(stop_shutdown);

  CHECK(upgrader.hears() ==
        (state == nullptr ? R"({"type":"stopped"})" : R"({"type":"stopped","state":""})"));
  CHECK(upgrader.exit_status() == 0);
}

TEST_CASE("a text for people that cannot be sent is refused") {
  Upgrader upgrader([] {
    agent_protocol_agent* agent = run_until_active();
    try_call(agent, "status", [&] { return agent_protocol_status(agent, not_utf8.c_str()); });
    try_call(agent, "status", [&] { return agent_protocol_status(agent, long_text(257).c_str()); });
    try_call(agent, "unfit", [&] { return agent_protocol_unfit(agent, not_utf8.c_str()); });
    try_call(agent, "unfit", [&] { return agent_protocol_unfit(agent, long_text(1'025).c_str()); });
    try_call(agent, "status", [&] { return agent_protocol_status(agent, long_text(256).c_str()); });
    try_call(agent, "unfit", [&] { return agent_protocol_unfit(agent, long_text(1'024).c_str()); });
    return 0;
  });

  CHECK(upgrader.hears() == R"({"type":"hello","protocol":1,"version":"1.2"})");
  upgrader.say(R"({"type":"welcome","protocol":1,"features":[],"generation":2,)"
               R"("role":"candidate"})");
  CHECK(upgrader.hears() == R"({"type":"ready"})");
  upgrader.say(activate);
  CHECK(upgrader.is_reported() == "status EILSEQ: cannot show a status: \"text\" is no UTF-8");
  CHECK(upgrader.is_reported() ==
        "status EMSGSIZE: cannot show a status: \"text\" is longer than 256 bytes");
  CHECK(upgrader.is_reported() == "unfit EILSEQ: cannot say unfit: \"reason\" is no UTF-8");
  CHECK(upgrader.is_reported() ==
        "unfit EMSGSIZE: cannot say unfit: \"reason\" is longer than 1024 bytes");
  CHECK(upgrader.is_reported() == "status: done");
  CHECK(upgrader.is_reported() == "unfit: done");
  CHECK(upgrader.hears() == R"({"type":"status","text":")" + long_text(256) + R"("})");
  CHECK(upgrader.hears() == R"({"type":"unfit","reason":")" + long_text(1'024) + R"("})");
  CHECK(upgrader.hears() == "(end)");
}

TEST_CASE("a request, a confirm and a cancel that cannot be sent are refused") {
  Upgrader upgrader([] {
    agent_protocol_agent* agent = run_until_active();
    try_call(agent, "id", [&] { return request(agent, not_utf8, "/agent"); });
    try_call(agent, "id", [&] { return request(agent, long_text(65), "/agent"); });
    try_call(agent, "path", [&] { return request(agent, "u1", "/\xff"); });
    try_call(agent, "path", [&] { return request(agent, "u1", "/" + long_text(4'095)); });
    try_call(agent, "path", [&] { return request(agent, "u1", "agent"); });
    try_call(agent, "args", [&] { return request(agent, "u1", "/agent", "\xff"); });
    try_call(agent, "args",
             [&] { return request(agent, "u1", "/agent", long_text(65'500).c_str()); });
    try_call(agent, "good", [&] { return request(agent, "u1", "/agent"); });
    agent_protocol_wait(agent, -1);
    try_call(agent, "confirm", [&] { return agent_protocol_confirm(agent, "u2"); });
    try_call(agent, "cancel", [&] { return agent_protocol_cancel(agent, "u1", not_utf8.c_str()); });
    try_call(agent, "cancel",
             [&] { return agent_protocol_cancel(agent, "u1", long_text(1'025).c_str()); });
    try_call(agent, "cancel",
             [&] { return agent_protocol_cancel(agent, "u1", long_text(1'024).c_str()); });
    return 0;
  });

  upgrader.lead_to_active();
  upgrader.say(R"({"type":"accepted","id":"u1","generation":2})");
  CHECK_THAT(upgrader.is_reported(), Catch::EndsWith("\"id\" is no UTF-8"));
  CHECK_THAT(upgrader.is_reported(), Catch::StartsWith("id EMSGSIZE: cannot request upgrade xxx"));
  const std::string refused = ": cannot request upgrade u1: ";
  CHECK(upgrader.is_reported() == "path EILSEQ" + refused + "\"executable\" is no UTF-8");
  CHECK(upgrader.is_reported() ==
        "path EMSGSIZE" + refused + "\"executable\" is longer than 4095 bytes");
  CHECK(upgrader.is_reported() == "path EINVAL" + refused + "\"executable\" is no absolute path");
  CHECK(upgrader.is_reported() == "args EILSEQ" + refused + "an element of \"args\" is no UTF-8");
  CHECK(upgrader.is_reported() ==
        "args EMSGSIZE" + refused + "the message is longer than 65536 bytes");
  CHECK(upgrader.is_reported() == "good: done");
  CHECK(upgrader.is_reported() ==
        "confirm EPROTO: cannot confirm upgrade u2: no such upgrade is under way");
  CHECK_THAT(upgrader.is_reported(), Catch::StartsWith("cancel EILSEQ: cannot cancel upgrade u1"));
  CHECK_THAT(upgrader.is_reported(), Catch::StartsWith("cancel EMSGSIZE: cannot cancel upgrade"));
  CHECK(upgrader.is_reported() == "cancel: done");
  CHECK(upgrader.hears() == R"({"type":"upgrade","id":"u1","executable":"/agent"})");
  CHECK(upgrader.hears() ==
        R"({"type":"cancel","id":"u1","reason":")" + long_text(1'024) + R"("})");
  CHECK(upgrader.hears() == "(end)");
}

TEST_CASE("a version that cannot be sent is refused, and the process is as it was") {
  Upgrader upgrader([] {
    for (const std::string& version : {not_utf8, long_text(129), long_text(128)}) {
      errno = 0;
      const bool opened = agent_protocol_open(version.c_str()) != nullptr;
      const int error = errno;
      report(opened ? "opened" : std::string("refused") + name_of(error));
    }
    return 0;
  });

  CHECK(upgrader.is_reported() == "refused EILSEQ");
  CHECK(upgrader.is_reported() == "refused EMSGSIZE");
  CHECK(upgrader.is_reported() == "opened");
  CHECK(upgrader.hears() ==
        R"({"type":"hello","protocol":1,"version":")" + long_text(128) + R"("})");
}

TEST_CASE("a name of a check leaves room for its reason, or is refused") {
  Upgrader upgrader([] {
    agent_protocol_agent* agent = agent_protocol_open(nullptr);
    std::string reason = "none";
    const auto add = [&](const std::string& name) {
      return agent_protocol_add_check(agent, name.c_str(), &fail_with, &reason);
    };
    try_call(agent, "name", [&] { return add(not_utf8); });
    try_call(agent, "name", [&] { return add(long_text(129)); });
    try_call(agent, "name", [&] { return add(long_text(128)); });
    try_call(agent, "ready", [&] { return agent_protocol_ready(agent); });
    return 0;
  });

  CHECK(upgrader.is_reported() == "name EILSEQ: cannot add a check: its name is no UTF-8");
  CHECK(upgrader.is_reported() ==
        "name EMSGSIZE: cannot add a check: its name is longer than 128 bytes");
  CHECK(upgrader.is_reported() == "name: done");
  CHECK(upgrader.is_reported() ==
        "ready ECANCELED: cannot say ready: " + long_text(128) + ": none");
}

TEST_CASE("a check that fails for a reason that cannot be sent is told all the same") {
  const bool all_bad = GENERATE(false, true);
  Upgrader upgrader([all_bad] {
    agent_protocol_agent* agent = agent_protocol_open(nullptr);
    std::string reason = all_bad ? "\xff\xff\xff" : not_utf8;
    agent_protocol_add_check(agent, "disk", &fail_with, &reason);
    try_call(agent, "ready", [&] { return agent_protocol_ready(agent); });
    return 0;
  });

  const std::string bad = "\xef\xbf\xbd";
  const std::string told = all_bad ? bad + bad + bad : "not " + bad + " UTF-8";
  CHECK(upgrader.is_reported() == "ready EILSEQ: cannot say ready: disk: " + told);
  CHECK(upgrader.hears() == R"({"type":"hello","protocol":1})");
  CHECK(upgrader.hears() == R"({"type":"unfit","reason":"disk: )" + told + R"("})");
}

TEST_CASE("other refusals have their errno, too") {
  Upgrader upgrader([] {
    agent_protocol_agent* agent = run_until_active();
    try_call(agent, "extend", [&] { return agent_protocol_extend(agent, 1); });
    try_call(agent, "ready", [&] { return agent_protocol_ready(agent); });
    try_call(agent, "request", [&] { return agent_protocol_request_upgrade(agent, nullptr); });
    try_call(agent, "check",
             [&] { return agent_protocol_add_check(agent, nullptr, nullptr, nullptr); });
    agent_protocol_wait(agent, -1);
    try_call(agent, "extend", [&] { return agent_protocol_extend(agent, 0); });
    while (agent_protocol_status(agent, "busy") == 0) {
    }
    try_call(agent, "status", [&] { return agent_protocol_status(agent, "busy"); });
    return 0;
  });

  upgrader.lead_to_active();
  upgrader.say(stop_shutdown);
  CHECK(upgrader.is_reported() ==
        "extend EPROTO: cannot extend the deadline: this agent is active");
  CHECK(upgrader.is_reported() == "ready EPROTO: cannot say ready: this agent is active");
  CHECK_THAT(upgrader.is_reported(), Catch::StartsWith("request EINVAL: "));
  CHECK_THAT(upgrader.is_reported(), Catch::StartsWith("check EINVAL: "));
  CHECK_THAT(upgrader.is_reported(), Catch::StartsWith("extend EINVAL: "));
  CHECK(upgrader.is_reported() ==
        "status EAGAIN: cannot show a status: the upgrader does not read what has been sent");
}

}  // namespace agent_texts_test

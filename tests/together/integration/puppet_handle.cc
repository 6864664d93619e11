// This file sends commands to a puppet (fake agent), and waits for the puppet's answers. See
// puppet_handle.h.
#include "tests/together/integration/puppet_handle.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>

#include "tests/together/integration/process_table.h"
#include "tests/together/integration/world.h"

namespace integration {
namespace {

// Returns whether the pipe that is a process's input is full.
bool input_is_full(pid_t pid) {
  const std::string path = "/proc/" + std::to_string(pid) + "/fd/0";
  const int fd = open(path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC);
  pollfd input{.fd = fd, .events = POLLOUT, .revents = 0};
  const bool full = fd >= 0 && poll(&input, 1, 0) == 0;
  close(fd);
  return full;
}

}  // namespace

std::string Report::value(std::string_view key) const {
  for (const std::string& entry : entries) {
    if (entry.starts_with(std::string(key) + "=")) return entry.substr(key.size() + 1);
  }
  FAIL("the report has no " << key);
  return {};
}

bool Report::has(std::string_view key) const {
  return std::any_of(entries.begin(), entries.end(), [&](const std::string& entry) {
    return entry.starts_with(std::string(key) + "=");
  });
}

std::vector<std::string> Report::keys(std::string_view prefix) const {
  std::vector<std::string> keys;
  for (const std::string& entry : entries) {
    if (entry.starts_with(prefix)) keys.push_back(entry.substr(0, entry.find('=')));
  }
  return keys;
}

bool Report::has_variable(std::string_view name) const {
  return std::any_of(environment.begin(), environment.end(), [&](const std::string& variable) {
    return variable.starts_with(std::string(name) + "=");
  });
}

std::string Report::variable(std::string_view name) const {
  for (const std::string& variable : environment) {
    if (variable.starts_with(std::string(name) + "=")) return variable.substr(name.size() + 1);
  }
  FAIL("the environment has no " << name);
  return {};
}

Report Puppet::report(Where where) {
  const std::string text = command("report", where);
  Report report;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\0', begin);
    const std::string entry = text.substr(begin, end - begin);
    if (entry.starts_with("env=")) {
      report.environment.push_back(entry.substr(4));
    } else {
      report.entries.push_back(entry);
    }
    begin = end + 1;
  }
  std::sort(report.entries.begin(), report.entries.end());
  return report;
}

void Puppet::say(std::string_view line) {
  say_bytes(std::string(line) + "\n");
}

void Puppet::say_bytes(std::string_view bytes) {
  world_->note(std::to_string(connection_->number) + " says " + std::string(bytes.substr(0, 400)));
  // The size of a packet is limited, so a long text is sent in several packets.
  for (std::size_t begin = 0; begin < bytes.size(); begin += 60'000) {
    order("say " + std::string(bytes.substr(begin, 60'000)));
    // Waits for the puppet's answer to this command, or for the puppet's end: the upgrader may read
    // the line that the puppet has written, and kill the puppet before the puppet answers.
    world_->wait_until([&] { return !connection_->answers.empty() || connection_->gone; },
                       "a puppet to speak");
    if (!connection_->answers.empty()) connection_->answers.pop_front();
  }
}

void Puppet::say_type(std::string_view type, std::string_view members) {
  const std::string rest = members.empty() ? "" : "," + std::string(members);
  say("{\"type\":\"" + std::string(type) + "\"" + rest + "}");
}

void Puppet::flood(std::string_view line, long count) {
  world_->note(std::to_string(connection_->number) + " floods " + std::string(line));
  command("flood " + std::to_string(count) + " " + std::string(line) + "\n");
}

void Puppet::clog(long lines) {
  stop_reading();
  flood("{\"type\":\"unread\"}", lines);
  long before = -1;
  world_->wait_until(
      [&] {
        const long now = unsent();
        world_->pass(20);
        const bool stuck = now == before;
        before = now;
        return stuck && input_is_full(pid());
      },
      "the upgrader to stop reading");
}

long Puppet::unsent() {
  return std::stol(command("unsent"));
}

std::string Puppet::next_line(Where where) {
  const Connection& connection = *connection_;
  world_->wait_until([&] { return !connection.lines.empty() || connection.gone; },
                     "a line to agent " + std::to_string(connection.number), where);
  if (connection.lines.empty()) {
    world_->fail("agent " + std::to_string(connection.number) + " is gone, and heard nothing",
                 where);
  }
  std::string line = connection_->lines.front();
  connection_->lines.pop_front();
  return line;
}

Json Puppet::expect(std::string_view type, Where where) {
  const std::string line = next_line(where);
  const auto message = Json::parse(line);
  if (!message) world_->fail("this is no JSON: " + line, where);
  if (message->text("type") != type) {
    world_->fail("wanted " + std::string(type) + ", but agent " +
                     std::to_string(connection_->number) + " heard " + line,
                 where);
  }
  return *message;
}

Json Puppet::expect_error(std::string_view about, Where where) {
  Json error = expect("error", where);
  if (error.text("about") != about) {
    world_->fail("an error about " + error.text("about") + ", not " + std::string(about), where);
  }
  CHECK_FALSE(error.text("reason").empty());
  CHECK(error.text("reason").size() <= 1024);
  return error;
}

void Puppet::expect_silence(Where where) {
  say_type("question");
  expect_error("question", where);
}

void Puppet::expect_end_of_input(Where where) {
  world_->wait_until([&] { return connection_->end_of_input; }, "the end of input", where);
}

int Puppet::expect_signal(Where where) {
  world_->wait_until([&] { return !connection_->signals.empty(); }, "a signal", where);
  const int signal = connection_->signals.front();
  connection_->signals.pop_front();
  return signal;
}

void Puppet::expect_gone(Where where) {
  const pid_t pid = connection_->pid;
  world_->wait_until(
      [&] {
        if (!connection_->gone) return false;
        if (parent_of(pid) == getpid()) waitpid(pid, nullptr, WNOHANG);
        return state_of(pid) == '\0';
      },
      "the end of agent " + std::to_string(connection_->number), where);
}

Json Puppet::hello(std::string_view version, Where where) {
  say_type("hello", version.empty() ? "\"protocol\":1"
                                    : "\"protocol\":1,\"version\":" + json_quoted(version));
  return expect("welcome", where);
}

void Puppet::request_upgrade(std::string_view id, std::string_view members,
                             std::string_view executable) {
  std::string text = "\"id\":" + json_quoted(id) + ",\"executable\":" +
                     json_quoted(executable.empty() ? World::puppet() : executable);
  if (!members.empty()) text += "," + std::string(members);
  say_type("upgrade", text);
}

Json Puppet::stop_cleanly(std::string_view stopped_members, Where where) {
  Json stop = expect("stop", where);
  say_type("stopped", stopped_members);
  exit(0);
  return stop;
}

pid_t Puppet::leave_holder(bool writing) {
  const pid_t pid = std::stoi(command(writing ? "hold-pipes writing" : "hold-pipes"));
  world_->adopt(pid);
  return pid;
}

std::string Puppet::command(const std::string& text, Where where) {
  order(text);
  world_->wait_until([&] { return !connection_->answers.empty() || connection_->gone; },
                     "an answer to " + text.substr(0, 100), where);
  if (connection_->answers.empty()) {
    world_->fail("agent " + std::to_string(connection_->number) +
                     " is gone; not done: " + text.substr(0, 100),
                 where);
  }
  std::string answer = connection_->answers.front();
  connection_->answers.pop_front();
  return answer;
}

void Puppet::order(const std::string& text) {
  if (!text.starts_with("say ")) {
    world_->note(std::to_string(connection_->number) + " is told " + text.substr(0, 200));
  }
  send(connection_->fd, text.data(), text.size(), MSG_NOSIGNAL);
}

void hand_over(Puppet& old, Puppet& next, Where where) {
  next.ready();
  old.stop_cleanly("", where);
  next.expect("activate", where);
}

}  // namespace integration

// An agent's conversation with its upgrader. The session (session.h) decides; this class performs
// the session's actions on the pipes, the signals and the process. Without an upgrader there are no
// pipes, and all events that the program gets come from the session.
#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent-protocol/cpp/agent/agent_channel.h"
#include "agent-protocol/cpp/agent/agent_descriptor.h"
#include "agent-protocol/cpp/agent/agent_signals.h"
#include "agent-protocol/cpp/session/session.h"
#include "base/result.h"

namespace agent_protocol {

struct Said {};

class Conversation {
 public:
  // Takes over the process's pipes and signals, and sends `hello`. Returns null and sets errno in
  // these cases: there are no descriptors left, the pipes are missing, the version or a feature
  // cannot be sent, or the process has had a conversation before (ENOTCONN).
  [[nodiscard]] static std::unique_ptr<Conversation> open(std::string_view version,
                                                          std::vector<std::string> features);

  [[nodiscard]] bool alone() const { return !channel_; }
  // Returns a descriptor that polls readable when next() may have something to do.
  [[nodiscard]] int descriptor() const { return watch_.number(); }

  // Sends a message. If the protocol does not allow the message, returns the reason, and nothing
  // has changed. Never waits: bytes for which the pipe has no room are sent later by next().
  [[nodiscard]] Result<Said> say(const AgentMessage& message);
  // Sends a message as say() does, and waits until the whole message is in the pipe. For a program
  // that is about to exit.
  [[nodiscard]] Result<Said> say_and_flush(const AgentMessage& message);
  // Returns why say() would refuse `message` in the current state, or nullopt.
  [[nodiscard]] std::optional<Refusal> why_not(const AgentMessage& message) const;

  // Returns the next event; there is none in a process that was forked from the agent's process.
  // Never waits. Ends the process if the session orders an exit.
  [[nodiscard]] std::optional<SessionEvent> next();
  // Returns the next event like next(), but waits up to `timeout_ms` for it. If `timeout_ms` is
  // `without_limit`, waits without a limit. If `timeout_ms` is another negative number, does not
  // wait.
  static constexpr int without_limit = -1;
  [[nodiscard]] std::optional<SessionEvent> wait(int timeout_ms);

  // Ends the process if the agent is held (it must not work yet), and the upgrader has gone or
  // SIGTERM has come.
  void leave_if_over();

 private:
  enum class Limit { kept, waived };

  explicit Conversation(Session::Company company) : session_(company) {}

  // The next two functions are steps of open(). A step that fails returns false and sets errno, and
  // leaves the program's descriptors 0 and 1 as they were before the step.
  [[nodiscard]] bool make_watch();
  [[nodiscard]] bool take_channel();
  [[nodiscard]] Result<Said> say(const AgentMessage& message, Limit limit);
  void perform(const SessionActions& actions);
  void perform(const Send& send);
  void perform(const Deliver& deliver);
  void perform(const ExitAtOnce& leave);
  // Handles the messages that have arrived, before the program asks for them.
  void hear_what_is_there();
  // Returns true if next() has something to do even if no new message or signal arrives.
  [[nodiscard]] bool more() const;
  // Makes the conversation's descriptor poll readable while more() is true. Otherwise the
  // descriptor polls readable only when next() can read a message, write unsent bytes or handle a
  // SIGTERM.
  void update_watch();

  // Returns true in a process that was forked from an agent's process, if the agent has an
  // upgrader. If such a process read the pipe, it would take messages, such as `stop`, from the
  // agent.
  [[nodiscard]] bool is_forked() const;

  Session session_;
  Signals signals_;
  pid_t owner_ = ::getpid();  // the agent's process
  std::optional<Channel> channel_;
  Descriptor watch_;
  std::deque<SessionEvent> events_;  // events from the session that next() has not returned yet
  bool watches_output_ = false;
  bool watches_channel_ = false;
  bool told_over_ = false;
};

}  // namespace agent_protocol

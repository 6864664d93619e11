// The conversation as an agent has it: the session decides, and the channel, the signals and the
// process itself are where its actions are carried out. Without an upgrader there is no channel.
#pragma once

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
  // Takes the process over and says hello. Null, with errno, where descriptors have run out, the
  // pipes are not there, the version or a feature cannot be sent, or the process has had its
  // conversation (ENOTCONN).
  [[nodiscard]] static std::unique_ptr<Conversation> open(std::string_view version,
                                                          std::vector<std::string> features);

  [[nodiscard]] bool alone() const { return !channel_; }
  // Polls readable when next() may have something to do.
  [[nodiscard]] int descriptor() const { return watch_.number(); }

  // Says it, or says why not; then nothing has changed. Never waits: what the pipe does not take
  // is sent by next().
  [[nodiscard]] Result<Said> say(const AgentMessage& message);
  // The same for what a program says before it exits: waits until the upgrader has taken it.
  [[nodiscard]] Result<Said> say_and_flush(const AgentMessage& message);
  // Why say() would refuse `message` for what has been before, or nullopt.
  [[nodiscard]] std::optional<Refusal> why_not(const AgentMessage& message) const;

  // Never waits. Ends the process where the session says so.
  [[nodiscard]] std::optional<SessionEvent> next();
  // The same, waiting for up to `timeout_ms`, which may be `without_limit`. Another negative time
  // has passed already.
  static constexpr int without_limit = -1;
  [[nodiscard]] std::optional<SessionEvent> wait(int timeout_ms);

  // Ends the process if it is held and the upgrader has gone, or SIGTERM has come.
  void leave_if_over();

 private:
  enum class Limit { kept, waived };

  explicit Conversation(Session::Company company) : session_(company) {}

  // The steps of open(). False, with errno, where one fails; then the program has kept its pipes.
  [[nodiscard]] bool make_watch();
  [[nodiscard]] bool take_channel();
  [[nodiscard]] Result<Said> say(const AgentMessage& message, Limit limit);
  void perform(const SessionActions& actions);
  void perform(const Send& send);
  void perform(const Deliver& deliver);
  void perform(const ExitAtOnce& leave);
  // Takes in the messages that are there, ahead of what the program has been told.
  void hear_what_is_there();
  // True if next() has something to do without anything new coming.
  [[nodiscard]] bool more() const;
  // Leaves the descriptor polling readable if, and only if, there is a reason to.
  void update_watch();

  Session session_;
  Signals signals_;
  std::optional<Channel> channel_;
  Descriptor watch_;
  std::deque<SessionEvent> events_;  // decided, not yet told
  bool watches_output_ = false;
  bool watches_channel_ = false;
  bool told_over_ = false;
};

}  // namespace agent_protocol

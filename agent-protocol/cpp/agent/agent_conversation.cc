// An agent's conversation with its upgrader: performs the actions that the session (session.h)
// decides.

#include "agent-protocol/cpp/agent/agent_conversation.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <utility>
#include <variant>

#include "agent-protocol/cpp/wire/codec.h"

namespace agent_protocol {
namespace {

// A process is marked as one that has been an agent, because agent_protocol_open() removes the
// upgrader's variables from the environment. Without the mark, a second call, perhaps after an
// exec, would find no upgrader, and the process would work although another agent may be active.

// The environment variable that marks a process as one that has been an agent. Its value is the
// process's pid, a blank, and its start time. Child processes inherit the variable, but have other
// pids, so they are not taken for the agent.
constexpr const char* mark_variable = "LIBAGENT_PROTOCOL_PROCESS";
constexpr const char* unknown_start = "0";

bool mark_in_memory = false;

// Returns when this process was started, in the kernel's ticks: the 22nd field of /proc/self/stat,
// which stays the same when the process executes another program.
std::string start_of_process() {
  constexpr int first_field_behind_name = 3;
  constexpr int start_field = 22;
  std::array<char, 1024> bytes{};
  const Descriptor file(::open("/proc/self/stat", O_RDONLY | O_CLOEXEC));
  const ssize_t count = ::read(file.number(), bytes.data(), bytes.size());
  std::string_view rest(bytes.data(), static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
  // The second field is the program's name in parentheses, which may contain blanks. So fields are
  // counted after the name.
  rest.remove_prefix(std::min(rest.rfind(')'), rest.size()));
  for (int field = first_field_behind_name; field <= start_field; ++field) {
    rest.remove_prefix(rest.find(' ') + 1);
  }
  const std::string_view start = rest.substr(0, rest.find(' '));
  return start.empty() ? unknown_start : std::string(start);
}

std::string number_of_process() {
  return std::to_string(::getpid()) + " ";
}

bool names_this_process(std::string_view mark) {
  const std::string number = number_of_process();
  if (!mark.starts_with(number)) return false;
  const std::string_view start = mark.substr(number.size());
  const std::string own = start_of_process();
  return start == own || start == unknown_start || own == unknown_start;
}

// Marks this process as one that has been an agent. The mark in memory is also for forked
// processes; the mark in the environment is for a program that this process executes. If the
// environment has no room, leaves no mark, returns false and sets errno.
[[nodiscard]] bool leave_mark() {
  const std::string mark = number_of_process() + start_of_process();
  mark_in_memory = ::setenv(mark_variable, mark.c_str(), 1) == 0;
  return mark_in_memory;
}

// Returns true if leave_mark() has been called in this process, before or after an exec.
[[nodiscard]] bool has_mark() {
  const char* const mark = std::getenv(mark_variable);
  return mark_in_memory || (mark != nullptr && names_this_process(mark));
}

bool control(int watch, int operation, int number, std::uint32_t events) {
  epoll_event interest{};
  interest.events = events;
  return ::epoll_ctl(watch, operation, number, &interest) == 0;
}

std::int64_t now_ms() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1'000'000;
}

}  // namespace

// ---- the beginning of the conversation

std::unique_ptr<Conversation> Conversation::open(std::string_view version,
                                                 std::vector<std::string> features) {
  const bool alone = !upgrader_is_there();
  Hello hello;
  if (!version.empty()) hello.version = version;
  hello.features = std::move(features);
  if (const Result<std::string> line = encode(hello); !line) {
    errno = line.refusal().error_number;
    return nullptr;
  }
  if (alone && has_mark()) {
    errno = ENOTCONN;
    return nullptr;
  }
  const auto company = alone ? Session::Company::nobody : Session::Company::upgrader;
  std::unique_ptr<Conversation> conversation(new Conversation(company));
  if (!conversation->signals_.caught() || !conversation->make_watch()) return nullptr;
  if (!alone && !conversation->take_channel()) return nullptr;
  keep_lock_private();
  clean_environment();
  conversation->perform(conversation->session_.say(hello).value());
  // The upgrader's answer may have been read already. The descriptor must be readable even then,
  // although the pipe is empty.
  conversation->update_watch();
  return conversation;
}

bool Conversation::make_watch() {
  const Descriptor watch(::epoll_create1(EPOLL_CLOEXEC));
  if (!watch.open()) return false;
  watch_ = Descriptor::private_copy_of(watch.number());
  return watch_.open() && control(watch_.number(), EPOLL_CTL_ADD, signals_.descriptor(), EPOLLIN);
}

bool Conversation::take_channel() {
  std::optional<Pipes> pipes = take_pipes();
  if (!pipes) return false;
  channel_.emplace(*std::move(pipes));
  // Watches the input pipe for messages. The output pipe is watched for no events (0) while no
  // bytes wait to be written: even then, epoll reports when the upgrader has closed its end of the
  // pipe.
  watches_channel_ = control(watch_.number(), EPOLL_CTL_ADD, channel_->input(), EPOLLIN) &&
                     control(watch_.number(), EPOLL_CTL_ADD, channel_->output(), 0) && leave_mark();
  if (!watches_channel_) give_back(channel_->pipes());
  return watches_channel_;
}

// ---- messages from the program

bool Conversation::is_forked() const {
  return channel_ && ::getpid() != owner_;
}

std::optional<Refusal> Conversation::why_not(const AgentMessage& message) const {
  if (is_forked()) {
    return Refusal{"cannot " + deed(message) + ": this process is a fork of the agent's process",
                   EPROTO};
  }
  Session asked = session_;
  const Result<SessionActions> actions = asked.say(message);
  if (actions) return std::nullopt;
  return actions.refusal();
}

Result<Said> Conversation::say(const AgentMessage& message) {
  return say(message, Limit::kept);
}

Result<Said> Conversation::say_and_flush(const AgentMessage& message) {
  // The program says `stopped` before it has seen a `stop`. A `stop` may wait unread in the pipe:
  // read it now, so that `stopped` counts as its answer.
  const bool stopped = std::holds_alternative<Stopped>(message);
  if (stopped && !session_.stop_ordered() && !is_forked()) hear_what_is_there();
  Result<Said> said = say(message, Limit::waived);
  if (said && channel_) channel_->flush();
  update_watch();
  return said;
}

Result<Said> Conversation::say(const AgentMessage& message, Limit limit) {
  if (std::optional<Refusal> why = why_not(message)) return *std::move(why);
  Session next = session_;
  const Result<SessionActions> actions = next.say(message);
  const Result<std::string> line = encode(message);
  if (!line) {
    return Refusal{"cannot " + deed(message) + ": " + line.reason(), line.refusal().error_number};
  }
  if (limit == Limit::kept && channel_ && !channel_->has_room_for(line.value())) {
    return Refusal{"cannot " + deed(message) + ": the upgrader does not read what has been sent",
                   EAGAIN};
  }
  session_ = std::move(next);
  perform(actions.value());
  update_watch();
  return Said{};
}

// ---- the session's actions

void Conversation::perform(const SessionActions& actions) {
  signals_.leave_at_once(session_.held());
  for (const SessionAction& action : actions) {
    std::visit([this](const auto& known) { perform(known); }, action);
  }
  if (channel_) channel_->exchange();
}

void Conversation::perform(const Send& send) {
  const Result<std::string> line = encode(send.message);
  if (line && channel_) channel_->queue(line.value());
}

void Conversation::perform(const Deliver& deliver) {
  events_.push_back(deliver.event);
}

void Conversation::perform(const ExitAtOnce& leave) {
  ::_exit(leave.status);
}

void Conversation::hear_what_is_there() {
  if (!channel_) return;
  channel_->exchange();
  for (std::size_t heard = 0; heard < messages_waiting_max; ++heard) {
    const std::optional<UpgraderMessage> message = channel_->take();
    if (!message) return;
    perform(session_.hear(*message));
  }
}

void Conversation::leave_if_over() {
  if (!session_.held()) return;
  if (channel_) channel_->exchange();
  if (signals_.terminated()) perform(session_.terminated());
  if (channel_ && channel_->over()) perform(session_.input_ended());
}

std::optional<SessionEvent> Conversation::next() {
  if (is_forked()) return std::nullopt;
  signals_.drain();
  leave_if_over();
  if (channel_) channel_->exchange();
  while (events_.empty() && channel_) {
    const std::optional<UpgraderMessage> message = channel_->take();
    if (!message) break;
    perform(session_.hear(*message));
  }
  if (events_.empty() && signals_.terminated()) {
    signals_.take_terminated();
    perform(session_.terminated());
  }
  if (events_.empty() && channel_ && channel_->over() && !channel_->input_waits()) {
    told_over_ = true;
    perform(session_.input_ended());
  }
  std::optional<SessionEvent> event;
  if (!events_.empty()) {
    event = std::move(events_.front());
    events_.pop_front();
  }
  update_watch();
  return event;
}

bool Conversation::more() const {
  if (!events_.empty() || signals_.terminated()) return true;
  return channel_ && (channel_->input_waits() || (channel_->over() && !told_over_));
}

void Conversation::update_watch() {
  if (more()) signals_.wake();
  if (watches_channel_ && channel_->over()) {
    control(watch_.number(), EPOLL_CTL_DEL, channel_->input(), 0);
    control(watch_.number(), EPOLL_CTL_DEL, channel_->output(), 0);
    watches_channel_ = false;
  }
  if (!watches_channel_ || watches_output_ == channel_->output_waits()) return;
  watches_output_ = channel_->output_waits();
  control(watch_.number(), EPOLL_CTL_MOD, channel_->output(), watches_output_ ? EPOLLOUT : 0U);
}

std::optional<SessionEvent> Conversation::wait(int timeout_ms) {
  const std::int64_t deadline = now_ms() + timeout_ms;
  for (;;) {
    if (std::optional<SessionEvent> event = next()) return event;
    std::int64_t left = without_limit;
    if (timeout_ms != without_limit) left = deadline - now_ms();
    if (timeout_ms != without_limit && left <= 0) return std::nullopt;
    // In a forked process, which gets no events, poll() only waits: it ignores the number -1.
    pollfd watched{.fd = is_forked() ? -1 : watch_.number(), .events = POLLIN, .revents = 0};
    ::poll(&watched, 1, static_cast<int>(left));
  }
}

}  // namespace agent_protocol

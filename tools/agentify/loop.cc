#include "tools/agentify/loop.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <utility>
#include <variant>

#include "base/errno_name.h"
#include "base/lock.h"
#include "tools/agentify/journal.h"

namespace agentify {
namespace {

using agent_protocol::Agent;

// The most notifications of the daemon that are handled in one turn of the loop.
constexpr int notify_messages_in_turn = 32;

std::string refusal_in_words(const News& news, const Options& options, const std::string& lock) {
  const std::string error = in_words(upgrader::SystemError{news.value});
  return news.by_lock ? "its lock " + lock + " cannot be had: " + error
                      : options.name + ": " + error;
}

bool has_readiness(const Agent::Welcome& welcome) {
  const auto& shared = welcome.features;
  return std::find(shared.begin(), shared.end(), readiness_feature) != shared.end();
}

}  // namespace

// Reads the next message. First finds out which process has sent the message, and only then closes
// the descriptors that came with the message. A sender may wait for this close and exit immediately
// afterwards, and /proc would then no longer show the sender.
std::optional<NotifySocket::Received> NotifySocket::take(pid_t keeper) const {
  const auto datagram = listener_.receive(notify_bytes_max);
  if (!datagram) return std::nullopt;
  const pid_t sender = datagram->sender.pid;
  const bool known = sender > 0 && sender != keeper && descends_from(sender, keeper);
  if (!known) return Received{.message = {}, .stranger = sender == 0 ? -1 : sender};
  return Received{.message = parse_notify_message(datagram->text)};
}

Loop::Loop(uv_loop_t* loop, Agent agent, Prepared prepared)
    : loop_(loop),
      agent_(std::move(agent)),
      prepared_(std::move(prepared)),
      adapter_(terms_of(*prepared_.options)) {}

Time Loop::now() const {
  uv_update_time(loop_);
  return Time{static_cast<Time::rep>(uv_now(loop_))};
}

// Registers timers, signals and descriptors with libuv. The descriptors through which the daemon
// sends messages are registered, but libuv does not poll them before listen_to_daemon() is called.
bool Loop::watch_all() {
  // Under nohup(1), SIGHUP is ignored, and would not be watched. But it is meant for the daemon.
  ::signal(SIGHUP, [](int) {});
  bool good = deadline_.begin(loop_, [this] { feed(TimePassed{}); }) &&
              check_limit_.begin(loop_, [this] { check_took_too_long(); }) &&
              sweep_timer_.begin(loop_, [this] { go_on_sweeping(); }) &&
              agent_watch_.begin(loop_, agent_.fd(), UV_READABLE, [this] { look_at_agent(); }) &&
              keeper_watch_.begin(loop_, prepared_.keeper.descriptor(), UV_READABLE,
                                  [this] { look_at_keeper(); }) &&
              passed_signals_.begin(loop_, {SIGHUP, SIGUSR1},
                                    [this](int signal) { feed(SignalTaken{signal}); });
  if (good && prepared_.notify.descriptor() >= 0) {
    good = notify_watch_.begin(loop_, prepared_.notify.descriptor(), UV_READABLE, [this] {
      look_at_notify();
    }) && notify_watch_.look_for(0);
  }
  if (good && prepared_.ready_pipe) {
    good = ready_watch_.begin(loop_, prepared_.ready_pipe.get(), UV_READABLE, [this] {
      look_at_ready_pipe();
    }) && ready_watch_.look_for(0);
  }
  // Without an upgrader, agentify itself must react to Ctrl-C at a terminal. An upgrader starts its
  // agents in sessions of their own, so that Ctrl-C reaches only the upgrader, which tells the
  // agents to stop.
  if (good && agent_.alone()) {
    good = interrupt_.begin(loop_, {SIGINT}, [this](int) { feed(StopAsked{}); });
  }
  return good;
}

std::optional<std::string> Loop::prepare_probes() {
  const Options& options = *prepared_.options;
  const std::vector<std::string>& environment = prepared_.surroundings->command_environment;
  if (const auto* kind = std::get_if<ProbeKind>(&options.ready)) {
    if (auto wrong = ready_prober_.prepare(loop_, *kind, options, environment)) {
      return "--ready: " + *wrong;
    }
  }
  if (!options.health) return std::nullopt;
  if (auto wrong = health_prober_.prepare(loop_, *options.health, options, environment)) {
    return "--health: " + *wrong;
  }
  return std::nullopt;
}

// Opens the directory of --follow. Without an upgrader the option has no effect, because there is
// nobody to perform an upgrade.
std::optional<std::string> Loop::prepare_following() {
  const Options& options = *prepared_.options;
  if (!options.follow || agent_.alone()) return std::nullopt;
  auto opened = Following::open(options, prepared_.program, prepared_.version, agent_);
  if (const auto* wrong = std::get_if<std::string>(&opened)) return "--follow: " + *wrong;
  following_.emplace(std::get<Following>(std::move(opened)));
  return std::nullopt;
}

void Loop::refuse(const std::string& why) {
  if (agent_.alone()) log_line(why);
  agent_.unfit(fit_for_reason("agentify: " + why));
  leaving_ = DaemonEnding{DaemonEnding::How::exited, 1};
}

DaemonEnding Loop::run() {
  if (!watch_all()) {
    refuse("cannot watch all that has to be watched");
  } else if (const auto wrong_probe = prepare_probes()) {
    refuse(*wrong_probe);
  } else if (const auto wrong_directory = prepare_following()) {
    refuse(*wrong_directory);
  } else {
    feeding_ = true;
    for (const Action& action : adapter_.begin())
      std::visit([this](const auto& known) { perform(known); }, action);
    handle_events();
    look_at_agent();
  }
  while (!leaving_)
    uv_run(loop_, UV_RUN_ONCE);
  close_all();
  return *leaving_;
}

// Handles an event. If the resulting actions cause more events, these events are queued, and
// handled one after the other.
void Loop::feed(Event event) {
  events_.push_back(std::move(event));
  if (!std::exchange(feeding_, true)) handle_events();
}

void Loop::handle_events() {
  while (!events_.empty() && !leaving_) {
    const Event next = std::move(events_.front());
    events_.pop_front();
    for (const Action& action : adapter_.step(next, now()))
      std::visit([this](const auto& known) { perform(known); }, action);
  }
  feeding_ = false;
  settle();
}

void Loop::settle() {
  const std::optional<Time> next = adapter_.next_deadline();
  if (next && !leaving_) {
    deadline_.set(*next - now());
  } else {
    deadline_.stop();
  }
}

// ---- events that come from other processes, or at a certain time

void Loop::look_at_agent() {
  while (!leaving_) {
    const std::optional<Agent::Event> event = agent_.next();
    if (!event) return;
    hear(*event);
  }
}

void Loop::hear(const Agent::Event& event) {
  if (const auto* welcome = std::get_if<Agent::Welcome>(&event)) {
    watchdog_ = welcome->watchdog.value_or(Duration{0});
    past_failure_ = welcome->failure;
    feed(Welcomed{.candidate = welcome->role == Agent::Role::candidate,
                  .boot = welcome->failure && welcome->failure->id == "boot",
                  .readiness = has_readiness(*welcome),
                  .watchdog = welcome->watchdog});
  } else if (const auto* activate = std::get_if<Agent::Activate>(&event)) {
    feed(Activated{.trial = activate->trial,
                   .commit_healthy = activate->commit == Agent::CommitRule::healthy});
  } else if (const auto* stop = std::get_if<Agent::Stop>(&event)) {
    feed(StopAsked{stop->deadline});
  } else if (std::holds_alternative<Agent::Committed>(event)) {
    feed(Committed{});
  } else if (const auto* failed = std::get_if<Agent::UpgradeFailed>(&event)) {
    if (following_) following_->upgrade_failed(failed->failure);
  } else if (const auto* error = std::get_if<Agent::Error>(&event)) {
    log_line("the upgrader has refused " + error->about.value_or("something") + ": " +
             error->reason);
  }
}

void Loop::look_at_keeper() {
  if (std::exchange(waits_for_keeper_, false)) {
    keeper_watch_.look_for(UV_READABLE);
    notify_watch_.look_for(UV_READABLE);
  }
  while (const std::optional<News> news = prepared_.keeper.take()) {
    switch (news->kind) {
      case News::Kind::waits:
        feed(DaemonWaits{news->value > 0 ? upgrader::process_in_words(news->value) : ""});
        break;
      case News::Kind::started:
        feed(DaemonStarted{news->value});
        listen_to_daemon();
        break;
      case News::Kind::refused:
        feed(DaemonRefused{news->value,
                           refusal_in_words(*news, *prepared_.options, prepared_.lock)});
        break;
      case News::Kind::ended:
        feed(DaemonEnded{{static_cast<DaemonEnding::How>(news->how), news->value}, news->heir});
        break;
      case News::Kind::family_gone:
        feed(FamilyGone{news->value});
        break;
    }
  }
  if (!prepared_.keeper.over()) return;
  keeper_watch_.end();
  notify_watch_.end();
  prepared_.keeper.dismiss();
  feed(KeeperLost{});
}

// Begins to read the daemon's messages. Called when the keeper, the daemon's parent process, has
// reported the daemon's start. Until then, messages of the daemon wait in the kernel.
void Loop::listen_to_daemon() {
  if (prepared_.notify.descriptor() >= 0) notify_watch_.look_for(UV_READABLE);
  if (prepared_.ready_pipe) ready_watch_.look_for(UV_READABLE);
}

// Reads messages of the daemon. A message may cause an order to the keeper, so while the keeper has
// many orders to read, the messages of the daemon wait in the kernel.
void Loop::look_at_notify() {
  for (int i = 0; i < notify_messages_in_turn; ++i) {
    if (!prepared_.keeper.has_room()) return wait_for_keeper();
    const auto received = prepared_.notify.take(prepared_.keeper.pid());
    if (!received) return;
    if (received->stranger != 0) {
      note_stranger(received->stranger);
    } else {
      feed(NotifyReceived{received->message});
    }
  }
}

void Loop::wait_for_keeper() {
  waits_for_keeper_ = true;
  notify_watch_.look_for(0);
  keeper_watch_.look_for(UV_READABLE | UV_WRITABLE);
}

// Logs that a stranger (a process that does not belong to the daemon) has written to the daemon's
// NOTIFY_SOCKET. Any process can write to this socket as often as it likes. So at most one line a
// second is logged, with the number of earlier messages that were not logged.
void Loop::note_stranger(pid_t stranger) {
  if (stranger_logged_ && now() - *stranger_logged_ < std::chrono::seconds{1}) {
    ++strangers_;
    return;
  }
  stranger_logged_ = now();
  const std::string more =
      strangers_ == 0 ? "" : " (" + std::to_string(strangers_) + " more before it not shown)";
  strangers_ = 0;
  log_line("process " + std::to_string(stranger) +
           ", which is none of the daemon's, wrote to its NOTIFY_SOCKET: ignored" + more);
}

void Loop::look_at_ready_pipe() {
  char bytes[256];
  const ssize_t count = ::read(prepared_.ready_pipe.get(), bytes, sizeof bytes);
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
  const std::string_view text(bytes, count > 0 ? static_cast<std::size_t>(count) : 0);
  const bool said = text.find('\n') != std::string_view::npos;
  if (said) feed(ReadySaid{});
  if (said || count <= 0) {
    ready_watch_.end();
    prepared_.ready_pipe.reset();
  }
}

void Loop::look_at_check() {
  if (!check_) return;
  const std::optional<CommandOutcome> outcome = check_->look();
  if (!outcome && check_->output_descriptor() < 0) check_output_watch_.end();
  if (!outcome) return;
  check_watch_.end();
  check_output_watch_.end();
  check_limit_.stop();
  check_.reset();
  feed(CheckEnded{outcome->good, outcome->words});
}

void Loop::check_took_too_long() {
  check_watch_.end();
  check_output_watch_.end();
  const std::string said = check_->last_lines();
  check_->give_up();
  check_.reset();
  feed(CheckEnded{false, "it has not ended in time" + (said.empty() ? "" : ": " + said)});
}

void Loop::go_on_sweeping() {
  if (sweep_->round()) return feed(FamilyGone{sweep_->killed()});
  sweep_timer_.set(Duration{sweep_->interval_ms()});
}

}  // namespace agentify

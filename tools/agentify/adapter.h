// agentify's decisions as a state machine: when the daemon is checked, started, found ready or
// sick, and stopped, and which messages agentify sends to the upgrader. This file does no input or
// output and reads no clock; a process is known only by its pid. The loop (loop.h) passes the
// events below to the state machine, and performs the actions that step() returns. Some actions are
// orders to the keeper (keeper.h), the parent process of the daemon. agentify is held from its
// start until the upgrader sends `activate`, and is active after that.
//
//   stage     the state                                ends with
//   checking  agentify is held; the command of         the outcome of the check: `ready` or `unfit`
//             --check is running
//   held      agentify is held, and has said `ready`   `activate`
//   starting  active; the keeper was told to start     DaemonStarted or DaemonRefused, or a stop
//             the daemon
//   running   the daemon runs, and is not ready yet    the daemon's readiness or exit, or a stop
//   serving   the daemon is ready; if on trial,        the daemon's exit, or a stop
//             agentify says `healthy` after some time
//   stopping  the upgrader has requested a stop        the exit of the daemon's main process. If
//                                                      the stop has come before the daemon's start:
//                                                      FamilyGone (the start was cancelled) or
//                                                      DaemonRefused (the start has failed)
//   sweeping  the daemon's main process has exited     FamilyGone: no process of the daemon is left
//   over      agentify exits, and ignores all events   nothing: this stage is the last one
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "tools/agentify/duration.h"
#include "tools/agentify/family.h"
#include "tools/agentify/notify_message.h"
#include "tools/agentify/options.h"
#include "tools/agentify/stop_plan.h"

namespace agentify {

// ---- events of the conversation with the upgrader

struct Welcomed {
  // the agent is the new version of an upgrade, so its activation begins a trial
  bool candidate = false;
  // True if the upgrader has started this agent because its first agent has failed. Such an agent
  // is on trial, too, although it is not the new version of an upgrade.
  bool boot = false;
  bool readiness = false;  // the upgrader has the feature `readiness`: see loop.h
  std::optional<Duration> watchdog = {};

  bool operator==(const Welcomed&) const = default;
};
struct Activated {
  std::optional<Duration> trial = {};  // the length of the trial, if agentify is on trial
  // true if the upgrade is committed when agentify says `healthy`; false if the upgrade is
  // committed when the daemon lives to the end of the trial
  bool commit_healthy = false;

  bool operator==(const Activated&) const = default;
};
struct StopAsked {
  std::optional<Duration> deadline = {};

  bool operator==(const StopAsked&) const = default;
};
struct Committed {
  bool operator==(const Committed&) const = default;
};

// ---- the event that the command of --check has ended

struct CheckEnded {
  bool good = false;
  std::string words;  // why the check failed; empty if it succeeded

  bool operator==(const CheckEnded&) const = default;
};

// ---- events of the daemon, and of the keeper, which is the daemon's parent process

// The daemon cannot be started yet, because processes of an earlier daemon still hold the daemon's
// lock.
struct DaemonWaits {
  std::string holder = {};  // the process that holds the lock, in words

  bool operator==(const DaemonWaits&) const = default;
};
struct DaemonStarted {
  pid_t pid = 0;

  bool operator==(const DaemonStarted&) const = default;
};
struct DaemonRefused {  // the daemon's lock could not be taken, or the exec has failed
  int error = 0;        // the errno value of the failed start
  std::string words;

  bool operator==(const DaemonRefused&) const = default;
};
struct DaemonEnded {  // the daemon's main process has exited; the answer is AdoptMain or KillFamily
  DaemonEnding ending;
  pid_t heir = 0;  // the process of the daemon that can be its new main process, or 0

  bool operator==(const DaemonEnded&) const = default;
};
struct FamilyGone {  // no process of the daemon is left, and none will be started
  int killed = 0;    // how many processes of the daemon had to be killed

  bool operator==(const FamilyGone&) const = default;
};
struct KeeperLost {
  bool operator==(const KeeperLost&) const = default;
};

// ---- events about the daemon's readiness and health, and other events

struct ReadySaid {  // the daemon has written a newline to its descriptor (--ready=fd:N)
  bool operator==(const ReadySaid&) const = default;
};
enum class Probe { readiness, health };
struct ProbeAnswered {
  Probe probe = Probe::readiness;
  bool good = false;
  std::string words;  // why the probe failed; empty if it succeeded

  bool operator==(const ProbeAnswered&) const = default;
};
struct NotifyReceived {
  NotifyMessage message;

  bool operator==(const NotifyReceived&) const = default;
};

struct SignalTaken {  // agentify has received a signal that it passes on to the daemon
  int signal = 0;

  bool operator==(const SignalTaken&) const = default;
};
struct TimePassed {
  bool operator==(const TimePassed&) const = default;
};

using Event = std::variant<Welcomed, Activated, StopAsked, Committed, CheckEnded, DaemonWaits,
                           DaemonStarted, DaemonRefused, DaemonEnded, FamilyGone, KeeperLost,
                           ReadySaid, ProbeAnswered, NotifyReceived, SignalTaken, TimePassed>;

// ---- actions that send a message to the upgrader

struct SayReady {
  bool operator==(const SayReady&) const = default;
};
struct SayUnfit {
  std::string reason;

  bool operator==(const SayUnfit&) const = default;
};
struct SayHealthy {
  bool operator==(const SayHealthy&) const = default;
};
struct SayStopped {
  bool operator==(const SayStopped&) const = default;
};
struct SayHeartbeat {
  bool operator==(const SayHeartbeat&) const = default;
};
struct SayStatus {
  std::string text;

  bool operator==(const SayStatus&) const = default;
};
struct SayExtend {
  Duration time{};

  bool operator==(const SayExtend&) const = default;
};

// ---- actions that run the command of --check, or that start, probe, signal or kill the daemon

struct RunCheck {
  bool operator==(const RunCheck&) const = default;
};
struct StartDaemon {
  bool operator==(const StartDaemon&) const = default;
};
// Orders the keeper, the daemon's parent process, not to start the daemon any more. The keeper
// answers, and the answer becomes the event FamilyGone. If the daemon has been started already,
// this order has no effect.
struct CancelStart {
  bool operator==(const CancelStart&) const = default;
};
struct SignalDaemon {
  int signal = 0;

  bool operator==(const SignalDaemon&) const = default;
};
struct AdoptMain {  // regard process `pid` as the daemon's main process
  pid_t pid = 0;

  bool operator==(const AdoptMain&) const = default;
};
struct KillFamily {  // kill all processes of the daemon; causes the event FamilyGone
  bool operator==(const KillFamily&) const = default;
};
struct KillOrphans {  // like KillFamily, but by agentify itself: the keeper is dead
  bool operator==(const KillOrphans&) const = default;
};
struct AskDaemon {  // run one probe of the daemon; causes the event ProbeAnswered
  Probe probe = Probe::readiness;

  bool operator==(const AskDaemon&) const = default;
};

// ---- actions that begin and end following a directory of releases (--follow)

struct Follow {  // from now on, request upgrades to releases in the directory
  bool operator==(const Follow&) const = default;
};
struct EndFollowing {  // request no more upgrades
  bool operator==(const EndFollowing&) const = default;
};

// ---- actions that write agentify's log, or make agentify exit

struct Log {
  std::string text;

  bool operator==(const Log&) const = default;
};
struct ReportFailure {  // log a failure, and send its text to the upgrader as a `status` message
  std::string text;

  bool operator==(const ReportFailure&) const = default;
};
struct Leave {
  int status = 0;

  bool operator==(const Leave&) const = default;
};
struct LeaveLike {  // exit with the daemon's status, or by the signal that killed the daemon
  DaemonEnding ending;

  bool operator==(const LeaveLike&) const = default;
};

using Action = std::variant<SayReady, SayUnfit, SayHealthy, SayStopped, SayHeartbeat, SayStatus,
                            SayExtend, RunCheck, StartDaemon, CancelStart, SignalDaemon, AdoptMain,
                            KillFamily, KillOrphans, AskDaemon, Follow, EndFollowing, Log,
                            ReportFailure, Leave, LeaveLike>;
using Actions = std::vector<Action>;

// ---- the state machine

// How agentify finds out that the daemon works (--ready).
enum class ReadyBy { start, word, time, probe };

// The values of those options of agentify that influence the decisions of the state machine.
struct Terms {
  bool check = false;
  ReadyBy ready_by = ReadyBy::start;
  Duration ready_time{};        // with ReadyBy::time: how long the daemon must have lived
  std::string ready_text = {};  // the value of --ready, for messages to people
  // --settle: how long a daemon on trial must be ready and well before agentify says `healthy`.
  Duration settle{};
  bool vouch = true;
  bool health = false;
  Duration health_interval{};
  int health_failures = 1;
  HealthAction health_action = HealthAction::silence;
  StopPlan stop;
  bool follow = false;

  bool operator==(const Terms&) const = default;
};

[[nodiscard]] Terms terms_of(const Options& options);

// The time between two readiness probes, as long as the daemon is not ready.
inline constexpr Duration ready_interval{100};
// The exit status of agentify if it cannot exit as the daemon did. There are three cases: agentify
// itself or the command of --check has failed, agentify has stopped a sick daemon
// (--health-action=exit), or the daemon's exit status is not known.
inline constexpr int exit_failed = 1;

// A daemon on trial, whose version is not committed yet, is judged shortly before the end of the
// trial. The time between the judgement and the end is a tenth of the trial's length, but at most
// this constant.
inline constexpr Duration trial_margin_max{2'000};

class Adapter {
 public:
  enum class Stage { checking, held, starting, running, serving, stopping, sweeping, over };

  explicit Adapter(Terms terms) : terms_(std::move(terms)) {}

  // Returns the actions with which agentify begins. Must be called once, before step().
  [[nodiscard]] Actions begin();
  [[nodiscard]] Actions step(const Event& event, Time now);
  // Returns the time at which step() must be called with TimePassed.
  [[nodiscard]] std::optional<Time> next_deadline() const;

  [[nodiscard]] Stage stage() const { return stage_; }
  // Returns the whole state as a string, in which times are relative to `now`. Two adapters with
  // equal strings make equal decisions.
  [[nodiscard]] std::string describe(Time now) const;
  bool operator==(const Adapter&) const = default;

 private:
  void on(const CheckEnded& event);
  void on(const Welcomed& event);
  void on(const Activated& event);
  void on(const StopAsked& event);
  void on(const Committed& event);
  void on(const DaemonStarted& event);
  void on(const DaemonRefused& event);
  void on(const DaemonWaits& event);
  void on(const DaemonEnded& event);
  void on(const FamilyGone& event);
  void on(const KeeperLost& event);
  void on(const ReadySaid& event);
  void on(const ProbeAnswered& event);
  void on(const NotifyReceived& event);
  void on(const SignalTaken& event);
  void on(const TimePassed& event);

  [[nodiscard]] bool lives() const { return stage_ == Stage::running || stage_ == Stage::serving; }
  [[nodiscard]] bool active() const {
    return stage_ != Stage::checking && stage_ != Stage::held && stage_ != Stage::over;
  }
  [[nodiscard]] bool may_say_healthy() const;

  void become_ready();
  void say_unfit(std::string reason);
  void report_failure(const std::string& text);
  [[nodiscard]] Duration settle_time() const;
  [[nodiscard]] Duration health_interval() const;
  void settle();
  void end_settling();
  void forget_readiness();
  void settle_if_due();
  void judge_if_due();
  void note_not_ready(const std::string& words);
  void begin_trial(const Activated& event);
  void begin_stop(std::optional<Duration> deadline);
  void send_due_signals();
  void beat_if_due();
  void probe_if_due();
  void sweep();
  void note_health(const ProbeAnswered& answer);
  void find_sick(const std::string& why);
  void put_off(Duration time);
  void follow();
  void end_following();
  void leave(int status);
  void leave_like_daemon();
  void order(Action action) { actions_.push_back(std::move(action)); }
  void log(std::string text);

  Terms terms_;
  Stage stage_ = Stage::checking;
  Actions actions_;  // the actions of the current step; empty outside of step()
  Time now_{};       // the time of the current step; zero outside of step()

  bool on_trial_ = false;
  std::optional<Duration> trial_;  // the length of the trial
  bool commit_healthy_ = false;
  std::optional<Time> judge_at_;    // when the daemon on trial is judged
  std::optional<Time> settled_at_;  // when to say `healthy`, unless the daemon fails before
  bool settling_ = false;           // the daemon is ready, but must stay well until settled_at_
  bool unfit_ = false;              // `unfit` has been said, so `healthy` must not follow
  Time activated_at_{};
  std::string not_ready_;   // the latest reason why the daemon is not ready, for `unfit`
  std::string not_well_;    // the last bad result of a health check, for `unfit`
  bool readiness_ = false;  // the upgrader has the protocol's feature `readiness`
  // True for a first agent and a fallback. They say `healthy` to an upgrader with the feature
  // `readiness` even with --vouch=no, because it sends READY=1 to init only then. False for a
  // candidate (the new version of an upgrade), which does not say `healthy` with --vouch=no.
  bool must_say_healthy_ = false;
  std::optional<Duration> watchdog_;
  std::optional<Time> heartbeat_at_;
  bool daemon_beats_ = false;  // agentify sends a heartbeat only when the daemon sends WATCHDOG=1
  bool sick_ = false;          // the daemon is sick, so no heartbeats are sent

  std::optional<Time> ready_at_;
  std::optional<Time> probe_at_;
  std::optional<Probe> probing_;
  int failures_ = 0;

  bool follows_ = false;

  bool stop_asked_ = false;  // a stop was requested: by the upgrader, a signal or end of input
  // the time limit of a stop that was requested before the daemon had been started
  std::optional<Duration> stop_limit_;
  std::vector<StopMoment> moments_;     // the signals of the stop that are still to be sent
  bool gives_up_ = false;               // --health-action=exit: a sick daemon is being stopped
  std::optional<DaemonEnding> ending_;  // how the daemon's main process ended
  bool clean_ = false;
};

[[nodiscard]] const char* name_of(Adapter::Stage stage);

}  // namespace agentify

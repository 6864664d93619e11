#include "tests/adversity/kill/aftermath.h"

#include <signal.h>
#include <sys/wait.h>

#include <algorithm>

#include "tests/together/integration/process_table.h"

namespace kill_points {
namespace {

using integration::state_of;

// If an agent (actor.cc) exits because its script says so, its exit status is at most this number.
// A higher status means that the agent itself has gone wrong.
constexpr int highest_status_of_a_part = 5;

std::string words(int status) {
  if (WIFSIGNALED(status)) return "signal " + std::to_string(WTERMSIG(status));
  return "status " + std::to_string(WEXITSTATUS(status));
}

std::string words(const std::set<Allowed>& allowed) {
  std::string text;
  for (const Allowed& one : allowed) {
    text += (text.empty() ? "" : " or ") + words(one.end);
    if (one.end == End::restarted) text += " after " + words(one.exit_status);
  }
  return text;
}

bool has_text(const std::string& line, const std::string& member, const std::string& value) {
  return line.find("\"" + member + "\":\"" + value + "\"") != std::string::npos;
}

}  // namespace

Aftermath::Aftermath(Scene& scene, Tracer& tracer, const Setting& setting, const Party& victim)
    : scene_(scene), tracer_(tracer), setting_(setting), victim_(victim) {
  for (const Tracee& tracee : tracer.tracees()) {
    if (tracee.generation == 1) first_agent_ = tracee.pid;
    const bool ended = tracee.is == Tracee::Is::ended;
    if (tracee.generation == 0) {
      if (!ended) upgrader_processes_.insert(tracee.pid);
      continue;
    }
    if (!ended) living_.insert(tracee.pid);
    if (!ended && !tracee.doomed) playing_.insert(tracee.pid);
  }
}

std::string Aftermath::judge(const std::set<Allowed>& allowed,
                             const std::vector<std::string>& versions) {
  if (!scene_.wait_until(tracer_, [this] { return rests(); })) {
    return "waited in vain for one active agent that is told how its upgrade ended, and nobody "
           "else";
  }
  const bool boot = setting_.story->with == Story::With::boot;
  std::string wrong = boot ? judge_boot(allowed) : judge_end(allowed, versions);
  if (wrong.empty() && setting_.story->has_way_back()) wrong = judge_links();
  if (wrong.empty()) wrong = judge_service();
  if (wrong.empty()) wrong = judge_next_upgrade();
  if (wrong.empty()) wrong = judge_shutdown();
  if (wrong.empty()) wrong = judge_orphans();
  if (wrong.empty()) wrong = judge_violations();
  return wrong;
}

// Returns whether the system has come to rest: the upgrader and one active agent run under the
// init, and no upgrade is in progress. Makes the cheap checks first, since listing the processes
// takes long.
bool Aftermath::rests() {
  if (victim_.ended && state_of(victim_.pid) != '\0') return false;
  release_candidate();
  active_ = nullptr;
  std::size_t living = 0;
  for (const Agent& agent : scene_.agents()) {
    if (agent.gone) continue;
    ++living;
    if (agent.heard("activate") && told_how_it_ended(agent)) active_ = &agent;
  }
  if (living != 1 || active_ == nullptr || active_->end_of_input) return false;
  // If init has become the agent's parent, the upgrader that started the agent has ended. The agent
  // will soon see the end of its input and exit, so the system is not at rest.
  if (integration::parent_of(active_->pid) == scene_.init()) return false;
  std::size_t upgraders = 0;
  bool shape = true;
  for (const pid_t pid : scene_.descendants()) {
    const bool agent = pid == active_->pid;
    upgraders += agent ? 0 : 1;
    // If the signal has ended the upgrader, init starts a new one. The system is at rest only when
    // none of the old upgrader's processes is left.
    shape = shape && !(upgrader_was_ended() && upgrader_processes_.count(pid) == 1);
    shape = shape && state_of(pid) != 'Z' && (agent || !scene_.is_agent(pid));
  }
  return shape && upgraders == upgrader_processes_.size() &&
         scene_.started().size() == scene_.ended().size() + 1;
}

bool Aftermath::told_how_it_ended(const Agent& agent) const {
  const std::string welcome = agent.line_of("welcome");
  if (has_text(welcome, "role", "candidate")) return agent.heard("committed");
  if (has_text(welcome, "role", "fallback")) return true;
  return agent.pid != first_agent_ || agent.heard("upgrade_failed");
}

std::string Aftermath::judge_end(const std::set<Allowed>& allowed,
                                 const std::vector<std::string>& versions) {
  const std::string welcome = active_->line_of("welcome");
  const std::size_t restarts = scene_.ended().size();
  std::string version = "v1";
  int status = -1;
  if (restarts > 0) {
    end_ = End::restarted;
    status = scene_.ended().front().status;
    version = scene_.named_version();
    if (std::find(versions.begin(), versions.end(), version) == versions.end()) {
      return "after the restart the version is " + version;
    }
    if (!has_text(welcome, "role", "first")) return "it is not the first agent of its upgrader";
  } else if (has_text(welcome, "role", "candidate")) {
    end_ = End::committed;
    version = "v2";
  } else if (has_text(welcome, "role", "fallback")) {
    end_ = End::fallback;
    const std::string& activate = active_->line_of("activate");
    const bool told =
        has_text(welcome, "id", setting_.story->id) || has_text(activate, "id", setting_.story->id);
    if (!told) return "the fallback is not told the id";
  } else {
    end_ = End::kept;
    if (active_->pid != first_agent_) return "it is not the process that was active before";
  }
  if (restarts > 1) return "the upgrader ended more than once";
  if (allowed.count({end_, status}) == 0) {
    return "ended as " + words({{end_, status}}) + ", where it must be " + words(allowed);
  }
  return active_->version == version ? "" : "version " + active_->version + " is active";
}

// Makes the candidate fail if the test's signal has killed the standby (a fallback that is started
// with the trial) for which the candidate waits. A candidate with the part "dies-beside" (actor.cc)
// fails on its trial only when a standby runs, and would otherwise wait for ever.
void Aftermath::release_candidate() {
  const bool waits = std::string_view(setting_.story->part) == "dies-beside";
  if (!waits || released_ || victim_.generation != 3 || !victim_.ended) return;
  for (const Agent& agent : scene_.agents()) {
    if (agent.gone || agent.version != "v2" || !agent.heard("activate")) continue;
    scene_.tell(agent, R"(say {"type":"unfit","reason":"nobody stands by"})");
    released_ = true;
  }
}

// Judges the state after a signal in the story of a boot. At this boot, AGENT's link names the bad
// version v2, and the link of --previous names the good version v1. Whenever the signal came, v1
// must become active after at most `attempts` restarts of the upgrader. Then v1 must be committed,
// so that AGENT's link names it.
std::string Aftermath::judge_boot(const std::set<Allowed>& allowed) {
  const std::string welcome = active_->line_of("welcome");
  const std::size_t restarts = scene_.ended().size();
  end_ = restarts > 0 ? End::restarted : End::fallback;
  const int status = restarts > 0 ? scene_.ended().front().status : -1;
  if (allowed.count({end_, status}) == 0) {
    return "ended as " + words({{end_, status}}) + ", where it must be " + words(allowed);
  }
  if (restarts > attempts) return "nothing works after " + std::to_string(restarts) + " starts";
  if (active_->version != "v1") return "version " + active_->version + " is active";
  const bool way_back = has_text(welcome, "role", "fallback");
  if (way_back && !has_text(welcome, "id", "boot")) return "the fallback is not told why";
  if (restarts == 0 && !way_back) return "the first agent works, which has gone bad";
  const auto committed = [this] { return scene_.named_version() == "v1"; };
  return scene_.wait_until(tracer_, committed) ? "" : "what works is not committed";
}

// Checks the links of AGENT and of --previous. AGENT's link may name the new version only if the
// link of --previous names the old version.
std::string Aftermath::judge_links() const {
  const std::string named = scene_.named_version();
  const std::string previous = scene_.named_version("previous");
  if (setting_.story->with == Story::With::boot) {
    return previous == "v1" ? "" : "the link of --previous names " + previous;
  }
  if (named == "v2" && previous != "v1") return "there is no way back from v2 to v1";
  return previous.empty() || previous == "v1" ? "" : "the link of --previous names " + previous;
}

// Checks that the active agent answers. Then asks the kernel about two locks: this agent must hold
// the lock that every active agent takes, and, if the setting has --lock, the lock of --lock must
// be held.
std::string Aftermath::judge_service() {
  scene_.tell(*active_, "ping");
  if (!scene_.wait_until(tracer_, [this] { return !active_->pongs.empty(); })) {
    return "the active agent does not answer";
  }
  if (active_->pongs.back() != "active " + active_->version) return "it says that it is not active";
  // Waits until the agent holds the lock, since the previous agent keeps the lock until its exit.
  const auto holds = [this] { return scene_.active_lock_holder() == active_->pid; };
  if (!scene_.wait_until(tracer_, holds)) return "it does not hold the active agent's lock";
  if (setting_.lock && !scene_.upgrader_lock_held()) return "the lock of --lock is not held";
  return "";
}

std::string Aftermath::judge_next_upgrade() {
  const Agent* const before = active_;
  const std::size_t restarts = scene_.ended().size();
  const std::string agents = active_->directory;
  scene_.tell(*before,
              "say " + upgrade_request("u2", agents + "/v3", "good", R"(,"trial_ms":60000)"));
  const auto done = [&] {
    // The new agent is the one of version v3 that has read `committed`. It need not be the agent
    // that was started last: after it, a standby (a fallback that is started with the trial) may
    // have been started.
    for (const Agent& agent : scene_.agents()) {
      if (agent.version == "v3" && agent.heard("committed")) active_ = &agent;
    }
    return active_ != before && state_of(before->pid) == '\0';
  };
  if (!scene_.wait_until(tracer_, done)) return "a cooperative upgrade does not work any more";
  if (scene_.ended().size() != restarts) return "the upgrader ended in a cooperative upgrade";
  return "";
}

std::string Aftermath::judge_shutdown() {
  const std::size_t ends = scene_.ended().size();
  kill(scene_.init(), SIGTERM);
  if (!scene_.wait_until(tracer_, [this] { return scene_.init_ended().has_value(); })) {
    return "the init waits in vain for the end of all that it has";
  }
  scene_.pump(tracer_, 0);
  if (*scene_.init_ended() != 0) return "the init ended with " + words(*scene_.init_ended());
  if (scene_.ended().size() != ends + 1) return "the upgrader was started again at the end";
  const int status = scene_.ended().back().status;
  if (status != 0) return "told to stop, the upgrader ended with " + words(status);
  if (!scene_.descendants().empty()) return "somebody is left behind";
  return "";
}

// Checks the processes that the init has inherited. Each must be an agent that outlived the
// upgrader, saw the end of its input, and exited by itself. An agent need not exit by itself in
// these cases:
// * It had ended, or had been sent SIGKILL, before the test's signal.
// * The signal that the kernel sends at the upgrader's death killed it before its first
//   instruction.
std::string Aftermath::judge_orphans() const {
  std::set<pid_t> agents;
  for (const Tracee& tracee : tracer_.tracees()) {
    if (tracee.generation != 0) agents.insert(tracee.pid);
  }
  std::set<pid_t> unseen = upgrader_was_ended() ? living_ : std::set<pid_t>();
  for (const Ended& orphan : scene_.orphans()) {
    if (!upgrader_was_ended()) return "an orphan was left to the init";
    if (agents.count(orphan.pid) == 0) return "a process nobody knows was left to the init";
    unseen.erase(orphan.pid);
    const bool by_itself =
        WIFEXITED(orphan.status) && WEXITSTATUS(orphan.status) <= highest_status_of_a_part;
    const bool by_kernel = WIFSIGNALED(orphan.status) && WTERMSIG(orphan.status) == SIGTERM &&
                           scene_.agent_of(orphan.pid) == nullptr;
    if (playing_.count(orphan.pid) == 1 && !by_itself && !by_kernel) {
      return "an orphan ended with " + words(orphan.status);
    }
  }
  return unseen.empty() ? "" : "the init has not reaped every agent that outlived the upgrader";
}

// Returns the first violation that an agent or the init has reported, or "". One violation is
// allowed: if an upgrader without --lock is killed, its agent may stay alive, and be active beside
// the agent of the next upgrader. upgrader(8) warns of that.
std::string Aftermath::judge_violations() const {
  for (const std::string& violation : scene_.violations()) {
    const bool two = violation.find("two agents are active") != std::string::npos;
    if (two && !setting_.lock && upgrader_was_ended()) continue;
    return violation;
  }
  return "";
}

}  // namespace kill_points

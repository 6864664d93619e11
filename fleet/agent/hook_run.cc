#include "fleet/agent/hook_run.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

#include "agent-releases/trust.h"
#include "base/check.h"
#include "base/process.h"
#include "fleet/common/log_line.h"

namespace fleet {
namespace {

// How many bytes from the end of a program's output are kept, at least. A record in the store
// contains only the last line.
constexpr std::size_t kept_bytes = 8'192;
constexpr int status_not_run = 126;

// The maximum number of reads in one turn of the event loop. Without this limit, a program that
// writes endlessly would keep fleet-agent from renewing its lease in the store.
constexpr int reads_a_turn_max = 16;

// Returns why `path`, a program or the directory of the hooks, is not trusted, or an empty string.
// It must belong to a trusted user, and nobody else may have write access, since hooks run with all
// rights of fleet-agent.
std::string why_not_trusted(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return path + ": " + std::strerror(errno);
  const auto trusted = agent_releases::check_owner(status, path);
  return trusted ? "" : trusted.reason();
}

}  // namespace

HookRun::HookRun(uv_loop_t& loop, Timers& timers, Settings settings,
                 std::function<void(const Result&)> ended)
    : settings_(std::move(settings)), timers_(timers), ended_(std::move(ended)) {
  const std::string why = start();
  if (!why.empty()) {
    later_ = timers_.after(std::chrono::milliseconds(0),
                           [this, why] { end({.status = status_not_run, .output = why}); });
    return;
  }
  later_ = timers_.after(settings_.longest, [this] {
    too_long_ = true;
    kill_all();
  });
  watch(loop);
}

HookRun::~HookRun() {
  if (pid_ > 0) kill_all();
}

// Kills the whole process group: the program and the processes that it has started.
void HookRun::kill_all() const {
  ::kill(-pid_, SIGKILL);
}

std::string HookRun::start() {
  if (settings_.path.empty()) return "there is no command for that here";
  if (!settings_.directory.empty()) {
    for (const std::string& one : {settings_.directory, settings_.path}) {
      if (auto why = why_not_trusted(one); !why.empty()) return why;
    }
  }
  auto checked = upgrader::check_program(settings_.path, settings_.path, settings_.arguments);
  if (!checked) return checked.reason();
  upgrader::ChildSetting setting;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    setting.environment.entries.emplace_back(*entry);
  }
  for (const std::string& entry : settings_.environment) {
    setting.environment.entries.push_back(entry.c_str());
  }
  auto began = upgrader::start_process(checked.value(), setting);
  if (const auto* failed = std::get_if<upgrader::StartFailed>(&began)) {
    return settings_.path + ": " + std::strerror(failed->error);
  }
  auto& started = std::get<upgrader::Started>(began);
  pid_ = started.pid;
  // `started.input`, the other end of the hook's standard input, is closed when this function
  // returns. The hook then reads an end of file.
  output_ = std::move(started.output);
  return "";
}

void HookRun::watch(uv_loop_t& loop) {
  child_ = upgrader::make_handle(uv_signal_init, &loop, this);
  readable_ = upgrader::make_handle(uv_poll_init, &loop, this, output_.get());
  UPGRADER_CHECK(child_ != nullptr && readable_ != nullptr);
  const auto reaped = [](uv_signal_t* handle, int) { static_cast<HookRun*>(handle->data)->look(); };
  const auto heard = [](uv_poll_t* handle, int, int) {
    static_cast<HookRun*>(handle->data)->read();
  };
  UPGRADER_CHECK(uv_signal_start(child_.get(), reaped, SIGCHLD) == 0);
  UPGRADER_CHECK(uv_poll_start(readable_.get(), UV_READABLE, heard) == 0);
  // The program may have exited before the handler of SIGCHLD was installed, so check once now.
  look();
}

void HookRun::read() {
  char bytes[4'096];
  for (int turn = 0; turn < reads_a_turn_max; ++turn) {
    const ssize_t count = ::read(output_.get(), bytes, sizeof bytes);
    if (count == 0) uv_poll_stop(readable_.get());
    if (count <= 0) return;
    text_.append(bytes, static_cast<std::size_t>(count));
    if (text_.size() > 2 * kept_bytes) text_.erase(0, text_.size() - kept_bytes);
  }
}

void HookRun::look() {
  if (pid_ < 0) return;
  const std::optional<upgrader::Ending> ending = upgrader::try_reap(pid_);
  if (!ending) return;
  read();
  pid_ = -1;
  Result result{
      .status = upgrader::exit_status_of(*ending), .output = last_line(text_), .text = text_};
  if (too_long_) {
    result.output = "killed, since it took longer than " +
                    std::to_string(settings_.longest.count() / 1'000) + " s";
  }
  // The constructor calls look(), too, but must not call `ended`. So a timer calls end() later.
  later_ = timers_.after(std::chrono::milliseconds(0), [this, result] { end(result); });
}

void HookRun::end(const Result& result) {
  const auto ended = ended_;  // a copy, since the call may destroy this object
  ended(result);
}

}  // namespace fleet

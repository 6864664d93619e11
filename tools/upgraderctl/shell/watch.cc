#include "tools/upgraderctl/shell/watch.h"

#include <signal.h>
#include <uv.h>

#include <chrono>
#include <optional>
#include <vector>

#include "agent-protocol/cpp/control/control_directory.h"
#include "agent-protocol/cpp/control/status_reader.h"
#include "base/uv_handle.h"
#include "tools/upgraderctl/core/exit_status.h"
#include "tools/upgraderctl/core/status_page.h"
#include "tools/upgraderctl/shell/news.h"
#include "tools/upgraderctl/shell/process_age.h"
#include "tools/upgraderctl/shell/wall_clock.h"

namespace upgraderctl {
namespace {

class Watch {
 public:
  Watch(uv_loop_t* loop, const std::string& path, bool json, Terminal& terminal);
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  [[nodiscard]] int run();

 private:
  void look();
  void show(const StatusFile& file, Hearing hearing);
  void add_signal(int number);

  uv_loop_t* loop_;
  ControlDirectory directory_;
  bool json_;
  Terminal& terminal_;
  News news_;
  std::vector<upgrader::UvHandle<uv_signal_t>> signals_;
  std::optional<std::string> last_;  // the status that was last shown, without its ages
  std::optional<int> status_;
};

Watch::Watch(uv_loop_t* loop, const std::string& path, bool json, Terminal& terminal)
    : loop_(loop), directory_(path), json_(json), terminal_(terminal), news_(loop, path, [this] {
        look();
      }) {
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGWINCH})
    add_signal(number);
}

void Watch::add_signal(int number) {
  auto handle = upgrader::make_handle(uv_signal_init, loop_, this);
  const auto on_signal = [](uv_signal_t* caught, int signal) {
    auto* const watch = static_cast<Watch*>(caught->data);
    if (signal == SIGWINCH) {
      watch->look();
    } else {
      watch->status_ = exit_signal_base + signal;
    }
  };
  uv_signal_start(handle.get(), on_signal, number);
  signals_.push_back(std::move(handle));
}

int Watch::run() {
  look();
  while (!status_)
    uv_run(loop_, UV_RUN_ONCE);
  terminal_.leave();
  return *status_;
}

void Watch::look() {
  if (status_) return;
  const Sight sight = directory_.see();
  show(sight.file, sight.hearing);
  if (terminal_.is_broken()) status_ = exit_done;
}

void Watch::show(const StatusFile& file, Hearing hearing) {
  const Moment now = wall_clock();
  auto status = file.status;
  if (status) status = for_people(*status, hearing, now);
  if (terminal_.repaints() && !json_) {
    terminal_.paint(file.status
                        ? status_page(*status, directory_.previous().status, hearing, now)
                        : std::vector<std::string>{"no upgrader runs there: " + file.trouble});
    return;
  }
  const std::string key = !file.status ? file.trouble
                          : json_      ? file.text
                                       : change_key(*file.status, hearing);
  if (last_ == key) return;
  last_ = key;
  if (!file.status) {
    terminal_.complain(file.trouble);
  } else {
    terminal_.line(json_ ? std::string(one_line(file.text)) : status_line(*status, hearing, now));
  }
}

}  // namespace

int watch_status(const Options& options, const std::string& path, Terminal& terminal) {
  uv_loop_t loop;
  if (const int error = uv_loop_init(&loop); error != 0) {
    terminal.complain(std::string("no event loop: ") + uv_strerror(error));
    return exit_usage;
  }
  int status = exit_done;
  {
    Watch watch(&loop, path, options.json, terminal);
    status = watch.run();
  }
  uv_run(&loop, UV_RUN_DEFAULT);
  uv_loop_close(&loop);
  return status;
}

}  // namespace upgraderctl

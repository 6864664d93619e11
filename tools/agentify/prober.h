// Makes the probes of --ready and --health, one at a time, and reports the outcome of each.
#pragma once

#include <sys/stat.h>
#include <uv.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tools/agentify/command.h"
#include "tools/agentify/connection_probe.h"
#include "tools/agentify/options.h"
#include "tools/agentify/probe_kind.h"
#include "tools/agentify/watch.h"

namespace agentify {

// The time limit of a probe. If the daemon has not answered by then, the probe has failed.
inline constexpr Duration probe_time_max = std::chrono::seconds{5};

class Prober {
 public:
  using Told = std::function<void(const ProbeOutcome&)>;

  // Looks up the host, which may block. Returns the fault in words if the kind of probe or
  // --ca-file cannot be used; otherwise nothing.
  [[nodiscard]] std::optional<std::string> prepare(uv_loop_t* loop, const ProbeKind& kind,
                                                   const Options& options,
                                                   const std::vector<std::string>& environment);
  // Notes the present state of the file that a `file` probe watches. Must be called before the
  // daemon is started, since only a later change counts.
  void remember_file();
  // Asks the addresses of the host, one after the other, until an answer is good. Calls `told`
  // once, before it returns or later. With `fresh`, the file of a `file` probe must have changed
  // since remember_file().
  void ask(bool fresh, Told told);
  // Gives up a probe that is under way; `told` is not called.
  void end();
  // Gives up a probe that is under way, and closes the prober for good.
  void close() {
    end();
    connection_.close();
    limit_.end();
  }

 private:
  void tell(const ProbeOutcome& outcome);
  void run(const std::string& command);
  [[nodiscard]] std::optional<std::string> find_places();
  void connect();
  void took_too_long();
  void conclude(const ProbeOutcome& outcome);
  void look_at_command();
  [[nodiscard]] ProbeOutcome look_at_file(bool fresh) const;

  uv_loop_t* loop_ = nullptr;
  std::optional<ProbeKind> kind_;
  const Options* options_ = nullptr;
  const std::vector<std::string>* environment_ = nullptr;
  std::vector<Address> addresses_;
  std::size_t next_ = 0;  // the index of the address that is asked next
  std::string wrong_;     // why the addresses that were asked before are not good
  // when the whole probe must have ended, by the loop's clock in milliseconds
  std::uint64_t end_ = 0;
  std::optional<struct stat> file_;

  Told told_;
  Timer limit_;
  Watch watch_;
  Watch output_watch_;
  std::optional<Command> command_;
  ConnectionProbe connection_;
};

}  // namespace agentify

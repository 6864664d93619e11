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

// The time limit of a probe. A probe without an answer in this time has failed.
inline constexpr Duration probe_time_max = std::chrono::seconds{5};

class Prober {
 public:
  using Told = std::function<void(const ProbeOutcome&)>;

  // Looks up the host, which may block. Returns the reason in words if this kind of probe or
  // --ca-file cannot be used, or else nothing.
  [[nodiscard]] std::optional<std::string> prepare(uv_loop_t* loop, const ProbeKind& kind,
                                                   const Options& options,
                                                   const std::vector<std::string>& environment);
  // Remembers the state of the file of a `file` probe. Must be called before the daemon is started:
  // the probe succeeds only if the daemon changes the file afterwards.
  void remember_file();
  // Makes one probe: tries the addresses of the host one after the other, until one answer is good.
  // Calls `told` once, immediately or later. With `fresh`, a `file` probe succeeds only if the file
  // has changed since remember_file().
  void ask(bool fresh, Told told);
  // Ends the current probe without an outcome: `told` is not called.
  void end();
  // Ends the current probe, and closes the prober for good.
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
  std::size_t next_ = 0;  // the index of the next address to probe
  std::string wrong_;     // why the probes of the earlier addresses failed
  // the end of the whole probe's time limit, in milliseconds of the loop's clock
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

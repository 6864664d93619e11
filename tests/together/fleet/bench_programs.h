// Real controllers for benches, and the processor time and memory of processes.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "fleet/store/http2.h"

namespace fleet::test {

struct ProcessUse {
  double processor_ms = 0;
  long memory_kib = 0;       // the memory that the process has now
  long most_memory_kib = 0;  // the most memory that the process has had
};

// Returns the processor time and memory of a process of this machine; all are 0 if there is no such
// process.
[[nodiscard]] ProcessUse use_of(pid_t process);

// A process of the real fleet-controller. It ends with this object.
class RealController {
 public:
  RealController(const std::string& build, const std::vector<std::string>& endpoints,
                 const Certificates& who, const std::string& name,
                 const std::vector<std::string>& options = {});
  RealController(const RealController&) = delete;
  RealController& operator=(const RealController&) = delete;
  ~RealController();

  [[nodiscard]] pid_t pid() const { return process_; }
  void kill();

 private:
  pid_t process_ = -1;
};

}  // namespace fleet::test

// Does many tasks at a time, each worker in a process of its own, and collects the results.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace kill_points {

struct Finding {
  std::size_t index = 0;  // the task's number, from 0
  std::string text;       // the text that the task has returned, in which it reports its result
};

// Does the tasks 0 … count-1, `workers` at a time. Calls `found` in this process with each result
// as it comes. If a worker dies, its task has a result without text.
void work(std::size_t count, std::size_t workers,
          const std::function<std::string(std::size_t)>& task,
          const std::function<void(const Finding&)>& found);

}  // namespace kill_points

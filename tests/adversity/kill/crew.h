// Plays many points side by side, each worker in a process of its own, and gathers what they found.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace kill_points {

struct Finding {
  std::size_t index = 0;  // of the task
  std::string text;       // what the task gave
};

// Does the tasks 0 … count-1, `workers` at a time; `found` is called here with what each gave, as
// it comes. A worker that dies is told as a finding without text.
void work(std::size_t count, std::size_t workers,
          const std::function<std::string(std::size_t)>& task,
          const std::function<void(const Finding&)>& found);

}  // namespace kill_points

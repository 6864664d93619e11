// Which member is asked next: the one that has answered, until it fails; then the one behind it.
// Pure.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace fleet {

class Endpoints {
 public:
  // `first` spreads many clients over the members.
  Endpoints(std::vector<std::string> urls, std::size_t first)
      : urls_(std::move(urls)),
        stale_(urls_.size()),
        at_(urls_.empty() ? 0 : first % urls_.size()) {}

  struct Endpoint {
    std::size_t index = 0;
    std::string url = {};
    bool fresh = false;  // the connections there are may lead nowhere
  };
  [[nodiscard]] Endpoint next() {
    Endpoint endpoint{at_, urls_[at_], stale_[at_]};
    stale_[at_] = false;
    return endpoint;
  }

  // It has not answered, or has said that it cannot. Only the first who finds that out moves all
  // others on.
  void failed(std::size_t index) {
    stale_[index] = true;
    if (at_ == index) at_ = (at_ + 1) % urls_.size();
  }

  [[nodiscard]] std::size_t count() const { return urls_.size(); }

 private:
  std::vector<std::string> urls_;
  std::vector<bool> stale_;
  std::size_t at_;
};

}  // namespace fleet

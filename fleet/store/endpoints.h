// Chooses the member that is asked next: the member that has answered before, until it fails; then
// the next one in the list. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace fleet {

class Endpoints {
 public:
  // `first` differs from client to client, and spreads them over the members.
  Endpoints(std::vector<std::string> urls, std::size_t first)
      : urls_(std::move(urls)),
        stale_(urls_.size()),
        at_(urls_.empty() ? 0 : first % urls_.size()) {}

  struct Endpoint {
    std::size_t index = 0;
    std::string url = {};
    bool fresh = false;  // the present connections to it may be dead: make a new one
  };
  [[nodiscard]] Endpoint next() {
    Endpoint endpoint{at_, urls_[at_], stale_[at_]};
    stale_[at_] = false;
    return endpoint;
  }

  // Notes that a member has not answered, or has said that it cannot. Only the first call for a
  // member that is in use moves all others on to the next member.
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

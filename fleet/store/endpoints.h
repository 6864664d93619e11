// Chooses the member of the store that is asked next. A member is asked until a call to it fails;
// then the next one in the list takes its place. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace fleet {

class Endpoints {
 public:
  // `first` chooses the first member to ask. `first` should differ from client to client, so that
  // not all clients ask the same member.
  Endpoints(std::vector<std::string> urls, std::size_t first)
      : urls_(std::move(urls)),
        stale_(urls_.size()),
        at_(urls_.empty() ? 0 : first % urls_.size()) {}

  struct Endpoint {
    std::size_t index = 0;
    std::string url = {};
    bool fresh = false;  // true: make a new connection, since an old one to this member may be dead
  };
  [[nodiscard]] Endpoint next() {
    Endpoint endpoint{at_, urls_[at_], stale_[at_]};
    stale_[at_] = false;
    return endpoint;
  }

  // Notes that a call to this member has failed. If the member is in use, the next one in the list
  // takes its place. So several failed calls to one member advance the list only once. If the
  // member has answered, its connection is alive: when the store loses its leader, every call of
  // every client fails like this, and new connections would be made by all of them at once.
  void failed(std::size_t index, bool has_answered) {
    if (!has_answered) stale_[index] = true;
    if (at_ == index) at_ = (at_ + 1) % urls_.size();
  }

  [[nodiscard]] std::size_t count() const { return urls_.size(); }

 private:
  std::vector<std::string> urls_;
  std::vector<bool> stale_;
  std::size_t at_;
};

}  // namespace fleet

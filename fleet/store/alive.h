// Defines Alive, which lets an object end while it still waits for answers of the store.
#pragma once

#include <memory>
#include <utility>

namespace fleet {

// A class that passes callbacks to the store has a member of this type. After the object's end,
// this member makes the callbacks harmless.
class Alive {
 public:
  // Returns a callback that passes its argument on to `then`. After end(), or after the object was
  // destroyed, the callback does nothing.
  [[nodiscard]] auto guard(auto then) const {
    return [alive = std::weak_ptr<char>(alive_), then = std::move(then)](auto&& answer) {
      if (!alive.expired()) then(std::forward<decltype(answer)>(answer));
    };
  }
  void end() { alive_ = nullptr; }

 private:
  std::shared_ptr<char> alive_ = std::make_shared<char>('\0');
};

}  // namespace fleet

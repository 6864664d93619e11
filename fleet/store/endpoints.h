// Chooses the member of the store that a client asks, and decides when the client leaves it. A
// client asks one member at a time, over one connection. Pure.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "fleet/store/backoff.h"

namespace fleet {

class Endpoints {
 public:
  using Milliseconds = std::chrono::milliseconds;

  // The first limit of the pause before a new connection, if the earlier one has worked. The limit
  // doubles if connections are lost soon after each other.
  static constexpr Milliseconds first_pause{2'000};
  // After a connection that has worked for this time, the doubling of the pause begins anew.
  static constexpr Milliseconds long_life{60'000};
  // The time limit for connecting to a member. It is short, since other members may answer. It
  // doubles with each failed try, since members to which many clients return at once are slow.
  static constexpr Milliseconds first_connect_limit{2'000};
  static constexpr Milliseconds last_connect_limit{30'000};
  // If a member answers, but cannot serve the request, the client leaves it after a random time
  // between `patience` and twice that. Each further such member in a row gets twice the time of the
  // one before. A store that has lost its leader elects another one in less time than `patience`,
  // so an election makes no client move.
  static constexpr Milliseconds patience{1'500};

  // `urls` has at least one member. `seed` chooses the first member, the order of the others and
  // all random times. It should differ from client to client, so that not all clients use the same
  // member, nor move to the same next member when they lose it. `pause_max` is the largest limit of
  // the pause before a new connection.
  Endpoints(std::vector<std::string> urls, std::uint64_t seed, Milliseconds pause_max);

  struct Endpoint {
    std::uint64_t connection = 1;  // the connection's number; a new connection gets a new one
    std::string url = {};
    Milliseconds opens{0};  // a new connection is not opened before this time
    Milliseconds connect_limit = first_connect_limit;
  };
  [[nodiscard]] const Endpoint& present() const { return present_; }
  // Returns whether anything has come over the present connection.
  [[nodiscard]] bool has_worked() const { return has_worked_; }
  [[nodiscard]] std::size_t count() const { return urls_.size(); }

  // ---- notes about the connection of this number; ignored if it is not the present connection

  // Notes that the member has answered, be it by an error.
  void heard(std::uint64_t connection, Milliseconds now);
  // Notes that a call has succeeded.
  void succeeded(std::uint64_t connection);
  // Notes that the member has answered, but could not serve the request. If that has lasted too
  // long, the next member becomes the present one.
  void failed(std::uint64_t connection, Milliseconds now);
  // Notes that the connection has ended, or that its member is silent. The next member becomes the
  // present one.
  void broke(std::uint64_t connection, Milliseconds now);

 private:
  void move(Milliseconds opens);

  std::vector<std::string> urls_;
  std::size_t at_ = 0;
  std::mt19937_64 chance_;
  Backoff losses_;  // computes the pauses after the loss of a connection that has worked
  Backoff rounds_;  // pauses after every member was tried without success
  Endpoint present_;
  bool has_worked_ = false;
  Milliseconds works_since_{0};
  int tries_in_vain_ = 0;  // how many connections have failed since a call last succeeded
  bool cannot_help_ = false;
  Milliseconds leaves_at_{0};  // when to leave the member, if it still cannot serve
  int left_ = 0;               // how many members in succession could not serve
};

}  // namespace fleet

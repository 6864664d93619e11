// Chooses which member of the store a client uses, and decides when the client changes to another
// one. A client uses one member at a time, over one connection. Does no input or output.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "fleet/store/timers.h"

namespace fleet {

class Endpoints {
 public:
  using Milliseconds = std::chrono::milliseconds;

  // The limit of the random pause before a new connection, after the loss of a connection that has
  // worked. If connections are lost soon after each other, the limit doubles each time.
  static constexpr Milliseconds first_pause{2'000};
  // The largest limit of that pause. It is long for programs of which there are many: on a slow
  // machine, three members need some minutes for the TLS handshakes of 10,000 nodes.
  static constexpr Milliseconds longest_pause{1'000};
  static constexpr Milliseconds longest_pause_of_many{300'000};
  // Each time a connection has worked for so long, and its member could serve requests, the doubled
  // times are halved. If they became short at once, clients would soon leave members that are still
  // slow.
  static constexpr Milliseconds long_life{60'000};
  // The first time limit for connecting to a member. It is short, since other members may answer.
  // Later limits are longer: see stretched().
  static constexpr Milliseconds first_connect_limit{2'000};
  // How long a client keeps using a member that answers, but cannot serve requests. The real time
  // is random, between `patience` and twice that, and longer after other connections were left: see
  // stretched(). A store that has lost its leader elects a new one in less time than `patience`, so
  // an election makes no client change its member.
  static constexpr Milliseconds patience{1'500};

  // `urls` has at least one member. `seed` decides the first member, the order of the others and
  // all random times. Each client should have another seed, so that not all of them use the same
  // member, or change to the same next member. `is_one_of_many` is true for programs that run on
  // many machines. They are four times as patient as others from the beginning: if all of them left
  // their members during the election of a leader, their new connections would keep the members so
  // busy that the next leader is lost, too.
  Endpoints(std::vector<std::string> urls, std::uint64_t seed, bool is_one_of_many);

  struct Endpoint {
    std::uint64_t connection = 1;  // each new connection has a new number
    std::string url = {};
    Milliseconds opens{0};  // the earliest time to open this connection
    Milliseconds connect_limit = first_connect_limit;
  };
  [[nodiscard]] const Endpoint& present() const { return present_; }
  // Returns whether anything has been received over the present connection.
  [[nodiscard]] bool has_worked() const { return has_worked_; }
  [[nodiscard]] std::size_t count() const { return urls_.size(); }
  // Returns how long a client waits in place of `limit`, after it has left connections. The time
  // doubles with each connection that it has left, up to `longest_wait`. A new connection costs the
  // member a TLS handshake, and all reads anew. If all clients kept leaving members that are only
  // slow, these members would stay overloaded for ever.
  static constexpr Milliseconds longest_wait{60'000};
  [[nodiscard]] Milliseconds stretched(Milliseconds limit) const;

  // ---- reports about the connection with this number; reports about earlier connections are
  // ignored

  // Records that the member has answered, even if only with an error.
  void heard(std::uint64_t connection, Milliseconds now);
  // Records that a call has succeeded.
  void succeeded(std::uint64_t connection);
  // Records that the member has answered, but could not serve the request. If this state has lasted
  // too long, chooses the next member.
  void failed(std::uint64_t connection, Milliseconds now);
  // Records that the connection has ended, or that its member does not answer. Chooses the next
  // member. `is_slow` is true if the member's machine has accepted the connection, but the member
  // has not finished the TLS handshake in time. Then the other members may be overloaded, too, so
  // the client pauses before it tries the next one.
  void broke(std::uint64_t connection, Milliseconds now, bool is_slow = false);

 private:
  void move(Milliseconds opens);

  std::vector<std::string> urls_;
  std::size_t at_ = 0;
  std::mt19937_64 chance_;
  Backoff losses_;  // computes the pause after a connection that has worked, or a slow member
  Backoff rounds_;  // computes the pause after all members were tried in vain
  Endpoint present_;
  bool has_worked_ = false;
  Milliseconds works_since_{0};
  // The number of connections that could not be opened since anything was received, without those
  // to slow members.
  std::size_t tries_in_vain_ = 0;
  // How often the time limits are doubled: once for each connection that was left, less once for
  // each `long_life` of a connection that works.
  int doublings_ = 0;
  int doublings_min_ = 0;  // doublings_ is never less than this
  bool cannot_help_ = false;
  Milliseconds leaves_at_{0};  // when to leave the member, if it still cannot serve requests
};

}  // namespace fleet

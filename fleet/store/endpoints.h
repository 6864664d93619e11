// Chooses the member of the store (a machine that runs etcd) that a client uses, and decides when
// to change to the next one. A client uses one member at a time, over one connection. Does no input
// or output.
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

  // After the loss of a working connection, the client pauses for a random time below a limit,
  // `longest_pause`. For programs that run on many machines (`is_one_of_many`), the limit begins
  // with `first_pause` and doubles with each further loss, up to `longest_pause_of_many`: three
  // slow members need some minutes for the TLS handshakes of 10,000 nodes.
  static constexpr Milliseconds first_pause{2'000};
  static constexpr Milliseconds longest_pause{1'000};
  static constexpr Milliseconds longest_pause_of_many{300'000};
  // Each change to a new connection doubles the client's time limits: see stretched(). Each
  // `long_life` during which a connection works, and its member can serve requests, halves them
  // again. The limits do not return to their first values at once, since clients would then soon
  // give up members that are still slow.
  static constexpr Milliseconds long_life{60'000};
  // The time limit for the first try to connect. It is short, since another member may answer
  // sooner; stretched() makes later limits longer.
  static constexpr Milliseconds first_connect_limit{2'000};
  // How long a client stays with a member that answers but cannot serve requests: a random time
  // between one and two times stretched(patience). Members elect a new leader faster than that, so
  // clients stay during an election.
  static constexpr Milliseconds patience{1'500};

  // `urls` contains the URL of at least one member. `seed` decides the order of the members and all
  // random times; each client should have its own, so that the clients spread over the members.
  //
  // Time limits are four times as long for programs that run on many machines (`is_one_of_many`).
  // With shorter limits, all of them could reconnect during an election. The TLS handshakes could
  // then keep the members so busy that they lose the new leader, too.
  Endpoints(std::vector<std::string> urls, std::uint64_t seed, bool is_one_of_many);

  struct Endpoint {
    std::uint64_t connection = 1;  // each new connection has a new number
    std::string url = {};
    Milliseconds opens{0};  // the earliest time to open this connection
    Milliseconds connect_limit = first_connect_limit;
  };
  [[nodiscard]] const Endpoint& present() const { return present_; }
  // Returns whether this client has received anything over its current connection.
  [[nodiscard]] bool has_worked() const { return has_worked_; }
  [[nodiscard]] std::size_t count() const { return urls_.size(); }
  // Returns the time limit to use instead of `limit`. It doubles with each change to a new
  // connection, up to `longest_wait`. A new connection costs the member a TLS handshake and a
  // reading of all records. So clients that left slow members again and again would overload the
  // members for ever.
  [[nodiscard]] Milliseconds stretched(Milliseconds limit) const;
  static constexpr Milliseconds longest_wait{60'000};

  // ---- reports about a connection; ignored if the client has left the connection

  // Records that the member of the store at the other end has answered, even if only with an error.
  void heard(std::uint64_t connection, Milliseconds now);
  // Records that a call over this connection has succeeded.
  void succeeded(std::uint64_t connection);
  // Records that the member has answered, but could not serve the request. If this has lasted
  // longer than `patience` allows, chooses the next member.
  void failed(std::uint64_t connection, Milliseconds now);
  // Records that the connection has ended or that its member does not answer, and chooses the next
  // member. If `is_slow`, the member accepted the TCP connection, but the TLS handshake exceeded
  // its time limit. The client then pauses first, since the other members may be overloaded, too.
  void broke(std::uint64_t connection, Milliseconds now, bool is_slow = false);

 private:
  void move(Milliseconds opens);

  std::vector<std::string> urls_;
  std::size_t at_ = 0;
  std::mt19937_64 chance_;
  // the pauses after a lost connection or a TLS handshake that was too slow
  Backoff losses_;
  Backoff rounds_;  // the pauses after a failed round over all members
  Endpoint present_;
  bool has_worked_ = false;
  Milliseconds works_since_{0};
  // How many connections in succession could not be opened. Slow TLS handshakes do not count.
  std::size_t tries_in_vain_ = 0;
  // How often the time limits are doubled now: one more after each change to a new connection, and
  // one less after each `long_life` during which a connection has worked.
  int doublings_ = 0;
  int doublings_min_ = 0;  // the least value of doublings_
  bool cannot_help_ = false;
  Milliseconds leaves_at_{0};  // when to leave a member that cannot serve requests
};

}  // namespace fleet

// Chooses the member of the store (one of the machines that run etcd) that a client uses, and
// decides when the client changes to the next member. A client uses one member at a time, over one
// connection. This file does no input or output.
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

  // When a connection that has worked is lost, the client waits for a random time before it opens
  // the next connection. The limit for this random time is `first_pause` at first, and doubles each
  // time connections are lost soon after each other. The limit never exceeds `longest_pause`.
  // Programs that run on many machines (`is_one_of_many`) have `longest_pause_of_many` instead: if
  // the store's three members are slow, they need some minutes for the TLS handshakes of 10,000
  // nodes.
  static constexpr Milliseconds first_pause{2'000};
  static constexpr Milliseconds longest_pause{1'000};
  static constexpr Milliseconds longest_pause_of_many{300'000};
  // The client's time limits double with each change to a new connection: see stretched(). Each
  // time a connection has worked for `long_life`, and its member could serve requests, one doubling
  // is undone. If all doublings were undone at once, clients would soon give up members that are
  // still slow.
  static constexpr Milliseconds long_life{60'000};
  // The time limit for the first try to connect to a member. This limit is short, since another
  // member may answer sooner. Later limits are longer: see stretched().
  static constexpr Milliseconds first_connect_limit{2'000};
  // How long a client keeps using a member that answers but cannot serve requests. The actual time
  // is random, between one and two times stretched(patience). If the store loses its leader, the
  // members elect a new leader in less time than `patience`, so an election does not make clients
  // change their members.
  static constexpr Milliseconds patience{1'500};

  // `urls` contains the URL of at least one member. `seed` decides the order of the members and all
  // random times. Each client should have a different seed, so that the clients do not all use the
  // same member, or all change to the same next member. `is_one_of_many` is true for programs that
  // run on many machines. All time limits of such programs are four times as long. With shorter
  // limits, all these programs could leave their members while a leader is elected, and their new
  // connections would keep the members so busy that they lose the next leader, too.
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
  // Returns the time limit that a client uses instead of `limit`. This time limit doubles with each
  // change to a new connection, up to `longest_wait`. The reason is that a new connection costs a
  // member a TLS handshake, and the client reads all its records again. If clients kept giving up
  // members that are only slow, the members would stay overloaded for ever.
  [[nodiscard]] Milliseconds stretched(Milliseconds limit) const;
  static constexpr Milliseconds longest_wait{60'000};

  // ---- reports about a connection. Reports about connections that the client has left are ignored

  // Records that the member of the store at the other end has answered, even if only with an error.
  void heard(std::uint64_t connection, Milliseconds now);
  // Records that a call over this connection has succeeded.
  void succeeded(std::uint64_t connection);
  // Records that the member of the store has answered but could not serve the request. If the
  // member has now failed to serve requests for longer than `patience` allows, chooses the next
  // member.
  void failed(std::uint64_t connection, Milliseconds now);
  // Records that the connection has ended, or that its member does not answer. Chooses the next
  // member. `is_slow` is true if the member's machine has accepted the connection, but the member
  // has not finished the TLS handshake in time. In this case, the client pauses before it tries the
  // next member, since the other members may be overloaded, too.
  void broke(std::uint64_t connection, Milliseconds now, bool is_slow = false);

 private:
  void move(Milliseconds opens);

  std::vector<std::string> urls_;
  std::size_t at_ = 0;
  std::mt19937_64 chance_;
  // Computes the pauses after the loss of a connection that has worked, and after a TLS handshake
  // that was too slow.
  Backoff losses_;
  Backoff rounds_;  // computes the pauses after all members have failed
  Endpoint present_;
  bool has_worked_ = false;
  Milliseconds works_since_{0};
  // How many connections could not be opened since the client last received anything. Connections
  // whose TLS handshakes were too slow do not count.
  std::size_t tries_in_vain_ = 0;
  // How many times the time limits are doubled: plus 1 for each change to a new connection, and
  // minus 1 for each `long_life` during which a connection has worked.
  int doublings_ = 0;
  int doublings_min_ = 0;  // doublings_ is never less than this
  bool cannot_help_ = false;
  Milliseconds leaves_at_{0};  // when to leave the member, if it still cannot serve requests
};

}  // namespace fleet

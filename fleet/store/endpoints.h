// Chooses the member of the store that a client uses, and decides when the client changes to the
// next member. A client uses one member at a time, over one connection. Does no input or output.
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

  // After the loss of a connection that has worked, the client waits for a random time before it
  // opens the next connection. The limit of that time is `first_pause` at first, and doubles each
  // time if connections are lost soon after each other. But the limit is never above
  // `longest_pause` or, for programs that run on many machines, `longest_pause_of_many`.
  static constexpr Milliseconds first_pause{2'000};
  // The longest random time before the next connection is opened. Programs that run on many
  // machines (`is_one_of_many`) have the longer limit `longest_pause_of_many`: if the machines of
  // the store's three members are slow, they need some minutes for the TLS handshakes of 10,000
  // nodes.
  static constexpr Milliseconds longest_pause{1'000};
  static constexpr Milliseconds longest_pause_of_many{300'000};
  // The client's time limits double with each change to a new connection: see stretched(). Each
  // time a connection has worked for `long_life`, and its member could serve requests, one doubling
  // is undone. If all doublings were undone at once, clients would soon give up members that are
  // still slow.
  static constexpr Milliseconds long_life{60'000};
  // The first time limit for connecting to a member. It is short, since another member may answer
  // sooner. Later limits are longer: see stretched().
  static constexpr Milliseconds first_connect_limit{2'000};
  // How long a client keeps using a member that answers but cannot serve requests. The actual time
  // is random, between `patience` and twice `patience`. It is longer if the client has left other
  // connections before: see stretched(). If the store loses its leader, the members elect a new
  // leader in less time than `patience`. So no client changes its member because of an election.
  static constexpr Milliseconds patience{1'500};

  // `urls` contains the URL of at least one member. `seed` decides the order of the members and all
  // random times. Each client should have a different seed, so that the clients do not all use the
  // same member, or all change to the same next member. `is_one_of_many` is true for programs that
  // run on many machines. From the beginning, their time limits are four times as long. Otherwise
  // all of them could leave their members while a leader is elected, and the new connections would
  // keep the members so busy that the next leader is lost, too.
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
  // stretched() returns the time limit that a client uses instead of `limit`. This time limit
  // doubles with each change to a new connection, up to `longest_wait`. Each new connection costs a
  // member a TLS handshake, and the client then reads all its records again. So if clients kept
  // giving up members that are only slow, the members would stay overloaded for ever.
  static constexpr Milliseconds longest_wait{60'000};
  [[nodiscard]] Milliseconds stretched(Milliseconds limit) const;

  // ---- reports about the connection with the number `connection`. A report about an earlier
  // connection is ignored

  // Records that the member of the store at the other end has answered, even if only with an error.
  void heard(std::uint64_t connection, Milliseconds now);
  // Records that a call over this connection has succeeded.
  void succeeded(std::uint64_t connection);
  // Records that the member of the store has answered but could not serve the request. If the
  // member has now failed to serve requests for longer than `patience` allows, chooses the next
  // member.
  void failed(std::uint64_t connection, Milliseconds now);
  // Records that the connection has ended, or that its member does not answer. Chooses the next
  // member. `is_slow` is true if the member's machine has accepted the connection but the member
  // has not finished the TLS handshake in time. The other members may be overloaded, too, so the
  // client then pauses before it tries the next member.
  void broke(std::uint64_t connection, Milliseconds now, bool is_slow = false);

 private:
  void move(Milliseconds opens);

  std::vector<std::string> urls_;
  std::size_t at_ = 0;
  std::mt19937_64 chance_;
  // Computes the pause before the next connection, if a connection that has worked was lost, or if
  // a member was too slow to finish the TLS handshake in time.
  Backoff losses_;
  Backoff rounds_;  // computes the pause after all members have failed
  Endpoint present_;
  bool has_worked_ = false;
  Milliseconds works_since_{0};
  // The number of connections that could not be opened since the client last received anything.
  // Connections to slow members do not count.
  std::size_t tries_in_vain_ = 0;
  // How many times the time limits are doubled: plus 1 for each change to a new connection, and
  // minus 1 for each `long_life` during which a connection has worked.
  int doublings_ = 0;
  int doublings_min_ = 0;  // doublings_ is never less than this
  bool cannot_help_ = false;
  Milliseconds leaves_at_{0};  // when to leave the member, if it still cannot serve requests
};

}  // namespace fleet

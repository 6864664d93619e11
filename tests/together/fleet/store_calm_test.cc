// Tests that clients of an overloaded store come back to rest. Each client chooses its member by
// the real Endpoints. The members and the time are simulated: a member does one piece of work after
// the other, at a fixed speed, and works also for clients that have given up waiting.
#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "fleet/store/endpoints.h"

namespace store_calm_test {

using namespace fleet;
using namespace std::chrono_literals;

namespace {

using Ms = Endpoints::Milliseconds;

constexpr Ms tick = 50ms;
constexpr Ms renewal_pause = 10s;
constexpr Ms call_limit = 5s;     // a call without an answer makes its member suspect
constexpr Ms suspect_limit = 2s;  // how long a suspect member has for a sign of life
constexpr double renewal = 0.05;  // work, as a share of the work of entering
constexpr double given_up = 0.5;  // work of a TLS handshake whose client has closed its connection
constexpr double stalled = 0.05;  // speed of a stalled member, as a share of its own speed

class Crowd {
 public:
  // `speed` is the number of clients that can enter at one member in a second.
  Crowd(std::size_t clients, double speed) : speed_(speed) {
    for (std::size_t i = 0; i < clients; ++i)
      clients_.push_back({.endpoints = Endpoints({"0", "1", "2"}, i + 1, true)});
  }

  // Lets all clients enter, a few at a time. Returns false if they need more than `limit`.
  [[nodiscard]] bool enter(Ms limit) {
    constexpr std::size_t together = 20;
    return run(limit, [this] {
      const std::size_t served = count_served();
      begun_ = std::min(clients_.size(), served + together);
      return served == clients_.size();
    });
  }
  // Stalls the members for this time.
  void stall(Ms time) {
    speed_ *= stalled;
    static_cast<void>(run(time, [] { return false; }));
    speed_ /= stalled;
  }
  // Waits until all clients are served. Returns false if that takes more than `limit`.
  [[nodiscard]] bool come_back(Ms limit) {
    return run(limit, [this] { return count_served() == clients_.size(); });
  }
  [[nodiscard]] std::size_t count_served() const {
    return static_cast<std::size_t>(std::count_if(
        clients_.begin(), clients_.end(), [](const Client& client) { return client.served; }));
  }

 private:
  struct Client {
    Endpoints endpoints;
    bool served = false;
    std::optional<Ms> asked = {};      // when the present connection, or a renewal, was begun
    std::optional<Ms> suspected = {};  // when a renewal had no answer in time
    Ms renews{0};
  };
  struct Work {
    std::size_t client;
    std::uint64_t connection;
  };

  template <class Condition>
  bool run(Ms limit, const Condition& is_over) {
    for (const Ms end = now_ + limit; now_ < end; now_ += tick) {
      if (is_over()) return true;
      for (std::size_t i = 0; i < begun_; ++i)
        act(i);
      for (std::size_t member = 0; member < queues_.size(); ++member)
        work(member);
    }
    return false;
  }

  void act(std::size_t number) {
    Client& client = clients_[number];
    const Endpoints::Endpoint& present = client.endpoints.present();
    const Ms due = client.served ? client.renews : present.opens;
    if (!client.asked) {
      if (now_ < due) return;
      client.asked = now_;
      queues_.at(static_cast<std::size_t>(present.url[0] - '0'))
          .push_back({number, present.connection});
      return;
    }
    if (!client.served) {
      if (now_ - *client.asked >= present.connect_limit) leave(client, true);
    } else if (!client.suspected) {
      if (now_ - *client.asked >= call_limit) client.suspected = now_;
    } else if (now_ - *client.suspected >= client.endpoints.stretched(suspect_limit)) {
      leave(client, false);
    }
  }

  void leave(Client& client, bool is_slow) const {
    client.endpoints.broke(client.endpoints.present().connection, now_, is_slow);
    client.served = false;
    client.asked = {};
    client.suspected = {};
  }

  void work(std::size_t member) {
    double& left = left_.at(member);
    left = std::min(left, 0.0) + speed_ * static_cast<double>(tick.count()) / 1e3;
    std::deque<Work>& queue = queues_.at(member);
    for (; left > 0 && !queue.empty(); queue.pop_front()) {
      const Work& next = queue.front();
      Client& client = clients_[next.client];
      if (client.endpoints.present().connection != next.connection) {
        left -= given_up;
        continue;
      }
      left -= client.served ? renewal : 1;
      client.endpoints.heard(next.connection, now_);
      client.served = true;
      client.asked = {};
      client.suspected = {};
      client.renews = now_ + renewal_pause;
    }
  }

  double speed_;
  Ms now_{0};
  std::vector<Client> clients_;
  std::size_t begun_ = 0;  // how many clients have begun to enter
  std::array<std::deque<Work>, 3> queues_;
  std::array<double, 3> left_{};  // the work that each member can still do in this tick
};

}  // namespace

TEST_CASE("clients that an overload has scattered are all served again after it") {
  struct Case {
    std::size_t clients;
    double speed;
    Ms stall;
  };
  const auto [clients, speed, stall] =
      GENERATE(Case{300, 2, 30s}, Case{600, 4, 60s}, Case{600, 4, 120s});
  CAPTURE(clients, speed, stall.count());
  Crowd crowd(clients, speed);
  REQUIRE(crowd.enter(10min));

  crowd.stall(stall);

  CHECK(crowd.count_served() < clients / 10);
  CHECK(crowd.come_back(20min));
}

TEST_CASE("clients of members that are only a little slow stay where they are") {
  Crowd crowd(300, 2);
  REQUIRE(crowd.enter(10min));

  crowd.stall(3s);

  CHECK(crowd.count_served() == 300);
}

}  // namespace store_calm_test

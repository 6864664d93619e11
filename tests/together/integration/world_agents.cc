// Finds agents in the order of their starts, and leads them through the protocol as far as a test
// wants. See world.h.
#include <catch2/catch.hpp>

#include "tests/together/integration/world.h"

namespace integration {

Puppet World::agent(Where where) {
  wait_until(
      [&] {
        return handed_out_ < connections_.size() &&
               (connections_[handed_out_]->pid != 0 || connections_[handed_out_]->gone);
      },
      "the start of agent " + std::to_string(handed_out_ + 1), where);
  return Puppet(*this, connections_[handed_out_++]);
}

Puppet World::first(std::string_view version, Where where) {
  Puppet agent = this->agent(where);
  agent.hello(version, where);
  agent.ready();
  agent.expect("activate", where);
  return agent;
}

Puppet World::candidate(std::string_view version, Where where) {
  Puppet agent = this->agent(where);
  CHECK(agent.hello(version, where).text("role") == "candidate");
  return agent;
}

Puppet World::fallback(Where where) {
  Puppet agent = this->agent(where);
  CHECK(agent.hello("", where).text("role") == "fallback");
  agent.ready();
  agent.expect("activate", where);
  return agent;
}

Puppet World::begin_upgrade(Puppet active, std::string_view members, Where where) {
  active.request_upgrade("u1", members);
  active.expect("accepted", where);
  return candidate("2.0", where);
}

Puppet World::hand_over(Puppet active, std::string_view members, Where where) {
  Puppet next = begin_upgrade(active, members, where);
  next.ready();
  active.stop_cleanly("", where);
  next.expect("activate", where);
  return next;
}

std::size_t World::agents_started() {
  pump(0);
  return connections_.size();
}

}  // namespace integration

// Checks the rules that hold in every test (world.h) at the end of a test, and ends all of the
// test's processes.
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>

#include "tests/together/integration/process_table.h"
#include "tests/together/integration/world.h"

namespace integration {

void World::finish(bool judged) {
  for (Upgrader& upgrader : upgraders_)
    end_upgrader(upgrader, judged);
  if (judged) judge_leftovers();
  for (const auto& connection : connections_)
    shutdown(connection->fd, SHUT_WR);
  const auto deadline = Clock::now() + patience;
  const auto all_gone = [&] {
    return std::all_of(connections_.begin(), connections_.end(),
                       [](const auto& connection) { return connection->gone; });
  };
  while (!all_gone() && Clock::now() < deadline)
    pump(2);
  end_leftovers();
  for (const auto& connection : connections_)
    close(connection->fd);
  if (judged && violation_wanted_) CHECK_FALSE(violations().empty());
  if (judged && !violation_wanted_) CHECK(violations() == "");
}

// Ends an upgrader that still runs at the end of a test. None of its children may be a zombie, and
// SIGQUIT must end the upgrader and all its agents.
void World::end_upgrader(Upgrader& upgrader, bool judged) {
  if (!upgrader.running()) return;
  const auto deadline = Clock::now() + patience;
  if (upgrader.frozen_) kill(upgrader.pid_, SIGCONT);
  const auto no_zombie = [&] {
    const auto children = children_of(upgrader.pid_);
    return std::none_of(children.begin(), children.end(),
                        [](pid_t child) { return state_of(child) == 'Z'; });
  };
  while (judged && !no_zombie() && Clock::now() < deadline)
    pump(2);
  if (judged) CHECK(no_zombie());
  kill(upgrader.pid_, SIGQUIT);
  while (upgrader.running() && Clock::now() < deadline)
    pump(2);
  if (judged) CHECK(upgrader.ending() == "exit status 131");
  if (!upgrader.running()) return;
  kill(upgrader.pid_, SIGKILL);
  waitpid(upgrader.pid_, &upgrader.status_, 0);
}

// Checks that no process has been left behind: an upgrader must reap its children before it exits.
// If a signal has ended the upgrader, it could not do so, and nothing is checked.
void World::judge_leftovers() {
  for (const Upgrader& upgrader : upgraders_) {
    if (WIFSIGNALED(upgrader.status_)) return;
  }
  for (const pid_t child : children_of(getpid())) {
    INFO("process " << child << " has been left behind");
    CHECK(stranger(child));
  }
}

void World::end_leftovers() {
  for (const pid_t child : children_of(getpid())) {
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
  }
  // Kills the processes that adopt() has named, which no upgrader ends.
  for (const pid_t pid : strangers_)
    kill(pid, SIGKILL);
}

bool World::stranger(pid_t pid) const {
  return std::find(strangers_.begin(), strangers_.end(), pid) != strangers_.end();
}

}  // namespace integration

// Carries out a driver's actions on a store in memory, for tests.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "fleet/model/driver_events.h"
#include "tests/together/fleet/test_store.h"

namespace fleet_test {

struct DriverWork {
  TestStore store;
  fleet::DriverActions asked;     // actions that are not carried out yet
  std::vector<std::string> told;  // the driver's log lines

  // Adds the driver's log lines to `told`, and all other actions to `asked`.
  void take(fleet::DriverActions actions) {
    for (fleet::DriverAction& action : actions) {
      if (const auto* words = std::get_if<fleet::Tell>(&action)) {
        told.push_back(words->text);
      } else {
        asked.push_back(std::move(action));
      }
    }
  }

  // Carries out the actions until none is left. Calls `sees` with each action before it is carried
  // out, and `tell` with its outcome.
  void settle(
      const std::function<void(const fleet::DriverEvent&)>& tell,
      const std::function<void(const fleet::DriverAction&)>& sees = [](const auto&) {}) {
    while (!asked.empty()) {
      const fleet::DriverAction action = asked.front();
      asked.erase(asked.begin());
      sees(action);
      if (const auto* commit = std::get_if<fleet::Commit>(&action)) {
        tell(fleet::TransactionEnded{store.commit(commit->transaction)});
      } else if (const auto* reading = std::get_if<fleet::WantReading>(&action)) {
        tell(fleet::ReadingEnded{store.read(reading->prefixes)});
      } else if (std::holds_alternative<fleet::GrantLease>(action)) {
        tell(fleet::LeaseGranted{7});
      }
    }
  }
};

}  // namespace fleet_test

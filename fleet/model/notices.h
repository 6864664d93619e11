// Decides which events of the history are sent to the webhook, and when an event is sent again.
// Successes, failures and halts are sent in their order, each at least once. Nothing else in the
// cell waits until an event was sent. The controller that writes the history also sends its events.
// Pure.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "fleet/model/cell_records.h"
#include "fleet/model/time.h"
#include "fleet/model/transaction.h"

namespace fleet {

// After this many tries, which take about an hour and a half, an event is skipped, and the next
// event is sent.
inline constexpr int notice_tries_max = 24;
inline constexpr Ms notice_rest_ms = 1'000;
inline constexpr Ms notice_rest_max_ms = 300'000;

// Returns PATH if the setting `webhook` is `file:PATH`, or no value if the setting is a URL.
[[nodiscard]] std::optional<std::string> webhook_file(std::string_view webhook);
// Returns the URL in the file of a setting `file:PATH`: the first line of the file, or an empty
// text if that line is not an http or https URL.
[[nodiscard]] std::string webhook_url(std::string_view content);

class Notices {
 public:
  using Records = std::map<std::string, KeyValue, std::less<>>;

  struct Rest {
    std::optional<Ms> until = {};
  };
  struct Post {
    std::int64_t event = 0;
    std::string webhook = {};  // the setting: a URL or file:PATH
    std::string body = {};
    FleetEvent happened = {};  // the event itself, for headers
  };
  using Step = std::variant<Rest, Post, Transaction>;

  // Returns the next step. `ours` is true if this controller writes the history. As long as a post
  // or a transaction is under way, the step is Rest.
  [[nodiscard]] Step next(const Records& records, bool ours, Ms now);
  void posted(bool taken, Ms now);
  void written();

 private:
  bool under_way_ = false;
  std::int64_t event_ = 0;  // the event that is being sent
  std::int64_t done_ = 0;   // the last event that was sent or given up
  // Every event up to this number was sent, or need not be sent. With this number, these events are
  // not read again at each change of the cell.
  std::int64_t looked_until_ = 0;
  int tries_ = 0;
  std::optional<Ms> rests_until_;
};

}  // namespace fleet

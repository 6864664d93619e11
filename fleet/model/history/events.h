// This file makes the events of the cell's history from changed records: an event for each change
// that is of interest to people. It also decides which events are sent to the webhook, and when an
// event is sent again. chronicle.h numbers the events and writes them. This file does no input or
// output.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "fleet/model/records/cell_records.h"
#include "fleet/model/records/time.h"
#include "fleet/model/records/transaction.h"

namespace fleet {

// Returns the event for a changed record, or no value if the history has no events for such
// records. The event has no time yet. Its subject is the thing that the event is about, such as a
// rollout or a node. If the change is not of interest to people, the event only repeats the last
// event of the same subject.
[[nodiscard]] std::optional<FleetEvent> event_of(const KeyValue& record);
// Returns the event for a key that was erased, or no value if the history has no events for such
// keys. `epoch` is the text of the record `epoch`, or null if there is none.
[[nodiscard]] std::optional<FleetEvent> event_of_absence(std::string_view key,
                                                         const std::string* epoch);

// Returns the event for a node that has become silent or, if `silent` is false, that reports again.
[[nodiscard]] FleetEvent event_of_silence(std::string_view node, bool silent);

// Adds the event to a transaction, with this number. The store refuses the transaction if another
// event already has the number. Adds nothing if the number is larger than event_number_max.
void add_event(Transaction& transaction, const FleetEvent& event, std::uint64_t number);
// Adds the event to a transaction as a note: people and programs that may not write events write
// notes instead. The controller that writes the history later makes an event from the note.
void add_note(Transaction& transaction, const FleetEvent& event);

// Returns the event for a note, the record of an order by a person who may not write events. If the
// note cannot be read, the event's text says so. The event is not marked as proved, since anybody
// may write a note.
[[nodiscard]] FleetEvent event_of_note(const KeyValue& record, const std::string& time);

// Returns the number of the last event among the cell's records, or 0 if there is none.
[[nodiscard]] std::uint64_t last_event(const std::map<std::string, KeyValue, std::less<>>& records);

// Returns whether the person `name` ordered the change that the event reports. `name` is NAME, or
// ROLE:NAME as in a certificate.
[[nodiscard]] bool is_by(const FleetEvent& event, std::string_view name);
// Returns whether an event with this subject is about the record `asked`, or about a record whose
// key begins with `asked/`. So an event about `node/n10` is not about `node/n1`.
[[nodiscard]] bool is_about(std::string_view subject, std::string_view asked);

// ---- notices

// A notice is an HTTP request to the webhook, which tells people of an event. The controller that
// writes the history sends the notices. Successes, failures and halts are sent in the order of
// their events, each at least once. Notices delay nothing else in the cell.

// The most requests for one event. If all of them fail, which takes about an hour and a half, the
// event is skipped, and the next event is sent.
inline constexpr int notice_tries_max = 24;
inline constexpr Ms notice_rest_ms = 1'000;
inline constexpr Ms notice_rest_max_ms = 300'000;
// How long the controller sends no request after the store has denied the write of the record
// `notified` (the last event that was sent). A new try rarely succeeds before a person has mended
// the store or a permission.
inline constexpr Ms notice_denied_rest_ms = 60'000;

// Returns PATH if the setting `webhook` is `file:PATH`, or no value if the setting is a URL.
[[nodiscard]] std::optional<std::string> webhook_file(std::string_view webhook);
// The setting of a webhook may be `file:PATH`: the first line of that file is the URL. Returns the
// URL in the file's content, or an empty string if it is not an http or https URL.
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
    FleetEvent happened = {};  // the event, for the headers of the request
  };
  using Step = std::variant<Rest, Post, Transaction>;

  // Returns the next step. `ours` is true if this controller writes the history. The step is Rest
  // as long as a request (Post) or a transaction has no outcome yet.
  [[nodiscard]] Step next(const Records& records, bool ours, Ms now);
  void posted(bool taken, Ms now);
  // Handles the outcome of a transaction. If the store has denied the transaction, returns a line
  // with the reason for the log. Returns an empty string for all other outcomes. Also returns an
  // empty string if the last such line had the same reason, and no transaction was committed since
  // then.
  [[nodiscard]] std::string written(const Outcome& outcome, Ms now);

 private:
  bool under_way_ = false;
  std::int64_t event_ = 0;  // the event that is being sent
  std::int64_t done_ = 0;   // the last event that was sent or skipped
  // All events up to this number were sent, or need not be sent. So they are not read again at each
  // change in the cell.
  std::int64_t looked_until_ = 0;
  int tries_ = 0;
  std::optional<Ms> rests_until_;
  std::optional<Ms> denied_until_;  // no value if the store has not denied the last write
  std::string denial_;              // the reason in the last line that written() has returned
};

}  // namespace fleet

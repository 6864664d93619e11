// This file defines the driver of a rollout, a plan or a cell's desired versions, as a state
// machine that gets events and returns actions. The driver creates its key driver/ID, reads all
// records that it needs, and then writes one transaction after the other. Each transaction requires
// that the key still belongs to this driver. The driver's task (drivers.h) decides what to write.
//
// While a transaction, a reading or a request for a lease is under way, the driver decides nothing.
// The next step depends on the outcome of the transaction:
//
//     committed   the driver updates its copy of the records
//     refused     another process has changed a key that the transaction compares. The driver
//                 decides again when the watch has reported this change. If no report comes within
//                 store_retry_ms, the driver reads everything again
//     unknown     no answer came. The driver reads everything again. If the lost transaction
//                 reaches the store late, after the driver's next one, the store refuses it: both
//                 compare and write the same record, such as that of the rollout
//     denied      the store does not accept the write, and a second try would not help. A rollout
//                 is aborted. In all other cases, and if the store denies the abort, too, the
//                 driver ends with a line of trouble in the log
//
// If two transactions in a row were refused or unknown, and had the same compares, the driver waits
// for store_retry_ms before it reads again. It treats the last of refusals_max refusals in a row as
// denied. If the watch ends, the driver is given a new reading of all records.
//
// The driver ends if its key is gone or belongs to another driver, if the store has not confirmed
// the key for the whole time of its lease, or if the controller exits. The nodes do not notice: the
// next driver that creates the key continues.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "fleet/model/drivers/driver_events.h"
#include "fleet/model/records/record_text.h"
#include "fleet/model/records/transaction.h"

namespace fleet {

// A driver ends after the store has refused the same write this many times in a row.
inline constexpr int refusals_max = 20;

// Counts how many times in a row the store has refused the same write of a driver. After each
// refusal, the driver learns the change that is the reason, so the next try should succeed. If
// several tries fail, this class decides when the driver pauses, and when it gives up.
class FutileWrites {
 public:
  // Counts a write that was refused or got no answer. Returns true if the write before it failed,
  // too, and had the same compares. The driver then pauses before its next write.
  [[nodiscard]] bool again(const Transaction& write, const Outcome& outcome) {
    const bool same = compares_ == write.compares;
    if (!same) *this = {};
    compares_ = write.compares;
    if (std::holds_alternative<Refused>(outcome)) ++refusals_;
    return same;
  }
  void end() { *this = {}; }

  [[nodiscard]] bool is_for_good() const { return refusals_ >= refusals_max; }

  // Returns the state as a string. Tests compare these strings to find out whether two states are
  // equal.
  [[nodiscard]] std::string words() const {
    if (!compares_) return "";
    std::string text = " refused " + std::to_string(refusals_);
    for (const Compare& one : *compares_)
      text += " " + one.key + "@" + std::to_string(one.revision);
    return text;
  }

 private:
  std::optional<std::vector<Compare>> compares_ = {};
  int refusals_ = 0;
};

// A task has these functions:
//     name()                         returns its name for people, such as `rollout r1`
//     key(), prefixes()              return the key of its driver, and the prefixes of the keys
//                                    that the driver reads and watches
//     take(KeyValue), take_absent(key), take_all(Reading)
//                                    note a changed record, an erased key, or all records
//     wall_shows(wall, now)          notes the time of the wall clock, for maintenance windows
//     next(fence, now)               returns a DriverStep
//     granted(LeaseId)               notes the lease for which the task has asked. The id is 0 if
//                                    there is no lease, or if the lease may have ended
//     take_gates(GatesAnswered)      notes the answers of gates. Only a task that returns AskGates
//                                    has this function
//     deny(reason)                   notes that the store has denied a write. Returns false if the
//                                    driver has to end
//     words(now)                     returns its whole state as a string, for tests
template <class Task>
class Driver {
 public:
  // `lease` must not have ended. The driver creates its key driver/ID with this lease, so the store
  // erases the key when the lease ends.
  Driver(std::string controller, Task task, LeaseId lease)
      : controller_(std::move(controller)), task_(std::move(task)), lease_(lease) {}

  [[nodiscard]] DriverActions step(const DriverEvent& event, Ms now) {
    now_ = now;
    actions_.clear();
    if (is_over()) return {};
    more_ = false;
    std::visit([this](const auto& what) { this->take(what); }, event);
    if (!is_over() && fence_ != 0 && now_ >= proven_at_ + driver_lease_ms) {
      end("it could not reach the store for as long as its lease", true);
    }
    const bool decides = under_way_ == UnderWay::nothing && !retry_at_ && fence_ != 0;
    if (decides && !more_) drive();
    return std::exchange(actions_, {});
  }

  // Returns the time at which the caller must send the event TimePassed, or no value if the driver
  // does not need this event.
  [[nodiscard]] std::optional<Ms> next_deadline() const {
    if (is_over()) return std::nullopt;
    std::optional<Ms> first;
    const auto consider = [&first](std::optional<Ms> at) {
      if (at && (!first || *at < *first)) first = at;
    };
    consider(retry_at_);
    if (under_way_ == UnderWay::nothing) consider(waits_until_);
    if (fence_ != 0) consider(proven_at_ + driver_lease_ms);
    return first;
  }

  [[nodiscard]] bool is_over() const { return under_way_ == UnderWay::over; }
  [[nodiscard]] Revision fence() const { return fence_; }
  [[nodiscard]] const Task& task() const { return task_; }
  [[nodiscard]] std::size_t revisions_known() const { return newest_.size(); }

  // Returns the state of the driver and its task as a string, with times relative to `now`. Tests
  // compare these strings to find out whether two states are equal.
  [[nodiscard]] std::string words(Ms now) const {
    std::string text = "driver " + std::to_string(static_cast<int>(under_way_)) + " fence @" +
                       std::to_string(fence_);
    if (retry_at_) text += " again " + std::to_string(now - *retry_at_);
    if (waits_until_) text += " waits " + std::to_string(now - *waits_until_);
    text += futile_.words();
    if (write_) text += " writes " + fleet::words(write_->transaction);
    if (is_overtaken_) text += " overtaken";
    return text + " " + task_.words(now);
  }

 private:
  enum class UnderWay { nothing, taking, reading, transaction, refused, lease, over };

  // ---- the key

  void take(const BeginDriving& event) {
    hear_wall(event.wall);
    take_key();
  }

  void hear_wall(std::optional<UnixSeconds> wall) {
    if (wall) task_.wall_shows(*wall, now_);
  }

  void take_key() {
    under_way_ = UnderWay::taking;
    actions_.emplace_back(
        Commit{{.compares = {{.key = task_.key()}},
                .puts = {{.key = task_.key(),
                          .value = write_record(fleet::DriverRecord{.controller = controller_}),
                          .lease = lease_}}}});
  }

  void take(const LeaveDriving& leaving) { end(leaving.why, false); }
  void take(const KeptAlive& event) {
    proven_at_ = now_;
    hear_wall(event.wall);
  }
  void take(const LeaseLost& lost) { end(lost.why, true); }

  // ---- answers of the store

  void read_all() {
    under_way_ = UnderWay::reading;
    write_.reset();
    waits_until_.reset();
    task_.granted(0);
    WantReading wanted{task_.prefixes()};
    wanted.prefixes.push_back(task_.key());
    actions_.emplace_back(std::move(wanted));
  }

  void take(const TransactionEnded& event) {
    const bool taking = under_way_ == UnderWay::taking;
    if (!taking && under_way_ != UnderWay::transaction) return;
    if (const auto* done = std::get_if<Committed>(&event.outcome)) {
      proven_at_ = now_;
      futile_.end();
      if (!taking) return committed(done->revision);
      fence_ = done->revision;
      return read_all();
    }
    if (const auto* denied = std::get_if<Denied>(&event.outcome)) return deny(denied->reason);
    const bool again = futile_.again(write_ ? write_->transaction : Transaction{}, event.outcome);
    if (futile_.is_for_good()) return deny("it refuses the same write again and again");
    if (again) return rest();
    if (!taking && std::holds_alternative<Refused>(event.outcome)) return await_news();
    // The outcome of the transaction is unknown, or the store has refused to create the key of this
    // driver. The records show what was written, and which driver has the key.
    read_all();
  }

  // Waits until the watch has reported the change for which the store has refused the transaction.
  void await_news() {
    task_.granted(0);  // the lease may have ended, which also causes a refusal: drop it
    under_way_ = UnderWay::refused;
    retry_at_ = now_ + store_retry_ms;
    if (is_overtaken_) decide_again();
  }

  void decide_again() {
    under_way_ = UnderWay::nothing;
    write_.reset();
    retry_at_.reset();
  }

  // Called for each change that the watch reports while the outcome of `write_` is awaited, or
  // after the store has refused it. If the change makes `write_` fail, sets is_overtaken_. If the
  // store has refused `write_` already, this change is the reason, so the driver decides again at
  // once.
  void look_at_write(const std::string& key, Revision revision) {
    if (under_way_ != UnderWay::transaction && under_way_ != UnderWay::refused) return;
    for (const Compare& one : write_->transaction.compares)
      if (one.key == key && one.revision < revision) is_overtaken_ = true;
    if (under_way_ == UnderWay::refused && is_overtaken_) decide_again();
  }

  void deny(const std::string& reason) {
    const std::string why = "the store denies its driver: " + reason;
    if (under_way_ == UnderWay::taking || !task_.deny(why)) {
      return end("the store denies it: " + reason, true);
    }
    actions_.emplace_back(Tell{true, why});
    futile_.end();
    read_all();
  }

  void rest() {
    under_way_ = UnderWay::nothing;
    write_.reset();
    waits_until_.reset();
    retry_at_ = now_ + store_retry_ms;
  }

  void committed(Revision revision) {
    under_way_ = UnderWay::nothing;
    Write write = std::move(*std::exchange(write_, std::nullopt));
    for (const Put& put : write.transaction.puts) {
      if (!is_new(put.key, revision)) continue;
      task_.take({.key = put.key, .value = put.value, .modified = revision, .lease = put.lease});
    }
    for (const Erase& erase : write.transaction.erases) {
      if (is_new(erase.key, revision)) task_.take_absent(erase.key);
    }
    if (!write.news.empty()) actions_.emplace_back(Tell{false, write.news});
    committed_ = std::move(write.transaction.puts);
    committed_at_ = now_;
  }

  void take(const ReadingEnded& event) {
    // The driver is creating its key, and reads everything when it has the key. Ignore this earlier
    // reading.
    if (under_way_ == UnderWay::taking) return;
    if (under_way_ == UnderWay::reading) under_way_ = UnderWay::nothing;
    if (under_way_ == UnderWay::transaction) is_overtaken_ = true;
    if (under_way_ == UnderWay::refused) decide_again();
    newest_.clear();
    read_at_ = event.reading.revision;
    task_.take_all(event.reading);
    const KeyValue* key = event.reading.find(task_.key());
    // If the key has the lease of this driver, this driver has created the key, and only the answer
    // of the store was lost. No other driver uses that lease.
    if (fence_ == 0 && key != nullptr && key->lease == lease_) fence_ = key->created;
    if (fence_ == 0 && key == nullptr) return take_key();
    if (key == nullptr || key->created != fence_) {
      return end("another controller drives it", fence_ != 0);
    }
    proven_at_ = now_;
  }

  void take(const ReadingFailed&) {
    if (under_way_ != UnderWay::reading) return;
    retry_at_ = now_ + store_retry_ms;
    under_way_ = UnderWay::nothing;
  }

  void take(const LeaseGranted& event) {
    if (under_way_ != UnderWay::lease) return;
    under_way_ = UnderWay::nothing;
    task_.granted(event.lease);
  }

  void take(const LeaseFailed&) {
    if (under_way_ != UnderWay::lease) return;
    under_way_ = UnderWay::nothing;
    task_.granted(0);
    retry_at_ = now_ + store_retry_ms;
  }

  void take(const KeyChanged& event) {
    more_ = event.more;
    if (!is_new_from_watch(event.record.key, event.record.modified)) return;
    look_at_write(event.record.key, event.record.modified);
    const bool driver = event.record.key == task_.key();
    if (driver && fence_ != 0 && event.record.created != fence_) {
      return end("another controller drives it", true);
    }
    task_.take(event.record);
  }

  void take(const KeyErased& event) {
    more_ = event.more;
    if (!is_new_from_watch(event.key, event.revision)) return;
    if (event.key == task_.key() && fence_ != 0 && event.revision > fence_) {
      return end("its lease has ended", true);
    }
    look_at_write(event.key, event.revision);
    task_.take_absent(event.key);
  }

  // Returns whether a change is new to this driver: the change came after the last reading, and the
  // driver knows no later change of the same key. A watch may report a change that is older than a
  // later write of the driver itself.
  bool is_new(const std::string& key, Revision revision) {
    if (revision <= read_at_) return false;
    Revision& known = newest_[key];
    if (revision < known) return false;
    known = revision;
    return true;
  }

  // Returns whether a change that the watch reports is new to this driver: see is_new(). The watch
  // reports changes in the order of their revisions, so this function also removes all lower
  // revisions from newest_. While a transaction is under way, it removes none: committed() may
  // still need them.
  bool is_new_from_watch(const std::string& key, Revision revision) {
    const bool result = is_new(key, revision);
    if (under_way_ == UnderWay::transaction) return result;
    std::erase_if(newest_, [revision](const auto& one) { return one.second < revision; });
    return result;
  }

  void take(const TimePassed&) {
    if (!retry_at_ || now_ < *retry_at_) return;
    retry_at_.reset();
    if (under_way_ == UnderWay::nothing || under_way_ == UnderWay::refused) read_all();
  }

  // Passes the gates' answers to the task. Only the task of a rollout asks gates and has the
  // function take_gates().
  void take(const GatesAnswered& event) {
    if constexpr (requires { task_.take_gates(event); }) task_.take_gates(event);
  }

  // ---- the next step, which the task decides

  void drive() {
    DriverStep next = task_.next(fence_, now_);
    if (auto* asked = std::get_if<AskGates>(&next)) {
      actions_.emplace_back(std::move(*asked));
      // The gates' answers come later, as the event GatesAnswered. The driver does not wait for
      // them, so it takes its next step now.
      next = task_.next(fence_, now_);
    }
    waits_until_.reset();
    if (const auto* wait = std::get_if<Wait>(&next)) {
      waits_until_ = wait->until;
      // The lease for commands may end while the driver waits, so it is not used any more.
      task_.granted(0);
    }
    if (const auto* wanted = std::get_if<GrantLease>(&next)) {
      under_way_ = UnderWay::lease;
      actions_.emplace_back(*wanted);
    }
    if (auto* write = std::get_if<Write>(&next)) {
      if (is_committed_already(write->transaction)) {
        waits_until_ = committed_at_ + store_retry_ms;
        return;
      }
      under_way_ = UnderWay::transaction;
      is_overtaken_ = false;
      actions_.emplace_back(Commit{write->transaction});
      write_ = std::move(*write);
    }
    if (const auto* over = std::get_if<Over>(&next)) end(over->why, over->loud);
  }

  // Returns whether this driver has committed a transaction with the same writes less than
  // store_retry_ms ago. A task that decides the same writes twice has a bug. The driver then
  // pauses, so that the task does not fill the store with repeated writes.
  [[nodiscard]] bool is_committed_already(const Transaction& transaction) const {
    return !committed_.empty() && transaction.puts == committed_ &&
           now_ < committed_at_ + store_retry_ms;
  }

  void end(std::string why, bool loud) {
    under_way_ = UnderWay::over;
    actions_.emplace_back(Tell{loud, task_.name() + " is not driven any longer: " + why});
    actions_.emplace_back(EndDriving{std::move(why)});
  }

  std::string controller_;
  Task task_;
  LeaseId lease_;
  Revision fence_ = 0;
  UnderWay under_way_ = UnderWay::nothing;
  // The transaction that was sent to the store, until the driver decides again.
  std::optional<Write> write_;
  // True if `write_` may have been decided from outdated records: after `write_` was sent, the
  // watch has reported a later change of a key that `write_` compares, or all records were read
  // again.
  bool is_overtaken_ = false;
  std::optional<Ms> retry_at_;     // when to read everything again
  std::optional<Ms> waits_until_;  // when to decide again, unless an event comes before
  // The latest known revision of each key. Changes that this driver has written count, too.
  std::map<std::string, Revision> newest_;
  Revision read_at_ = 0;  // the revision of the last reading
  FutileWrites futile_;
  std::vector<Put> committed_;  // the records that the last transaction has written
  Ms committed_at_ = 0;
  // True if the store reports several changes at once, and the current one is not the last of them.
  // The driver then decides nothing yet.
  bool more_ = false;
  Ms proven_at_ = 0;  // when the store last confirmed that this driver has the key
  Ms now_ = 0;
  DriverActions actions_;
};

}  // namespace fleet

// This file defines the driver of a rollout, a plan or a cell's desired versions, as a state
// machine. The driver creates its key driver/ID, reads all records that it needs, and then writes
// one transaction after the other. The driver's task knows what is driven, and decides what to
// write: see drivers.h. Each transaction requires that the key still belongs to this driver.
//
// Events go in, and a list of actions comes out. At most one transaction, reading or request for a
// lease is under way at a time; until it is over, the driver decides nothing else. The next step
// depends on the outcome of the transaction:
//
//     committed   the driver updates its copy of the records with its own writes
//     refused     another process has written a key that the transaction compares. The driver
//                 decides again as soon as the watch has reported such a write, which may already
//                 be the case. If no report comes within store_retry_ms, the driver reads
//                 everything again
//     unknown     no answer came: the driver reads everything again. If the lost transaction
//                 reaches the store after the driver's next one, the store refuses the lost one:
//                 each transaction compares and writes the driven record, such as that of the
//                 rollout
//     repeated    a transaction was refused or unknown, and so was the previous transaction, which
//                 had the same compares: the driver waits for store_retry_ms before it reads again;
//                 after refusals_max refusals in a row, the outcome counts as denied
//     denied      the store does not accept the write, and to try again would not help. The task of
//                 a rollout then aborts the rollout. If the store denies this abort, too, or the
//                 task is not that of a rollout, the driver ends and logs a line of trouble
//
// If the watch ends, the driver gets a new reading that it has not asked for, and replaces all
// records that it knows with that reading.
//
// The driver ends if the key is gone or belongs to another driver, if the store has not confirmed
// for the whole time of the lease that the key is still the driver's own, or if the controller
// exits. The nodes are not notified: the next driver that creates the key continues.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "fleet/model/driver_events.h"
#include "fleet/model/record_text.h"
#include "fleet/model/transaction.h"

namespace fleet {

// The driver gives up after the same write was refused this many times in a row.
inline constexpr int refusals_max = 20;

// Counts how many times in a row the store has refused the same write of a driver. Before each new
// try, the driver has got news of the records or has read them all again, so the next try should
// succeed. If the tries fail nevertheless, this class decides when the driver pauses, and when it
// gives up.
class FutileWrites {
 public:
  // Counts a write that was refused or got no answer. Returns true if the previous write had the
  // same compares and failed, too. The driver must then pause before its next write.
  [[nodiscard]] bool again(const Transaction& write, const Outcome& outcome) {
    const bool same = compares_ == write.compares;
    if (!same) *this = {};
    compares_ = write.compares;
    if (std::holds_alternative<Refused>(outcome)) ++refusals_;
    return same;
  }
  void end() { *this = {}; }

  [[nodiscard]] bool is_for_good() const { return refusals_ >= refusals_max; }

  // Returns the count of refusals and the compares of the failed write as a string. Tests compare
  // these strings to find out whether two states are equal.
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
//     granted(LeaseId)               notes the lease that the task has asked for; 0 if there is
//                                    none or the lease may be over
//     take_gates(GatesAnswered)      notes the answers of gates; only if the task returns AskGates
//     deny(reason)                   notes that the store has denied a write; returns false if the
//                                    task can do nothing more
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

  // Returns the time at which the caller must send the event `TimePassed`, or no value if this
  // event is not needed.
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
    // Either the outcome of the transaction is unknown, or the store has refused to create this
    // driver's key. The records show what was written, and which driver has the key.
    read_all();
  }

  // Waits until the watch has reported the write that made the store refuse the transaction.
  void await_news() {
    task_.granted(0);  // the store also refuses a transaction if a lease in it has ended
    under_way_ = UnderWay::refused;
    retry_at_ = now_ + store_retry_ms;
    if (is_overtaken_) decide_again();
  }

  void decide_again() {
    under_way_ = UnderWay::nothing;
    write_.reset();
    retry_at_.reset();
  }

  // Called for each change that the watch reports. While `write_` is under way or refused, notes in
  // is_overtaken_ whether this change is a reason for the store to refuse `write_`. If the store
  // has refused `write_` already, the driver then decides again at once. It need not read
  // everything again, since the watch has reported the change.
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
      if (!is_news(put.key, revision)) continue;
      task_.take({.key = put.key, .value = put.value, .modified = revision, .lease = put.lease});
    }
    for (const Erase& erase : write.transaction.erases) {
      if (is_news(erase.key, revision)) task_.take_absent(erase.key);
    }
    if (!write.news.empty()) actions_.emplace_back(Tell{false, write.news});
    committed_ = std::move(write.transaction.puts);
    committed_at_ = now_;
  }

  void take(const ReadingEnded& event) {
    // While the transaction that takes the driver's key is under way, ignore this reading: the
    // driver reads again when that transaction has ended.
    if (under_way_ == UnderWay::taking) return;
    if (under_way_ == UnderWay::reading) under_way_ = UnderWay::nothing;
    if (under_way_ == UnderWay::transaction) is_overtaken_ = true;
    if (under_way_ == UnderWay::refused) decide_again();
    newest_.clear();
    read_at_ = event.reading.revision;
    task_.take_all(event.reading);
    const KeyValue* key = event.reading.find(task_.key());
    // If the key has the lease of this driver, the transaction that takes the key was committed,
    // and only its answer was lost. No other driver uses that lease.
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
    if (!is_told_news(event.record.key, event.record.modified)) return;
    look_at_write(event.record.key, event.record.modified);
    const bool driver = event.record.key == task_.key();
    if (driver && fence_ != 0 && event.record.created != fence_) {
      return end("another controller drives it", true);
    }
    task_.take(event.record);
  }

  void take(const KeyErased& event) {
    more_ = event.more;
    if (!is_told_news(event.key, event.revision)) return;
    if (event.key == task_.key() && fence_ != 0 && event.revision > fence_) {
      return end("its lease has ended", true);
    }
    look_at_write(event.key, event.revision);
    task_.take_absent(event.key);
  }

  // Returns whether a change is news: it came after the driver last read the store, and the driver
  // knows no newer change of the same key. A watch may report a change that is older than the
  // driver's own last write.
  bool is_news(const std::string& key, Revision revision) {
    if (revision <= read_at_) return false;
    Revision& known = newest_[key];
    if (revision < known) return false;
    known = revision;
    return true;
  }

  // Returns whether a change that the watch reports is news, as is_news() does. Also removes from
  // newest_ all revisions that are older than the change: a watch reports changes in the order of
  // their revisions, so it reports no older change later. While a transaction of this driver is
  // under way, nothing is removed: the transaction may get a revision that is older than the
  // change, and committed() then compares that revision with newest_.
  bool is_told_news(const std::string& key, Revision revision) {
    const bool news = is_news(key, revision);
    if (under_way_ == UnderWay::transaction) return news;
    std::erase_if(newest_, [revision](const auto& one) { return one.second < revision; });
    return news;
  }

  void take(const TimePassed&) {
    if (!retry_at_ || now_ < *retry_at_) return;
    retry_at_.reset();
    if (under_way_ == UnderWay::nothing || under_way_ == UnderWay::refused) read_all();
  }

  // Passes the gates' answers to the task. Only the task of a rollout asks gates, so only that task
  // has take_gates().
  void take(const GatesAnswered& event) {
    if constexpr (requires { task_.take_gates(event); }) task_.take_gates(event);
  }

  // ---- the next step, which the task decides

  void drive() {
    DriverStep next = task_.next(fence_, now_);
    if (auto* asked = std::get_if<AskGates>(&next)) {
      actions_.emplace_back(std::move(*asked));
      // The gates' answers come later, as the event GatesAnswered. The driver may have other work
      // until then, so take its next step now.
      next = task_.next(fence_, now_);
    }
    waits_until_.reset();
    if (const auto* wait = std::get_if<Wait>(&next)) {
      waits_until_ = wait->until;
      // Forget the lease for commands: it may end while the driver waits, so the next order needs a
      // new lease.
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

  // Returns whether the last transaction of this driver was committed less than store_retry_ms ago,
  // and has written exactly the same records. If the task decides the same write again, it has a
  // bug: it has not understood that the records are written already. The driver then pauses, so
  // that the task does not fill the store with repeated writes.
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
  // The transaction that was sent to the store and has no answer yet, or that the store has
  // refused.
  std::optional<Write> write_;
  // True if `write_` may have been decided from outdated records: after `write_` was sent, the
  // watch reported a change of a key that `write_` compares, with a later revision than `write_`
  // requires, or all records were read again.
  bool is_overtaken_ = false;
  std::optional<Ms> retry_at_;     // when to read again after the store did not answer
  std::optional<Ms> waits_until_;  // when to decide again, if no event comes before
  // The last known revision of each key, including those of the driver's own writes.
  std::map<std::string, Revision> newest_;
  Revision read_at_ = 0;  // the revision of the last reading
  FutileWrites futile_;
  std::vector<Put> committed_;  // the records of the last commit
  Ms committed_at_ = 0;
  // True if the store has reported several changes at once, and more of them follow the current
  // one. The driver then decides nothing yet.
  bool more_ = false;
  Ms proven_at_ = 0;  // when the store last showed that this driver has the key
  Ms now_ = 0;
  DriverActions actions_;
};

}  // namespace fleet

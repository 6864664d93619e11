#include "fleet/store/etcd_store.h"

#include <utility>

#include "base/check.h"
#include "fleet/store/etcd_call.h"
#include "fleet/store/etcd_messages.h"

namespace fleet {
namespace {

// A watch on one member of etcd, over one open stream. When the client changes to another member,
// the watch ends with a WatchLost, and its owner begins a new one.
class EtcdWatch : public Watch, public EtcdLine::Rider {
 public:
  EtcdWatch(EtcdLine& line, Keys keys, Revision from, Store::Then<const WatchNews&> tell);

 private:
  void leave() override;
  bool ask_for_life() override;
  void open();
  void take(const std::string& message);
  void take_changes(etcd_messages::WatchAnswer answer);
  void take_ending(const Http2::Ending& ending);
  void end(const WatchNews& news);
  void lose(Trouble::Kind kind, const std::string& reason);

  Keys keys_;
  Revision from_;
  Store::Then<const WatchNews&> tell_;
  Changes gathered_;  // the changes of a revision that is not complete yet
  std::unique_ptr<Http2::Call> stream_;
  std::unique_ptr<Timer> timer_;  // opens the stream, then limits the wait for its first answer
};

EtcdWatch::EtcdWatch(EtcdLine& line, Keys keys, Revision from, Store::Then<const WatchNews&> tell)
    : Rider(line), keys_(std::move(keys)), from_(from), tell_(std::move(tell)) {
  open();
}

// Opens the stream. Begins one revision before the wanted one, because of a bug in etcd 3.4: if the
// store has just removed the revisions up to the wanted one, a watch from there misses erasures
// without an error. A watch from the revision before gets the error.
void EtcdWatch::open() {
  const Timers::Milliseconds now = line().timers().now();
  const Timers::Milliseconds opens = line().endpoints().present().opens;
  if (opens > now) {
    timer_ = line().timers().after(opens - now, [this] { open(); });
    return;
  }
  stream_ = call("/etcdserverpb.Watch/Watch",
                 grpc_framed(etcd_messages::watch(keys_, std::max<Revision>(from_ - 1, 1))),
                 Timers::Milliseconds(0),
                 {.message = [this](const std::string& message) { take(message); },
                  .ended = [this](const Http2::Ending& ending) { take_ending(ending); }});
  const Timers::Milliseconds limit = line().endpoints().stretched(EtcdLine::patience);
  timer_ = line().timers().after(limit, [this, now] {
    line().suspect(connection(), now, "no answer");
    lose(Trouble::Kind::unreachable, "no answer");
  });
}

void EtcdWatch::take(const std::string& message) {
  timer_ = nullptr;
  line().heard(connection());
  auto answer = etcd_messages::watch_answer(message);
  if (!answer) {
    line().failed(connection(), "an answer that is none");
    return lose(Trouble::Kind::unreachable, "an answer that is none");
  }
  if (answer->compacted != 0) return end(Relist{});
  if (!answer->canceled) return take_changes(std::move(*answer));
  const bool denied = answer->reason.find("ermission") != std::string::npos;
  line().failed(connection(), answer->reason);
  lose(denied ? Trouble::Kind::denied : Trouble::Kind::unreachable, answer->reason);
}

void EtcdWatch::take_changes(etcd_messages::WatchAnswer answer) {
  for (Change& change : answer.changes.changes) {
    if (change.now.modified < from_) continue;
    gathered_.revision = change.now.modified;
    gathered_.changes.push_back(std::move(change));
  }
  if (answer.more || gathered_.changes.empty()) return;
  const Changes whole = std::exchange(gathered_, {});
  from_ = whole.revision + 1;
  const auto tell = tell_;  // a copy, since tell() may destroy this watch
  tell(whole);
}

void EtcdWatch::take_ending(const Http2::Ending& ending) {
  const auto code = ending.status.code();
  const CallFailure failure{.code = code.value_or(-1),
                            .reason = code ? ending.status.message() : ending.error};
  line().ended(connection(), line().timers().now(), ending);
  lose(meaning_of(failure) == Meaning::denied ? Trouble::Kind::denied : Trouble::Kind::unreachable,
       failure.reason);
}

bool EtcdWatch::ask_for_life() {
  if (stream_ == nullptr) return false;
  stream_->send(grpc_framed(etcd_messages::progress()));
  return true;
}

void EtcdWatch::leave() {
  if (stream_ != nullptr) lose(Trouble::Kind::unreachable, line().trouble());
}

void EtcdWatch::lose(Trouble::Kind kind, const std::string& reason) {
  end(WatchLost{{kind, reason}});
}

void EtcdWatch::end(const WatchNews& news) {
  timer_ = nullptr;
  stream_ = nullptr;
  const auto tell = tell_;
  tell(news);
}

Outcome outcome_of(const CallFailure& failure) {
  switch (meaning_of(failure)) {
    case Meaning::lease_gone:
      return Refused{};
    case Meaning::denied:
    case Meaning::compacted:
      return Denied{failure.reason};
    case Meaning::passing:
      break;
  }
  return Unknown{failure.reason};
}

}  // namespace

// A reading in several requests. Each answer is a page, and all pages show the revision of the
// first.
struct EtcdStore::Reader {
  Keys keys;
  Then<Reply<Reading>> then;
  Reading reading = {};
  int restarts = 0;
};

EtcdStore::EtcdStore(uv_loop_t& loop, Settings settings)
    : http_(loop, std::move(settings.certificates), std::move(settings.judge)),
      timers_(loop),
      line_(http_, timers_,
            Endpoints(std::move(settings.endpoints), settings.seed, settings.is_one_of_many),
            settings.deadline, settings.is_prompt),
      seed_(settings.seed) {
  UPGRADER_CHECK(line_.endpoints().count() > 0);
}

EtcdStore::~EtcdStore() {
  calls_.clear();
  UPGRADER_CHECK(!line_.has_riders());
}

void EtcdStore::ask(EtcdCall::Question question, Then<EtcdCall::Ended> then) {
  const std::uint64_t number = next_++;
  calls_[number] = std::make_unique<EtcdCall>(
      line_, std::move(question), seed_ + number,
      [this, number, then = std::move(then)](EtcdCall::Ended ended) {
        const auto ending = std::move(calls_.at(number));  // keeps the EtcdCall alive during then()
        calls_.erase(number);
        then(std::move(ended));
      });
}

void EtcdStore::answer_later(std::function<void()> call) {
  const std::uint64_t number = next_++;
  answers_[number] = timers_.after(std::chrono::milliseconds(0), [this, number, call] {
    answers_.erase(number);
    call();
  });
}

void EtcdStore::read(Keys keys, Then<Reply<Reading>> then) {
  read_page(std::make_shared<Reader>(Reader{std::move(keys), std::move(then)}));
}

void EtcdStore::read_page(const std::shared_ptr<Reader>& reader) {
  const Reading& so_far = reader->reading;
  const std::string from =
      so_far.found.empty() ? reader->keys.key : so_far.found.back().key + std::string(1, '\0');
  ask({.path = "/etcdserverpb.KV/Range",
       .body = etcd_messages::read(reader->keys, from, so_far.revision,
                                   etcd_messages::next_page_records(so_far.found))},
      [this, reader](const EtcdCall::Ended& ended) { take_page(reader, ended); });
}

void EtcdStore::take_page(const std::shared_ptr<Reader>& reader, const EtcdCall::Ended& ended) {
  const auto* failure = std::get_if<CallFailure>(&ended);
  // During a long reading, the store may remove the revision of the first page. The reading then
  // begins again, at most this many times.
  constexpr int restarts_max = 3;
  if (failure != nullptr && meaning_of(*failure) == Meaning::compacted &&
      reader->restarts++ < restarts_max) {
    reader->reading = {};
    return read_page(reader);
  }
  auto answer = answer_from<etcd_messages::Page>(ended, etcd_messages::page);
  if (const auto* trouble = std::get_if<Trouble>(&answer)) return reader->then(*trouble);
  auto& page = std::get<etcd_messages::Page>(answer);
  Reading& reading = reader->reading;
  if (reading.revision == 0) reading.revision = page.reading.revision;
  const bool more = page.more && !page.reading.found.empty();
  for (KeyValue& record : page.reading.found) {
    reading.found.push_back(std::move(record));
  }
  if (more) return read_page(reader);
  reader->then(std::move(reading));
}

void EtcdStore::commit(Transaction transaction, Then<Outcome> then) {
  if (const auto why = why_not_taken(transaction))
    return answer_later([why, then = std::move(then)] { then(Denied{*why}); });
  // A transaction that only compares may be sent again, to another member, if no answer comes.
  const bool writes = !transaction.puts.empty() || !transaction.erases.empty();
  ask({.path = "/etcdserverpb.KV/Txn",
       .body = etcd_messages::transaction(transaction),
       .writes = writes},
      [then = std::move(then)](const EtcdCall::Ended& ended) {
        if (const auto* failure = std::get_if<CallFailure>(&ended))
          return then(outcome_of(*failure));
        const auto outcome = etcd_messages::outcome(std::get<std::string>(ended));
        then(outcome.value_or(Unknown{"an answer that is none"}));
      });
}

void EtcdStore::grant(std::chrono::seconds ttl, Then<Reply<Lease>> then) {
  ask({.path = "/etcdserverpb.Lease/LeaseGrant", .body = etcd_messages::grant(ttl)},
      [then = std::move(then)](const EtcdCall::Ended& ended) {
        then(answer_from<Lease>(ended, etcd_messages::granted));
      });
}

// Renews the lease once. In etcd, this is a stream, which is closed after the first answer.
void EtcdStore::keep_alive(LeaseId lease, Then<Reply<LeaseState>> then) {
  ask({.path = "/etcdserverpb.Lease/LeaseKeepAlive", .body = etcd_messages::keep_alive(lease)},
      [then = std::move(then)](const EtcdCall::Ended& ended) {
        then(answer_from<LeaseState>(ended, etcd_messages::kept_alive));
      });
}

void EtcdStore::revoke(LeaseId lease, Then<Reply<LeaseState>> then) {
  ask({.path = "/etcdserverpb.Lease/LeaseRevoke", .body = etcd_messages::revoke(lease)},
      [then = std::move(then)](const EtcdCall::Ended& ended) {
        const auto* failure = std::get_if<CallFailure>(&ended);
        const bool was_gone = failure != nullptr && meaning_of(*failure) == Meaning::lease_gone;
        if (failure != nullptr && !was_gone) return then(trouble_of(*failure));
        then(LeaseState::gone);
      });
}

std::unique_ptr<Watch> EtcdStore::watch(Keys keys, Revision from, Then<const WatchNews&> tell) {
  return std::make_unique<EtcdWatch>(line_, std::move(keys), from, std::move(tell));
}

}  // namespace fleet

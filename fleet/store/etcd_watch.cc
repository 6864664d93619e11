#include "fleet/store/etcd_watch.h"

#include <utility>

#include "fleet/store/etcd_answer.h"

namespace fleet {

EtcdWatch::EtcdWatch(EtcdLine& line, Keys keys, Revision from, Store::Then<const WatchNews&> tell)
    : Rider(line), keys_(std::move(keys)), from_(from), tell_(std::move(tell)) {
  open();
}

// Opens the stream one revision before the wanted one. The reason is an error in etcd 3.4. If the
// store has removed old revisions up to exactly the wanted one, a watch from there misses erasures,
// and etcd does not report that. For the revision before, etcd reports that it was removed.
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
  if (answer->compacted != 0) return end(Relist{answer->compacted});
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
  const auto tell = tell_;  // a copy, since the call may destroy the watch
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

}  // namespace fleet

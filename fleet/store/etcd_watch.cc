#include "fleet/store/etcd_watch.h"

#include <utility>

namespace fleet {

EtcdWatch::EtcdWatch(EtcdLine& line, std::set<EtcdWatch*>& all, Keys keys, Revision from,
                     Store::Then<const WatchNews&> tell)
    : line_(line), all_(all), keys_(std::move(keys)), from_(from), tell_(std::move(tell)) {
  all_.insert(this);
  open();
}

EtcdWatch::~EtcdWatch() {
  all_.erase(this);
}

// Opens the stream at the revision before the wanted one. If it were opened at the wanted one, and
// the store had removed old revisions up to exactly that one, etcd 3.4 would omit erasures without
// an error. At the revision before, etcd reports that the revision is gone.
void EtcdWatch::open() {
  const Endpoints::Endpoint endpoint = line_.endpoints.next();
  endpoint_ = endpoint.index;
  stream_ = line_.http.call(
      {.url = endpoint.url + "/etcdserverpb.Watch/Watch",
       .body = grpc_framed(etcd_messages::watch(keys_, std::max<Revision>(from_ - 1, 1))),
       .fresh = endpoint.fresh},
      {.message = [this](const std::string& message) { take(message); },
       .ended = [this](const Http2::Ending& ending) { take_ending(ending); }});
  timer_ = line_.timers.after(patience_if_suspected * 2,
                              [this] { lose(Trouble::Kind::unreachable, "no answer", false); });
}

void EtcdWatch::take(const std::string& message) {
  auto answer = etcd_messages::watch_answer(message);
  if (!answer) return lose(Trouble::Kind::unreachable, "an answer that is none", false);
  rest();
  if (answer->compacted != 0) return end(Relist{answer->compacted});
  if (!answer->canceled) return take_changes(std::move(*answer));
  const bool denied = answer->reason.find("ermission") != std::string::npos;
  lose(denied ? Trouble::Kind::denied : Trouble::Kind::unreachable, answer->reason, true);
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
  const auto tell = tell_;  // the called function may destroy the watch
  tell(whole);
}

void EtcdWatch::take_ending(const Http2::Ending& ending) {
  const CallFailure failure{
      .code = ending.status.code().value_or(-1),
      .reason = ending.status.code() ? ending.status.message() : ending.error};
  lose(meaning_of(failure) == Meaning::denied ? Trouble::Kind::denied : Trouble::Kind::unreachable,
       failure.reason, ending.status.code().has_value());
}

void EtcdWatch::look_after(std::size_t endpoint) {
  if (endpoint == endpoint_ && stream_ != nullptr) ask_for_life(patience_if_suspected);
}

void EtcdWatch::rest() {
  timer_ = line_.timers.after(patience, [this] { ask_for_life(patience); });
}

void EtcdWatch::ask_for_life(Timers::Milliseconds limit) {
  timer_ = line_.timers.after(
      limit, [this] { lose(Trouble::Kind::unreachable, "the member is silent", false); });
  stream_->send(grpc_framed(etcd_messages::progress()));
}

void EtcdWatch::lose(Trouble::Kind kind, const std::string& reason, bool has_answered) {
  line_.endpoints.failed(endpoint_, has_answered);
  end(WatchLost{{kind, reason}});
}

void EtcdWatch::end(const WatchNews& news) {
  timer_ = nullptr;
  stream_ = nullptr;
  const auto tell = tell_;
  tell(news);
}

}  // namespace fleet

#include "fleet/store/etcd_line.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "fleet/store/grpc_frame.h"

namespace fleet {

std::unique_ptr<Http2::Call> EtcdLine::Rider::call(const std::string& path, std::string body,
                                                   Timers::Milliseconds timeout,
                                                   Http2::Observer observer) {
  const Endpoints::Endpoint& endpoint = line_.endpoints_.present();
  connection_ = endpoint.connection;
  line_.open();
  line_.look_after();
  return line_.http_.call({.url = endpoint.url + path,
                           .body = std::move(body),
                           .timeout = timeout,
                           .connection = endpoint.connection,
                           .connect_limit = endpoint.connect_limit},
                          std::move(observer));
}

// Called when a rider (a call or a watch) is destroyed. If this rider has sent a heartbeat request,
// its answer is lost, so look() decides whether another rider sends one.
void EtcdLine::forget(Rider* rider) {
  riders_.erase(rider);
  if (asking_ != rider) return;
  asking_ = nullptr;
  pulse_ = timers_.after(Timers::Milliseconds(0), [this] { look(); });
}

// Begins to open the current connection, once. libcurl lets later calls wait until it is open.
void EtcdLine::open() {
  const Endpoints::Endpoint& endpoint = endpoints_.present();
  if (std::exchange(opened_, endpoint.connection) == endpoint.connection) return;
  opening_ =
      http_.call({.url = endpoint.url + "/etcdserverpb.Maintenance/Status",
                  .body = grpc_framed(""),
                  .timeout = endpoint.connect_limit,
                  .connection = endpoint.connection,
                  .connect_limit = endpoint.connect_limit},
                 {.message = [](const std::string&) {},
                  .ended = [this, connection = endpoint.connection](
                               const Http2::Ending& ending) { take_opening(connection, ending); }});
}

// Handles the end of the first gRPC call of a connection. Any answer of the member, even an error,
// shows that the connection works.
void EtcdLine::take_opening(std::uint64_t connection, const Http2::Ending& ending) {
  if (connection != endpoints_.present().connection) return;
  opening_ = nullptr;
  if (ending.status.code() || ending.alone) return heard(connection);
  if (!endpoints_.has_worked()) broke(connection, ending.error, ending.silent && ending.accepted);
}

void EtcdLine::look_after() {
  if (pulse_ != nullptr) return;
  heard_ = timers_.now();
  pulse_ = timers_.after(limit(patience), [this] { look(); });
}

void EtcdLine::look() {
  const std::uint64_t connection = endpoints_.present().connection;
  if (asking_ != nullptr) return broke(connection, "the member is silent");
  const Timers::Milliseconds silence = timers_.now() - heard_;
  const Timers::Milliseconds time = limit(patience);
  if (silence < time) {
    pulse_ = timers_.after(time - silence, [this] { look(); });
  } else if (!ask(time)) {
    pulse_ = nullptr;  // the next call or watch starts the timer again
  }
}

// Lets one rider (a call or a watch) send a heartbeat request over the current connection. Returns
// false if none can.
bool EtcdLine::ask(Timers::Milliseconds time) {
  for (Rider* rider : riders_) {
    const bool rides = rider->connection_ == endpoints_.present().connection;
    if (!rides || !rider->ask_for_life()) continue;
    asking_ = rider;
    pulse_ = timers_.after(time, [this] { look(); });
    return true;
  }
  return false;
}

void EtcdLine::heard(std::uint64_t connection) {
  if (connection != endpoints_.present().connection) return;
  heard_ = timers_.now();
  endpoints_.heard(connection, heard_);
  if (std::exchange(asking_, nullptr) != nullptr)
    pulse_ = timers_.after(limit(patience), [this] { look(); });
}

void EtcdLine::failed(std::uint64_t connection, const std::string& reason) {
  const std::uint64_t before = endpoints_.present().connection;
  endpoints_.failed(connection, timers_.now());
  note_move(before, reason);
}

void EtcdLine::ended(std::uint64_t connection, Timers::Milliseconds since,
                     const Http2::Ending& ending) {
  if (ending.status.code()) {
    heard(connection);
    return failed(connection, ending.status.message());
  }
  if (ending.silent) return suspect(connection, since, ending.error);
  ending.alone ? failed(connection, ending.error) : broke(connection, ending.error);
}

void EtcdLine::broke(std::uint64_t connection, const std::string& reason, bool is_slow) {
  const std::uint64_t before = endpoints_.present().connection;
  endpoints_.broke(connection, timers_.now(), is_slow);
  note_move(before, reason);
}

void EtcdLine::suspect(std::uint64_t connection, Timers::Milliseconds since,
                       const std::string& reason) {
  if (connection != endpoints_.present().connection || asking_ != nullptr) return;
  if (!endpoints_.has_worked()) return;
  if (heard_ >= since) return failed(connection, reason);
  if (!ask(limit(patience_if_suspected))) broke(connection, reason);
}

void EtcdLine::note_move(std::uint64_t before, const std::string& reason) {
  if (endpoints_.present().connection == before) return;
  trouble_ = reason;
  opening_ = nullptr;
  asking_ = nullptr;
  pulse_ = nullptr;
  moved_ = timers_.after(Timers::Milliseconds(0), [this] { tell_left(); });
}

// Calls leave() of each rider (a call or a watch) on an earlier connection. This may destroy other
// riders, or even the EtcdStore that owns this object.
void EtcdLine::tell_left() {
  const std::weak_ptr<char> alive = alive_;
  const std::vector<Rider*> riders(riders_.begin(), riders_.end());
  for (Rider* rider : riders) {
    if (alive.expired()) return;
    const bool is_left = riders_.contains(rider) && rider->connection_ != 0 &&
                         rider->connection_ < endpoints_.present().connection;
    if (is_left) rider->leave();
  }
}

}  // namespace fleet

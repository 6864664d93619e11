// The connection of one client to the store, which all its calls and watches share. The line
// decides for all of them together whether the member at the other end has fallen silent. If it
// has, all of them move to the next member.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>

#include "fleet/store/endpoints.h"
#include "fleet/store/http2.h"
#include "fleet/store/timers.h"

namespace fleet {

class EtcdLine {
 public:
  // If there is an open watch, and the member has sent nothing for `patience`, it is asked for a
  // sign of life, and has `patience` once more to answer. If a call got no answer in time, the
  // member is asked at once, and has only `patience_if_suspected`.
  static constexpr Timers::Milliseconds patience{10'000};
  static constexpr Timers::Milliseconds patience_if_suspected{2'000};

  // A call or a watch that uses the connection. The line has a list of all riders.
  class Rider {
   public:
    explicit Rider(EtcdLine& line) : line_(line) { line_.riders_.insert(this); }
    Rider(const Rider&) = delete;
    Rider& operator=(const Rider&) = delete;
    virtual ~Rider() { line_.forget(this); }

   protected:
    // Called when the client has left the connection that this rider uses. May destroy this rider
    // and others.
    virtual void leave() = 0;
    // Asks the member for a sign of life, and returns true, if this rider can do so.
    virtual bool ask_for_life() { return false; }
    [[nodiscard]] EtcdLine& line() const { return line_; }
    // Returns the number of the connection that this rider has used last, or 0.
    [[nodiscard]] std::uint64_t connection() const { return connection_; }

    // Begins a call over the present connection.
    [[nodiscard]] std::unique_ptr<Http2::Call> call(const std::string& path, std::string body,
                                                    Timers::Milliseconds timeout,
                                                    Http2::Observer observer);

   private:
    friend class EtcdLine;
    EtcdLine& line_;
    std::uint64_t connection_ = 0;
  };

  // `deadline` is the time limit for one request. `http` and `timers` must live longer than the
  // line, and the line must live longer than all riders.
  EtcdLine(Http2& http, Timers& timers, Endpoints endpoints, Timers::Milliseconds deadline)
      : http_(http), timers_(timers), endpoints_(std::move(endpoints)), deadline_(deadline) {}

  [[nodiscard]] Timers& timers() const { return timers_; }
  [[nodiscard]] const Endpoints& endpoints() const { return endpoints_; }
  [[nodiscard]] Timers::Milliseconds deadline() const { return deadline_; }
  [[nodiscard]] bool has_riders() const { return !riders_.empty(); }
  // Returns why the last connection was left, for people; may be empty.
  [[nodiscard]] const std::string& trouble() const { return trouble_; }

  // ---- calls by which the riders report on the connection of this number

  // Notes that a message from the member has come.
  void heard(std::uint64_t connection);
  // Notes that a call has succeeded.
  void succeeded(std::uint64_t connection) { endpoints_.succeeded(connection); }
  // Notes that the member has answered that it cannot serve the request now, or has ended a call
  // without an answer.
  void failed(std::uint64_t connection, const std::string& reason);
  // Notes that a call that was begun at the time `since` has failed.
  void ended(std::uint64_t connection, Timers::Milliseconds since, const Http2::Ending& ending);
  // Notes that the connection has ended.
  void broke(std::uint64_t connection, const std::string& reason);
  // Notes that a call that was begun at the time `since` had no answer in time. Proves nothing as
  // long as the connection is being opened.
  void suspect(std::uint64_t connection, Timers::Milliseconds since, const std::string& reason);

 private:
  void forget(Rider* rider);
  void open();
  void take_opening(std::uint64_t connection, const Http2::Ending& ending);
  void look_after();
  void look();
  bool ask(Timers::Milliseconds limit);
  void note_move(std::uint64_t before, const std::string& reason);
  void tell_left();

  Http2& http_;
  Timers& timers_;
  Endpoints endpoints_;
  Timers::Milliseconds deadline_;
  std::set<Rider*> riders_;
  std::string trouble_;
  // Opens the present connection, by a question of its own. It may take longer than the deadline of
  // any call: a call that opened a connection itself would end it at the call's deadline.
  std::unique_ptr<Http2::Call> opening_;
  std::uint64_t opened_ = 0;       // the connection for which `opening_` was begun
  Timers::Milliseconds heard_{0};  // when the last message has come, or the connection was begun
  Rider* asking_ = nullptr;        // the rider that has asked the member for a sign of life
  std::unique_ptr<Timer> pulse_;   // the timer that checks how long the member has been silent
  std::unique_ptr<Timer> moved_;   // the timer that calls leave() of the riders a moment later
  std::shared_ptr<char> alive_ = std::make_shared<char>('\0');
};

}  // namespace fleet

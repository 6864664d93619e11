// The connection of one client to the store. All calls and watches of the client share it. This
// class decides for all of them whether the member at the other end no longer answers. In that
// case, all of them move to the next member.
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
  // How long a member may be silent. If the member has sent nothing for `patience`, an open watch
  // asks it for a sign of life, and waits for `patience` once more. If a call got no answer in
  // time, the member is asked at once, and has only `patience_if_suspected` to answer. After
  // connections were left, Endpoints::stretched() makes both times longer.
  static constexpr Timers::Milliseconds patience{10'000};
  static constexpr Timers::Milliseconds patience_if_suspected{2'000};

  // A call or a watch that uses the connection. The connection has a list of all its riders.
  class Rider {
   public:
    explicit Rider(EtcdLine& line) : line_(line) { line_.riders_.insert(this); }
    Rider(const Rider&) = delete;
    Rider& operator=(const Rider&) = delete;
    virtual ~Rider() { line_.forget(this); }

   protected:
    // Called when the client has changed from this rider's connection to a new one. May destroy
    // this rider and others.
    virtual void leave() = 0;
    // Asks the member for a sign of life. Returns false if this kind of rider cannot ask.
    virtual bool ask_for_life() { return false; }
    [[nodiscard]] EtcdLine& line() const { return line_; }
    // Returns the number of the connection that this rider used last, or 0 if it has used none.
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
  // Returns a text that says why the last connection was given up. The text may be empty.
  [[nodiscard]] const std::string& trouble() const { return trouble_; }

  // ---- reports of the riders about the connection with this number

  // Records that a message has come from the member.
  void heard(std::uint64_t connection);
  // Records that a call has succeeded.
  void succeeded(std::uint64_t connection) { endpoints_.succeeded(connection); }
  // Records that the member has answered that it cannot serve requests now, or that it has ended a
  // call without an answer.
  void failed(std::uint64_t connection, const std::string& reason);
  // Records that a call has failed that was begun at the time `since`.
  void ended(std::uint64_t connection, Timers::Milliseconds since, const Http2::Ending& ending);
  // Records that the connection has ended. `is_slow`: see Endpoints::broke().
  void broke(std::uint64_t connection, const std::string& reason, bool is_slow = false);
  // Records that a call that was begun at the time `since` got no answer in time. This is ignored
  // while the connection is still being opened, since the member may not have received the call.
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
  // The call that opens the present connection. A separate call does this, since the opening may
  // take longer than the time limit of other calls. If such a call opened the connection, it would
  // close the connection at its time limit.
  std::unique_ptr<Http2::Call> opening_;
  std::uint64_t opened_ = 0;       // the connection for which `opening_` was begun
  Timers::Milliseconds heard_{0};  // when the last message came, or the connection was begun
  Rider* asking_ = nullptr;        // the rider that has asked the member for a sign of life
  std::unique_ptr<Timer> pulse_;   // checks how long the member has been silent
  std::unique_ptr<Timer> moved_;   // calls leave() of the riders, a moment later
  std::shared_ptr<char> alive_ = std::make_shared<char>('\0');
};

}  // namespace fleet

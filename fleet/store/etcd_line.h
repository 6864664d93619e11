// Defines the class EtcdLine: the connection of one client to the store, which all its calls and
// watches share. If the member at the other end falls silent, all calls and watches move to the
// next member, over a new connection.
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
  // If a member sends nothing for the time `patience`, an open watch sends it a heartbeat request.
  // If no answer comes within the same time again, the client gives up the connection. After a call
  // without an answer, the heartbeat request is sent immediately, and must be answered within
  // `patience_if_suspected`. Endpoints::stretched() may make these times longer. For a prompt
  // client, each of them is always `patience_if_prompt`, so that it leaves a silent member within
  // four seconds.
  static constexpr Timers::Milliseconds patience{10'000};
  static constexpr Timers::Milliseconds patience_if_suspected{2'000};
  static constexpr Timers::Milliseconds patience_if_prompt{2'000};

  // A rider is a call or a watch that uses the connection.
  class Rider {
   public:
    explicit Rider(EtcdLine& line) : line_(line) { line_.riders_.insert(this); }
    Rider(const Rider&) = delete;
    Rider& operator=(const Rider&) = delete;
    virtual ~Rider() { line_.forget(this); }

   protected:
    // Called when the client has a newer connection than this rider. May destroy this rider and
    // others.
    virtual void leave() = 0;
    // Sends the member a heartbeat request. Returns false if this rider cannot send one now, or if
    // riders of its kind never can.
    virtual bool ask_for_life() { return false; }
    [[nodiscard]] EtcdLine& line() const { return line_; }
    // Returns the number of the connection that this rider used last, or 0 if it has used none.
    [[nodiscard]] std::uint64_t connection() const { return connection_; }

    // Begins a call over the current connection.
    [[nodiscard]] std::unique_ptr<Http2::Call> call(const std::string& path, std::string body,
                                                    Timers::Milliseconds timeout,
                                                    Http2::Observer observer);

   private:
    friend class EtcdLine;
    EtcdLine& line_;
    std::uint64_t connection_ = 0;
  };

  // `deadline` is the time limit for one request. `is_prompt` is as in EtcdStore. `http` and
  // `timers` must live longer than this object, and this object must live longer than all its
  // riders.
  EtcdLine(Http2& http, Timers& timers, Endpoints endpoints, Timers::Milliseconds deadline,
           bool is_prompt)
      : http_(http),
        timers_(timers),
        endpoints_(std::move(endpoints)),
        deadline_(deadline),
        is_prompt_(is_prompt) {}

  [[nodiscard]] Timers& timers() const { return timers_; }
  [[nodiscard]] const Endpoints& endpoints() const { return endpoints_; }
  [[nodiscard]] Timers::Milliseconds deadline() const { return deadline_; }
  [[nodiscard]] bool has_riders() const { return !riders_.empty(); }
  // Returns why the previous connection was given up. The text may be empty.
  [[nodiscard]] const std::string& trouble() const { return trouble_; }

  // ---- reports of the riders about a connection

  // Records that a message has come over this connection from the member of the store.
  void heard(std::uint64_t connection);
  // Records that a call over this connection has succeeded.
  void succeeded(std::uint64_t connection) { endpoints_.succeeded(connection); }
  // Records that the member cannot serve requests now: it said so, or ended a call without an
  // answer.
  void failed(std::uint64_t connection, const std::string& reason);
  // Records that a call failed. `since` is the time at which the call began.
  void ended(std::uint64_t connection, Timers::Milliseconds since, const Http2::Ending& ending);
  // Records that the connection has ended. `is_slow` is true if the TLS handshake exceeded its time
  // limit, as for Endpoints::broke().
  void broke(std::uint64_t connection, const std::string& reason, bool is_slow = false);
  // Records that a call, which began at the time `since`, got no answer in time. Ignored while the
  // connection is still being opened.
  void suspect(std::uint64_t connection, Timers::Milliseconds since, const std::string& reason);

 private:
  [[nodiscard]] Timers::Milliseconds limit(Timers::Milliseconds usual) const {
    return is_prompt_ ? patience_if_prompt : endpoints_.stretched(usual);
  }
  void forget(Rider* rider);
  void open();
  void take_opening(std::uint64_t connection, const Http2::Ending& ending);
  void look_after();
  void look();
  bool ask(Timers::Milliseconds time);
  void note_move(std::uint64_t before, const std::string& reason);
  void tell_left();

  Http2& http_;
  Timers& timers_;
  Endpoints endpoints_;
  Timers::Milliseconds deadline_;
  bool is_prompt_;
  std::set<Rider*> riders_;
  std::string trouble_;
  // A call that only opens the current connection. It may last longer than an ordinary call: if an
  // ordinary call opened the connection, libcurl would give up the connection at that call's time
  // limit.
  std::unique_ptr<Http2::Call> opening_;
  std::uint64_t opened_ = 0;       // the number of the connection that `opening_` opens
  Timers::Milliseconds heard_{0};  // when the last message came, or `pulse_` began
  Rider* asking_ = nullptr;        // the rider that has sent a heartbeat request
  std::unique_ptr<Timer> pulse_;   // checks how long the member has been silent
  std::unique_ptr<Timer> moved_;   // calls leave() of the riders, from the event loop
  std::shared_ptr<char> alive_ = std::make_shared<char>('\0');
};

}  // namespace fleet

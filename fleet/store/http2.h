// Makes gRPC calls over HTTP/2, with libcurl on a libuv event loop. Calls with the same connection
// number share a connection. EtcdCall repeats failed calls; this class does not.
#pragma once

#include <curl/curl.h>
#include <uv.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "base/curl_loop.h"
#include "base/uv_handle.h"
#include "fleet/store/grpc_frame.h"

namespace fleet {

// The paths of certificate files in PEM. If the paths are empty, calls are not encrypted.
struct Certificates {
  // The certificate of the authority that signs the members' certificates.
  std::string authority = {};
  std::string own = {};
  std::string key = {};
};

// The time with which the certificates of the store's members are checked. It is not simply the
// clock's, since a machine's clock may be wrong.
struct JudgingTime {
  std::int64_t seconds = 0;  // the time, in seconds since 1970
  std::string words = {};    // the time as a text for people
  std::string wait = {};     // why no connection may be made now; empty if one may be made
};

class Http2 {
 public:
  // Returns the time with which certificates are checked; called before each TLS connection.
  // Without a Judge, certificates are checked with the clock's time.
  using Judge = std::function<JudgingTime()>;

  // The outcome of a call.
  struct Ending {
    GrpcStatus status;
    std::string error;    // libcurl's error message, or empty
    bool sent = true;     // false if the member has certainly not received the call
    bool silent = false;  // true if no answer came within the time limit
    // True if only this call has ended, and its connection still works.
    bool alone = false;
    bool accepted = false;  // the member's machine had accepted the TCP connection
  };
  struct Request {
    std::string url;
    std::string body;  // the first message of the call, with gRPC's prefix of five bytes
    // The time limit for the call; 0 for a stream without a limit.
    std::chrono::milliseconds timeout{0};
    // The number of the connection: calls with the same number share a connection to one member. A
    // connection is closed when its calls have ended and there is one with a larger number.
    std::uint64_t connection = 1;
    std::chrono::milliseconds connect_limit{2'000};  // the time limit for opening the connection
  };
  struct Observer {
    std::function<void(const std::string& message)> message;
    std::function<void(const Ending& ending)> ended;
  };

  // One call. The destructor ends it, and the observer is not called any more.
  class Call {
   public:
    Call(Http2& owner, Request request, Observer observer);
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;
    ~Call();

    // Sends another message on the call's stream; it must have its gRPC prefix (grpc_frame.h).
    void send(const std::string& framed);
    // Returns whether the member of the store may have received the request.
    [[nodiscard]] bool has_begun() const { return has_begun_; }

   private:
    friend class Http2;
    struct FreeEasy {
      void operator()(CURL* easy) const { curl_easy_cleanup(easy); }
    };
    struct FreeList {
      void operator()(curl_slist* list) const { curl_slist_free_all(list); }
    };

    void set_options();
    void set_headers();
    std::size_t give(char* buffer, std::size_t size);
    void judge_certificates();
    [[nodiscard]] Ending ending(CURLcode code) const;
    [[nodiscard]] std::string transport_words(CURLcode code) const;
    [[nodiscard]] std::string timeout_words() const;

    Http2& owner_;
    std::uint64_t number_;
    Request request_;
    CURLM* multi_;
    Observer observer_;
    std::unique_ptr<CURL, FreeEasy> easy_;
    std::unique_ptr<curl_slist, FreeList> headers_;
    GrpcReader reader_;
    GrpcStatus status_;
    std::string outgoing_;
    bool paused_ = false;
    bool has_begun_ = false;  // whether the request may have been sent
    bool is_over_ = false;    // whether the observer knows that the call has ended
    JudgingTime judging_;     // the time with which certificates were checked
    char error_[CURL_ERROR_SIZE] = "";
  };

  Http2(uv_loop_t& loop, Certificates certificates, Judge judge = nullptr);
  Http2(const Http2&) = delete;
  Http2& operator=(const Http2&) = delete;
  // All calls must be destroyed before this object.
  ~Http2();

  [[nodiscard]] std::unique_ptr<Call> call(Request request, Observer observer);

 private:
  [[nodiscard]] CURLM* multi(std::uint64_t connection);
  void push();
  void push_on();
  void end_old_connections();
  void tell(CURLM* multi);
  void tell_endings(CURLM* multi);
  void tell_ending(std::uint64_t number, const Ending& ending);

  uv_loop_t& loop_;
  Certificates certificates_;
  Judge judge_;
  upgrader::UvHandle<uv_idle_t> pusher_;
  std::map<std::uint64_t, Call*> calls_;  // all calls that still exist, by their numbers
  std::set<std::uint64_t> heard_;         // calls whose observers have to be told something
  std::uint64_t next_number_ = 1;
  int pushes_ = 0;
  // The connections, by their numbers. Each has its own CurlLoop, since libcurl would otherwise
  // choose the connection for a call.
  std::map<std::uint64_t, upgrader::CurlLoop> connections_;
};

}  // namespace fleet

// The connections of a server. Limits the time for each request and answer. Otherwise a client
// could occupy a connection for ever: by a request whose head never ends, or by an answer that it
// never reads. Also finds out which clients have gone.
#pragma once

#include <microhttpd.h>

#include <chrono>
#include <map>

namespace fleet {

// The time limit for a complete request. It counts from the beginning of the connection or from the
// end of the previous answer.
inline constexpr std::chrono::seconds request_time{30};
// The time limit for an answer. It is enough for the largest answer on a slow link.
inline constexpr std::chrono::seconds answer_time{300};

class Connections {
 public:
  using Time = std::chrono::milliseconds;

  void began(MHD_Connection* connection, Time now);
  void ended(MHD_Connection* connection) { lines_.erase(connection); }
  // Notes that a complete request has arrived.
  void asked(MHD_Connection* connection, Time now);
  // Notes that the answer is a stream, which may last without a time limit.
  void streams(MHD_Connection* connection);
  // Notes that the whole answer was sent. From then on, the client may send the next request.
  void answered(MHD_Connection* connection, Time now);

  // Shuts down the connections whose time limit has passed. libmicrohttpd then closes them.
  void shut_late(Time now) const;
  [[nodiscard]] bool are_none() const { return lines_.empty(); }

 private:
  enum class Phase { asks, is_answered, streams };
  struct Line {
    Phase phase = Phase::asks;
    Time since{0};
  };

  void note(MHD_Connection* connection, const Line& line);

  std::map<MHD_Connection*, Line> lines_;
};

// Returns whether the client has closed the connection. libmicrohttpd does not look at suspended
// connections.
[[nodiscard]] bool has_client_gone(MHD_Connection* connection);
// Shuts down the connection's socket. libmicrohttpd then closes the connection.
void shut(MHD_Connection* connection);

}  // namespace fleet

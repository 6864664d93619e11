// The connections of a server: how long each may take, so that nobody holds one for ever by a head
// that never ends or an answer that is never read; and which clients have gone.
#pragma once

#include <microhttpd.h>

#include <chrono>
#include <map>

namespace fleet {

// The longest time from the beginning of a connection, or from the last answer, to the end of the
// next request.
inline constexpr std::chrono::seconds request_time{30};
// The longest time for one answer: enough for the largest answer on a slow link.
inline constexpr std::chrono::seconds answer_time{300};

class Connections {
 public:
  using Time = std::chrono::milliseconds;

  void began(MHD_Connection* connection, Time now);
  void ended(MHD_Connection* connection) { lines_.erase(connection); }
  // Notes that a complete request has arrived.
  void asked(MHD_Connection* connection, Time now);
  // Notes that the answer goes on for as long as the client stays.
  void streams(MHD_Connection* connection);
  // Notes that the whole answer is sent, and that the next request may come.
  void answered(MHD_Connection* connection, Time now);

  // Shuts the connections whose time is over; libmicrohttpd then ends them.
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

// Returns whether the client has gone. libmicrohttpd itself does not look at suspended connections.
[[nodiscard]] bool has_client_gone(MHD_Connection* connection);
// Shuts the connection for the client; libmicrohttpd then ends it.
void shut(MHD_Connection* connection);

}  // namespace fleet

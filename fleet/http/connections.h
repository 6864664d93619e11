// The connections of a server: how long each may take, so that nobody holds one for ever by a head
// that never ends, or by an answer that is never read; and which clients have gone.
#pragma once

#include <microhttpd.h>

#include <chrono>
#include <map>

namespace fleet {

// From the begin of a connection, or of the wait for its next request, to the end of the request.
inline constexpr std::chrono::seconds request_time{30};
// For all of an answer: as long as a slow link takes for the largest.
inline constexpr std::chrono::seconds answer_time{300};

class Connections {
 public:
  using Time = std::chrono::milliseconds;

  void began(MHD_Connection* connection, Time now);
  void ended(MHD_Connection* connection) { lines_.erase(connection); }
  // A whole request has come.
  void asked(MHD_Connection* connection, Time now);
  // It is answered for as long as the client stays.
  void streams(MHD_Connection* connection);
  // All of an answer is sent; the next request may come.
  void answered(MHD_Connection* connection, Time now);

  // Those that have had their time are shut; the server's daemon ends them then.
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

// The daemon looks at no connection that is suspended, so that it does not see the client go.
[[nodiscard]] bool has_client_gone(MHD_Connection* connection);
// The client hears its end; the daemon ends it then.
void shut(MHD_Connection* connection);

}  // namespace fleet

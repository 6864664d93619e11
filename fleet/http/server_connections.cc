// Implements the part of the web server that knows how long a connection may take, and ends
// connections.
#include <poll.h>
#include <sys/socket.h>

#include "fleet/http/server.h"

namespace fleet {
namespace {

int descriptor_of(MHD_Connection* connection) {
  const auto* info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
  return info == nullptr ? -1 : info->connect_fd;
}

}  // namespace

void Connections::began(MHD_Connection* connection, Time now) {
  lines_[connection] = {.phase = Phase::asks, .since = now};
}

void Connections::asked(MHD_Connection* connection, Time now) {
  note(connection, {.phase = Phase::is_answered, .since = now});
}

void Connections::streams(MHD_Connection* connection) {
  note(connection, {.phase = Phase::streams});
}

void Connections::answered(MHD_Connection* connection, Time now) {
  note(connection, {.phase = Phase::asks, .since = now});
}

// Records the phase of a connection. Ignores a connection that has ended: libmicrohttpd may report
// the end of its request later.
void Connections::note(MHD_Connection* connection, const Line& line) {
  const auto at = lines_.find(connection);
  if (at != lines_.end()) at->second = line;
}

void Connections::shut_late(Time now) const {
  for (const auto& [connection, line] : lines_) {
    const bool is_late = (line.phase == Phase::asks && now >= line.since + request_time) ||
                         (line.phase == Phase::is_answered && now >= line.since + answer_time);
    if (is_late) shut(connection);
  }
}

void shut(MHD_Connection* connection) {
  const int descriptor = descriptor_of(connection);
  if (descriptor >= 0) ::shutdown(descriptor, SHUT_RDWR);
}

bool has_client_gone(MHD_Connection* connection) {
  pollfd line{descriptor_of(connection), POLLRDHUP, 0};
  return ::poll(&line, 1, 0) == 1 && (line.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0;
}

}  // namespace fleet

// How loud a log line is. Who shows which is in log.h.
#pragma once

namespace upgrader {

enum class LogLevel { error, warning, info, debug };  // the loudest first

}  // namespace upgrader

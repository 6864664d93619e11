// The upgrader's own version.
#pragma once

namespace upgrader {

inline constexpr char upgrader_version[] = "0.1.0";

}  // namespace upgrader

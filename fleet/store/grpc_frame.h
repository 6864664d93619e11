// Implements the parts of gRPC that the fleet needs on top of HTTP/2: the prefix of each message,
// and the status in the trailers. Checks all bytes from the peer. Does no input or output.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace fleet {

// The maximum size of a message: larger than 1,000 records of 64 KiB with their keys.
inline constexpr std::size_t grpc_message_bytes_max = 72u << 20u;

// The status codes of gRPC that other files use.
inline constexpr int grpc_ok = 0;
inline constexpr int grpc_unknown = 2;
inline constexpr int grpc_invalid_argument = 3;
inline constexpr int grpc_not_found = 5;
inline constexpr int grpc_permission_denied = 7;
inline constexpr int grpc_resource_exhausted = 8;
inline constexpr int grpc_failed_precondition = 9;
inline constexpr int grpc_out_of_range = 11;
inline constexpr int grpc_unimplemented = 12;
inline constexpr int grpc_data_loss = 15;
inline constexpr int grpc_unauthenticated = 16;

[[nodiscard]] std::string grpc_framed(std::string_view message);

// Cuts the stream of bytes that a call receives into messages of gRPC.
class GrpcReader {
 public:
  // Adds received bytes. Returns false if they are not gRPC, or if a message is too long. From then
  // on, always returns false, and next() returns nothing.
  [[nodiscard]] bool take(std::string_view bytes);
  // Returns the next complete message, without its prefix, or no value if no message is complete
  // yet.
  [[nodiscard]] std::optional<std::string> next();

 private:
  [[nodiscard]] bool prefix_is_good() const;

  std::string buffer_;
  bool good_ = true;
};

// The status at the end of a call, from the HTTP headers or trailers (lines of the form `name:
// value`).
class GrpcStatus {
 public:
  void take_line(std::string_view line);

  // Returns the status, or no value if no status has come.
  [[nodiscard]] std::optional<int> code() const { return code_; }
  [[nodiscard]] const std::string& message() const { return message_; }

 private:
  std::optional<int> code_;
  std::string message_;
};

}  // namespace fleet

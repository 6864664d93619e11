// gRPC's framing on HTTP/2, as far as the fleet needs it: messages behind a prefix of five bytes,
// the status in trailers. Pure: bytes in, messages out. Distrusts what it reads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace fleet {

// A longer message is no answer to anything that was asked: a page of 100 records of 64 KiB and
// their keys has less.
inline constexpr std::size_t grpc_message_bytes_max = 16u << 20u;

// The statuses that something depends on; gRPC has more.
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

// Cuts a stream of bytes into messages.
class GrpcReader {
 public:
  // False: what has come is no gRPC, or too long; then nothing more is read.
  [[nodiscard]] bool take(std::string_view bytes);
  // The next whole message, without its prefix.
  [[nodiscard]] std::optional<std::string> next();

 private:
  [[nodiscard]] bool prefix_is_good() const;

  std::string buffer_;
  bool good_ = true;
};

// The ending of a call: headers or trailers, as lines of `name: value`.
class GrpcStatus {
 public:
  void take_line(std::string_view line);

  // No value if the stream ended without one.
  [[nodiscard]] std::optional<int> code() const { return code_; }
  [[nodiscard]] const std::string& message() const { return message_; }

 private:
  std::optional<int> code_;
  std::string message_;
};

}  // namespace fleet

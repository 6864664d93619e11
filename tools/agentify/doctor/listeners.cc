// Parses the kernel's tables of sockets. Skips lines that do not have the expected form.
#include <arpa/inet.h>

#include <array>
#include <charconv>
#include <cstring>

#include "tools/agentify/doctor/findings.h"

namespace agentify {
namespace {

constexpr std::size_t ipv4_digits = 8;
constexpr std::size_t ipv6_digits = 32;
constexpr std::string_view tcp_listens = "0A";
constexpr std::string_view udp_unconnected = "07";
constexpr std::string_view unix_listens = "00010000";

// Removes the next field from the line and returns it. Returns an empty text if no field is left.
std::string_view next_word(std::string_view& line) {
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  const std::string_view word = line.substr(0, line.find(' '));
  line.remove_prefix(word.size());
  return word;
}

template <class Number>
bool take_number(std::string_view text, Number& number, int base) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  return error == std::errc{} && end == text.data() + text.size();
}

// Parses an IP address. The kernel prints each group of 32 bits as one number in the machine's byte
// order.
std::optional<std::string> address_in(std::string_view digits) {
  if (digits.size() != ipv4_digits && digits.size() != ipv6_digits) return std::nullopt;
  std::array<std::uint32_t, 4> words{};
  for (std::size_t at = 0; at < digits.size(); at += ipv4_digits) {
    if (!take_number(digits.substr(at, ipv4_digits), words[at / ipv4_digits], 16)) {
      return std::nullopt;
    }
  }
  char text[INET6_ADDRSTRLEN];
  const int family = digits.size() == ipv4_digits ? AF_INET : AF_INET6;
  if (::inet_ntop(family, words.data(), text, sizeof text) == nullptr) return std::nullopt;
  return std::string(text);
}

// Parses a line of the tables for tcp and udp, such as "  0: 0100007F:1F90 00000000:0000 0A
// 00000000:00000001 00:00000000 00000000  0  0 12345 ..."
std::optional<Listener> internet_listener(Listener::Kind kind, std::string_view line) {
  std::array<std::string_view, 10> words;
  for (std::string_view& word : words)
    word = next_word(line);
  const bool datagrams = kind == Listener::Kind::udp || kind == Listener::Kind::udp6;
  if (words[3] != (datagrams ? udp_unconnected : tcp_listens)) return std::nullopt;
  const std::size_t colon = words[1].find(':');
  const std::size_t queues = words[4].find(':');
  if (colon == std::string_view::npos || queues == std::string_view::npos) return std::nullopt;
  Listener listener{.kind = kind};
  const auto address = address_in(words[1].substr(0, colon));
  if (!address || !take_number(words[1].substr(colon + 1), listener.port, 16) ||
      !take_number(words[4].substr(queues + 1), listener.waiting, 16) ||
      !take_number(words[9], listener.inode, 10)) {
    return std::nullopt;
  }
  listener.address = *address;
  return listener;
}

// Parses a line of the table for unix sockets, such as "0000000000000000: 00000002 00000000
// 00010000 0001 01 12345 /run/x".
std::optional<Listener> unix_listener(std::string_view line) {
  std::array<std::string_view, 7> words;
  for (std::string_view& word : words)
    word = next_word(line);
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  Listener listener{.kind = Listener::Kind::unix_stream};
  const bool by_path = words[3] == unix_listens && words[4] == "0001" && line.starts_with('/');
  if (!by_path || !take_number(words[6], listener.inode, 10)) return std::nullopt;
  listener.address = std::string(line);
  return listener;
}

}  // namespace

std::vector<Listener> parse_listeners(Listener::Kind kind, std::string_view text) {
  std::vector<Listener> found;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    auto listener =
        kind == Listener::Kind::unix_stream ? unix_listener(line) : internet_listener(kind, line);
    if (listener) found.push_back(*std::move(listener));
  }
  return found;
}

std::string in_words(const Listener& listener) {
  switch (listener.kind) {
    case Listener::Kind::unix_stream:
      return "unix " + listener.address;
    case Listener::Kind::tcp:
      return "tcp " + listener.address + ":" + std::to_string(listener.port);
    case Listener::Kind::tcp6:
      return "tcp [" + listener.address + "]:" + std::to_string(listener.port);
    case Listener::Kind::udp:
      return "udp " + listener.address + ":" + std::to_string(listener.port);
    case Listener::Kind::udp6:
      return "udp [" + listener.address + "]:" + std::to_string(listener.port);
  }
  return "";
}

}  // namespace agentify

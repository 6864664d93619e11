#include "agent-protocol/cpp/control/lenient_archive.h"

#include <charconv>

namespace upgraderctl {

bool LenientArchive::read(std::size_t index, std::string& value) {
  if (!is(index, Kind::text)) return false;
  value = line_.text(index);
  return true;
}

bool LenientArchive::read(std::size_t index, bool& value) {
  if (!is(index, Kind::boolean)) return false;
  value = line_.node(index).size == 1;
  return true;
}

bool LenientArchive::read(std::size_t index, std::int64_t& value) {
  if (!is(index, Kind::number)) return false;
  const std::string_view digits = line_.text(index);
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc{} || end != digits.data() + digits.size()) return false;
  value = number;
  return true;
}

bool LenientArchive::read(std::size_t index, Moment& value) {
  if (!is(index, Kind::text)) return false;
  const std::optional<Moment> moment = parse_moment(line_.text(index));
  if (!moment) return false;
  value = *moment;
  return true;
}

}  // namespace upgraderctl

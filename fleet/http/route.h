// Finds out from the path of a URL which part of the cell is asked for:
//
//     /                the page; its other files are /page.css and those in page.h
//     /v1/openapi.json this table, as OpenAPI
//     /metrics         for Prometheus
//     /v1/join         for machines that join, without a certificate
//     /v1/changes      changes of records, as server-sent events
//     /v1/state        a summary of the cell; /v1/state/PATH is the record at PATH, and
//                      /v1/state/PATH/ all records below it
//     /v1/config/PATH  the records that people set: one, or all of a kind
//     /v1/apply        a document with many of these records
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "fleet/model/keys.h"

namespace fleet {

enum class Place { page, metrics, join, changes, state, config, apply, nowhere };

struct Route {
  Place place = Place::nowhere;
  std::string rest = {};  // the rest of the path, without the slash before it

  bool operator==(const Route&) const = default;
};

[[nodiscard]] Route route_of(std::string_view path);

// Returns the key of the record that the path names, or no value if people may not set such a
// record.
[[nodiscard]] std::optional<ParsedKey> config_record(std::string_view rest);
// Returns whether the path names a list of records that people may set: all of one kind, or all
// kinds together.
[[nodiscard]] bool is_config_list(std::string_view rest);

}  // namespace fleet

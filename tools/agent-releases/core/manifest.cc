#include "agent-releases/manifest.h"

#include <algorithm>

#include "tools/agent-releases/core/json_object.h"
#include "tools/agent-releases/core/moment.h"
#include "tools/agent-releases/core/names.h"

namespace agent_releases {
namespace {

constexpr std::size_t arch_bytes_max = 64;
constexpr std::size_t url_bytes_max = 4'096;
constexpr std::size_t moment_bytes_max = 64;
constexpr std::size_t kind_bytes_max = 16;
constexpr std::size_t sha256_digits = 64;

void read_kind(JsonReader& json, Manifest& manifest) {
  const std::string kind = json.required_text("kind", kind_bytes_max);
  if (kind == "tar") {
    manifest.kind = Kind::tar;
    manifest.entry = json.required_text("entry", entry_bytes_max);
    const Outcome sound = check_entry(manifest.entry);
    if (!sound) json.refuse(sound.reason());
  } else if (kind != "file") {
    json.refuse("`kind` is neither file nor tar");
  }
}

void read_bytes(JsonReader& json, Manifest& manifest) {
  manifest.size = json.required_number("size");
  if (manifest.size < 1 || manifest.size > release_bytes_max) {
    json.refuse("`size` is not between 1 and 68,719,476,736");
  }
  manifest.sha256 = json.required_text("sha256", sha256_digits);
  if (!is_sha256(manifest.sha256)) json.refuse("`sha256` is not 64 digits of 0 to 9 and a to f");
}

void read_version(JsonReader& json, Manifest& manifest) {
  const std::string text = json.required_text("version", version_bytes_max);
  const std::optional<Version> version = Version::parse(text);
  if (!version) return json.refuse("`version` is no semantic version such as 1.2.3");
  manifest.version = *version;
  const Outcome sound = check_version(*version);
  if (!sound) json.refuse(sound.reason());
}

void read_expiry(JsonReader& json, Manifest& manifest) {
  const std::optional<std::string> text = json.text("expires", moment_bytes_max);
  if (!text) return;
  manifest.expires = parse_moment(*text);
  if (!manifest.expires) json.refuse("`expires` is no time such as 2030-01-31T00:00:00Z");
}

}  // namespace

bool is_sha256(std::string_view text) {
  const auto fits = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  return text.size() == sha256_digits && std::ranges::all_of(text, fits);
}

Result<Manifest> parse_manifest(std::string_view text) {
  if (text.size() > manifest_bytes_max) return Refusal{"it has more than 65,536 bytes"};
  Result<JsonReader> parsed = JsonReader::parse(text);
  if (!parsed) return parsed.refusal();
  JsonReader& json = parsed.value();
  Manifest manifest;
  manifest.name = json.required_text("name", name_bytes_max);
  const Outcome sound = check_name(manifest.name);
  if (!sound) json.refuse("`name`: " + sound.reason());
  read_version(json, manifest);
  manifest.arch = json.required_text("arch", arch_bytes_max);
  read_kind(json, manifest);
  read_bytes(json, manifest);
  manifest.min_protocol = json.required_number("min_protocol");
  if (manifest.min_protocol < 1) json.refuse("`min_protocol` is less than 1");
  manifest.url = json.required_text("url", url_bytes_max);
  if (manifest.url.empty()) json.refuse("`url` is empty");
  read_expiry(json, manifest);
  manifest.undo = json.truth("undo", true);
  if (json.refusal()) return Refusal{*json.refusal()};
  return manifest;
}

std::string to_text(const Manifest& manifest) {
  std::string version = manifest.version.text();
  if (!manifest.version.build.empty()) version += "+" + manifest.version.build;
  JsonWriter json;
  json.add("name", manifest.name).add("version", version).add("arch", manifest.arch);
  json.add("kind", manifest.kind == Kind::tar ? "tar" : "file");
  json.add("size", manifest.size).add("sha256", manifest.sha256);
  if (manifest.kind == Kind::tar) json.add("entry", manifest.entry);
  json.add("min_protocol", manifest.min_protocol).add("url", manifest.url);
  if (manifest.expires) json.add("expires", to_text(*manifest.expires));
  if (!manifest.undo) json.add("undo", false);
  return json.line() + "\n";
}

}  // namespace agent_releases

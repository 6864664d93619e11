#include "fleet/model/drivers/controllers_at_work.h"

#include <algorithm>
#include <iterator>

#include "fleet/model/records/keys.h"
#include "fleet/model/records/record_text.h"

namespace fleet {

bool ControllersAtWork::needs(KeyKind kind) {
  return kind == KeyKind::controller || kind == KeyKind::controller_life || kind == KeyKind::driver;
}

void ControllersAtWork::take(const KeyValue& record) {
  const auto key = parse_key(record.key);
  if (!key) return;
  if (key->kind == KeyKind::controller) known_.insert(key->names[0]);
  if (key->kind == KeyKind::controller_life) lives_[key->names[0]].insert(key->names[1]);
  if (key->kind == KeyKind::driver) {
    const auto driver = read_record<DriverRecord>(record.value);
    if (driver) drivers_[key->names[0]] = driver.value().controller;
  }
}

void ControllersAtWork::take_absent(const std::string& text) {
  const auto key = parse_key(text);
  if (!key) return;
  if (key->kind == KeyKind::controller) known_.erase(key->names[0]);
  if (key->kind == KeyKind::controller_life) {
    const auto found = lives_.find(key->names[0]);
    if (found == lives_.end()) return;
    found->second.erase(key->names[1]);
    if (found->second.empty()) lives_.erase(found);
  }
  if (key->kind == KeyKind::driver) drivers_.erase(key->names[0]);
}

std::set<std::string> ControllersAtWork::driving() const {
  std::set<std::string> names;
  for (const auto& [id, name] : drivers_)
    names.insert(name);
  return names;
}

bool ControllersAtWork::lives(const std::string& name) const {
  if (lives_.contains(name)) return true;
  // A controller of an older version writes no record controller/NAME/life/ID. Only its records
  // driver/ID show that it is at work.
  return std::any_of(drivers_.begin(), drivers_.end(), [&name](const auto& one) {
    return controller_record_name(one.second) == name;
  });
}

std::vector<std::string> ControllersAtWork::living() const {
  std::set<std::string> names = driving();
  for (const auto& [name, ids] : lives_) {
    const bool is_listed = std::any_of(
        names.begin(), names.end(),
        [&name = name](const std::string& one) { return controller_record_name(one) == name; });
    if (!is_listed) names.insert(name);
  }
  return {names.begin(), names.end()};
}

std::vector<std::string> ControllersAtWork::silent() const {
  std::vector<std::string> names;
  std::copy_if(known_.begin(), known_.end(), std::back_inserter(names),
               [this](const std::string& name) { return !lives(name); });
  return names;
}

std::string controller_record_name(const std::string& name) {
  std::string host = name.substr(0, name.find(':'));
  std::transform(host.begin(), host.end(), host.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return is_id(host) ? host : "";
}

}  // namespace fleet

// The parts of which the groups of fleetctl's subcommands are made.
#pragma once

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdint>
#include <string>

#include "fleet/fleetctl/options.h"

namespace fleetctl {

// Refuses what is not good by saying what is wanted.
[[nodiscard]] CLI::Validator form(bool (*is_good)(std::string_view), const std::string& wanted);
// A subcommand that performs this command.
CLI::App& add(CLI::App& parent, Options& options, Command command, const std::string& name,
              const std::string& about);
// An option whose value is a duration, as fleetctl(1) writes it: a number of `unit`, rounded up.
void add_duration(CLI::App& app, const std::string& name, std::int64_t& value,
                  std::chrono::milliseconds unit, const std::string& about, bool required = false);
void add_component(CLI::App& app, Options& options, bool required);

// ---- the groups that stand in files of their own
void add_enrolment(CLI::App& app, Options& options);
void add_plans(CLI::App& app, Options& options);
void add_windows(CLI::App& app, Options& options);
void add_node_orders(CLI::App& app, Options& options);
void add_terms(CLI::App& app, Options& options);

}  // namespace fleetctl

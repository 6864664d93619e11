// Declares the functions with which options.cc and `option_*.cc` define fleetctl's subcommands and
// their options. The functions that several of these files use are in options.cc.
#pragma once

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdint>
#include <string>

#include "fleet/fleetctl/options.h"

namespace fleetctl {

// Returns a validator that accepts an option's value if `is_good` returns true for it. Otherwise
// the error message is `VALUE: needs WANTED`.
[[nodiscard]] CLI::Validator form(bool (*is_good)(std::string_view), const std::string& wanted);
// Adds to `parent` a subcommand that runs `command`.
CLI::App& add(CLI::App& parent, Options& options, Command command, const std::string& name,
              const std::string& about);
// Adds an option whose value is a duration, as fleetctl(1) describes it. Stores the duration in
// `value`, counted in `unit`s and rounded up.
void add_duration(CLI::App& app, const std::string& name, std::int64_t& value,
                  std::chrono::milliseconds unit, const std::string& about, bool required = false);

// ---- functions that add groups of subcommands, from the files option_*.cc
void add_cells(CLI::App& app, Options& options);
void add_enrolment(CLI::App& app, Options& options);
void add_joining(CLI::App& app, Options& options);
void add_plans(CLI::App& app, Options& options);
void add_windows(CLI::App& app, Options& options);
void add_node_orders(CLI::App& app, Options& options);
void add_terms(CLI::App& app, Options& options);

}  // namespace fleetctl

#include "tools/agent-releases/core/project.h"

#include <algorithm>

#include "tools/agent-releases/core/json_object.h"
#include "tools/agent-releases/core/member.h"
#include "tools/agent-releases/core/names.h"

namespace agent_releases {
namespace {

constexpr std::string_view default_main = "index.js";
constexpr std::string_view addon_source = "binding.gyp";
constexpr std::string_view addon_ending = ".node";

std::string without_scope(const std::string& name) {
  const std::size_t slash = name.find('/');
  return slash == std::string::npos ? name : name.substr(slash + 1);
}

std::string program_of(JsonReader& json, const std::string& package, std::string_view wanted) {
  if (json.is_object("bin")) {
    auto programs = json.object("bin");
    for (const std::string_view name : {wanted, std::string_view(package)}) {
      const auto program = programs ? programs->text(name, member_path_bytes_max) : std::nullopt;
      if (program) return *program;
    }
    json.refuse("`bin` has no program called " + std::string(wanted) + " or " + package +
                ": name the script that is run by --entry=PATH");
    return "";
  }
  if (const auto program = json.text("bin", member_path_bytes_max)) return *program;
  return json.text("main", member_path_bytes_max).value_or(std::string(default_main));
}

// Puts a text in quotes, so that JavaScript and Python read it as the same string. The caller has
// already refused texts that are not plain ASCII.
std::string quoted(const std::string& text) {
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + "'";
}

bool has_file(const std::vector<Found>& tree, std::string_view path) {
  return std::ranges::any_of(tree, [&](const Found& found) {
    return found.path == path && found.kind == Found::Kind::file;
  });
}

}  // namespace

Result<NodePackage> parse_package(std::string_view text, std::string_view wanted) {
  auto parsed = JsonReader::parse(text);
  if (!parsed) return Refusal{"package.json: " + parsed.reason()};
  JsonReader& json = parsed.value();
  NodePackage package;
  package.name = without_scope(json.required_text("name", name_bytes_max * 4));
  package.version = json.text("version", version_bytes_max).value_or("");
  package.program = program_of(json, package.name, wanted);
  if (json.refusal()) return Refusal{"package.json: " + *json.refusal()};
  return package;
}

std::vector<std::string> node_program_paths(const std::string& program) {
  const auto components = member_path(program);
  if (!components || components.value().empty()) return {std::string(default_main)};
  std::string path;
  for (const std::string& component : components.value())
    path += (path.empty() ? "" : "/") + component;
  return {path, path + ".js", path + ".cjs", path + ".mjs", path + "/" + std::string(default_main)};
}

// Returns the text of the small program that starts a Node.js project. It runs the project's
// program as if the command line of node had named that program, so that values such as
// `require.main` are right.
std::string node_entry_text(const std::string& program) {
  return "#!/usr/bin/env node\n"
         "// Made by agent-releases pack: runs the program of this release.\n"
         "'use strict';\n"
         "process.argv[1] = require('node:path').join(__dirname, " +
         quoted(program) +
         ");\n"
         "require('node:module').runMain();\n";
}

// Returns the text of the small program that starts a Python project. The program keeps Python from
// writing bytecode into the release, because a release must never change.
std::string python_entry_text(const std::string& name, const std::string& program, bool is_module,
                              const std::string& version) {
  std::string text =
      "#!/usr/bin/env python3\n"
      "# Made by agent-releases pack: runs the program of this release with its own packages.\n"
      "import os\nimport runpy\nimport site\nimport sys\n\n";
  if (!version.empty()) {
    text += "if \"%d.%d\" % sys.version_info[:2] != " + quoted(version) +
            ":\n"
            "    sys.exit(\"%s: its packages are for Python %s, and this is Python %d.%d\" % (" +
            quoted(name) + ", " + quoted(version) + ", *sys.version_info[:2]))\n";
  }
  text +=
      "sys.dont_write_bytecode = True\n"
      "here = os.path.dirname(os.path.realpath(__file__))\n"
      "packages = os.path.join(here, " +
      quoted(std::string(python_packages)) +
      ")\n"
      "sys.path.insert(1, packages)\n"
      "site.addsitedir(packages)\n";
  if (is_module) {
    return text + "runpy.run_module(" + quoted(program) +
           ", run_name=\"__main__\", alter_sys=True)\n";
  }
  return text + "sys.argv[0] = os.path.join(here, " + quoted(program) +
         ")\n"
         "sys.path[0] = os.path.dirname(sys.argv[0])\n"
         "runpy.run_path(sys.argv[0], run_name=\"__main__\")\n";
}

std::optional<std::string> unbuilt_addon(const std::vector<Found>& tree) {
  for (const Found& source : tree) {
    const std::size_t slash = source.path.find_last_of('/');
    if (slash == std::string::npos || source.path.substr(slash + 1) != addon_source) continue;
    const std::string below = source.path.substr(0, slash + 1);
    const bool built = std::ranges::any_of(tree, [&](const Found& found) {
      return found.path.starts_with(below) && found.path.ends_with(addon_ending);
    });
    if (!built) return source.path.substr(0, slash);
  }
  return std::nullopt;
}

bool has_native_files(const std::vector<Found>& tree) {
  return std::ranges::any_of(
      tree, [](const Found& found) { return found.beginning.starts_with("\177ELF"); });
}

namespace {

// Returns true if `python3 -m MODULE` would find the module among the project's files or packages.
bool has_module(const std::vector<Found>& tree, const std::string& module) {
  if (!is_module_name(module)) return false;
  std::string path = module;
  std::ranges::replace(path, '.', '/');
  for (const std::string& before : {std::string(), std::string(python_packages) + "/"}) {
    if (has_file(tree, before + path + ".py")) return true;
    if (has_file(tree, before + path + "/__main__.py")) return true;
  }
  return false;
}

}  // namespace

std::string python_program(const std::string& name, const std::string& entry,
                           const std::vector<Found>& tree) {
  if (!entry.empty()) return has_file(tree, entry) || has_module(tree, entry) ? entry : "";
  for (const std::string& path :
       {name + ".py", std::string("__main__.py"), name + "/__main__.py"}) {
    if (has_file(tree, path)) return path;
  }
  return "";
}

bool is_module_name(std::string_view text) {
  bool begins = true;
  for (const char c : text) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    const bool digit = c >= '0' && c <= '9';
    if (c == '.' ? begins : !letter && (begins || !digit)) return false;
    begins = c == '.';
  }
  return !begins;
}

}  // namespace agent_releases

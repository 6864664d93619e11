// The parts that all service files have in common: quoted words, times and comments.
#include <algorithm>
#include <cctype>
#include <optional>
#include <string_view>

#include "base/argument.h"
#include "base/duration.h"
#include "tools/agentify/launch/launch.h"
#include "tools/agentify/launch/unit.h"

namespace agentify {
namespace {

constexpr std::size_t columns_max = 98;
// By how many seconds the time limits in a service file exceed the upgrader's own limits.
constexpr long seconds_to_spare = 20;

bool needs_no_quotes(const std::string& word) {
  return !word.empty() && std::all_of(word.begin(), word.end(), [](char byte) {
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
           (byte >= '0' && byte <= '9') ||
           std::string_view("._-@+:/=,").find(byte) != std::string_view::npos;
  });
}

std::string escaped(const std::string& text, std::string_view special) {
  std::string made;
  for (const char byte : text) {
    if (special.find(byte) != std::string_view::npos) made += '\\';
    made += byte;
  }
  return made;
}

std::string doubled(const std::string& text, std::string_view special) {
  std::string made;
  for (const char byte : text) {
    if (special.find(byte) != std::string_view::npos) made += byte;
    made += byte;
  }
  return made;
}

long seconds(upgrader::Duration time) {
  return static_cast<long>(std::chrono::ceil<std::chrono::seconds>(time).count());
}

// Returns the value of the option `name` in `options`, or nothing if the option is not given.
std::optional<std::string_view> value_of(const std::vector<std::string>& options,
                                         std::string_view name) {
  for (const std::string& option : options) {
    const upgrader::Argument argument = upgrader::take_apart(option);
    if (argument.name == name) return argument.value;
  }
  return std::nullopt;
}

// Returns the value of an upgrader option that sets a time. If the option is not given, returns
// `by_default`, the option's default in upgrader(8).
upgrader::Duration time_of(const Unit& unit, std::string_view name, upgrader::Duration by_default) {
  const std::string_view value = value_of(unit.launch.upgrader, name).value_or("");
  return upgrader::parse_duration(value).value_or(by_default);
}

// Returns the name of the file of apt's hook. apt reads no file whose name has other characters
// than letters, digits, hyphens and underscores, such as the dot of php-fpm8.2.
std::string hook_name(const Unit& unit) {
  std::string name = "90" + unit.service();
  std::replace_if(
      name.begin(), name.end(),
      [](unsigned char byte) { return std::isalnum(byte) == 0 && byte != '-' && byte != '_'; },
      '-');
  return name;
}

// Returns the command line of upgraderctl, which is called by the name `program`, up to the
// command.
std::string ctl_line(const Unit& unit, const std::string& program) {
  const auto control = value_of(unit.launch.upgrader, "--control");
  if (!control) return program + " " + unit.name();
  return program + " --dir=" + shell_word(std::string(*control));
}

// Returns shell commands for an administrator who wants each new version of the daemon's package to
// cause an upgrade. They install a hook, which apt calls when all packages are configured: an
// earlier upgrade would run a mixture of old and new files. If the daemon's file or the link to it
// is newer than the upgrader's lock file, the hook touches the lock file and requests an upgrade.
// It first waits for an upgrade that is under way, which would have the request refused. If the
// request is refused, the hook makes the lock file old, so that the hook's next call requests the
// upgrade.
std::vector<std::string> watching_commands(const Unit& unit) {
  const std::string daemon = shell_word(unit.launch.daemon);
  const std::string lock = lock_word(unit);
  const std::string ctl = ctl_line(unit, unit.ctl);
  // In apt's configuration, the hook's command stands between double quotes, so the command must
  // not contain double quotes. The user of the daemon owns the directory of the lock file, so root
  // must not follow a symbolic link there.
  return {"cat >/etc/apt/apt.conf.d/" + hook_name(unit) + " <<'HOOK'",
          "DPkg::Post-Invoke { \"{ find " + daemon + " -cnewer " + lock + "; find -L " + daemon +
              " -cnewer " + lock + "; } 2>/dev/null | grep -q . || exit 0; touch -ch " + lock +
              "; " + ctl + " wait --timeout=10m >/dev/null 2>&1; " + ctl +
              " upgrade || [ $? != 3 ] || touch -ch -d @0 " + lock + " || :\"; };",
          "HOOK"};
}

std::string as_commands(const std::vector<std::string>& commands) {
  std::string text;
  for (const std::string& command : commands)
    text += "#   " + command + "\n";
  return text;
}

// Returns the command that adds a release. The command must run as the daemon's user, who owns the
// directory of releases: agent-releases refuses to write into the directory of a different user.
std::string adding_command(const Unit& unit) {
  const std::string keys(value_of(unit.launch.adapter, "--follow-keys").value_or("KEYS"));
  std::vector<std::string> words{"agent-releases", "--dir=" + *unit.launch.releases,
                                 "--keys=" + keys, "add", "MANIFEST"};
  if (!unit.user.empty()) words.insert(words.begin(), {"runuser", "-u", unit.user, "--"});
  return shell_line(words);
}

}  // namespace

std::string lock_word(const Unit& unit) {
  const auto lock = value_of(unit.launch.upgrader, "--lock");
  return shell_word(lock ? std::string(*lock) : "/run/upgrader/" + unit.name() + "/lock");
}

std::string systemd_word(const std::string& word) {
  if (word == ";") return "\\;";
  if (needs_no_quotes(word)) return word;
  return "\"" + doubled(escaped(word, "\\\""), "$%") + "\"";
}

std::string dinit_word(const std::string& word) {
  if (needs_no_quotes(word)) return word;
  return "\"" + doubled(escaped(word, "\\\""), "$") + "\"";
}

std::string in_double_quotes(const std::string& text) {
  return "\"" + escaped(text, "\\\"$`") + "\"";
}

std::vector<std::string> run_words(const Unit& unit, const std::vector<std::string>& more) {
  const Launch& launch = unit.launch;
  std::vector<std::string> words = {unit.agentify, "run", "--name=" + unit.name()};
  if (launch.releases) words.push_back("--releases=" + *launch.releases);
  for (const std::string& option : more) {
    if (!holds_option(launch.upgrader, upgrader::take_apart(option).name)) {
      words.push_back("--upgrader=" + option);
    }
  }
  for (const std::string& option : launch.upgrader)
    words.push_back("--upgrader=" + option);
  words.insert(words.end(), launch.adapter.begin(), launch.adapter.end());
  // systemd's journal already keeps the daemon's last lines, so a file of last words is not needed.
  if (unit.init == InitSystem::systemd && !holds_option(launch.adapter, "--last-words")) {
    words.push_back("--last-words=none");
  }
  words.push_back("--");
  if (!launch.releases) words.push_back(launch.daemon);
  words.insert(words.end(), launch.args.begin(), launch.args.end());
  return words;
}

std::string over_lines(const std::vector<std::string>& words,
                       std::string (*quoted)(const std::string&)) {
  std::string text;
  std::size_t column = columns_max;
  for (const std::string& word : words) {
    const std::string shown = quoted(word);
    const bool begins = text.empty();
    // Begin a new line if this argument does not fit into the current one. Also begin a new line
    // at `--`, so that the daemon and its arguments stand on lines of their own.
    if (!begins && (column + shown.size() + 1 > columns_max || word == "--")) {
      text += " \\\n  ";
      column = 2;
    } else if (!begins) {
      text += ' ';
      column += 1;
    }
    text += shown;
    column = begins ? shown.size() + 12 : column + shown.size();
  }
  return text;
}

UnitTimes times_of(const Unit& unit) {
  constexpr upgrader::Duration no_limit{0};
  const upgrader::Duration stop = time_of(unit, "--stop-timeout", std::chrono::seconds{90});
  const upgrader::Duration grace = time_of(unit, "--exit-grace", std::chrono::seconds{10});
  const upgrader::Duration lock = time_of(unit, "--lock-timeout", stop + grace);
  const upgrader::Duration start = time_of(unit, "--start-timeout", std::chrono::minutes{5});
  UnitTimes times;
  if (grace != no_limit) times.stop = seconds(stop + grace) + seconds_to_spare;
  if (lock != no_limit && start != no_limit) times.start = seconds(lock + start) + seconds_to_spare;
  return times;
}

std::string common_comments(const Unit& unit, const std::vector<std::string>& off,
                            const std::string& by_hand) {
  const std::string& daemon = unit.launch.daemon;
  const std::string upgrade = "`" + ctl_line(unit, "upgraderctl") + " upgrade`";
  std::string text = "#\n# The distribution's own service must not run. Stop it, as root:\n";
  text += as_commands(off) + "#\n";
  if (unit.launch.releases) {
    text += comment("To upgrade, run `" + adding_command(unit) +
                    "`. This service then upgrades to the added version. If that version fails its "
                    "trial, the previous version is started again, even if this service has been "
                    "restarted meanwhile.");
    return text;
  }
  // The upgrader refuses an upgrade if the file of the running script has been replaced, because a
  // fall-back would need the old file at its path.
  text += comment((unit.is_script
                       ? "To upgrade by hand, let " + daemon +
                             ", which must be a link, name the file of the new version, and run "
                       : "To upgrade by hand, replace " + daemon +
                             " by a rename, as package managers do, and run ") +
                  upgrade + (by_hand.empty() ? "" : " or `" + by_hand + "`") + "." +
                  (unit.is_script ? " Do not replace the file of a script: the upgrader would "
                                    "refuse the upgrade."
                                  : "") +
                  " If the new program fails its check, the old one continues to serve; if it "
                  "fails its trial, the old one is started again.");
  text += comment(
      "Without --releases, an upgrader that has been restarted does not know the old program: "
      "after "
      "a restart or a boot it starts the file that is " +
      daemon + " then. `agent-releases adopt` makes a directory for --releases.");
  text += "#\n# To upgrade whenever apt has replaced the program, type as root:\n";
  return text + as_commands(watching_commands(unit));
}

std::string comment(const std::string& text) {
  std::string made;
  std::string line = "#";
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    const std::string word = text.substr(at, end - at);
    if (line.size() + 1 + word.size() > columns_max) {
      made += line + "\n";
      line = "#";
    }
    line += " " + word;
    at = end + 1;
  }
  return made + line + "\n";
}

}  // namespace agentify

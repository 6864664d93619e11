// Makes the service files for init systems that have a file format for services, such as systemd.
// unit_scripts.cc makes the scripts for the remaining init systems.
#include <algorithm>

#include "tools/agentify/launch/unit.h"

namespace agentify {
namespace {

std::string limit_or(long seconds, const std::string& none) {
  return seconds == 0 ? none : std::to_string(seconds);
}

// Returns true if the service needs a watchdog of init. With --health, agentify sends no heartbeats
// while the daemon is sick, and only a watchdog notices missing heartbeats. With
// --health-action=exit no watchdog is needed, because agentify exits when the daemon is sick.
bool wants_watchdog(const Unit& unit) {
  bool health = false;
  for (const std::string& option : unit.launch.adapter) {
    if (option == "--health-action=exit") return false;
    health = health || option.starts_with("--health=");
  }
  return health;
}

std::string description(const Unit& unit) {
  return unit.name() + ", with upgrades that fall back";
}

}  // namespace

std::string systemd_unit(const Unit& unit) {
  const UnitTimes times = times_of(unit);
  const std::string file = unit.service() + ".service";
  std::string text = comment("systemd: " + unit.name() +
                             " under the upgrader, printed by agentify "
                             "unit. Install this file as /etc/systemd/system/" +
                             file +
                             ", then run `systemctl "
                             "daemon-reload` and `systemctl enable --now " +
                             unit.service() + "`.");
  text += common_comments(unit, {"systemctl disable --now " + unit.replaced()},
                          "systemctl reload " + unit.service());
  text += "\n[Unit]\nDescription=" + description(unit) +
          "\nDocumentation=man:upgrader(8) man:agentify(1)\nAfter=network.target\n"
          "# systemd does not run this service and the next one together: a start of one stops the "
          "other.\n"
          "Conflicts=" +
          unit.replaced() +
          ".service\n"
          "# However often the upgrader exits, init starts it again.\n"
          "StartLimitIntervalSec=0\n\n[Service]\n"
          "# The service counts as started when the daemon is ready.\n"
          "Type=notify\nExecStart=" +
          over_lines(run_words(unit), systemd_word) + "\n";
  if (!unit.prepare.empty()) {
    text += "ExecStartPre=+/bin/sh -c " + systemd_word(unit.prepare) + "\n";
  }
  text +=
      "ExecReload=/bin/sh -c 'kill -USR2 $MAINPID'\nRestart=always\nRestartSec=1\n"
      "# Only the upgrader gets SIGTERM; when it has exited, all remaining processes are killed.\n"
      "KillMode=mixed\n"
      "# The upgrader decides when to kill a daemon, so these limits are longer than its own.\n"
      "TimeoutStopSec=" +
      limit_or(times.stop, "infinity") + "\nTimeoutStartSec=" + limit_or(times.start, "infinity") +
      "\n# If a candidate runs out of memory, the upgrade fails, but the service continues.\n"
      "OOMPolicy=continue\n";
  if (wants_watchdog(unit)) text += "WatchdogSec=30\n";
  if (!unit.user.empty()) text += "User=" + unit.user + "\n";
  text +=
      "# The control directory, in which upgraderctl finds the upgrader, and the lock.\n"
      "RuntimeDirectory=upgrader/" +
      unit.name() +
      "\nRuntimeDirectoryMode=0700\nRuntimeDirectoryPreserve=yes\n\n"
      "[Install]\nWantedBy=multi-user.target\n";
  return text;
}

std::string openrc_script(const Unit& unit) {
  std::vector<std::string> words = run_words(unit);
  words.erase(words.begin());
  const std::string owner = unit.user.empty() ? "" : " -o " + unit.user;
  const std::string directory = "/run/upgrader/" + unit.name();
  std::string text = "#!/sbin/openrc-run\n";
  text += comment("OpenRC: " + unit.name() +
                  " under the upgrader, printed by agentify unit. As "
                  "/etc/init.d/" +
                  unit.service() + ", executable, then `rc-update add " + unit.service() +
                  "` and `rc-service " + unit.service() + " start`.");
  text += common_comments(
      unit,
      {"rc-update del " + unit.replaced(), "rc-service --ifstarted " + unit.replaced() + " stop"},
      "rc-service " + unit.service() + " upgrade");
  text +=
      "\ndescription=" + in_double_quotes(description(unit)) +
      "\nsupervisor=supervise-daemon\ncommand=" + shell_word(unit.agentify) +
      "\n# A shell parses these words again.\ncommand_args=" + in_double_quotes(shell_line(words)) +
      "\n";
  if (!unit.user.empty()) text += "command_user=" + unit.user + "\n";
  text +=
      "# However often the upgrader exits, init starts it again.\nrespawn_delay=1\nrespawn_max=0\n"
      "# The upgrader decides when to kill a daemon, so these limits are longer than its own.\n"
      "retry=SIGTERM/" +
      limit_or(times_of(unit).stop, "86400") +
      "\n\n# The control directory, in which upgraderctl finds the upgrader, and the lock.\n"
      "start_pre() {\n  checkpath -d -m 0755 /run/upgrader\n  checkpath -d -m 0700" +
      owner + " " + directory + "\n";
  if (!unit.prepare.empty()) text += "  " + unit.prepare + "\n";
  text +=
      "}\n\nextra_started_commands=\"upgrade\"\n"
      "description_upgrade=\"Upgrade to the program that is there now\"\nupgrade() {\n"
      "  ebegin \"Asking ${RC_SVCNAME} for an upgrade\"\n"
      "  supervise-daemon \"${RC_SVCNAME}\" --signal USR2\n  eend $?\n}\n\n"
      "depend() {\n  use net\n}\n";
  return text;
}

std::string procd_script(const Unit& unit) {
  const std::string directory = "/run/upgrader/" + unit.name();
  const std::string owner = unit.user.empty() ? "root" : unit.user;
  std::string text = "#!/bin/sh /etc/rc.common\n";
  text += comment("procd, not run: " + unit.name() +
                  " under the upgrader, printed by agentify "
                  "unit. As /etc/init.d/" +
                  unit.service() + ", executable, then `/etc/init.d/" + unit.service() +
                  " enable` and `start`.");
  text += common_comments(
      unit,
      {"/etc/init.d/" + unit.replaced() + " disable", "/etc/init.d/" + unit.replaced() + " stop"},
      "/etc/init.d/" + unit.service() + " upgrade");
  text +=
      "\nUSE_PROCD=1\nSTART=95\nSTOP=10\nEXTRA_COMMANDS=\"upgrade\"\n"
      "EXTRA_HELP=\"\tupgrade\tUpgrade to the program that is there now\"\n\n"
      "start_service() {\n  # The control directory and the lock; /var/run lies in memory.\n"
      "  [ -e /run ] || ln -s /var/run /run\n  mkdir -p " +
      directory + "\n  chmod 0700 " + directory + "\n  chown " + owner + " " + directory + "\n";
  if (!unit.prepare.empty()) text += "  " + unit.prepare + "\n";
  text += "  procd_open_instance\n  procd_set_param command " +
          over_lines(run_words(unit), shell_word) + "\n";
  if (!unit.user.empty()) text += "  procd_set_param user " + unit.user + "\n";
  text +=
      "  procd_set_param stderr 1\n"
      "  # However often the upgrader exits, init starts it again, a second later.\n"
      "  procd_set_param respawn 60 1 0\n"
      "  # This limit is longer than the upgrader's own limits.\n  procd_set_param term_timeout " +
      limit_or(times_of(unit).stop, "86400") +
      "\n  procd_close_instance\n}\n\n"
      "upgrade() {\n  procd_send_signal " +
      unit.service() + " '*' USR2\n}\n";
  return text;
}

std::string dinit_service(const Unit& unit) {
  const UnitTimes times = times_of(unit);
  const std::string directory = "/run/upgrader/" + unit.name();
  const std::string owner = unit.user.empty() ? "root" : unit.user;
  std::string text = comment("dinit, not run: " + unit.name() +
                             " under the upgrader, printed by "
                             "agentify unit. As /etc/dinit.d/" +
                             unit.service() +
                             ", then "
                             "`dinitctl enable " +
                             unit.service() + "`.");
  text += common_comments(
      unit, {"dinitctl disable " + unit.replaced(), "dinitctl stop " + unit.replaced()},
      "dinitctl signal USR2 " + unit.service());
  std::string make =
      "install -d -m 0755 /run/upgrader && install -d -m 0700 -o " + owner + " " + directory;
  if (!unit.prepare.empty()) make += " && " + unit.prepare;
  std::string command;
  for (const std::string& word : run_words(unit, {"--notify-fd=3"}))
    command += (command.empty() ? "" : " ") + dinit_word(word);
  text += comment(
      "The service below depends on another file, which makes the control directory: "
      "/etc/dinit.d/" +
      unit.service() + "-directory, with these two lines:");
  text += "#   type = scripted\n#   command = /bin/sh -c " + dinit_word(make) + "\n";
  text += "\ntype = process\ncommand = " + command + "\ndepends-on = " + unit.service() +
          "-directory\n";
  if (!unit.user.empty()) text += "run-as = " + unit.user + "\n";
  text +=
      "logfile = /var/log/" + unit.service() +
      ".log\n"
      "# The service counts as started when the daemon is ready.\nready-notification = pipefd:3\n"
      "# However often the upgrader exits, init starts it again.\nrestart = true\n"
      "restart-delay = 1\nrestart-limit-count = 0\n# This limit is longer than the upgrader's own "
      "limits.\n"
      "stop-timeout = " +
      limit_or(times.stop, "0") + "\nstart-timeout = " + limit_or(times.start, "0") + "\n";
  return text;
}

}  // namespace agentify

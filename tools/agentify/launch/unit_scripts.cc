// Makes the scripts for init systems that start a service by a script. The scripts execute the
// upgrader.
#include "tools/agentify/launch/unit.h"

namespace agentify {
namespace {

std::string directory_of(const Unit& unit) {
  return "/run/upgrader/" + unit.name();
}

// Returns the commands that root runs before the upgrader is started. If the daemon has a user of
// its own, the commands make the control directory for that user. Otherwise `agentify run` makes
// the control directory as root.
std::string preparation(const Unit& unit) {
  std::string text;
  if (!unit.user.empty()) {
    text +=
        "# The control directory, in which upgraderctl finds the upgrader, and the lock.\n"
        "mkdir -p " +
        directory_of(unit) + "\nchmod 0700 " + directory_of(unit) + "\nchown " + unit.user + " " +
        directory_of(unit) + "\n";
  }
  if (!unit.prepare.empty()) text += unit.prepare + "\n";
  return text;
}

// Returns the command that executes the upgrader. If the daemon has a user of its own, the command
// begins with `as_user`, a program that changes to that user. `as_user` must exec the upgrader in
// its own process, so that init's signals reach the upgrader.
std::string execution(const Unit& unit, const std::string& as_user,
                      const std::vector<std::string>& more = {}) {
  std::string text = "exec ";
  if (!unit.user.empty()) text += as_user + " \\\n  ";
  return text + over_lines(run_words(unit, more), shell_word) + "\n";
}

std::string by_setpriv(const Unit& unit) {
  return "setpriv --reuid=" + unit.user + " --regid=\"$(id -g " + unit.user + ")\" --init-groups";
}

std::string script_of(const Unit& unit) {
  return "/etc/" + unit.service() + "/run";
}

std::vector<std::string> sysv_commands(const Unit& unit) {
  return {"update-rc.d " + unit.replaced() + " disable",
          "/etc/init.d/" + unit.replaced() + " stop"};
}

std::string log_of(const Unit& unit) {
  return "exec >>/var/log/" + unit.service() + ".log 2>&1\n";
}

}  // namespace

std::string runit_script(const Unit& unit) {
  std::string text = "#!/bin/sh\n";
  text += comment("runit: " + unit.name() +
                  " under the upgrader, printed by agentify unit. As "
                  "/etc/sv/" +
                  unit.service() + "/run, executable, then `ln -s /etc/sv/" + unit.service() +
                  " /etc/service/`. `sv down` and `sv restart` wait for 7 s and "
                  "kill nothing; `sv -w 120 restart " +
                  unit.service() +
                  "` waits for a daemon "
                  "that stops slowly.");
  text += common_comments(unit, sysv_commands(unit), "sv 2 " + unit.service());
  return text + "exec 2>&1\n" + preparation(unit) + execution(unit, by_setpriv(unit));
}

std::string s6_script(const Unit& unit) {
  const long stop = times_of(unit).stop;
  std::string text = "#!/bin/sh\n";
  text += comment("s6: " + unit.name() +
                  " under the upgrader, printed by agentify unit. As "
                  "/etc/s6/" +
                  unit.service() +
                  "/run, executable, with a link to this directory "
                  "in the scan directory; then `s6-svscanctl -a` on that. Two files belong beside "
                  "it: the descriptor on which the upgrader says that the daemon is ready, and how "
                  "many milliseconds a stop may take:");
  text +=
      "#   echo 3 >notification-fd\n#   echo " + std::to_string(stop * 1000) + " >timeout-kill\n";
  text += common_comments(unit, {"s6-rc -d change " + unit.replaced()},
                          "s6-svc -2 /run/service/" + unit.service());
  return text + "exec 2>&1\n" + preparation(unit) +
         execution(unit, "s6-setuidgid " + unit.user, {"--notify-fd=3"});
}

std::string sysvinit_script(const Unit& unit) {
  std::string text = "#!/bin/sh\n";
  text += comment("sysvinit: " + unit.name() +
                  " under the upgrader, printed by agentify unit. As " + script_of(unit) +
                  ", executable, with this line in /etc/inittab, then `telinit "
                  "q`. XX are two letters that no other line begins with.");
  text += "#   XX:2345:respawn:" + script_of(unit) + "\n";
  text += comment("To stop it for good, take the line out and `telinit -t " +
                  std::to_string(times_of(unit).stop) + " q`. So does `shutdown -t` at the end.");
  text += common_comments(unit, sysv_commands(unit), "");
  text +=
      "# init pauses a line that it has started ten times within two minutes: not sooner than\n"
      "# 14 seconds after a start that was less than a minute ago.\n"
      "started=/run/" +
      unit.service() +
      ".started\n"
      "[ -z \"$(find \"$started\" -mmin -1 2>/dev/null)\" ] || sleep 14\n"
      "touch \"$started\"\n";
  return text + log_of(unit) + preparation(unit) + execution(unit, by_setpriv(unit));
}

// Makes the script for finit. When finit stops a service, it waits for a minute at most. So the
// upgrader gets a shorter time limit for a stop, 45 seconds.
std::string finit_script(const Unit& unit) {
  std::string text = "#!/bin/sh\n";
  text += comment("finit: " + unit.name() + " under the upgrader, printed by agentify unit. As " +
                  script_of(unit) + ", executable, with this line in /etc/finit.d/" +
                  unit.service() + ".conf, then `initctl reload`.");
  text += "#   service [2345] name:" + unit.service() + " kill:60 restart:255 log " +
          script_of(unit) + " -- " + unit.name() + "\n";
  text += common_comments(
      unit, {"initctl stop " + unit.replaced(), "initctl disable " + unit.replaced()}, "");
  return text + preparation(unit) + execution(unit, by_setpriv(unit), {"--stop-timeout=45s"});
}

// Makes the script for busybox init. When the machine shuts down, busybox init itself stops no
// service: it sends SIGTERM to all processes, and SIGKILL one second later. So the script can also
// be called with `stop`, and inittab calls it with `stop` at a shutdown.
std::string busybox_script(const Unit& unit) {
  const std::string script = script_of(unit);
  std::string text = "#!/bin/sh\n";
  text += comment("busybox init: " + unit.name() +
                  " under the upgrader, printed by agentify unit. "
                  "As " +
                  script +
                  ", executable, with these lines in /etc/inittab, then `kill "
                  "-HUP 1`.");
  text += "#   ::respawn:" + script + "\n#   ::shutdown:" + script + " stop\n";
  text += comment("To stop it for good, take the first line out, `kill -HUP 1`, and `" + script +
                  " stop`: init itself stops nothing then.");
  text += common_comments(
      unit,
      {"/etc/init.d/S??" + unit.replaced() + " stop", "chmod -x /etc/init.d/S??" + unit.replaced()},
      "");
  text +=
      "if [ \"$1\" = stop ]; then\n"
      "  # The lock is free when the upgrader and its daemon have gone. Its first word is the\n"
      "  # upgrader's process; a lock that is free is stale, and so is that word.\n"
      "  lock=" +
      lock_word(unit) +
      "\n"
      "  told=\n"
      "  while [ -e \"$lock\" ] && ! flock -n \"$lock\" true; do\n"
      "    read -r upgrader _ <\"$lock\"\n"
      "    [ \"$upgrader\" = \"$told\" ] || kill -TERM \"$upgrader\"\n"
      "    told=$upgrader\n"
      "    usleep 100000\n  done\n  exit 0\nfi\n";
  const std::string words = shell_line(run_words(unit));
  text += log_of(unit) + preparation(unit);
  if (unit.user.empty()) return text + execution(unit, "");
  return text + "exec su -s /bin/sh " + unit.user + " -c " + shell_word("exec " + words) + "\n";
}

}  // namespace agentify

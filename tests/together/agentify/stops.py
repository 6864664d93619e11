#!/usr/bin/env python3
"""Tests how agentify stops a daemon, under a fake upgrader: the stop plan, and the processes that
the daemon leaves behind."""

import os
import signal
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from double import descendants, run_tests, runs, stat_fields, tests_of, wait_until

# A daemon that writes its pid to a file and waits.
WAITS = "mkfifo $DIR/f$$; echo $$ >$DIR/pid; while :; do read line <>$DIR/f$$; done"


def waits(stage):
    return [stage.script("daemon", WAITS)]


def test_the_stop_plan_goes_from_signal_to_signal(stage):
    """each signal of the stop plan (option --stop) gets its time; if the daemon must be killed by
    SIGKILL after the plan, the stop counts as unclean"""
    text = "for s in INT QUIT TERM; do trap \"echo $s >>$DIR/got\" $s; done; " + WAITS
    daemon = [stage.script("daemon", text)]
    one = stage.agentify("--stop=QUIT:100ms,INT:100ms,TERM:100ms", daemon=daemon).activate()
    stage.read("pid")
    one.stop()
    assert one.wait() == -signal.SIGKILL
    assert one.count("stopped") == 0
    assert stage.lines("got") == ["QUIT", "INT", "TERM"]
    assert not one.family()


def test_a_suspended_daemon_is_stopped_in_order(stage):
    """a daemon that SIGSTOP has suspended gets SIGCONT with the signal of the stop plan"""
    daemon = [stage.script("daemon", "trap 'echo TERM >$DIR/got; exit' TERM; " + WAITS)]
    one = stage.agentify(daemon=daemon).activate()
    pid = int(stage.read("pid"))
    os.kill(pid, signal.SIGSTOP)
    wait_until(lambda: stat_fields(pid)[0] == "T", "the daemon is suspended")
    one.stop()
    one.expect("stopped")
    assert stage.lines("got") == ["TERM"]
    assert one.wait() == 0


def test_sigkill_on_the_plan_is_a_clean_stop(stage):
    """if SIGKILL is a part of the stop plan, the stop counts as clean"""
    daemon = [stage.script("daemon", "trap '' TERM; " + WAITS)]
    one = stage.agentify("--stop=TERM:100ms,KILL", daemon=daemon).activate()
    stage.read("pid")
    one.stop()
    one.expect("stopped")
    assert one.wait() == 0


def test_the_deadline_of_the_stop_is_kept(stage):
    """a stop plan that takes longer than the upgrader's deadline is cut short"""
    daemon = [stage.script("daemon", "trap '' TERM; " + WAITS)]
    one = stage.agentify("--stop=TERM:1h", daemon=daemon).activate()
    stage.read("pid")
    one.stop(deadline_ms=500)
    assert one.wait() == -signal.SIGKILL
    assert not one.family()


def test_what_the_daemon_leaves_is_killed_at_the_stop(stage):
    """a stop kills the daemon's children that ignore SIGTERM, and a child in a session of its
    own"""
    text = ("trap '' TERM; setsid tail -f /dev/null & (trap '' TERM; tail -f /dev/null) & "
            "trap 'exit 0' TERM; " + WAITS)
    one = stage.agentify(daemon=[stage.script("daemon", text)]).activate()
    stage.read("pid")
    keeper = one.keeper()
    wait_until(lambda: len(descendants(keeper)) >= 3, "its children run")
    one.stop()
    one.expect("stopped")
    assert not set(one.family()) - {one.pid, keeper}
    assert one.wait() == 0
    assert not one.family()
    assert "had to be killed" in one.log()


def test_a_process_whose_main_thread_has_ended_is_killed(stage):
    """a stop kills a child of the daemon that has ended its main thread, and works on in another
    thread: /proc shows the state of a process that has exited"""
    text = """
import ctypes, os, signal, threading
if not (child := os.fork()):
    threading.Thread(target=signal.pause).start()
    ctypes.CDLL(None).pthread_exit(None)
open(os.environ["DIR"] + "/child", "w").write("%d\\n" % child)
signal.pause()
"""
    one = stage.agentify(daemon=[sys.executable, "-c", text]).activate()
    child = int(stage.read("child"))
    wait_until(lambda: not runs(child), "its main thread has ended")
    one.stop()
    one.expect("stopped")
    assert stat_fields(child) is None
    assert one.wait() == 0


def test_what_a_crashed_daemon_leaves_is_killed(stage):
    """after a crash of the daemon, agentify kills its other processes before it ends with the same
    status"""
    text = "tail -f /dev/null & tail -f /dev/null & echo $$ >$DIR/pid; exit 3"
    one = stage.agentify(daemon=[stage.script("daemon", text)]).activate()
    assert one.wait() == 3
    assert not one.family()


def test_end_of_input_stops_it_in_order(stage):
    """at the end of its input, which shows that the upgrader has ended, agentify stops the daemon
    by the stop plan"""
    daemon = [stage.script("daemon", "trap 'echo bye >$DIR/bye; exit 0' QUIT; " + WAITS)]
    one = stage.agentify("--stop=QUIT:60s", daemon=daemon).activate()
    stage.read("pid")
    one.close_input()
    assert one.wait() == 0
    assert stage.read("bye") == "bye"
    assert not one.family()


def test_sigterm_stops_it_in_order(stage):
    """SIGTERM to agentify stops the daemon, whoever sent the signal"""
    one = stage.agentify(daemon=waits(stage)).activate()
    stage.read("pid")
    one.kill(signal.SIGTERM)
    assert one.wait() == 0
    assert not one.family()


if __name__ == "__main__":
    run_tests(tests_of(globals()))

#!/usr/bin/env python3
"""Tests agentify --last-words: the reason of a failure contains the daemon's last line, a file has
the last lines, and the daemon's whole output reaches the log without ever delaying the daemon. Ends
with `N passed, N failed`."""

import os
import re
import shutil
import signal
import stat
import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).parent))
from double import begins, run_tests, tests_of, wait_until

WAITS = "mkfifo $DIR/f; echo $$ >$DIR/pid; while :; do read line <>$DIR/f; done"


def words(stage):
    return f"--last-words={stage.directory}/words"


def passed_on(one):
    """Returns the daemon's lines in the log, without agentify's own lines between them."""
    return re.sub("^agentify: .*\n?", "", one.log(), flags=re.MULTILINE)


def test_a_daemon_that_ends_on_trial_says_why(stage):
    """if a daemon ends on trial, its last line is in the reason, and its whole output is in the
    file and in the log"""
    daemon = stage.script("daemon", "echo one; echo >&2 'bind: in use'; echo; exit 3")
    one = stage.agentify(words(stage), daemon=[daemon]).activate()
    reason = "the daemon exited with status 3; its last line: bind: in use"
    assert one.expect("unfit")["reason"] == reason
    assert one.wait() == 3
    assert passed_on(one) == "one\nbind: in use\n\n"
    file = stage.directory / "words"
    assert file.read_text() == "one\nbind: in use\n\n"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_a_daemon_that_is_never_ready_says_why(stage):
    """if the daemon is never ready on trial, the reason in `unfit` contains its last line, even if
    this line has no newline"""
    daemon = stage.script("daemon", "echo old; printf 'waiting for a disk'; " + WAITS)
    one = stage.agentify("--last-words", "--ready=fd:9", daemon=[daemon])
    one.expect("ready")
    one.send(type="activate", clean=True, trial_ms=2000, commit="healthy")
    stage.read("pid")
    reason = one.expect("unfit")["reason"]
    assert reason == ("the daemon is not ready: it has not said so (--ready=fd:9); its last line: "
                      "waiting for a disk"), reason
    one.stop(reason="rollback")
    one.expect("stopped")
    assert one.wait() == 0


def test_a_first_daemon_says_why(stage):
    """if a first agent's daemon ends, its last line is in the status and in the log"""
    daemon = stage.script("daemon", "echo no disk; exit 4")
    one = stage.agentify(words(stage), daemon=[daemon], role="first").activate()
    text = "the daemon exited with status 4; its last line: no disk"
    one.expect("status", text=text)
    assert one.wait() == 4
    assert one.count("unfit") == 0 and "agentify: " + text in one.log()


def test_a_last_line_cannot_command_a_terminal(stage):
    """in agentify's own line of the log, the control characters of the daemon's last line are
    escaped, as are characters that change the direction of writing"""
    line = r"a\033[31m \302\2332J \342\200\256 \303\244\n"
    daemon = stage.script("daemon", f"printf '{line}'; exit 4")
    one = stage.agentify("--last-words", daemon=[daemon], role="first").activate()
    assert one.wait() == 4
    assert r"; its last line: a\x1b[31m \u{9b}2J \u{202e} ä" in one.log(), one.log()


def test_without_the_option_nothing_is_kept(stage):
    """without --last-words no lines are kept, and the daemon itself writes to the log"""
    daemon = stage.script("daemon", "readlink /proc/$$/fd/2 >$DIR/where; echo x; exit 3")
    for options in ([], ["--last-words=none"]):
        one = stage.agentify(*options, daemon=[daemon]).activate()
        assert one.expect("unfit")["reason"] == "the daemon exited with status 3"
        one.wait()
        assert stage.read("where") == str(one.log_path)


def test_all_is_passed_on(stage):
    """a megabyte of output arrives in order, while the daemon lives and when it ends"""
    daemon = stage.script("daemon", "seq 150000; exit 3")
    one = stage.agentify(words(stage), daemon=[daemon]).activate()
    one.wait()
    assert passed_on(one) == "".join(f"{n}\n" for n in range(1, 150001))
    kept = (stage.directory / "words").read_text()
    assert len(kept) == 2048 and kept.endswith("149999\n150000\n"), kept[-40:]


FLOODS = """exec python3 -c '
import array, fcntl, os, sys, termios
os.write(1, b"a line")
left = array.array("i", [1])
while left[0]:
    fcntl.ioctl(1, termios.FIONREAD, left)
fcntl.fcntl(1, fcntl.F_SETPIPE_SZ, 1 << 20)
os.write(1, b" in two parts" + b"\\n" * 300000)
sys.exit(3)'"""


def test_a_flood_behind_half_a_line_is_passed_on(stage):
    """while the log has room, no output is lost, even if the daemon writes much at once after the
    beginning of a line"""
    daemon = stage.script("daemon", FLOODS)
    one = stage.agentify(words(stage), daemon=[daemon]).activate()
    one.wait()
    assert "were lost here" not in one.log()
    assert passed_on(one) == "a line in two parts" + "\n" * 300000


def test_lines_are_passed_on_whole(stage):
    """agentify's own line never cuts a line of the daemon in two; if the daemon's last line has no
    newline, the log gets one"""
    os.mkfifo(stage.directory / "go")
    daemon = stage.script("daemon", "printf 'half a '; echo >&9; read x <$DIR/go; echo line; "
                                    "printf 'no end'; exit 3")
    one = stage.agentify(words(stage), "--ready=fd:9", daemon=[daemon]).activate()
    one.expect("healthy")
    one.send(type="error", about="status", reason="so it is")
    wait_until(lambda: "has refused status: so it is" in one.log(), "agentify's own line")
    (stage.directory / "go").write_text("\n")
    assert one.wait() == 3
    assert passed_on(one) == "half a line\nno end\n", one.log()
    assert (stage.directory / "words").read_text() == "half a line\nno end"


def test_a_log_that_nobody_reads_keeps_nothing_up(stage):
    """lines for which the log has no room are lost, and later the log gets a line with their
    number"""
    reads, writes = os.pipe()
    daemon = stage.script("daemon", "seq 150000; echo done >$DIR/done; " + WAITS)
    one = stage.agentify(words(stage), daemon=[daemon], stderr=writes).activate()
    stage.read("done")
    os.close(writes)
    log = b""
    os.set_blocking(reads, False)

    def told():
        nonlocal log
        try:
            log += os.read(reads, 65536)
        except BlockingIOError:
            pass
        return b"bytes of the daemon's output were lost here" in log

    wait_until(told, "the log is told of what was lost")
    one.stop()
    one.expect("stopped")
    assert one.wait() == 0
    os.close(reads)


def test_the_last_words_outlive_agentify(stage):
    """the last lines are in the file even if agentify is killed by SIGKILL, as the upgrader kills a
    first agent that misses its deadline"""
    daemon = stage.script("daemon", "echo recovering; " + WAITS)
    one = stage.agentify(words(stage), "--ready=fd:9", daemon=[daemon], role="first").activate()
    stage.read("pid")
    one.kill()
    wait_until(lambda: not one.family(), "all have gone")
    assert (stage.directory / "words").read_text() == "recovering\n"
    assert one.wait() == -signal.SIGKILL


def test_a_lost_keeper_is_told(stage):
    """if the keeper is killed, agentify reports that with the daemon's last line: a candidate in
    `unfit`, a first agent in `status`"""
    for role, kind, member in (("candidate", "unfit", "reason"), ("first", "status", "text")):
        (stage.directory / "f").unlink(missing_ok=True)
        (stage.directory / "pid").unlink(missing_ok=True)
        line = role + ": out of memory"
        daemon = stage.script("daemon", f"echo '{line}'; " + WAITS)
        one = stage.agentify("--last-words", daemon=[daemon], role=role).activate()
        stage.read("pid")
        wait_until(lambda text=line: text in one.log(), "the keeper has read the line")
        os.kill(one.keeper(), signal.SIGKILL)
        said = one.expect(kind, **{member: begins("the process that keeps the daemon has been")})
        assert said[member].endswith("its last line: " + line), said
        assert one.wait() == 1


def test_a_file_may_have_the_longest_name(stage):
    """a file whose name is as long as a name may be is written, and replaced, like any other"""
    for name in ("w" * 255, "w" * 254):
        for code in ("one", "two"):
            daemon = stage.script("daemon", f"echo {code}; exit 3")
            one = stage.agentify(f"--last-words={stage.directory}/{name}", daemon=[daemon])
            one.activate()
            assert one.wait() == 3
            assert (stage.directory / name).read_text() == code + "\n", one.log()
        (stage.directory / name).unlink()
        assert not list(stage.directory.glob("*w*"))


def test_a_directory_need_not_be_listed(stage):
    """the file is written into a directory in which the user may make files, but which the user may
    not list"""
    place = stage.directory / "place"
    place.mkdir(mode=0o300)
    # Root can list a directory of any mode, unless it gives up these two capabilities.
    prefix = [shutil.which("setpriv"), "--bounding-set=-dac_override,-dac_read_search"]
    daemon = stage.script("daemon", "echo why; exit 3")
    one = stage.agentify(f"--last-words={place}/words", daemon=[daemon],
                         prefix=prefix if os.geteuid() == 0 else [])
    one.activate()
    assert one.wait() == 3
    place.chmod(0o700)
    assert (place / "words").read_text() == "why\n", one.log()
    assert list(place.iterdir()) == [place / "words"]


def test_a_file_that_cannot_be_written_is_named(stage):
    """if the file of --last-words cannot be written, `unfit` still has the daemon's last line"""
    daemon = stage.script("daemon", "echo why; exit 3")
    one = stage.agentify("--last-words=/no/such/place", daemon=[daemon]).activate()
    assert one.expect("unfit")["reason"].endswith("its last line: why")
    one.wait()
    assert "--last-words: /no/such/place: No such file" in one.log()


if __name__ == "__main__":
    run_tests(tests_of(globals()))

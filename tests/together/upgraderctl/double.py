# A fake upgrader that has a control directory and no agents. It handles status.json, previous.json
# and the FIFO by the rules of upgrader(8), and executes orders that the test writes to its standard
# input. It shares no code with upgraderctl or the upgrader.
#
# Each order is one line. The double executes the order, writes status.json, and prints `done`. An
# order that begins with `when` waits until a request of the named type has been read. See the class
# Double.

import fcntl
import json
import os
import select
import sys
import time

LINE_MAX = 4096
KEPT = 16
IDLE_MAX = 300  # exits after this many seconds without an order: the test has died


def spelled(seconds):
    whole = int(seconds)
    return "%s.%03dZ" % (time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(whole)),
                         round((seconds - whole) * 1000))


class Double:
    """A fake upgrader with a control directory at the path `directory`. `now`, if given, is a time
    in seconds, at which the clock stands until an order such as `pass` changes it. Each method
    `do_NAME` obeys the order NAME, and gets the words after NAME as arguments."""

    def __init__(self, directory, now):
        self.directory = directory
        self.now = now
        self.offset = 0.0
        self.mute = False  # true if status.json is not written, as on a full disk
        self.refusal = None    # the reason with which the next request is refused
        self.hold = 0  # how many of the next requests get no answer
        self.taken = []  # types of the requests that were obeyed or refused
        self.sent = 0  # how many lines were read, including repeated ones
        self.state = None
        self.lock = None
        self.fifo = None
        self.line = b""
        self.lost = False  # true if the directory has vanished: no requests are read
        self.begin()

    def clock(self):
        return (time.time() if self.now is None else self.now) + self.offset

    def path(self, name):
        return os.path.join(self.directory, name)

    # ---- the fake upgrader's start, and the status.json that it writes

    def begin(self, version="1.0", generation=1):
        os.makedirs(self.directory, mode=0o700, exist_ok=True)
        self.lock = os.open(self.directory, os.O_RDONLY | os.O_DIRECTORY)
        fcntl.flock(self.lock, fcntl.LOCK_EX)
        if os.path.exists(self.path("status.json")):
            os.rename(self.path("status.json"), self.path("previous.json"))
        if os.path.lexists(self.path("control")):
            os.unlink(self.path("control"))
        os.mkfifo(self.path("control"), 0o600)
        self.fifo = os.open(self.path("control"), os.O_RDONLY | os.O_NONBLOCK)
        now = spelled(self.clock())
        self.state = {
            "upgrader": {"pid": os.getpid(), "version": "0.1.0", "started": now, "protocol": 1},
            "phase": "running", "since": now,
            "active": {"generation": generation, "role": "first", "pid": os.getpid(),
                       "version": version, "executable": "/opt/agent/agent-" + version,
                       "args": ["--input=app.log"], "started": now, "activated": now},
            "endings": [], "requests": [],
        }
        self.write()

    def write(self):
        if self.mute:
            return
        fresh = self.path("status.json.new")
        with open(fresh, "w", encoding="utf-8") as file:
            file.write(json.dumps(self.state, separators=(",", ":"), ensure_ascii=False) + "\n")
        os.rename(fresh, self.path("status.json"))

    def phase(self, name, limit=None):
        self.state["phase"] = name
        self.state["since"] = spelled(self.clock())
        self.state.pop("deadline", None)
        if limit is not None:
            self.state["deadline"] = spelled(self.clock() + limit)

    # ---- requests

    def read_fifo(self):
        try:
            got = os.read(self.fifo, 65536)
        # There are no bytes yet: the last writer has closed the FIFO, and another writer has opened
        # it.
        except BlockingIOError:
            return
        if not got:
            self.line = b""
            try:
                fresh = os.open(self.path("control"), os.O_RDONLY | os.O_NONBLOCK)
            except FileNotFoundError:
                self.lost = True
                return
            os.close(self.fifo)
            self.fifo = fresh
            return
        *lines, self.line = (self.line + got).split(b"\n")
        for line in lines:
            assert len(line) < LINE_MAX, line
            self.sent += 1
            self.take(json.loads(line))

    def take(self, request):
        if any(answer["request"] == request["request"] for answer in self.state["requests"]):
            return
        if self.hold:
            self.hold -= 1
            return
        refusal, self.refusal = self.refusal, None
        reason = refusal or self.obey(request)
        ok = refusal is None and not (reason or "").startswith("no:")
        answer = {"request": request["request"], "type": request["type"], "ok": ok}
        if reason:
            answer["reason"] = reason.removeprefix("no:").strip()
        self.state["requests"] = ([answer] + self.state["requests"])[:KEPT]
        self.taken.append(request["type"])
        self.write()

    def obey(self, request):
        """Obeys a request. Returns None, or a reason that is written into the answer. If the reason
        begins with `no:`, the request is refused."""
        kind = request["type"]
        if kind == "upgrade":
            return self.accept(request)
        if kind == "shutdown":
            self.phase("shutting_down", 90)
            return None
        upgrade = self.state.get("upgrade")
        if not upgrade or upgrade["id"] != request["id"]:
            return "no: no upgrade %s is under way" % request["id"]
        if kind == "confirm":
            if self.state["phase"] != "confirming":
                return "no: the gate is not closed"
            self.do_stop()
        if kind == "cancel":
            if "stop_sent" in upgrade:
                return "no: the active agent has been told to stop"
            self.finish("kept", "cancel", self.by_control("cancelled", request))
        if kind == "commit":
            self.do_commit()
        if kind == "rollback":
            self.do_fall_back("trial", self.by_control("rolled back", request))
        return None

    def accept(self, request):
        ident = request.get("id") or "control-1"
        if self.state.get("upgrade", {}).get("id") == ident:
            return "under way: " + self.state["phase"]
        for ending in self.state["endings"]:
            if ending["id"] == ident:
                return ending["outcome"]
        if "upgrade" in self.state:
            return "no: busy: upgrade %s is under way" % self.state["upgrade"]["id"]
        terms = {name: request[name] for name in request if name not in ("type", "request", "args")}
        self.state["upgrade"] = {"origin": "control", "mode": "parallel", "gate": "none",
                                 "commit": "survive", "trial_ms": 30000, **terms, "id": ident,
                                 "accepted": spelled(self.clock())}
        executable = request.get("executable", "/opt/agent/agent-1.1")
        self.state["candidate"] = {
            "generation": self.state["active"]["generation"] + 1, "role": "candidate",
            "pid": os.getpid(), "executable": executable, "started": spelled(self.clock())}
        self.phase("preparing", 300)
        return None

    @staticmethod
    def by_control(deed, request):
        why = request.get("reason")
        return deed + " by the control directory" + (": " + why if why else "")

    def finish(self, outcome, stage=None, reason=None):
        upgrade = self.state.pop("upgrade")
        old = upgrade.pop("old", self.state.get("active", {}))
        new = self.state.get("candidate") or self.state.get("active", {})
        ending = {"id": upgrade["id"], "origin": upgrade["origin"], "outcome": outcome,
                  "from": {"version": old.get("version", ""), "executable": old["executable"]},
                  "to": {"version": new.get("version", ""), "executable": new["executable"]},
                  "accepted": upgrade["accepted"], "ended": spelled(self.clock())}
        if "ready" in upgrade:
            ending["start_ms"] = 412
        if stage:
            ending["stage"] = stage
        if reason:
            ending["reason"] = reason
        if "activated" in upgrade:
            ending["gap_us"] = 24
        self.state["endings"] = ([ending] + self.state["endings"])[:KEPT]
        self.state.pop("candidate", None)
        if outcome == "fell_back":
            self.state["active"] = dict(old, generation=new["generation"] + 1, role="fallback",
                                        started=spelled(self.clock()),
                                        activated=spelled(self.clock()))
        self.phase("running")

    # ---- orders

    def do_pass(self, seconds):
        self.offset += float(seconds)

    def do_catch(self, *up):
        """Makes the clock run as fast as the real time from now on."""
        self.now, self.offset = None, 0.0

    def do_ready(self):
        self.state["upgrade"]["ready"] = spelled(self.clock())
        self.state["candidate"]["version"] = "1.1"
        if self.state["upgrade"]["gate"] == "confirm":
            self.phase("confirming", 60)
        else:
            self.do_stop()

    def do_stop(self):
        self.state["upgrade"]["stop_sent"] = spelled(self.clock())
        self.phase("switching", 90)

    def do_activate(self):
        upgrade = self.state["upgrade"]
        upgrade["stopped"] = upgrade["activated"] = spelled(self.clock())
        upgrade["old"] = self.state["active"]
        self.state["active"] = dict(self.state.pop("candidate"), activated=upgrade["activated"])
        self.phase("trial", 30)

    def do_commit(self):
        self.finish("committed")

    def do_fail(self, stage, *reason):
        self.finish("kept", stage, " ".join(reason))

    def do_fall_back(self, stage, *reason):
        self.finish("fell_back", stage, " ".join(reason))

    def do_set(self, *text):
        """Changes the status: each member of this JSON object replaces the member of the same name.
        A member with the value null is removed."""
        for name, value in json.loads(" ".join(text)).items():
            self.state[name] = value
            if value is None:
                del self.state[name]

    def do_refuse(self, *reason):
        self.refusal = " ".join(reason)

    def do_hold(self, count):
        self.hold = int(count)

    def do_mute(self, how):
        self.mute = how == "on"

    def do_flood(self, count):
        """Adds the answers to `count` requests of other operators to the status."""
        for number in range(int(count)):
            self.state["requests"] = ([{"request": "flood-%d-%d" % (self.sent, number),
                                        "type": "confirm", "ok": False, "reason": "flood"}] +
                                      self.state["requests"])[:KEPT]

    def do_restart(self, *word):
        """Exits, and starts again as a new upgrader. The old upgrader records its end only if the
        order `end` came before."""
        os.close(self.fifo)
        os.close(self.lock)
        self.offset += 1
        self.mute = False
        self.begin()

    def do_end(self, status, *reason):
        now = spelled(self.clock())
        if "upgrade" in self.state:
            self.finish("ended", "shutdown", "the upgrader ends")
        self.phase("ended")
        self.state.pop("active", None)
        self.state["ended"] = {"exit_status": int(status), "reason": " ".join(reason), "at": now}

    def do_exit(self):
        """Exits like an upgrader that records its end: writes status.json, and removes the FIFO."""
        self.write()
        os.unlink(self.path("control"))
        sys.stdout.write("done\n")
        sys.stdout.flush()
        sys.exit(0)

    def do_sent(self):
        sys.stdout.write("%d " % self.sent)

    def do_nothing(self):
        pass

    def serve(self):
        print("done", flush=True)
        orders = b""
        awaited = None
        while True:  # until standard input ends
            watched = ([] if self.lost else [self.fifo]) + ([0] if awaited is None else [])
            readable = select.select(watched, [], [], IDLE_MAX)[0]
            if not readable:
                sys.exit("the double was given no order and no request for %d s" % IDLE_MAX)
            if self.fifo in readable:
                self.read_fifo()
            if 0 in readable:
                got = os.read(0, 65536)
                if not got:
                    return
                orders += got
            # Executes the orders that have been read, one in each line. At an order `when`, stops
            # until a request of the named type has come.
            while awaited is None or awaited in self.taken:  # ends when no whole line is left
                if awaited is not None:
                    self.taken.remove(awaited)
                    awaited = None
                    print("done", flush=True)
                if b"\n" not in orders:
                    break
                order, orders = orders.split(b"\n", 1)
                name, *words = order.decode().split()
                if name == "when":
                    awaited = words[0]
                    continue
                getattr(self, "do_" + name)(*words)
                self.write()
                print("done", flush=True)

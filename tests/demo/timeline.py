# Prints in words what happens in a cell, which is a fleet of machines with one store. It watches
# the store, and keeps the present state of each record.
import base64
import json
import os
import subprocess
import sys
import threading
import time

BEGAN = time.monotonic()


def tell(text, kind=" "):
    print("%8.3f s %s %s" % (time.monotonic() - BEGAN, kind, text), flush=True)


class Timeline:
    """Follows the changes of the store's records in a thread of its own, and prints them in
    words."""

    def __init__(self, cell, root):
        self.root = root
        self.records = {}
        self.told = {}
        self.watch = subprocess.Popen(
            ["etcdctl", "--endpoints=" + ",".join(cell.members.urls()),
             "--cacert=" + cell.path("ca.pem"), "--cert=" + cell.path("root.pem"),
             "--key=" + cell.path("root.key"), "watch", "--prefix", root, "--rev=1",
             "--write-out=json"], env=dict(os.environ, ETCDCTL_API="3"), stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        for line in self.watch.stdout:
            changed = {}
            for event in json.loads(line).get("Events") or []:
                key = base64.b64decode(event["kv"]["key"]).decode()[len(self.root):]
                value = base64.b64decode(event["kv"].get("value", ""))
                self.records[key] = json.loads(value) if value else None
                changed[key] = self.records[key]
            self.tell_changes(changed)

    def tell_changes(self, changed):
        stages = {}
        for key, record in changed.items():
            names = key.split("/")
            if record is None:
                continue
            if names[0] == "rollout" and len(names) == 2:
                self.tell_rollout(names[1], record)
            elif names[0] == "rollout" and names[2] == "node":
                self.add_stage(stages, names, record)
            elif names[0] == "node" and names[2] == "plan":
                words = record.get("phase", "waiting")
                stages.setdefault((names[3], words), []).append(names[1])
            elif names[0] == "node" and names[2] == "active":
                self.tell_once(key, "%s: instance %d of fleet-agent acts"
                               % (names[1], record["generation"]))
            elif names[0] == "node" and names[2] == "versions":
                running = " ".join("%s %s" % pair for pair in sorted(record.items())
                                   if pair[0] != "v")
                self.tell_once(key, "%s runs %s" % (names[1], running))
        for (rollout, words), nodes in stages.items():
            tell("%s: %s %s" % (rollout, " ".join(sorted(nodes)), words))

    def tell_rollout(self, name, record):
        driver = record.get("driver")
        if driver:
            self.tell_once("driver of " + name, "%s is driven by %s" % (name, driver))
        reason = record.get("reason")
        self.tell_once("state of " + name, "%s is %s%s" % (
            name, record["state"], ": " + reason if reason else ""))

    @staticmethod
    def add_stage(stages, names, record):
        stage = record.get("stage", "")
        # A stage whose name ends in `ing` is not printed: the node still carries out the order.
        if not stage.endswith("ing"):
            why = record.get("error") if stage == "failed" else ""
            words = stage + (": " + why if why else "")
            stages.setdefault((names[1], words), []).append(names[3])

    def tell_once(self, about, text):
        if self.told.get(about) != text:
            self.told[about] = text
            tell(text)

    def get(self, key):
        return self.records.get(key)

    def close(self):
        self.watch.kill()
        self.watch.wait()
        self.reader.join()


if __name__ == "__main__":
    sys.exit("is imported by tests/demo/fleet")

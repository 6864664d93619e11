#!/usr/bin/python3
"""A web server that updates itself with pip. It answers every request with its version.

self_updating.py PORT [SECONDS]: looks for a newer version every SECONDS, by default every hour.
This file is the module of a package that has upgrader-agent-protocol among its dependencies: see
README.md.
"""

import http.server
import sys
import threading
import time

from agent_protocol import UpdateError, update

VERSION = "1.0.0"


def look_for_updates(seconds: float) -> None:
    while True:
        try:
            ended = update(keep=3)
            if ended.outcome == "failed":
                print(f"version {ended.newest} failed ({ended.stage}): {ended.reason}", flush=True)
        except UpdateError as error:
            print(error, flush=True)  # the releases are unchanged; the next update tries again
        time.sleep(seconds)


class Answer(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(f"{VERSION}\n".encode())

    def log_message(self, *_: object) -> None:
        pass


if __name__ == "__main__":
    server = http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Answer)
    every = float(sys.argv[2]) if len(sys.argv) > 2 else 3600.0
    threading.Thread(target=look_for_updates, args=(every,), daemon=True).start()
    server.serve_forever()

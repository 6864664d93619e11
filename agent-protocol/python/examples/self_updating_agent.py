#!/usr/bin/python3
"""A web server that updates itself with pip. It needs no agentify, since it speaks the protocol by
itself. It answers every request with its version.

self_updating_agent.py PORT [SECONDS]: looks for a newer version every SECONDS, by default every
hour. This file is the module of a package that has upgrader-agent-protocol among its dependencies:
see README.md.
"""

import http.server
import sys
import threading
import time

from agent_protocol import Activate, Agent, Stop, UpdateError, Welcome, update

VERSION = "1.0.0"


def look_for_updates(agent: Agent, seconds: float) -> None:
    while True:
        try:
            ended = update(agent=agent, keep=3)
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


def main() -> int:
    seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 3600.0
    with Agent(VERSION) as agent:  # must be opened before the program does anything else
        agent.ready()
        server = pause = watchdog = None  # pause: the seconds between heartbeats
        while True:
            event = agent.wait(pause)
            if event is None:
                agent.heartbeat()
            elif isinstance(event, Welcome):
                watchdog = event.watchdog
            elif isinstance(event, Activate):
                pause = watchdog and watchdog / 3
                server = http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Answer)
                threading.Thread(target=server.serve_forever, daemon=True).start()
                looking = (agent, seconds)
                threading.Thread(target=look_for_updates, args=looking, daemon=True).start()
            elif isinstance(event, Stop):
                if server:
                    server.shutdown()
                    server.server_close()  # waits until the requests under way are answered
                agent.stopped()
                return 0


if __name__ == "__main__":
    sys.exit(main())

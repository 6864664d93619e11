# This file controls a headless Chromium through Chromium's debugging protocol, over two pipes.
import base64
import json
import os
import select
import subprocess
import time

from cell import wait

PATIENCE_S = 60


class Browser:
    def __init__(self, place):
        self.input, theirs_out = os.pipe()
        theirs_in, self.out = os.pipe()
        self.heard = b""

        def put_pipes():
            # Chromium reads commands from descriptor 3, and writes its answers to descriptor 4.
            read, written = os.dup(theirs_in), os.dup(theirs_out)
            os.dup2(read, 3)
            os.dup2(written, 4)

        self.process = subprocess.Popen(
            ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
             "--no-first-run", "--ignore-certificate-errors", "--user-data-dir=" + place,
             "--remote-debugging-pipe"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            close_fds=False, preexec_fn=put_pipes)
        os.close(theirs_in)
        os.close(theirs_out)
        self.number = 0
        self.session = None
        self.complaints = []
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.ask("Target.attachToTarget", targetId=target,
                                flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.ask(domain + ".enable")

    def message(self):
        end = time.monotonic() + PATIENCE_S
        while b"\0" not in self.heard:
            ready = select.select([self.input], [], [], max(0, end - time.monotonic()))[0]
            assert ready, "the browser says nothing"
            piece = os.read(self.input, 65536)
            assert piece, "the browser has ended"
            self.heard += piece
        text, self.heard = self.heard.split(b"\0", 1)
        return json.loads(text)

    def ask(self, method, **params):
        self.number += 1
        question = {"id": self.number, "method": method, "params": params}
        if self.session:
            question["sessionId"] = self.session
        os.write(self.out, json.dumps(question).encode() + b"\0")
        end = time.monotonic() + PATIENCE_S
        while True:
            assert time.monotonic() < end, "the browser does not answer " + method
            said = self.message()
            if said.get("id") == self.number:
                assert "error" not in said, said
                return said["result"]
            if said.get("method") == "Runtime.exceptionThrown":
                self.complaints.append(str(said["params"]["exceptionDetails"]))
            if said.get("method") == "Log.entryAdded" and \
                    said["params"]["entry"]["level"] == "error":
                self.complaints.append(said["params"]["entry"]["text"])

    def evaluate(self, expression):
        answer = self.ask("Runtime.evaluate", expression=expression, returnByValue=True,
                          awaitPromise=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def wait(self, what, expression):
        return wait(what, lambda: self.evaluate(expression))

    def show(self, url):
        self.ask("Page.navigate", url=url)

    def set_width(self, width, height=900):
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=height,
                 deviceScaleFactor=1, mobile=width < 700)

    def set_dark(self, dark):
        self.ask("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def press(self, key, text=""):
        """Presses a key, such as `Tab` or `Enter`."""
        codes = {"Tab": 9, "Enter": 13, "Escape": 27, "ArrowRight": 39, "End": 35}
        text = {"Enter": "\r"}.get(key, text)
        for kind in ("keyDown" if text else "rawKeyDown", "keyUp"):
            self.ask("Input.dispatchKeyEvent", type=kind, key=key, code=key, text=text,
                     windowsVirtualKeyCode=codes[key])

    def roles(self):
        """Returns the parts of the page as screen readers get them: the role and the name of each
        part, and the level of each heading."""
        parts = []
        for part in self.ask("Accessibility.getFullAXTree")["nodes"]:
            if part["ignored"]:
                continue
            level = [one["value"]["value"] for one in part.get("properties", ())
                     if one["name"] == "level"]
            parts.append((part["role"]["value"], part.get("name", {}).get("value", ""),
                          level[0] if level else 0))
        return parts

    def picture(self, file):
        size = self.ask("Page.getLayoutMetrics")["cssContentSize"]
        shot = self.ask("Page.captureScreenshot", format="png", captureBeyondViewport=True,
                        clip={"x": 0, "y": 0, "width": size["width"], "height": size["height"],
                              "scale": 1})
        with open(file, "wb") as png:
            png.write(base64.b64decode(shot["data"]))

    def close(self):
        os.close(self.out)
        self.process.kill()
        self.process.wait()
        os.close(self.input)

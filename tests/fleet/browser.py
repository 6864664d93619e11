# A headless Chromium, asked by its debugging protocol over two pipes.
import base64
import json
import os
import subprocess

from cell import wait


class Browser:
    def __init__(self, place):
        here, theirs_out = os.pipe()
        theirs_in, self.out = os.pipe()
        self.input = os.fdopen(here, "rb")

        def put_pipes():
            # Chromium reads descriptor 3 and writes 4.
            read, written = os.dup(theirs_in), os.dup(theirs_out)
            os.dup2(read, 3)
            os.dup2(written, 4)

        self.process = subprocess.Popen(
            ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
             "--no-first-run", "--user-data-dir=" + place, "--remote-debugging-pipe"],
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
        text = b""
        while not text.endswith(b"\0"):
            byte = self.input.read(1)
            assert byte, "the browser has ended"
            text += byte
        return json.loads(text[:-1])

    def ask(self, method, **params):
        self.number += 1
        question = {"id": self.number, "method": method, "params": params}
        if self.session:
            question["sessionId"] = self.session
        os.write(self.out, json.dumps(question).encode() + b"\0")
        while True:
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

    def picture(self, file):
        shot = self.ask("Page.captureScreenshot", format="png", captureBeyondViewport=True)
        with open(file, "wb") as png:
            png.write(base64.b64decode(shot["data"]))

    def close(self):
        os.close(self.out)
        self.process.kill()
        self.process.wait()
        self.input.close()

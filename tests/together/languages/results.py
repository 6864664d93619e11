"""Prints and counts the results of the tests of one agent."""


class Results:
    """`name` is the agent's name, and begins each result."""

    def __init__(self, name):
        self.name = name
        self.passed = self.failed = 0

    def check(self, what, holds, detail=""):
        if holds:
            self.passed += 1
            print(f"ok {self.name}: {what}")
        else:
            self.failed += 1
            print(f"not ok {self.name}: {what}: {detail}")

    def finish(self):
        """Prints how many tests have passed and failed. Returns the exit status."""
        print(f"{self.passed} passed, {self.failed} failed")
        return int(self.failed != 0)

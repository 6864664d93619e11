# Runs tests in Python and counts them. A case is a function whose name is a sentence; it is given
# a world of its own. The world has `close()`, and `logs()`, which is printed if the case fails.
import sys
import threading
import time

PATIENCE_S = 60
BETWEEN_LOOKS_S = 0.005

cases = []


def case(name, rows=""):
    """Declares a test: its name is a sentence, `rows` are the requirements that it shows."""
    def declare(function):
        cases.append((name, rows, function))
        return function
    return declare


def run_cases(make_world, close=None):
    """Runs every case, or those whose names contain the part that the command line gives. `close`
    is called with the number of failures."""
    only = sys.argv[1] if len(sys.argv) > 1 else ""
    passed = failed = 0
    for name, rows, function in cases:
        if only not in name:
            continue
        world = make_world()
        try:
            function(world)
            passed += 1
            print("ok %s%s" % (name, " [%s]" % rows if rows else ""))
        except Exception as error:  # an assertion, or any other error
            failed += 1
            trace = error.__traceback__
            while trace.tb_next:  # until the innermost frame
                trace = trace.tb_next
            print("not ok %s: line %d: %s %s"
                  % (name, trace.tb_lineno, type(error).__name__, error))
            print(world.logs()[-6000:])
        finally:
            world.close()
        sys.stdout.flush()
    if close:
        close(failed)
    print("%d passed, %d failed" % (passed, failed))
    sys.exit(1 if failed else 0)


def same(found, expected):
    assert found == expected, "found %r, expected %r" % (found, expected)


def has(text, part):
    assert part in text, "%r is not in %r" % (part, text)


def wait(what, condition, patience_s=PATIENCE_S):
    """Waits until the condition returns something, and returns that. Fails with the name of what it
    waited for."""
    end = time.monotonic() + patience_s
    while time.monotonic() < end:
        found = condition()
        if found:
            return found
        threading.Event().wait(BETWEEN_LOOKS_S)
    raise AssertionError("waited in vain for " + what)

# Runs tests that are written in Python, and counts them. Each test is a function with one argument,
# a world. A world is an object that has the test's surroundings, such as directories and processes.
# The world has the methods close() and logs(). If the test fails, the text from logs() is printed.
import sys
import threading
import time

PATIENCE_S = 60
BETWEEN_LOOKS_S = 0.005
# The longer a wait lasts, the less often its condition is checked: a check may come late by this
# share of the time waited so far. This saves seconds of processor time.
LATE_AT_MOST = 0.02

cases = []


def case(name, rows=""):
    """Declares a test. `name` is a sentence, and `rows` names the requirements that the test
    shows."""
    def declare(function):
        cases.append((name, rows, function))
        return function
    return declare


def run_cases(make_world, close=None):
    """Runs every case, or only those whose names contain the first argument of the command line. At
    the end, calls `close` with the number of failures. Exits with 0 if at least one case has run
    and none has failed, otherwise with 1."""
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
        except Exception as error:  # a failed assertion or any other error: the case has failed
            failed += 1
            trace = error.__traceback__
            while trace.tb_next:  # until the innermost frame, which has the line that failed
                trace = trace.tb_next
            print("not ok %s: line %d: %s %s"
                  % (name, trace.tb_lineno, type(error).__name__, error))
            print(world.logs()[-6000:])
        finally:
            world.close()
        sys.stdout.flush()
    if close:
        close(failed)
    if passed + failed == 0:
        print("no test has a name that contains %r" % only)
    print("%d passed, %d failed" % (passed, failed))
    sys.exit(0 if passed and not failed else 1)


def same(found, expected):
    assert found == expected, "found %r, expected %r" % (found, expected)


def has(text, part):
    assert part in text, "%r is not in %r" % (part, text)


def wait(what, condition, patience_s=PATIENCE_S):
    """Waits until condition() returns a true value, and returns that value. The message of a
    failure says what was waited for."""
    start = time.monotonic()
    waited_s = 0.0
    while waited_s < patience_s:
        found = condition()
        if found:
            return found
        threading.Event().wait(max(BETWEEN_LOOKS_S, waited_s * LATE_AT_MOST))
        waited_s = time.monotonic() - start
    raise AssertionError("waited in vain for " + what)

# Functions for tests: orders to nodes, and conditions to wait for.
from cell import same, wait


def at_the_gate(machine, version, component="agent"):
    wait("cutover-ready of " + version,
         lambda: machine.phase(version, component) == "cutover-ready")


def failed(machine, version, component="agent"):
    wait("failed of " + version, lambda: machine.phase(version, component) == "failed")
    return machine.get("upgrade/" + component)["error"]


def answered(machine, command, component="agent"):
    return wait("the answer to " + command, lambda: machine.answer(command, component))


def started(cell, *options, **keywords):
    machine = cell.machine("n1", *options, **keywords)
    wait("1.0.0", lambda: machine.runs("1.0.0"))
    return machine


def prepared(cell, machine, component="agent", **keywords):
    release = cell.publish("1.1.0", component=component, **keywords)
    machine.order("prepare", "r1.prepare.1", component, **release)
    same(answered(machine, "r1.prepare.1", component), "done")
    return release


def running(machine, component):
    return (machine.get("versions") or {}).get(component)

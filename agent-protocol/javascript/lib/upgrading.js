// The part of an agent that update() uses: when an upgrade may be requested, which failures have
// not been recorded yet, and all events of the agent. The program gets these events as well.

const unrecordedMax = 16;

// The key, a symbol, of the property in which an Agent keeps its Upgrading. Only this package uses
// it.
export const upgrading = Symbol('upgrading');

export class Upgrading {
  // Failures that the upgrader has reported, and that update() has not recorded yet. Not all are of
  // update()'s own upgrades: upgraderctl or the previous agent may have requested the failed
  // upgrade.
  failures = [];
  #session;
  #closed = false;
  #watchers = new Set();

  // `sending()` returns a function. That function returns true if all messages that the program had
  // sent before the call of sending() have been written to the pipe.
  constructor(session, version, sending = () => () => true) {
    this.#session = session;
    this.version = version;
    this.sending = sending;
  }

  // Returns when an upgrade may be requested: 'now'; 'later' if this agent is not active yet, is on
  // trial, or has an upgrade under way; 'never' if this agent has been told to stop or has been
  // closed.
  get when() {
    return this.#closed ? 'never' : this.#session.whenUpgrade();
  }

  // Calls `watcher` with each later event, and with null when the agent is closed. Returns a
  // function that ends these calls.
  watch(watcher) {
    this.#watchers.add(watcher);
    return () => this.#watchers.delete(watcher);
  }

  tell(event) {
    if (event?.failure) this.failures = [...this.failures.slice(1 - unrecordedMax), event.failure];
    for (const watcher of [...this.#watchers]) watcher(event);
  }

  close() {
    this.#closed = true;
    this.tell(null);
  }
}

// An agent as update() sees it: update() sees all events, and takes none away from the program.

const unrecordedMax = 16;

// The key of the member of an Agent by which update() finds its Upgrading.
export const upgrading = Symbol('upgrading');

export class Upgrading {
  // Failures that the upgrader has reported, and that update() has not recorded yet. They may be of
  // upgrades that another program has requested, or the agent before this one.
  failures = [];
  #session;
  #closed = false;
  #watchers = new Set();

  // `sending` returns a function that says whether the upgrader's pipe has taken all that was said
  // until then.
  constructor(session, version, sending = () => () => true) {
    this.#session = session;
    this.version = version;
    this.sending = sending;
  }

  // Returns 'now' if an upgrade may be requested; 'later' if this agent is held, is on trial, or has
  // an upgrade under way; 'never' if it has been told to stop, or is closed.
  get when() {
    return this.#closed ? 'never' : this.#session.whenUpgrade();
  }

  // Calls `watcher` at every event from now on, and at the end with null. Returns a function that
  // ends this.
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

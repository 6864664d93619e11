// The agent's half of the conversation with its upgrader, as a state machine: it decides which
// messages the program may send, which of the upgrader's messages the program gets, and when the
// program must exit. It does no input or output, and reads no clock: agent.js performs the actions.
//
// The states of an agent:
//
// - `silent`: it has not said `hello` yet.
// - `starting`: it has said `hello`, and must not work yet (it is held).
// - `ready`: it has said `ready`, and is still held.
// - `active`: the upgrader has sent `activate`, and the agent works.
// - `stopping`: a stop was requested by the upgrader, by SIGTERM or by the end of input. If the
//   stop was for an upgrade, the agent becomes active again when it says `cancel`.
// - `stopped`: it has said `stopped`.
// - `ended`: it was held, and has said `unfit` or must exit immediately.
//
// An active agent may say `healthy` while it is on trial, unless it has said `unfit`. If both sides
// have the feature `readiness`, it may also say `healthy` without a trial, and `extend` before its
// `healthy`.
//
// A message from the upgrader that does not fit the agent's state is ignored. Usually both sides
// have sent a message at the same moment: for example, the upgrader a `stop`, and the agent a
// `cancel` of the same upgrade. Only a `stop` for an agent that has stopped by itself is answered,
// with `stopped`.
//
// Without an upgrader, the program goes through the same states: it gets `activate` after its
// `ready`, and `stop` after a SIGTERM. A request for an upgrade is refused; all other messages are
// accepted and have no effect.

const exitInputEnded = 1;
const exitTerminated = 128 + 15; // 143: the status by which a shell reports SIGTERM

const standings = {
  silent: 'hello has not been said',
  starting: 'this agent is held',
  ready: 'this agent has said ready and is held',
  active: 'this agent is active',
  stopping: 'this agent has been told to stop',
  stopped: 'this agent has said stopped',
  ended: "this agent's part has ended",
};

// Actions are { send: true }, { sendStopped: true }, { deliver: event } and { exit: status }.
const send = { send: true };

export class Session {
  constructor(alone) {
    this.alone = alone;
    this.life = 'silent';
    this.welcomed = false;
    this.role = 'first';
    // true for a fallback that was started at boot, because the first agent had failed
    this.atBoot = false;
    this.trial = 'none'; // 'none', 'running', or 'unfit' after the program has said `unfit`
    this.request = null; // the id of a requested upgrade that the upgrader has not answered
    this.upgrade = null; // the id of the upgrade under way that is to replace this agent
    // The step that the upgrade under way has reached: 'accepted', 'candidate_ready', 'confirmed'
    // or 'cancelled'.
    this.step = '';
    this.ordered = null; // the reason, if the upgrader has requested the stop
    this.signalled = false; // SIGTERM has requested a stop
    this.gone = false; // the input has ended
    this.readiness = false; // both sides have the feature `readiness`
    this.works = false; // the program has said `healthy`
  }

  // True while the agent is not active yet, or has ended. Such an agent may exit at once, since it
  // has no work to give up.
  get held() {
    return ['silent', 'starting', 'ready', 'ended'].includes(this.life);
  }

  get stopOrdered() {
    return this.ordered !== null && !this.gone;
  }

  get standing() {
    return this.gone ? 'the upgrader has gone' : standings[this.life];
  }

  // Returns when an upgrade may be requested: 'never' if this agent has no upgrader or has been
  // told to stop; otherwise 'now' or 'later'.
  whenUpgrade() {
    const over = ['stopping', 'stopped', 'ended'].includes(this.life);
    if (this.alone || this.gone || over) return 'never';
    return this.whyNot('upgrade') === '' ? 'now' : 'later';
  }

  // ---- messages from the program

  // Returns the reason why the program may not send a message of the type `word` now. Returns an
  // empty string if the program may send the message.
  whyNot(word, id = '') {
    const fits = (holds) => (holds ? '' : this.standing);
    const { life, trial } = this;
    switch (word) {
      case 'hello':
        return life === 'silent' ? '' : 'it has been said already';
      case 'ready':
        return fits(life === 'starting');
      case 'unfit':
        if (life !== 'active') return fits(life === 'starting' || life === 'ready');
        if (trial === 'running') return '';
        return trial === 'none' ? 'this agent is not on trial' : 'it has been said already';
      case 'upgrade':
        return this.#whyNoUpgrade();
      case 'confirm':
        return this.#whyNotConfirm(id);
      case 'cancel':
        return this.#whyNotCancel(id);
      case 'stopped':
        if (life === 'active') return 'this agent has not been told to stop';
        return fits(life === 'stopping');
      case 'healthy':
        if (life !== 'active') return this.standing;
        if (trial === 'running' || (trial === 'none' && this.readiness)) return '';
        return trial === 'none' ? 'this agent is not on trial' : 'this agent has said unfit';
      case 'extend':
        if (life === 'active') return fits(!this.gone && this.readiness && !this.works);
        return fits(!this.gone && (life === 'starting' || life === 'stopping'));
      case 'heartbeat':
        return fits(!this.gone && (life === 'active' || life === 'stopping'));
      default: // status
        return fits(!this.gone && life !== 'silent');
    }
  }

  #whyNoUpgrade() {
    if (this.alone) return 'there is no upgrader';
    if (this.life !== 'active') return this.standing;
    if (this.trial !== 'none') return 'this agent is on trial';
    if (this.request !== null) return `upgrade ${this.request} has been requested`;
    return this.upgrade === null ? '' : `upgrade ${this.upgrade} is under way`;
  }

  #whyNotKnown(id) {
    if (this.request === id) return 'it has not been accepted';
    if (this.upgrade !== id) return 'no such upgrade is under way';
    return this.step === 'cancelled' ? 'it has been cancelled' : '';
  }

  #whyNotConfirm(id) {
    if (this.life !== 'active') return this.standing;
    const why = this.#whyNotKnown(id);
    if (why) return why;
    if (this.step === 'accepted') return 'its candidate is not ready';
    return this.step === 'confirmed' ? 'it has been confirmed' : '';
  }

  #whyNotCancel(id) {
    if (this.gone || (this.life !== 'active' && this.life !== 'stopping')) return this.standing;
    if (this.signalled) return 'SIGTERM has told this agent to stop';
    if (this.life === 'stopping' && this.ordered !== 'upgrade') return this.standing;
    return this.#whyNotKnown(id);
  }

  // Handles a message that the program sends; `word` is the message's type. Returns the actions to
  // perform. If whyNot() refuses the message, changes nothing and returns no actions.
  say(word, id = '') {
    if (this.whyNot(word, id)) return [];
    const actions = this.#said(word, id);
    if (!this.alone) return actions;
    if (word !== 'ready') return [];
    this.life = 'active';
    return [{ deliver: { type: 'activate', clean: false } }];
  }

  #said(word, id) {
    switch (word) {
      case 'hello':
        this.life = 'starting';
        break;
      case 'ready':
        this.life = 'ready';
        break;
      case 'unfit':
        if (this.life === 'active') this.trial = 'unfit';
        else this.life = 'ended';
        break;
      case 'upgrade':
        this.request = id;
        break;
      case 'confirm':
        this.step = 'confirmed';
        break;
      case 'cancel':
        this.step = 'cancelled';
        this.life = 'active';
        this.ordered = null;
        break;
      case 'stopped':
        this.life = 'stopped';
        if (!this.stopOrdered) return [];
        break;
      case 'healthy':
        this.works = true;
        break;
      case 'extend':
        // If the upgrader has not requested this stop, there is no deadline that an `extend` could
        // move, so the `extend` is not sent.
        if (this.life === 'stopping' && this.ordered === null) return [];
        break;
      default: // heartbeat and status do not change the state
    }
    return [send];
  }

  // ---- messages from the upgrader

  hear(event) {
    if (this.alone || this.gone || this.life === 'silent' || this.life === 'ended') return [];
    if (event.type === 'stop') return this.#heardStop(event);
    return this.#heard(event) ? [{ deliver: event }] : [];
  }

  // Changes the state for the event, and returns whether the program gets the event.
  #heard(event) {
    switch (event.type) {
      case 'welcome':
        if (this.welcomed || !['starting', 'ready'].includes(this.life)) return false;
        this.welcomed = true;
        this.role = event.role;
        this.readiness = event.features.includes('readiness');
        this.atBoot = event.failure?.id === 'boot';
        return true;
      case 'activate':
        if (this.life !== 'ready') return false;
        this.life = 'active';
        this.trial = this.role === 'candidate' || this.atBoot ? 'running' : 'none';
        return true;
      case 'accepted':
        if (this.life === 'stopped' || this.request !== event.id) return false;
        this.request = null;
        this.upgrade = event.id;
        this.step = 'accepted';
        return true;
      case 'candidate_ready':
        if (this.life === 'stopped' || this.upgrade !== event.id) return false;
        if (this.step !== 'accepted' || this.ordered !== null) return false;
        this.step = 'candidate_ready';
        return true;
      case 'candidate_lost':
        return (
          this.life === 'stopping' && this.ordered === 'upgrade' && this.upgrade === event.id
        );
      case 'upgrade_failed':
        if (this.life === 'stopped') return false;
        if (this.request === event.failure.id) this.request = null;
        else if (this.upgrade === event.failure.id) this.upgrade = null;
        else return false;
        return true;
      case 'committed':
        if (this.life === 'stopped' || this.trial === 'none') return false;
        this.trial = 'none';
        return true;
      default: // error
        if (event.about === 'upgrade') this.request = null;
        return true;
    }
  }

  #heardStop(stop) {
    const forUpgrade = stop.reason === 'upgrade' && stop.id !== undefined;
    if (forUpgrade && this.step === 'cancelled' && this.upgrade === stop.id) return [];
    const { life } = this;
    if (this.ordered !== null || !['active', 'stopping', 'stopped'].includes(life)) return [];
    this.ordered = stop.reason;
    this.trial = 'none';
    if (forUpgrade) {
      this.upgrade = stop.id;
      this.step = 'accepted';
    }
    if (life === 'stopped') return [{ sendStopped: true }];
    if (life === 'stopping') return [];
    this.life = 'stopping';
    return [{ deliver: stop }];
  }

  // ---- the end of the input from the upgrader, and SIGTERM

  inputEnded() {
    if (this.alone || this.gone) return [];
    this.gone = true;
    if (this.held) {
      this.life = 'ended';
      return [{ exit: exitInputEnded }];
    }
    if (this.life !== 'active') return [];
    this.life = 'stopping';
    return [{ deliver: { type: 'stop', reason: 'end_of_input' } }];
  }

  terminated() {
    if (this.held) {
      this.life = 'ended';
      return [{ exit: exitTerminated }];
    }
    if (this.life === 'stopped') return [];
    this.signalled = true;
    if (this.life === 'stopping') return [];
    this.life = 'stopping';
    return [{ deliver: { type: 'stop', reason: 'signal' } }];
  }
}

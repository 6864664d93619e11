// The agent's end of the conversation with the upgrader. The session (session.js) decides; this
// class performs the session's actions on the two pipes and the process.

import cluster from 'node:cluster';
import fs from 'node:fs';
import net from 'node:net';
import process from 'node:process';
import { isMainThread } from 'node:worker_threads';

import * as mark from './mark.js';
import * as messages from './messages.js';
import { Session } from './session.js';
import { Upgrading, upgrading } from './upgrading.js';

const protocolVersion = 1;
// The most bytes of this agent's messages that are kept while the pipe to the upgrader is full.
// Further messages are refused. The upgrader has the same limit for the bytes that it keeps for an
// agent.
const unsentBytesMax = 131_072;
const pipeBytesMax = 2 ** 20; // the most bytes that a pipe holds, unless root has allowed more
const newline = 0x0a;
const timerMsMax = 2 ** 31 - 1; // setTimeout() would wait for only 1 ms if the time were longer

let opened = false; // true after the first Agent.open(): a process can open only one conversation

// Opens one of the upgrader's pipes again, through the pipe's name in /proc.
function openAgain(number, flags) {
  try {
    return fs.openSync(`/proc/self/fd/${number}`, flags);
  } catch (cause) {
    const error = new Error(
      `cannot open descriptor ${number}, the upgrader's pipe, again (${cause.code}): an agent in ` +
        'Node.js needs /proc, and can only change its user after Agent.open()',
      { cause },
    );
    error.code = cause.code;
    throw error;
  }
}

// Opens the file of standard error again, as the lowest free descriptor. Returns false, and has
// opened nothing, if the file cannot be opened again or must not be.
function openStandardErrorAgain() {
  try {
    // The new descriptor has a write position of its own. In a regular file, the two descriptors
    // overwrite each other's text unless both of them always append.
    const [, flags] = /^flags:\s*([0-7]+)$/m.exec(fs.readFileSync('/proc/self/fdinfo/2', 'utf8'));
    const appends = (parseInt(flags, 8) & fs.constants.O_APPEND) !== 0;
    const status = fs.fstatSync(2);
    if (status.isFile() && !appends) return false;
    // If no process reads a FIFO, as when the log's reader is being restarted, an open with
    // O_NONBLOCK fails, while the open below would wait for a reader.
    if (status.isFIFO()) {
      const { O_WRONLY, O_NONBLOCK } = fs.constants;
      fs.closeSync(fs.openSync('/proc/self/fd/2', O_WRONLY | O_NONBLOCK));
    }
    fs.openSync('/proc/self/fd/2', 'a');
    return true;
  } catch {
    return false; // the file is a socket or a FIFO without a reader, or it belongs to another user
  }
}

// Moves the pipes from descriptors 0 and 1 to private ones, so that child processes do not inherit
// them and printed text does not go to the upgrader. Node.js has no dup2(), so each pipe is opened
// again, descriptor 0 or 1 is closed, and the next open() gets that number.
function takePipes() {
  // The pipe that is opened again has a flag O_NONBLOCK of its own, which no other process shares.
  const inputNumber = openAgain(0, fs.constants.O_RDONLY | fs.constants.O_NONBLOCK);
  const output = openAgain(1, 'w');
  fs.closeSync(0);
  fs.openSync('/dev/null', 'r');
  fs.closeSync(1);
  if (!openStandardErrorAgain()) {
    // Make descriptor 1 /dev/null, and let console.log() write through process.stderr.
    fs.openSync('/dev/null', 'w');
    const get = () => process.stderr;
    Object.defineProperty(process, 'stdout', { get, configurable: true, enumerable: true });
    // console keeps the old stream in this property after its first use
    console._stdout = process.stderr;
  }
  return {
    inputNumber,
    input: new net.Socket({ fd: inputNumber, readable: true, writable: false }),
    output: new net.Socket({ fd: output, readable: false, writable: true }),
  };
}

function cleanEnvironment() {
  for (const name of Object.keys(process.env)) {
    if (name.startsWith('AGENT_PROTOCOL')) delete process.env[name];
  }
}

export class Agent {
  #session;
  #pipes = null;
  #events = [];
  #waiting = []; // callbacks of callers that wait for an event
  #checks = [];
  #unsentStopped = '';
  #queued = 0; // the number of all bytes that were ever queued
  #written = 0;
  #unread = Buffer.alloc(0);
  #skipping = false; // true while the rest of an overlong line is skipped
  #closed = false;
  #onTerm = () => this.#perform(this.#session.terminated());

  // Starts the conversation, and must be the first thing that a program does. `version` is the
  // version of the program, at most 128 bytes. `features` names the features that the program has,
  // at most 16 names of at most 32 bytes. If the program and the upgrader have the feature
  // `readiness`, init is told that the service is ready when a first agent or a fallback calls
  // healthy(), and not already at `activate`.
  //
  // With an upgrader, these things are true afterwards:
  // - `hello` has been sent.
  // - Descriptor 0 is /dev/null, and 1 is a copy of 2.
  // - The AGENT_PROTOCOL variables are gone from the environment.
  // - SIGTERM is caught: a held agent (one that must not work yet) exits at once with status 143,
  //   an active one gets `stop`.
  //
  // Without an upgrader, nothing is sent, and descriptors and environment are left alone; SIGTERM
  // is caught nevertheless.
  //
  // Throws an error with code EBUSY if this process has opened its conversation before, and with
  // code ENOTCONN if an agent has executed this program in its own place. Also throws an error in a
  // worker thread, and in a worker of node:cluster whose parent is an agent.
  static open(version, { features = [] } = {}) {
    if (opened) {
      const error = new Error('this process has opened its conversation already');
      error.code = 'EBUSY';
      throw error;
    }
    if (version !== undefined) messages.checkText('version', version, messages.versionBytesMax);
    const named = messages.checkFeatures(features);
    const alone = process.env.AGENT_PROTOCOL === undefined;
    if (!alone && !isMainThread) throw new Error('only the main thread can open the conversation');
    // A worker executes the agent's program again, but has no upgrader. An agent in the worker
    // would therefore activate itself beside its parent.
    if (alone && cluster.isWorker && mark.isOfParent()) {
      throw new Error(
        'a worker of node:cluster has no upgrader of its own: call Agent.open() only if ' +
          'cluster.isPrimary is true',
      );
    }
    if (alone && mark.isLeft()) {
      const error = new Error('this process has had its conversation with an upgrader');
      error.code = 'ENOTCONN';
      throw error;
    }
    const agent = new Agent(alone, version, named);
    opened = true;
    return agent;
  }

  constructor(alone, version, features) {
    this.#session = new Session(alone);
    this[upgrading] = new Upgrading(this.#session, version, () => {
      const end = this.#queued;
      return () => this.#written >= end;
    });
    process.on('SIGTERM', this.#onTerm);
    if (!alone) {
      this.#pipes = takePipes();
      this.#pipes.input.on('data', (bytes) => this.#read(bytes));
      this.#pipes.input.on('close', () => this.#perform(this.#session.inputEnded()));
      this.#pipes.input.on('error', () => {}); // the event 'close' follows
      // Ignore errors of the output pipe. They mean that the upgrader has gone; the end of input
      // says the same, and is handled.
      this.#pipes.output.on('error', () => {});
      cleanEnvironment();
      mark.leave();
    }
    this.#say('hello', { protocol: protocolVersion, version, features });
  }

  // True if there is no upgrader.
  get alone() {
    return this.#session.alone;
  }

  // Closes the pipes, and stops catching SIGTERM. Sends nothing to the upgrader. Ends all waits for
  // an event.
  close() {
    this.#closed = true;
    process.off('SIGTERM', this.#onTerm);
    this.#pipes?.input.removeAllListeners('close').destroy();
    this.#pipes?.output.destroy();
    this[upgrading].close();
    for (const done of [...this.#waiting]) done(null);
  }

  // ---- events

  // Returns the next event, or null if there is none now.
  next() {
    return this.#events.shift() ?? null;
  }

  // Resolves to the next event, or to null when `timeout` milliseconds are over, `signal` aborts, or
  // the conversation is closed. Rejects if the conversation was closed before. A wait keeps the
  // process alive, also without an upgrader.
  wait({ timeout = Infinity, signal } = {}) {
    const event = this.next();
    if (event || !(timeout > 0) || signal?.aborted) return Promise.resolve(event);
    if (this.#closed) return Promise.reject(new Error('the conversation has been closed'));
    return new Promise((resolve) => {
      let timer;
      const done = (told) => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', done);
        this.#waiting = this.#waiting.filter((other) => other !== done);
        resolve(told?.type === 'abort' && told instanceof Event ? null : told);
      };
      const end = performance.now() + timeout;
      const endOrWaitMore = () => {
        const left = end - performance.now();
        if (left <= 0) done(null);
        else timer = setTimeout(endOrWaitMore, Math.min(left, timerMsMax));
      };
      signal?.addEventListener('abort', done);
      this.#waiting.push(done);
      endOrWaitMore();
    });
  }

  // Yields events until the conversation is closed, so the program must leave its loop itself, after
  // the event `stop`.
  async *[Symbol.asyncIterator]() {
    while (!this.#closed) {
      const event = await this.wait();
      if (event) yield event;
    }
  }

  // ---- messages from the program

  // Registers a start-up check, to be run by ready() in the order of registration. The check
  // returns, or resolves to, a string that says what is wrong, or null or undefined if the check
  // passes.
  addCheck(name, check) {
    this.#checks.push({ name, check });
  }

  // Runs the checks in order. If all pass, sends `ready`. If one fails, sends `unfit` with that
  // check's name and reason, runs no further check and throws an error. The program must then exit
  // without any other effect. If a check throws an error, ready() throws that error, has sent
  // nothing and may be called again.
  async ready() {
    this.#ask('ready');
    for (const { name, check } of this.#checks) {
      const wrong = await check();
      if (wrong !== null && wrong !== undefined) {
        await this.unfit(`${name}: ${wrong}`);
        throw new Error(`cannot say ready: ${name}: ${wrong}`);
      }
    }
    this.#say('ready');
  }

  // Tells the upgrader that this agent must not get the work, or, if it is on trial, must not keep
  // the work. An agent that is not active yet must then exit; an agent on trial is told to stop.
  // `reason` is cut to 1,024 bytes. Resolves when the whole message has been written to the pipe,
  // or the upgrader has gone.
  unfit(reason) {
    return this.#sayAtLast('unfit', { reason: messages.fit(reason, messages.reasonBytesMax) });
  }

  // Requests an upgrade of this agent. The answer is the event `accepted` or `upgrade_failed`.
  upgrade(asked) {
    this.#say('upgrade', messages.checkUpgrade(asked));
  }

  confirm(id) {
    this.#say('confirm', { id: messages.checkId(id) });
  }

  cancel(id, reason) {
    const cut = reason === undefined ? reason : messages.fit(reason, messages.reasonBytesMax);
    this.#say('cancel', { id: messages.checkId(id), reason: cut });
  }

  // Confirms a clean stop. All work must be finished or given up before the call, and the program
  // must exit after it. `state` is passed to the next agent: at most 32,768 bytes, and at most
  // 65,000 when escaped for JSON. Resolves when the whole message has been written to the pipe, or
  // the upgrader has gone.
  //
  // If the state is refused, nothing has been confirmed: call again with another state, or without
  // one. After a stop that the upgrader did not request (a signal, the end of input), nothing is
  // sent.
  stopped(state) {
    if (state !== undefined) messages.checkState(state);
    // A `stop` may wait unread in the pipe: hear it now, so that `stopped` counts as its answer.
    if (!this.#session.stopOrdered) this.#hearWhatIsThere();
    this.#unsentStopped = messages.encode('stopped', { state });
    return this.#sayAtLast('stopped', { state });
  }

  // Tells the upgrader that this agent works. If the agent is on trial, the upgrade is then
  // committed at once. With the feature `readiness`, a first agent or a fallback must call this
  // function, and init is then told that the service is ready. With an upgrader, throws an error if
  // this agent is not active, if it has said `unfit`, or (without the feature) if it is not on
  // trial.
  healthy() {
    this.#say('healthy');
  }

  // Asks the upgrader for more time: moves this agent's current deadline to `ms` milliseconds (1 to
  // 86,400,000) from now, unless the deadline is later already. May be called before ready(), and
  // between `stop` and stopped(). With the feature `readiness`, it may also be called between
  // `activate` and healthy().
  extend(ms) {
    this.#say('extend', { ms: messages.checkMilliseconds('ms', ms, 1) });
  }

  heartbeat() {
    this.#say('heartbeat');
  }

  // Sends a status of one line for people, cut to 256 bytes.
  status(text) {
    this.#say('status', { text: messages.fit(text, messages.statusBytesMax) });
  }

  // ---- internal functions

  #ask(word, id) {
    const why = this.#session.whyNot(word, id);
    const bears = this.alone && word !== 'ready' && word !== 'upgrade';
    if (why && !bears) throw new Error(`cannot say ${word}${id ? ` ${id}` : ''}: ${why}`);
  }

  #say(word, members = {}, last = false) {
    this.#ask(word, members.id);
    const line = messages.encode(word, members);
    const waits = this.#pipes?.output.writableLength ?? 0;
    if (!last && waits + Buffer.byteLength(line) > unsentBytesMax) {
      throw new Error(`cannot say ${word}: the upgrader does not read what has been sent`);
    }
    this.#perform(this.#session.say(word, members.id), line);
  }

  #sayAtLast(word, members) {
    this.#say(word, members, true);
    const output = this.#pipes?.output;
    if (!output || output.destroyed) return Promise.resolve();
    return new Promise((resolve) => {
      output.once('close', resolve);
      output.write('', resolve);
    });
  }

  #perform(actions, line) {
    for (const action of actions) {
      if (action.exit !== undefined) process.exit(action.exit);
      if (action.send) this.#write(line);
      if (action.sendStopped) this.#write(this.#unsentStopped);
      if (action.deliver) this.#tell(action.deliver);
    }
  }

  #write(line) {
    if (!this.#pipes) return;
    const bytes = Buffer.byteLength(line);
    this.#queued += bytes;
    this.#pipes.output.write(line, (error) => {
      if (!error) this.#written += bytes;
    });
  }

  #tell(event) {
    this[upgrading].tell(event);
    const waiting = this.#waiting.shift();
    if (waiting) waiting(event);
    else this.#events.push(event);
  }

  // Hears the messages that wait in the pipe.
  #hearWhatIsThere() {
    if (!this.#pipes || this.#pipes.input.destroyed) return;
    const bytes = Buffer.alloc(pipeBytesMax);
    let count = 0;
    try {
      count = fs.readSync(this.#pipes.inputNumber, bytes);
    } catch {
      // The pipe is empty, or cannot be read. The socket finds out about an error by itself.
    }
    this.#read(bytes.subarray(0, count));
  }

  #read(bytes) {
    this.#unread = Buffer.concat([this.#unread, bytes]);
    for (let end; (end = this.#unread.indexOf(newline)) >= 0; ) {
      const line = this.#unread.subarray(0, end);
      this.#unread = this.#unread.subarray(end + 1);
      const event = this.#skipping ? null : messages.decode(line);
      this.#skipping = false;
      if (event) this.#perform(this.#session.hear(event));
    }
    if (this.#unread.length >= messages.lineBytesMax) {
      this.#skipping = true;
      this.#unread = Buffer.alloc(0);
    }
  }
}

// Turns messages into lines, and lines into events. Checks the limits of agent-protocol(7), and
// keeps no state. A text or a number that cannot be sent causes a RangeError or a TypeError; only
// fit() cuts texts. A received line that agents must ignore becomes null.

import { Members, Spelt, parseLine } from './json.js';

export const lineBytesMax = 65_536;
export const versionBytesMax = 128;
const featuresMax = 16;
const featureBytesMax = 32;
export const reasonBytesMax = 1_024;
export const statusBytesMax = 256;
const stateBytesMax = 32_768;
const stateEscapedBytesMax = 65_000;
const executableBytesMax = 4_095;
const argsMax = 1_024;
const idBytesMax = 64;
const aboutBytesMax = 64;
const protocolMax = 2_147_483_647;
const dayMs = 86_400_000;

const bytesOf = (text) => Buffer.byteLength(text);
// The `u` flag makes a surrogate match only where it stands alone.
const hasLoneSurrogate = (text) => /\p{Surrogate}/u.test(text);

export function checkText(name, text, bytesMax) {
  if (typeof text !== 'string') throw new TypeError(`${name} is not a text`);
  if (text.includes('\0')) throw new RangeError(`${name} holds U+0000`);
  if (hasLoneSurrogate(text)) throw new RangeError(`${name} holds a lone surrogate`);
  const bytes = bytesOf(text);
  if (bytes > bytesMax) throw new RangeError(`${name} has ${bytes} bytes: ${bytesMax} can be sent`);
  return text;
}

export function checkId(text) {
  checkText('id', text, idBytesMax);
  if (!/^[ -~]+$/.test(text)) throw new RangeError('id is not printable ASCII of 1 to 64 bytes');
  return text;
}

// Checks the names of an agent's features. Returns the names as the member `features` of `hello`,
// or undefined if the agent has no features.
export function checkFeatures(names) {
  if (!Array.isArray(names)) throw new TypeError('features are not an array');
  if (names.length > featuresMax) {
    throw new RangeError(`features are ${names.length}: ${featuresMax} can be sent`);
  }
  for (const name of names) checkText('a feature', name, featureBytesMax);
  return names.length > 0 ? names : undefined;
}

export function checkState(text) {
  checkText('state', text, stateBytesMax);
  const bytes = bytesOf(JSON.stringify(text)) - 2;
  if (bytes > stateEscapedBytesMax) {
    throw new RangeError(
      `state has ${bytes} bytes when it is escaped: ${stateEscapedBytesMax} can be sent`,
    );
  }
  return text;
}

// Cuts a text for people to at most `bytesMax` bytes, and never inside a character.
export function fit(text, bytesMax) {
  let clean = String(text).replaceAll('\0', '?').replace(/\p{Surrogate}/gu, '\ufffd');
  if (bytesOf(clean) <= bytesMax) return clean;
  clean = Buffer.from(clean).subarray(0, bytesMax).toString();
  return clean.replace(/\ufffd+$/, '');
}

export function checkMilliseconds(name, value, least = 0) {
  if (value === undefined) return undefined;
  if (!Number.isInteger(value) || value < least || value > dayMs) {
    throw new RangeError(`${name} is ${value}: whole milliseconds, ${least} to 24 h, can be sent`);
  }
  return value;
}

// Checks the terms of a requested upgrade, and returns the members of `upgrade`. Times are in
// milliseconds.
export function checkUpgrade(asked) {
  const { id, executable, args, mode, gate, commit, onUncleanStop, fallback, ...rest } = asked;
  const { startTimeout, confirmTimeout, stopTimeout, trial, ...unknown } = rest;
  for (const name of Object.keys(unknown)) throw new TypeError(`an upgrade has no member ${name}`);
  checkId(id);
  checkText('executable', executable, executableBytesMax);
  if (!executable.startsWith('/')) throw new RangeError('executable is not an absolute path');
  if (args !== undefined) {
    if (args.length > argsMax) {
      throw new RangeError(`args are ${args.length}: ${argsMax} can be sent`);
    }
    for (const arg of args) checkText('an argument', arg, lineBytesMax);
  }
  return {
    id,
    executable,
    args,
    mode,
    gate,
    commit,
    on_unclean_stop: onUncleanStop,
    start_timeout_ms: checkMilliseconds('startTimeout', startTimeout),
    confirm_timeout_ms: checkMilliseconds('confirmTimeout', confirmTimeout),
    stop_timeout_ms: checkMilliseconds('stopTimeout', stopTimeout, 1),
    trial_ms: checkMilliseconds('trial', trial),
    fallback,
  };
}

// Returns the line of a message. Members that are undefined are left out. JSON.stringify escapes
// only the quote, the backslash and control characters (and lone surrogates, which have been
// refused).
export function encode(type, members = {}) {
  const line = `${JSON.stringify({ type, ...members })}\n`;
  const bytes = bytesOf(line);
  if (bytes > lineBytesMax) {
    throw new RangeError(`the message has ${bytes} bytes: ${lineBytesMax} can be sent`);
  }
  return line;
}

// ---- messages from the upgrader

class Malformed extends Error {}

// Returns the member of this name, or undefined if the member is absent and not required. Throws an
// error if a required member is absent, or if the member occurs twice or has an invalid value.
function take(members, name, fits, required = true) {
  if (members.twice.has(name)) throw new Malformed(name);
  const value = members.get(name);
  if (value === undefined && !required) return undefined;
  if (!fits(value)) throw new Malformed(name);
  return value;
}

const isTruth = (value) => typeof value === 'boolean';
const isObject = (value) => value instanceof Members;

// The next functions return true, or throw an error if the text breaks a rule.
const isText = (bytesMax) => (value) => checkText('a member', value, bytesMax) === value;
const isId = (value) => checkId(value) === value;
const isState = (value) => checkState(value) === value;
const isFeatures = (value) => checkFeatures(value) !== null;

const text = (members, name, bytesMax = lineBytesMax, required = true) =>
  take(members, name, isText(bytesMax), required);
const optionalText = (members, name, bytesMax) => text(members, name, bytesMax, false);
const id = (members, required = true) => take(members, 'id', isId, required);

// Returns an integer from `least` to `most`. By default, `most` is the largest integer that every
// reader of JSON reads exactly.
const integer = (members, name, least = 1, most = Number.MAX_SAFE_INTEGER, required = true) => {
  const fits = (value) =>
    value instanceof Spelt &&
    /^-?[0-9]+$/.test(value.text) &&
    Number(value.text) >= least &&
    Number(value.text) <= most;
  const value = take(members, name, fits, required);
  return value === undefined ? undefined : Number(value.text);
};
const optionalInteger = (members, name, least) => integer(members, name, least, undefined, false);

const oneOf = (members, name, words) => {
  const value = text(members, name);
  if (!words.includes(value)) throw new Malformed(name);
  return value;
};
// Returns undefined for a word that only a later upgrader knows, as if the member were absent.
const optionalOneOf = (members, name, words) => {
  const value = optionalText(members, name);
  return words.includes(value) ? value : undefined;
};

// Returns a failure. Its stage may be one that only a later upgrader knows.
const takeFailure = (members) => ({
  id: id(members),
  stage: text(members, 'stage'),
  reason: text(members, 'reason', reasonBytesMax),
  version: optionalText(members, 'version', versionBytesMax),
  errno: optionalText(members, 'errno'),
  exitStatus: optionalInteger(members, 'exit_status', Number.MIN_SAFE_INTEGER),
  signal: optionalInteger(members, 'signal', Number.MIN_SAFE_INTEGER),
});

// Returns the member `failure`, which tells a fallback which upgrade has failed. The member is in
// `welcome`, or in `activate` if the upgrade failed after the `welcome`. Returns undefined if there
// is none.
const takePastFailure = (members) => {
  const failure = take(members, 'failure', isObject, false);
  return failure && takeFailure(failure);
};

const takeStop = (members) => {
  const reason = oneOf(members, 'reason', ['upgrade', 'rollback', 'shutdown']);
  const isUpgrade = reason === 'upgrade';
  return {
    reason,
    deadline: integer(members, 'deadline_ms'),
    id: id(members, isUpgrade),
    generation: integer(members, 'generation', 1, undefined, isUpgrade),
  };
};

const readers = {
  welcome: (members) => ({
    protocol: integer(members, 'protocol', 1, protocolMax),
    features: take(members, 'features', isFeatures),
    generation: integer(members, 'generation'),
    role: oneOf(members, 'role', ['first', 'candidate', 'fallback']),
    previousVersion: optionalText(members, 'previous_version', versionBytesMax),
    failure: takePastFailure(members),
    watchdog: optionalInteger(members, 'watchdog_ms'),
  }),
  activate: (members) => ({
    clean: take(members, 'clean', isTruth),
    state: take(members, 'state', isState, false),
    failure: takePastFailure(members),
    trial: optionalInteger(members, 'trial_ms'),
    commit: optionalOneOf(members, 'commit', ['survive', 'healthy']),
  }),
  stop: takeStop,
  accepted: (members) => ({ id: id(members), generation: integer(members, 'generation') }),
  candidate_ready: (members) => ({
    id: id(members),
    generation: integer(members, 'generation'),
    version: optionalText(members, 'version', versionBytesMax),
  }),
  candidate_lost: (members) => ({ id: id(members), reason: text(members, 'reason') }),
  upgrade_failed: (members) => ({ failure: takeFailure(members) }),
  committed: (members) => ({ id: id(members), generation: integer(members, 'generation') }),
  error: (members) => ({
    about: optionalText(members, 'about', aboutBytesMax),
    reason: text(members, 'reason', reasonBytesMax),
  }),
};

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

// Returns the event for a line (bytes, without the newline), or null if agents must ignore the
// line.
export function decode(line) {
  if (line.length >= lineBytesMax) return null;
  try {
    const members = parseLine(utf8.decode(line));
    const type = text(members, 'type');
    return Object.hasOwn(readers, type) ? { type, ...readers[type](members) } : null;
  } catch (error) {
    const expected = [SyntaxError, TypeError, RangeError, Malformed];
    if (expected.some((kind) => error instanceof kind)) return null;
    throw error;
  }
}

import assert from 'node:assert/strict';
import test from 'node:test';

import { Session } from '../lib/session.js';

function held(role = 'first', features = []) {
  const session = new Session(false);
  session.say('hello');
  session.hear({ type: 'welcome', generation: 1, role, features });
  session.say('ready');
  return session;
}

function active(role = 'first', features = []) {
  const session = held(role, features);
  session.hear({ type: 'activate', clean: true });
  return session;
}

function refused(session, word, id, why) {
  const before = { ...session };
  assert.match(session.whyNot(word, id), why);
  assert.deepEqual(session.say(word, id), []);
  assert.deepEqual({ ...session }, before);
}

const stopFor = (id) => ({ type: 'stop', reason: 'upgrade', id, generation: 2 });
const send = [{ send: true }];

test('a held agent exits at once at the end of input and at SIGTERM', () => {
  assert.deepEqual(held().inputEnded(), [{ exit: 1 }]);
  assert.deepEqual(held().terminated(), [{ exit: 143 }]);
});

test('an active agent is told to stop once, whoever asks', () => {
  const session = active();
  assert.deepEqual(session.terminated(), [{ deliver: { type: 'stop', reason: 'signal' } }]);
  assert.deepEqual(session.hear({ type: 'stop', reason: 'shutdown' }), []);
  assert.deepEqual(session.inputEnded(), []);
});

test('a stop that crosses our own stopped is answered with it', () => {
  const session = active();
  session.terminated();
  assert.deepEqual(session.say('stopped'), []);
  assert.deepEqual(session.hear(stopFor('u')), [{ sendStopped: true }]);
});

test('an agent knows whether it may request an upgrade now, later or never', () => {
  assert.equal(new Session(true).whenUpgrade(), 'never');
  assert.equal(held().whenUpgrade(), 'later');
  const session = active('candidate');
  assert.equal(session.whenUpgrade(), 'later');
  session.hear({ type: 'committed', id: 'u', generation: 1 });
  assert.equal(session.whenUpgrade(), 'now');
  session.say('upgrade', 'v');
  assert.equal(session.whenUpgrade(), 'later');
  session.hear({ type: 'upgrade_failed', failure: { id: 'v', stage: 'start', reason: '' } });
  assert.equal(session.whenUpgrade(), 'now');
  session.hear({ type: 'stop', reason: 'shutdown' });
  assert.equal(session.whenUpgrade(), 'never');
});

test('a stop for an upgrade that was cancelled is void', () => {
  const session = active();
  session.say('upgrade', 'u');
  session.hear({ type: 'accepted', id: 'u', generation: 2 });
  session.say('cancel', 'u');
  assert.deepEqual(session.hear(stopFor('u')), []);
  assert.equal(session.life, 'active');
});

test('work can be taken back when the candidate is lost', () => {
  const session = active();
  session.hear(stopFor('u'));
  const lost = { type: 'candidate_lost', id: 'u', reason: 'it died' };
  assert.deepEqual(session.hear(lost), [{ deliver: lost }]);
  assert.deepEqual(session.say('cancel', 'u'), send);
  const failed = { type: 'upgrade_failed', failure: { id: 'u', stage: 'start', reason: 'x' } };
  assert.deepEqual(session.hear(failed), [{ deliver: failed }]);
  assert.deepEqual(session.say('upgrade', 'next'), send);
});

test('the gate is opened once', () => {
  const session = active();
  session.say('upgrade', 'u');
  refused(session, 'confirm', 'u', /it has not been accepted/);
  session.hear({ type: 'accepted', id: 'u', generation: 2 });
  refused(session, 'confirm', 'u', /its candidate is not ready/);
  session.hear({ type: 'candidate_ready', id: 'u', generation: 2 });
  assert.deepEqual(session.say('confirm', 'u'), send);
  refused(session, 'confirm', 'u', /it has been confirmed/);
});

test('only a candidate is on trial', () => {
  const session = active('candidate');
  refused(session, 'upgrade', 'u', /on trial/);
  assert.deepEqual(session.say('healthy'), send);
  session.hear({ type: 'committed', id: 'v', generation: 2 });
  refused(session, 'healthy', '', /not on trial/);
  refused(active('fallback'), 'unfit', '', /not on trial/);
});

test('a fallback at boot is on trial', () => {
  const session = new Session(false);
  session.say('hello');
  const failure = { id: 'boot' };
  session.hear({ type: 'welcome', generation: 2, role: 'fallback', features: [], failure });
  session.say('ready');
  session.hear({ type: 'activate', clean: false, trial: 1000, commit: 'healthy' });
  refused(session, 'upgrade', 'u', /on trial/);
  assert.deepEqual(session.say('healthy'), send);
  const committed = { type: 'committed', id: 'boot', generation: 2 };
  assert.deepEqual(session.hear(committed), [{ deliver: committed }]);
});

test('with readiness, healthy is said in every role, and extend until then', () => {
  for (const role of ['first', 'candidate', 'fallback']) {
    const session = held(role, ['other', 'readiness']);
    for (const word of ['healthy', 'extend']) refused(session, word, '', /has said ready/);
    session.hear({ type: 'activate', clean: false });
    assert.deepEqual(session.say('extend'), send);
    assert.deepEqual(session.say('healthy'), send);
    refused(session, 'extend', '', /this agent is active/);
    session.hear({ type: 'committed', id: 'v', generation: 2 });
    assert.deepEqual(session.say('healthy'), send);
    session.hear({ type: 'stop', reason: 'shutdown' });
    assert.deepEqual(session.say('extend'), send);
  }
});

test('a feature that the upgrader does not have allows nothing', () => {
  for (const features of [[], ['other']]) {
    refused(active('first', features), 'healthy', '', /not on trial/);
    refused(active('first', features), 'extend', '', /this agent is active/);
  }
});

test('an agent that has said unfit is not healthy, whatever its features are', () => {
  const session = active('candidate', ['readiness']);
  session.say('unfit');
  refused(session, 'healthy', '', /this agent has said unfit/);
});

test('what may not be said changes nothing', () => {
  for (const word of ['ready', 'stopped', 'healthy', 'heartbeat', 'extend', 'upgrade', 'cancel']) {
    refused(held(), word, 'u', /held/);
  }
});

test('messages that do not fit are told to nobody', () => {
  const session = held();
  const misfits = [stopFor('u'), { type: 'accepted', id: 'u' }, { type: 'committed', id: 'u' }];
  for (const event of misfits) {
    assert.deepEqual(session.hear(event), []);
  }
  session.hear({ type: 'activate', clean: true });
  assert.deepEqual(session.hear({ type: 'activate', clean: true }), []);
  assert.deepEqual(session.hear({ type: 'welcome', role: 'first' }), []);
});

test('alone, the same story is told without an upgrader', () => {
  const session = new Session(true);
  assert.deepEqual(session.say('hello'), []);
  assert.deepEqual(session.say('ready'), [{ deliver: { type: 'activate', clean: false } }]);
  for (const word of ['heartbeat', 'healthy', 'status', 'extend', 'cancel']) {
    assert.deepEqual(session.say(word, 'u'), []);
  }
  assert.match(session.whyNot('upgrade', 'u'), /there is no upgrader/);
  assert.deepEqual(session.inputEnded(), []);
  assert.deepEqual(session.terminated(), [{ deliver: { type: 'stop', reason: 'signal' } }]);
  assert.deepEqual(session.say('stopped'), []);
});

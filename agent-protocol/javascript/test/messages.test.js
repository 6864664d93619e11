import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';

import * as messages from '../lib/messages.js';

const decode = (line) => messages.decode(Buffer.from(line));

test('only what must be escaped is escaped, in the shortest form', () => {
  const line = messages.encode('status', { text: '"\\\n\t\x01\x7fü/<>&\u2028' });
  assert.equal(line, '{"type":"status","text":"\\"\\\\\\n\\t\\u0001\x7fü/<>&\u2028"}\n');
});

test('members that are undefined are left out', () => {
  assert.equal(messages.encode('stopped', { state: undefined }), '{"type":"stopped"}\n');
});

test('what cannot be sent is refused, and never cut in silence', () => {
  assert.equal(messages.checkState('x'.repeat(32_768)).length, 32_768);
  assert.throws(() => messages.checkState('x'.repeat(32_769)), /32769 bytes/);
  assert.throws(() => messages.checkState('\x01'.repeat(11_000)), /when it is escaped/);
  assert.throws(() => messages.checkState('a\0b'), /U\+0000/);
  assert.throws(() => messages.checkState('\ud800'), /surrogate/);
  assert.throws(() => messages.checkId('ü'), /printable ASCII/);
  assert.throws(() => messages.checkId(''), /printable ASCII/);
  assert.throws(() => messages.checkMilliseconds('trial', 90_000_000), /24 h/);
  assert.throws(() => messages.checkMilliseconds('trial', 1.5), /whole/);
  assert.throws(() => messages.checkUpgrade({ id: 'u', executable: 'true' }), /absolute/);
});

test('features have limits, and are an array', () => {
  const names = Array(16).fill('x'.repeat(32));
  assert.deepEqual(messages.checkFeatures(names), names);
  assert.equal(messages.checkFeatures([]), undefined);
  assert.throws(() => messages.checkFeatures([...names, 'x']), /features are 17: 16 can be sent/);
  assert.throws(() => messages.checkFeatures(['x'.repeat(33)]), /a feature has 33 bytes/);
  assert.throws(() => messages.checkFeatures([1]), /a feature is not a text/);
  assert.throws(() => messages.checkFeatures('readiness'), /features are not an array/);
});

test('texts for people are cut between two characters', () => {
  assert.equal(messages.fit('aüü', 4), 'aü');
  assert.equal(messages.fit('a\0\ud800', 10), 'a?\ufffd');
});

test('a message may have members that are not known', () => {
  const line = ' {"new":[1,{"x":null}],"new":2,"state":"\\u00e4","clean":true,"type":"activate"} ';
  assert.deepEqual(decode(line), {
    type: 'activate',
    clean: true,
    state: 'ä',
    failure: undefined,
    trial: undefined,
    commit: undefined,
  });
});

test('an agent on trial is told how long that lasts and what passes it', () => {
  const told = decode('{"type":"activate","clean":true,"trial_ms":1500,"commit":"healthy"}');
  assert.equal(told.trial, 1500);
  assert.equal(told.commit, 'healthy');
  const later = decode('{"type":"activate","clean":true,"trial_ms":1500,"commit":"later"}');
  assert.equal(later.trial, 1500);
  assert.equal(later.commit, undefined);
});

test('every member of welcome is read', () => {
  const told = decode(
    '{"type":"welcome","protocol":1,"features":["f"],"generation":3,"role":"fallback",' +
      '"failure":{"id":"u","stage":"trial","reason":"r","signal":9},"watchdog_ms":1500}',
  );
  assert.equal(told.role, 'fallback');
  assert.equal(told.failure.signal, 9);
  assert.equal(told.watchdog, 1500);
  assert.deepEqual(told.features, ['f']);
});

test('a standby is told why it runs when it is activated', () => {
  const welcome = decode(
    '{"type":"welcome","protocol":1,"features":[],"generation":3,"role":"fallback"}',
  );
  assert.equal(welcome.failure, undefined);
  const told = decode(
    '{"type":"activate","clean":false,' +
      '"failure":{"id":"u","stage":"trial","reason":"r","exit_status":1,"version":"2"}}',
  );
  assert.deepEqual([told.failure.id, told.failure.exitStatus, told.failure.version], ['u', 1, '2']);
});

test('an upgrade may ask for a fallback that stands by', () => {
  const asked = messages.checkUpgrade({ id: 'u', executable: '/agent', fallback: 'warm' });
  const line = messages.encode('upgrade', asked);
  assert.equal(line, '{"type":"upgrade","id":"u","executable":"/agent","fallback":"warm"}\n');
});

test('what is malformed, or no message, is ignored', () => {
  for (const line of [
    '',
    '[]',
    '{',
    '{} {}',
    "{'type':'ready'}",
    '{"type":"new"}',
    '{"type":"constructor"}',
    '{"type":"activate"}',
    '{"type":"activate","clean":1}',
    '{"type":"activate","clean":null}',
    '{"type":"activate","clean":true,"clean":true}',
    '{"type":"activate","type":"activate","clean":true}',
    '{"type":"activate","clean":true,"state":"\\u0000"}',
    '{"type":"activate","clean":true,"state":"\\ud800"}',
    '{"type":"activate","clean":true,"failure":null}',
    '{"type":"activate","clean":true,"trial_ms":"1"}',
    '{"type":"activate","clean":true,"commit":null}',
    '{"type":"activate","clean":true,"failure":{"id":"u","stage":"trial"}}',
    '{"type":"committed","id":"u","generation":1.0}',
    '{"type":"committed","id":"u","generation":1e3}',
    '{"type":"committed","id":"u","generation":01}',
    '{"type":"committed","id":"u","generation":true}',
    '{"type":"welcome","protocol":1,"generation":1,"role":"boss"}',
    '['.repeat(60_000),
    `{"type":"error","reason":"r","deep":${'['.repeat(40)}${']'.repeat(40)}}`,
  ]) {
    assert.equal(decode(line), null, line.slice(0, 60));
  }
  assert.equal(messages.decode(Buffer.from([0x7b, 0xff, 0x7d])), null);
});

const table = process.env.AGENT_LINES;
const skip = table === undefined && "a table of the project's own tests";
test('lines are judged as in all other languages', { skip }, () => {
  const wrong = [];
  for (const row of readFileSync(table, 'ascii').trim().split('\n')) {
    const [number, judgement, digits] = row.split(' ');
    const judged = messages.decode(Buffer.from(digits, 'hex'))?.type ?? 'ignored';
    if (judged !== judgement) wrong.push(`row ${number}: ${judged}, and not ${judgement}`);
  }
  assert.deepEqual(wrong, []);
});

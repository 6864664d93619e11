import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import process from 'node:process';
import test from 'node:test';

import { checkAgent, mayRequest, recordFailures, request } from '../lib/request.js';
import { Session } from '../lib/session.js';
import { Upgrading, upgrading } from '../lib/upgrading.js';
import { agentOf } from '../testing/agent.js';

const failure = { id: 'u', stage: 'start', reason: 'it died' };

test('the failure of the requested upgrade ends the wait, and others do not', async () => {
  const agent = agentOf();
  const ended = request(agent, 'u', '/agent');
  agent.hear({ type: 'accepted', id: 'u', generation: 2 });
  agent.hear({ type: 'upgrade_failed', failure: { ...failure, id: 'v' } });
  agent.hear({ type: 'upgrade_failed', failure });
  assert.deepEqual(await ended, failure);
  assert.deepEqual(agent[upgrading].failures, [failure]);
});

test('a stop ends the wait without a failure, and so does the end of the agent', async () => {
  const stopped = agentOf();
  const ended = request(stopped, 'u', '/agent');
  stopped.hear({ type: 'stop', reason: 'upgrade', id: 'u', generation: 2 });
  assert.equal(await ended, null);
  const closed = agentOf();
  const other = request(closed, 'u', '/agent');
  closed[upgrading].close();
  assert.equal(await other, null);
});

test('a request that the upgrader did not read before the stop has failed', async () => {
  for (const end of ['stop', 'close']) {
    const agent = agentOf();
    let sent = true;
    agent[upgrading].sending = () => () => sent;
    const ended = request(agent, 'u', '/agent');
    sent = false;
    if (end === 'stop') agent.hear({ type: 'stop', reason: 'shutdown' });
    else agent[upgrading].close();
    const expected = { id: 'u', stage: 'request', reason: 'this agent has been told to stop' };
    assert.deepEqual(await ended, expected);
    assert.deepEqual(agent[upgrading].failures, [expected]);
  }
});

test('a request that is refused, here or by the upgrader, has failed at stage request', async () => {
  const trial = agentOf('candidate');
  const expected = { id: 'u', stage: 'request', reason: 'this agent is on trial' };
  assert.deepEqual(await request(trial, 'u', '/agent'), expected);
  assert.deepEqual(trial[upgrading].failures, [expected]);
  const agent = agentOf();
  const ended = request(agent, 'u', '/agent');
  agent.hear({ type: 'error', about: 'upgrade', reason: 'malformed' });
  assert.deepEqual(await ended, { id: 'u', stage: 'request', reason: 'malformed' });
});

test('an agent on trial may request an upgrade when that is over, and not after a stop', async () => {
  const trial = agentOf('candidate');
  const may = mayRequest(trial);
  trial.hear({ type: 'committed', id: 'u', generation: 1 });
  assert.equal(await may, true);
  assert.equal(await mayRequest(agentOf()), true);
  const stopped = agentOf('candidate');
  const never = mayRequest(stopped);
  stopped.hear({ type: 'stop', reason: 'rollback' });
  assert.equal(await never, false);
  const aborted = mayRequest(agentOf('candidate'), AbortSignal.abort());
  await assert.rejects(aborted, /cannot wait for the upgrader: it was interrupted/);
});

test('failures are recorded once, and one that could not be recorded is kept', async () => {
  const agent = agentOf();
  agent[upgrading].tell({ type: 'welcome', failure });
  agent[upgrading].tell({ type: 'upgrade_failed', failure: { ...failure, id: 'v' } });
  const recorded = [];
  const full = { fail: () => Promise.reject(new Error('no space')) };
  await assert.rejects(recordFailures(agent, full), /no space/);
  await recordFailures(agent, { fail: async ({ id }) => recorded.push(id) });
  assert.deepEqual(recorded, ['u', 'v']);
  assert.deepEqual(agent[upgrading].failures, []);
  for (let i = 0; i < 40; ++i) agent[upgrading].tell({ failure: { ...failure, id: String(i) } });
  assert.equal(agent[upgrading].failures.length, 16);
});

test('an update without an upgrader, or of something that is not an agent, is refused', () => {
  assert.throws(() => checkAgent({}), /`agent` is not an Agent/);
  const alone = { alone: true, [upgrading]: new Upgrading(new Session(true)) };
  assert.throws(() => checkAgent(alone), /this agent runs without an upgrader/);
});

// The standard output of this agent is a pipe that nobody reads.
const stuckAgent = `
import { Agent } from '${new URL('../index.js', import.meta.url)}';
import { request } from '${new URL('../lib/request.js', import.meta.url)}';
const agent = Agent.open('1.0.0');
await agent.ready();
for await (const { type } of agent) if (type === 'activate') break;
const first = process.argv.at(-1);
if (first === 'full') for (let i = 0; i < 300; ++i) agent.status('x'.repeat(256));
const ended = request(agent, 'u', '/agent');
setImmediate(() => process.kill(process.pid, 'SIGTERM'));
console.error('ended: ' + JSON.stringify(await ended));
`;
const upgrader = `{ printf '%s\\n' \
  '{"type":"welcome","protocol":1,"features":[],"generation":1,"role":"first"}' \
  '{"type":"activate","clean":true}'; exec sleep 60; } |
  AGENT_PROTOCOL=1 "$0" --input-type=module --eval "$1" "$2" | exec sleep 60`;

for (const [pipe, expected] of [['empty', null],
  ['full', { id: 'u', stage: 'request', reason: 'this agent has been told to stop' }]]) {
  test(`an agent whose pipe is ${pipe} knows whether its request was taken`, async () => {
    const child = spawn('sh', ['-c', upgrader, process.execPath, stuckAgent, pipe],
      { detached: true, stdio: ['ignore', 'ignore', 'pipe'] });
    let said = '';
    for await (const bytes of child.stderr) {
      said += bytes;
      if (said.includes('\n')) break;
    }
    process.kill(-child.pid, 'SIGKILL');
    assert.deepEqual(JSON.parse(said.match(/^ended: (.*)$/m)?.[1] ?? `"${said}"`), expected);
  });
}

import assert from 'node:assert/strict';
import test from 'node:test';

import { checkAgent, mayRequest, recordFailures, request } from '../lib/request.js';
import { Session } from '../lib/session.js';
import { Upgrading, upgrading } from '../lib/upgrading.js';

const failure = { id: 'u', stage: 'start', reason: 'it died' };

// Returns an agent with a session that is active and, as a candidate, on trial.
function agentOf(role = 'first') {
  const session = new Session(false);
  const agent = {
    [upgrading]: new Upgrading(session, '1.0.0'),
    hear: (event) => session.hear(event).forEach(({ deliver }) => agent[upgrading].tell(deliver)),
    upgrade: ({ id }) => {
      const why = session.whyNot('upgrade');
      if (why) throw new Error(why);
      session.say('upgrade', id);
    },
  };
  session.say('hello');
  agent.hear({ type: 'welcome', generation: 1, role });
  session.say('ready');
  agent.hear({ type: 'activate', clean: true });
  return agent;
}

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

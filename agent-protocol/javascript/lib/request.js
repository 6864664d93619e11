// Requests the upgrade of an agent that speaks the protocol, and waits for the upgrader's answer.
// The program still gets all of the agent's events meanwhile. This file does not know where
// releases come from.

import { UpdateError } from './programs.js';
import { upgrading } from './upgrading.js';

export function versionOf(agent) {
  return agent[upgrading].version;
}

// Throws an UpdateError if update() cannot replace `agent`: it is not an Agent, or it runs without
// an upgrader.
export function checkAgent(agent) {
  if (!agent[upgrading]) throw new UpdateError('update', '`agent` is not an Agent');
  if (agent.alone) {
    throw new UpdateError('update', 'this agent runs without an upgrader, which would replace it');
  }
}

// Calls `found` with each event until `found` returns a value other than undefined, and resolves to
// that value. Rejects with an UpdateError when `signal` aborts.
function until(agent, signal, found) {
  return new Promise((resolve, reject) => {
    const finish = (settle, value) => {
      unwatch();
      signal?.removeEventListener('abort', interrupted);
      settle(value);
    };
    const interrupted = () =>
      finish(reject, new UpdateError('wait for the upgrader', 'it was interrupted'));
    const unwatch = agent[upgrading].watch((event) => {
      const value = found(event);
      if (value !== undefined) finish(resolve, value);
    });
    signal?.addEventListener('abort', interrupted);
    if (signal?.aborted) interrupted();
  });
}

// Waits until this agent may request an upgrade: it is active, not on trial, and no other upgrade
// is under way. Resolves to false if the agent is told to stop instead.
export async function mayRequest(agent, signal) {
  const settled = () => {
    const { when } = agent[upgrading];
    return when === 'later' ? undefined : when === 'now';
  };
  return settled() ?? until(agent, signal, settled);
}

// Records every failure that the upgrader has reported to this agent in the ledger of
// agent-releases (its record of tried versions).
export async function recordFailures(agent, releases) {
  for (let failure; (failure = agent[upgrading].failures[0]); ) {
    await releases.fail(failure);
    agent[upgrading].failures = agent[upgrading].failures.filter((each) => each !== failure);
  }
}

// Requests the upgrade. Resolves to the failure if the upgrade fails or is refused. Resolves to
// null if this agent is told to stop after the request has been written to the pipe: the upgrader
// then probably replaces the agent. The wait cannot be interrupted, since an accepted upgrade
// continues in any case.
export function request(agent, id, executable) {
  const refused = (reason) =>
    agent[upgrading].tell({ type: 'upgrade_failed', failure: { id, stage: 'request', reason } });
  let isSent = () => true;
  const ended = until(agent, undefined, (event) => {
    if (event === null || event.type === 'stop') {
      if (isSent()) return null;
      refused('this agent has been told to stop');
      return undefined;
    }
    if (event.type === 'upgrade_failed' && event.failure.id === id) return event.failure;
    if (event.type === 'error' && event.about === 'upgrade') refused(event.reason);
    return undefined;
  });
  try {
    agent.upgrade({ id, executable });
    isSent = agent[upgrading].sending();
  } catch (error) {
    refused(error.message);
  }
  return ended;
}

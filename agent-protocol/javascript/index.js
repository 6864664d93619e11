// The agent's half of agent-protocol(7): by this library a program lets upgrader(8) replace it by
// its next version. update() finds and fetches that version, and requests the upgrade. See
// README.md.
export { Agent } from './lib/agent.js';
export { UpdateError, update } from './lib/update.js';

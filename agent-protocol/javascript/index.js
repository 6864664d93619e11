// The agent's half of agent-protocol(7): with this library, a program lets upgrader(8) replace the
// program by its next version. update() finds and fetches that version, and reports how the upgrade
// has ended. See README.md.
export { Agent } from './lib/agent.js';
export { UpdateError, update } from './lib/update.js';

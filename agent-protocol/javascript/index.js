// The agent's half of agent-protocol(7): by it a program lets upgrader(8) replace it while it
// works. By update() a program replaces itself by its next version. See README.md.
export { Agent } from './lib/agent.js';
export { UpdateError, update } from './lib/update.js';

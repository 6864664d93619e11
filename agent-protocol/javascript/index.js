// The agent's half of agent-protocol(7): by it a program lets upgrader(8) replace it while it
// works. See README.md.
export { Agent } from './lib/agent.js';

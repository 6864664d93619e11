// The agent's half of agent-protocol(7): how a program lets itself be replaced by upgrader(8) while
// it works. See README.md.
export { Agent } from './lib/agent.js';

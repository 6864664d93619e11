// An agent in JavaScript with the feature `readiness`: init is told READY=1 only when the agent
// has said `healthy`. play.py starts the agent. usage: agent.js FIFO

const { readFile } = require('node:fs/promises');

async function main() {
  const { Agent } = await import('../../../../agent-protocol/javascript/index.js');
  const agent = Agent.open('1.0', { features: ['readiness'] });
  await agent.ready();
  for await (const event of agent) {
    if (event.type === 'activate') {
      agent.extend(3_600_000);
      agent.status('not healthy yet');
      await readFile(process.argv[2]);
      agent.healthy();
    } else if (event.type === 'stop') {
      await agent.stopped();
      process.exit(0);
    }
  }
}

main();

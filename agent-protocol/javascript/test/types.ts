// An agent in TypeScript that is compiled with the package's types, and never run.
import { Agent, AgentEvent, UpdateError, update } from '@upgrader/agent-protocol';

function told(event: AgentEvent): string {
  switch (event.type) {
    case 'welcome':
      return `${event.role} ${event.watchdog ?? 0} ${event.failure?.stage ?? ''}`;
    case 'activate':
      return event.state ?? event.commit ?? String(event.trial ?? event.clean);
    case 'upgrade_failed':
      return event.failure.reason;
    default:
      return event.type;
  }
}

export async function main(): Promise<void> {
  const agent = Agent.open('1.0', { features: ['readiness'] });
  // @ts-expect-error: features are an array
  Agent.open('1.0', { features: 'readiness' });
  agent.addCheck('configuration', () => null);
  agent.addCheck('later', async () => 'what is wrong');
  await agent.ready();
  for await (const event of agent) {
    told(event);
    if (event.type === 'candidate_ready') agent.confirm(event.id);
    if (event.type === 'stop') return agent.stopped('what the next agent is to know');
    // @ts-expect-error: no event has this type
    if (event.type === 'activated') return;
    // @ts-expect-error: `executable` is required
    agent.upgrade({ id: 'u1' });
    agent.upgrade({ id: 'u1', executable: '/opt/agent/1.1', fallback: 'warm', trial: 60_000 });
  }
}

export async function look(agent: Agent): Promise<string> {
  try {
    await update({ agent, url: 'https://example.org/web.json', keys: 'keys' });
    const ended = await update({ keep: 3, wait: 60_000, signal: new AbortController().signal });
    // @ts-expect-error: no outcome has this name
    if (ended.outcome === 'done') return '';
    return ended.reason ?? ended.version ?? ended.outcome;
  } catch (error) {
    return error instanceof UpdateError ? `${error.deed} ${error.reason}` : '';
  }
}

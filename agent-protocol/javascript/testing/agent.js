// Agents for tests of the library: their sessions are real, and the test takes the part of the
// upgrader.
import { Session } from '../lib/session.js';
import { Upgrading, upgrading } from '../lib/upgrading.js';

// Returns an agent with a session that is active; with the role `candidate` it is also on trial.
// The agent and the upgrader have these features.
export function agentOf(role = 'first', features = []) {
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
  agent.hear({ type: 'welcome', generation: 1, role, features });
  session.say('ready');
  agent.hear({ type: 'activate', clean: true });
  return agent;
}

"""An agent in Python with the feature `readiness`: init is told READY=1 only when the agent
has said `healthy`. play.py starts the agent. usage: agent.py FIFO"""

import sys

from agent_protocol import Activate, Agent, Stop

agent = Agent("1.0", features=["readiness"])
agent.ready()
for event in agent:
    if isinstance(event, Activate):
        agent.extend(3600)
        agent.status("not healthy yet")
        with open(sys.argv[1], encoding="utf-8") as fifo:
            fifo.read()
        agent.healthy()
    elif isinstance(event, Stop):
        agent.stopped()
        break

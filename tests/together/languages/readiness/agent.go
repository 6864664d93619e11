// An agent in Go with the feature `readiness`: init is told READY=1 only when the agent
// has said `healthy`. play.py starts the agent. usage: agent FIFO
package main

import (
	agentprotocol "agent-protocol"
	"log"
	"os"
	"time"
)

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func main() {
	agent, err := agentprotocol.Open("1.0", "readiness")
	must(err)
	must(agent.Ready())
	for event := range agent.Events() {
		switch event.(type) {
		case agentprotocol.Activate:
			must(agent.Extend(time.Hour))
			must(agent.Status("not healthy yet"))
			_, err := os.ReadFile(os.Args[1])
			must(err)
			must(agent.Healthy())
		case agentprotocol.Stop:
			must(agent.Stopped())
			return
		}
	}
}

package agentprotocol

import (
	"errors"
	"io"
	"os"
	"sync"
	"syscall"
	"testing"
)

// startingAgent returns an agent that has said hello and is not active yet. Its messages go
// nowhere.
func startingAgent() *Agent {
	a := &Agent{session: *startingSession(), writeFailed: true}
	a.unsentChanged = sync.NewCond(&a.mutex)
	return a
}

func TestASecondReadyRunsTheChecksAgainIfACheckHasPanicked(t *testing.T) {
	a := startingAgent()
	a.AddCheck("database", func() error { panic("no database") })
	for attempt := 0; attempt < 2; attempt++ {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("attempt %d ran no check", attempt)
				}
			}()
			_ = a.Ready()
		}()
	}
}

func TestTwoReadyAtTheSameTimeBothRunTheChecks(t *testing.T) {
	a := startingAgent()
	begun, goOn := make(chan struct{}), make(chan struct{})
	a.AddCheck("database", func() error {
		begun <- struct{}{}
		<-goOn
		return errors.New("no database")
	})
	answers := make(chan error)
	for each := 0; each < 2; each++ {
		go func() { answers <- a.Ready() }()
	}
	for each := 0; each < 2; each++ {
		select {
		case <-begun:
		case err := <-answers:
			t.Fatalf("a Ready has run no check: %v", err)
		}
	}
	close(goOn)
	if first, second := <-answers, <-answers; first == nil || second == nil {
		t.Errorf("got %v and %v", first, second)
	}
}

// playedAgent returns an active agent, and the test's end of each of its pipes. The agent has no
// goroutine that reads the pipe from the upgrader: it hears a message only if another method of
// Agent reads the pipe.
func playedAgent(t *testing.T) (agent *Agent, upgrader, fromAgent *os.File) {
	input, upgrader := inputOf(t)
	fromAgent, output := newPipe(t)
	agent = &Agent{session: *activeSession("first"), input: input, output: output}
	agent.unsentChanged = sync.NewCond(&agent.mutex)
	go agent.write()
	return agent, upgrader, fromAgent
}

// terminate does what the library does at SIGTERM.
func terminate(agent *Agent) {
	terms := make(chan os.Signal, 1)
	terms <- syscall.SIGTERM
	close(terms)
	agent.watchSignals(terms)
}

func TestAStopThatWaitsInThePipeIsHeardBeforeSigterm(t *testing.T) {
	agent, upgrader, _ := playedAgent(t)
	write(t, upgrader, stopLine)
	terminate(agent)
	if len(agent.pending) != 1 || agent.pending[0].(Stop).Reason != "upgrade" {
		t.Errorf("got %v", agent.pending)
	}
}

func TestStoppedAnswersAStopThatWaitsInThePipe(t *testing.T) {
	agent, upgrader, fromAgent := playedAgent(t)
	terminate(agent)
	write(t, upgrader, stopLine)
	if err := agent.StoppedWithState("S"); err != nil {
		t.Fatal(err)
	}
	agent.output.Close()
	said, err := io.ReadAll(fromAgent)
	if err != nil || string(said) != `{"type":"stopped","state":"S"}`+"\n" {
		t.Errorf("said %q", said)
	}
}

package agentprotocol

import (
	"errors"
	"sync"
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

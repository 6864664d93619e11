package agentprotocol

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
	"testing"
)

const statusRefused = 7

// TestMain makes the test binary act as an agent: it opens its conversation, and executes itself
// again.
func TestMain(m *testing.M) {
	if os.Getenv("PLAY_AGENT") == "" {
		os.Exit(m.Run())
	}
	if _, err := Open("1.0"); errors.Is(err, syscall.ENOTCONN) {
		os.Exit(statusRefused)
	} else if err != nil {
		os.Exit(1)
	}
	_ = syscall.Exec("/proc/self/exe", os.Args, os.Environ())
}

func TestAnAgentThatExecutedItselfAnewHasNoConversation(t *testing.T) {
	t.Setenv(markVariable, "1 1") // the mark of another process
	command := exec.Command("/proc/self/exe")
	command.Env = append(os.Environ(), "PLAY_AGENT=1", "AGENT_PROTOCOL=1")
	input, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer input.Close()
	_, _ = command.Output()
	if status := command.ProcessState.ExitCode(); status != statusRefused {
		t.Fatalf("exit status %d", status)
	}
}

package agentprotocol

import (
	"io"
	"os"
	"reflect"
	"strings"
	"testing"
)

// newPipe returns the ends of a pipe, which are closed when the test has ended.
func newPipe(t *testing.T) (read, write *os.File) {
	t.Helper()
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		read.Close()
		write.Close()
	})
	return read, write
}

func write(t *testing.T, pipe *os.File, text string) {
	t.Helper()
	if _, err := io.WriteString(pipe, text); err != nil {
		t.Fatal(err)
	}
}

// inputOf returns the library's end of a pipe, and the upgrader's end.
func inputOf(t *testing.T) (*inputPipe, *os.File) {
	t.Helper()
	read, write := newPipe(t)
	return &inputPipe{number: int(read.Fd())}, write
}

const (
	activateLine = `{"type":"activate","clean":true}
`
	stopLine = `{"type":"stop","reason":"upgrade","deadline_ms":5000,"id":"u","generation":2}
`
)

func TestTheLinesInThePipeAreTakenWithoutWaiting(t *testing.T) {
	input, upgrader := inputOf(t)
	if events := input.take(); events != nil {
		t.Errorf("got %v from an empty pipe", events)
	}
	write(t, upgrader, activateLine+stopLine[:9])
	if events := input.take(); !reflect.DeepEqual(events, []Event{Activate{Clean: true}}) {
		t.Errorf("got %v", events)
	}
	write(t, upgrader, stopLine[9:])
	if events := input.take(); len(events) != 1 || events[0].(Stop).ID != "u" {
		t.Errorf("got %v", events)
	}
}

func TestALineThatIsTooLongIsSkipped(t *testing.T) {
	input, upgrader := inputOf(t)
	half := strings.Repeat(" ", lineBytesMax/2)
	for _, part := range []string{half, half, half} {
		write(t, upgrader, part)
		if events := input.take(); events != nil {
			t.Errorf("got %v", events)
		}
	}
	write(t, upgrader, activateLine+stopLine)
	if events := input.take(); len(events) != 1 || events[0].(Stop).ID != "u" {
		t.Errorf("got %v", events)
	}
}

func TestALineThatBecomesTooLongWithItsLastPartIsSkipped(t *testing.T) {
	input, upgrader := inputOf(t)
	spaces := strings.Repeat(" ", lineBytesMax-10)
	write(t, upgrader, spaces)
	if events := input.take(); events != nil {
		t.Errorf("got %v", events)
	}
	write(t, upgrader, activateLine+stopLine)
	if events := input.take(); len(events) != 1 || events[0].(Stop).ID != "u" {
		t.Errorf("got %v", events)
	}
}

func TestTheLastLinesAreTakenBeforeTheEndOfInput(t *testing.T) {
	input, upgrader := inputOf(t)
	write(t, upgrader, stopLine)
	upgrader.Close()
	input.wait()
	if events := input.take(); len(events) != 1 || !input.over {
		t.Errorf("got %v, and over is %v", events, input.over)
	}
}

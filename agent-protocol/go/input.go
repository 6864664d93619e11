// Reads the pipe from the upgrader, and decodes the lines in it. session.go decides about the
// messages.

package agentprotocol

import (
	"bytes"
	"syscall"
	"unsafe"
)

// inputReadsMax is the most reads of one take(). A pipe holds at most 1 MiB, so all that the pipe
// holds is read, but a writer that never pauses cannot keep take() busy for ever.
const inputReadsMax = 1 << 20 / lineBytesMax

// inputPipe is the pipe from the upgrader. It never sets O_NONBLOCK, since other processes that
// hold the pipe share that flag. Instead, it polls the pipe before each read.
type inputPipe struct {
	number   int
	over     bool // the pipe has ended, or could not be read
	buffer   [lineBytesMax]byte
	unread   []byte // the beginning of a line whose end has not been read yet
	skipping bool   // true while the rest of an overlong line is skipped
}

// wait returns when the pipe has bytes to read or has ended. wait may be called while another
// goroutine calls take().
func (p *inputPipe) wait() {
	_, _ = p.poll(nil) // take() meets the same error, and handles it
}

// take reads what the pipe holds, and returns the messages of all complete lines. Never waits. Only
// one goroutine may call take() at a time.
func (p *inputPipe) take() []Event {
	var events []Event
	for reads := 0; reads < inputReadsMax && !p.over; reads++ {
		readable, err := p.poll(&syscall.Timespec{})
		if err != nil {
			p.over = true
		} else if !readable {
			break
		} else {
			p.read()
			events = append(events, p.cut()...)
		}
	}
	return events
}

// poll waits until the pipe has bytes to read or has ended, but no longer than `timeout`. A nil
// timeout means no limit. poll returns false if the time is over.
func (p *inputPipe) poll(timeout *syscall.Timespec) (bool, error) {
	const pollIn = 1
	for {
		watched := struct {
			number          int32
			events, revents int16
		}{int32(p.number), pollIn, 0}
		count, _, errno := syscall.Syscall6(syscall.SYS_PPOLL, uintptr(unsafe.Pointer(&watched)), 1,
			uintptr(unsafe.Pointer(timeout)), 0, 0, 0)
		if errno == 0 {
			return count > 0, nil
		}
		if errno != syscall.EINTR {
			return false, errno
		}
	}
}

func (p *inputPipe) read() {
	count, err := syscall.Read(p.number, p.buffer[:])
	if count > 0 {
		p.unread = append(p.unread, p.buffer[:count]...)
	} else if err != syscall.EINTR && err != syscall.EAGAIN {
		p.over = true
	}
}

// cut removes the complete lines from the unread bytes, and returns the messages of these lines.
// Lines that are unknown, malformed or too long are skipped.
func (p *inputPipe) cut() []Event {
	var events []Event
	for {
		line, rest, complete := bytes.Cut(p.unread, []byte("\n"))
		if !complete {
			break
		}
		if event := decode(line); event != nil && !p.skipping {
			events = append(events, event)
		}
		p.unread, p.skipping = rest, false
	}
	if len(p.unread) >= lineBytesMax {
		p.unread, p.skipping = nil, true
	}
	return events
}

// Package agentprotocol is the agent's half of agent-protocol(7): with this library, a program lets
// upgrader(8) replace the program by its next version.
//
// Open starts the conversation, and must be called first. Without an upgrader the same calls work,
// and lead the program through the same steps: after Ready comes the event Activate, and after
// SIGTERM the event Stop. A request for an upgrade is refused. Every other call succeeds and has no
// effect. See README.md.
package agentprotocol

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// unsentBytesMax is the most bytes of this agent's messages that are kept while the pipe to the
// upgrader is full. Further messages are refused. The upgrader has the same limit for the bytes
// that it keeps for an agent.
const unsentBytesMax = 131072

// ErrOpened is returned by Open if this process has opened its conversation before.
var ErrOpened = errors.New("this process has opened its conversation already")

var (
	openMutex sync.Mutex
	opened    bool
)

// Agent is the agent's end of the conversation with the upgrader; a process has one. The methods
// may be called from any goroutine. If a method returns an error, nothing has been sent. Ready is
// the exception: if a check fails, Ready sends `unfit` and returns an error.
type Agent struct {
	alone  bool
	input  *inputPipe // nil if there is no upgrader
	output *os.File
	events chan Event

	mutex          sync.Mutex
	session        sessionState
	checks         []check
	unsentStopped  []byte
	pending        []Event // events that have not been put into the channel yet
	pendingChanged chan struct{}
	unsent         []byte
	unsentChanged  *sync.Cond
	writeFailed    bool
}

type check struct {
	name string
	run  func() error
}

// Open starts the conversation, and must be the first thing that a program does. version is the
// version of the program: at most 128 bytes, or empty. features names the features that the program
// has: at most 16 names of at most 32 bytes. If the program and the upgrader have the feature
// "readiness", init is told that the service is ready when a first agent or a fallback calls
// Healthy, and not already at Activate.
//
// With an upgrader, these things are true afterwards:
//   - `hello` has been sent.
//   - Descriptor 0 is /dev/null, and 1 is a copy of 2.
//   - The AGENT_PROTOCOL variables are gone from the environment.
//   - SIGTERM is caught: an agent that is not active yet exits at once with status 143, an active
//     one gets Stop.
//
// Without an upgrader, nothing is sent, and descriptors and environment are left alone; SIGTERM is
// caught nevertheless.
func Open(version string, features ...string) (*Agent, error) {
	openMutex.Lock()
	defer openMutex.Unlock()
	if opened {
		return nil, ErrOpened
	}
	hello := newWriter("hello")
	hello.name("protocol")
	hello.line = strconv.AppendInt(hello.line, protocolVersion, 10)
	hello.optionalText("version", version, versionBytesMax)
	if len(features) > 0 {
		hello.texts("features", "a feature", features, featuresMax, featureBytesMax)
	}
	line, err := hello.end()
	if err != nil {
		return nil, fmt.Errorf("cannot say hello: %w", err)
	}
	_, there := os.LookupEnv("AGENT_PROTOCOL")
	if !there && hasMark() {
		return nil, fmt.Errorf("this process has had its conversation: %w", syscall.ENOTCONN)
	}
	a := &Agent{
		alone:          !there,
		events:         make(chan Event),
		pendingChanged: make(chan struct{}, 1),
	}
	a.session.alone = a.alone
	a.unsentChanged = sync.NewCond(&a.mutex)
	if there {
		if err := a.takePipes(); err != nil {
			return nil, err
		}
		if err := leaveMark(); err != nil {
			return nil, err
		}
		keepLockPrivate()
		for _, variable := range os.Environ() {
			if name, _, _ := strings.Cut(variable, "="); strings.HasPrefix(name, "AGENT_PROTOCOL") {
				os.Unsetenv(name)
			}
		}
	}
	opened = true
	a.mutex.Lock()
	_ = a.say("hello", "", line, nil)
	a.mutex.Unlock()
	terms := make(chan os.Signal, 1)
	signal.Notify(terms, syscall.SIGTERM)
	go a.watchSignals(terms)
	go a.tell()
	if !a.alone {
		go a.read()
		go a.write()
	}
	return a, nil
}

// takePipes moves the pipes from descriptors 0 and 1 to private ones, so that child processes do
// not inherit them and printed text does not go to the upgrader. After a failure, descriptors 0 and
// 1 may have been replaced already.
func (a *Agent) takePipes() error {
	private := func(number int) (uintptr, error) {
		const firstPrivate = 3
		copied, _, errno := syscall.Syscall(syscall.SYS_FCNTL, uintptr(number),
			syscall.F_DUPFD_CLOEXEC, firstPrivate)
		if errno != 0 {
			return 0, fmt.Errorf("cannot copy the upgrader's pipe: %w", errno)
		}
		return copied, nil
	}
	input, err := private(0)
	if err != nil {
		return err
	}
	output, err := private(1)
	if err != nil {
		return err
	}
	a.input = &inputPipe{number: int(input)}
	a.output = os.NewFile(output, "to the upgrader")
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer null.Close()
	if err := syscall.Dup3(int(null.Fd()), 0, 0); err != nil {
		return err
	}
	if syscall.Dup3(2, 1, 0) != nil { // fails if standard error is closed
		return syscall.Dup3(int(null.Fd()), 1, 0)
	}
	return nil
}

func keepLockPrivate() {
	number, err := strconv.Atoi(os.Getenv("AGENT_PROTOCOL_LOCK_FD"))
	if err == nil && number > 2 {
		syscall.CloseOnExec(number)
	}
}

// Alone returns true if there is no upgrader.
func (a *Agent) Alone() bool { return a.alone }

// Events returns the channel from which the program reads its events, in order. The channel is
// never closed, so a loop over the channel must be left by the program, after the event Stop.
func (a *Agent) Events() <-chan Event { return a.events }

// Wait returns the next event. If the context ends first, Wait returns the context's error.
func (a *Agent) Wait(ctx context.Context) (Event, error) {
	select {
	case event := <-a.events:
		return event, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// ---- messages from the program

// AddCheck registers a start-up check, to be run by Ready in the order of registration. The check
// returns an error that says what is wrong, or nil if it passes.
func (a *Agent) AddCheck(name string, run func() error) {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	a.checks = append(a.checks, check{name, run})
}

// Ready runs the checks in order. If all pass, Ready sends `ready`. If one fails, Ready sends
// `unfit` with that check's name and reason, runs no further check and returns an error. The
// program must then exit without any other effect. If a check panics, Ready has sent nothing, and
// may be called again.
func (a *Agent) Ready() error {
	a.mutex.Lock()
	asked := a.session
	checks := a.checks
	a.mutex.Unlock()
	if _, err := asked.say("ready", ""); err != nil {
		return err
	}
	for _, check := range checks {
		if err := check.run(); err != nil {
			reason := check.name + ": " + err.Error()
			_ = a.Unfit(reason)
			return fmt.Errorf("cannot say ready: %s", reason)
		}
	}
	return a.sayPlain("ready")
}

// Unfit tells the upgrader that this agent must not get the work, or, if it is on trial, must not
// keep the work. An agent that is not active yet must then exit; an agent on trial is told to stop.
// The reason is cut to 1,024 bytes. Unfit returns when the whole message has been written to the
// pipe, or the upgrader has gone.
func (a *Agent) Unfit(reason string) error {
	w := newWriter("unfit")
	w.text("reason", fit(reason, reasonBytesMax), reasonBytesMax)
	return a.sayAtLast("unfit", w)
}

// Upgrade holds the terms of a requested upgrade. For a member that is empty or nil, the upgrader
// uses its own default.
type Upgrade struct {
	ID             string   // required: 1 to 64 bytes of printable ASCII
	Executable     string   // required: an absolute path
	Args           []string // the arguments after the program's name; nil: those of this agent
	Mode           string   // "parallel", "sequential"
	Gate           string   // "none", "confirm"
	Commit         string   // "survive", "healthy"
	OnUncleanStop  string   // "fallback", "continue"
	StartTimeout   *time.Duration
	ConfirmTimeout *time.Duration
	StopTimeout    *time.Duration
	Trial          *time.Duration
	Fallback       string // "cold", "warm"
}

// RequestUpgrade requests an upgrade of this agent. The answer is the event Accepted or
// UpgradeFailed.
func (a *Agent) RequestUpgrade(upgrade Upgrade) error {
	return a.sayAbout("upgrade", upgrade.ID, upgrade.written())
}

func (upgrade *Upgrade) written() *writer {
	w := newWriter("upgrade")
	w.id(upgrade.ID)
	w.text("executable", upgrade.Executable, executableBytesMax)
	if w.err == nil && !strings.HasPrefix(upgrade.Executable, "/") {
		w.err = errors.New("executable is not an absolute path")
	}
	if upgrade.Args != nil {
		w.texts("args", "an argument", upgrade.Args, argsMax, lineBytesMax)
	}
	w.optionalText("mode", upgrade.Mode, lineBytesMax)
	w.optionalText("gate", upgrade.Gate, lineBytesMax)
	w.optionalText("commit", upgrade.Commit, lineBytesMax)
	w.optionalText("on_unclean_stop", upgrade.OnUncleanStop, lineBytesMax)
	w.milliseconds("start_timeout_ms", upgrade.StartTimeout, 0)
	w.milliseconds("confirm_timeout_ms", upgrade.ConfirmTimeout, 0)
	w.milliseconds("stop_timeout_ms", upgrade.StopTimeout, time.Millisecond)
	w.milliseconds("trial_ms", upgrade.Trial, 0)
	w.optionalText("fallback", upgrade.Fallback, lineBytesMax)
	return w
}

// Confirm confirms the upgrade `id`, whose candidate is ready: the upgrader then stops this agent
// and activates the candidate.
func (a *Agent) Confirm(id string) error {
	w := newWriter("confirm")
	w.id(id)
	return a.sayAbout("confirm", id, w)
}

// Cancel cancels the upgrade `id`, so that this agent stays active. Cancel may be called even after
// a Stop for that upgrade, until Stopped has been called. The reason is cut to 1,024 bytes.
func (a *Agent) Cancel(id, reason string) error {
	w := newWriter("cancel")
	w.id(id)
	w.optionalText("reason", fit(reason, reasonBytesMax), reasonBytesMax)
	return a.sayAbout("cancel", id, w)
}

// Stopped confirms a clean stop. All work must be finished or given up before the call, and the
// program must exit after it. Stopped returns when the whole message has been written to the pipe,
// or the upgrader has gone. After a stop that the upgrader did not request (a signal, the end of
// input), nothing is sent and nil is returned.
func (a *Agent) Stopped() error { return a.stopped(newWriter("stopped")) }

// StoppedWithState confirms a clean stop as Stopped does, and passes a state to the next agent. The
// state is UTF-8 without U+0000, of at most 32,768 bytes, and of at most 65,000 bytes when it is
// escaped for JSON. If the state is refused, nothing has been confirmed: call StoppedWithState
// again with a state that fits, or call Stopped.
func (a *Agent) StoppedWithState(state string) error {
	w := newWriter("stopped")
	w.text("state", state, stateBytesMax)
	if size := len(appendQuoted(nil, state)) - 2; w.err == nil && size > stateEscapedBytesMax {
		w.err = fmt.Errorf("state has %d bytes when it is escaped: %d can be sent", size,
			stateEscapedBytesMax)
	}
	return a.stopped(w)
}

func (a *Agent) stopped(w *writer) error {
	line, err := w.end()
	a.mutex.Lock()
	if err == nil {
		a.unsentStopped = line
	}
	// A `stop` may wait unread in the pipe: hear it now, so that `stopped` counts as its answer.
	if !a.session.stopOrdered() {
		a.hearWhatIsThere()
	}
	a.mutex.Unlock()
	return a.sayAtLast("stopped", w)
}

// Healthy tells the upgrader that this agent works. If the agent is on trial, the upgrade is then
// committed at once. With the feature "readiness", a first agent or a fallback must call Healthy,
// and init is then told that the service is ready. With an upgrader, Healthy returns an error if
// this agent is not active, if it has said `unfit`, or (without the feature) if it is not on trial.
func (a *Agent) Healthy() error { return a.sayPlain("healthy") }

// Heartbeat tells the upgrader that this agent is alive. If Welcome.Watchdog is not 0, an active
// agent must call Heartbeat at least once in every half of that time. An agent that is not active
// yet gets an error.
func (a *Agent) Heartbeat() error { return a.sayPlain("heartbeat") }

// Extend asks the upgrader for more time: it moves this agent's current deadline to `by` (1 ms to
// 24 h) from now, unless the deadline is later already. Extend may be called before Ready, and
// between Stop and Stopped. With the feature "readiness", it may also be called between Activate
// and Healthy.
func (a *Agent) Extend(by time.Duration) error {
	w := newWriter("extend")
	w.milliseconds("ms", &by, time.Millisecond)
	return a.sayAbout("extend", "", w)
}

// Status sends a status of one line for people, cut to 256 bytes.
func (a *Agent) Status(text string) error {
	w := newWriter("status")
	w.text("text", fit(text, statusBytesMax), statusBytesMax)
	return a.sayAbout("status", "", w)
}

// ---- internal functions

func (a *Agent) sayPlain(word string) error { return a.sayAbout(word, "", newWriter(word)) }

func (a *Agent) sayAbout(word, id string, w *writer) error {
	line, err := w.end()
	a.mutex.Lock()
	defer a.mutex.Unlock()
	return a.say(word, id, line, err)
}

// sayAtLast sends the last message before the program exits, and waits until the whole message has
// been written to the pipe.
func (a *Agent) sayAtLast(word string, w *writer) error {
	if err := a.sayAbout(word, "", w); err != nil {
		return err
	}
	a.mutex.Lock()
	defer a.mutex.Unlock()
	for len(a.unsent) > 0 && !a.writeFailed {
		a.unsentChanged.Wait()
	}
	return nil
}

// say sends a message, or returns an error and changes nothing. The caller must hold the mutex. The
// limit unsentBytesMax does not apply to an agent's last messages, `unfit` and `stopped`.
func (a *Agent) say(word, id string, line []byte, malformed error) error {
	asked := a.session
	actions, err := asked.say(word, id)
	if err != nil {
		return err
	}
	if malformed != nil {
		return fmt.Errorf("cannot say %s: %w", word, malformed)
	}
	last := word == "unfit" || word == "stopped"
	if !last && len(a.unsent)+len(line) > unsentBytesMax {
		return fmt.Errorf("cannot say %s: the upgrader does not read what has been sent", word)
	}
	a.session = asked
	a.perform(actions, line)
	return nil
}

// perform carries out the session's actions. `line` is the message to send, if the program has said
// one. The caller must hold the mutex.
func (a *Agent) perform(actions []action, line []byte) {
	for _, each := range actions {
		switch action := each.(type) {
		case sendThis:
			a.queue(line)
		case sendStopped:
			a.queue(a.unsentStopped)
		case exitAtOnce:
			os.Exit(action.status)
		case deliver:
			a.pending = append(a.pending, action.event)
			select {
			case a.pendingChanged <- struct{}{}:
			default:
			}
		}
	}
}

func (a *Agent) queue(line []byte) {
	if a.writeFailed {
		return
	}
	a.unsent = append(a.unsent, line...)
	a.unsentChanged.Broadcast()
}

// tell puts the events into the program's channel, one by one. It releases the mutex while it waits
// until the program reads the channel, so that no other call has to wait.
func (a *Agent) tell() {
	for range a.pendingChanged {
		for {
			a.mutex.Lock()
			if len(a.pending) == 0 {
				a.mutex.Unlock()
				break
			}
			event := a.pending[0]
			a.pending = a.pending[1:]
			a.mutex.Unlock()
			a.events <- event
		}
	}
}

func (a *Agent) watchSignals(terms <-chan os.Signal) {
	for range terms {
		a.mutex.Lock()
		// A `stop` may wait unread in the pipe: hear it first, so that the program's event Stop
		// names the upgrader's reason.
		if !a.session.held() {
			a.hearWhatIsThere()
		}
		a.perform(a.session.terminated(), nil)
		a.mutex.Unlock()
	}
}

// hearWhatIsThere hears the messages that wait in the pipe. The caller must hold the mutex.
func (a *Agent) hearWhatIsThere() {
	if a.input == nil {
		return
	}
	for _, event := range a.input.take() {
		a.perform(a.session.hear(event), nil)
	}
}

func (a *Agent) read() {
	for over := false; !over; {
		a.input.wait()
		a.mutex.Lock()
		a.hearWhatIsThere()
		over = a.input.over
		if over {
			a.perform(a.session.inputEnded(), nil)
		}
		a.mutex.Unlock()
	}
}

func (a *Agent) write() {
	for {
		a.mutex.Lock()
		for len(a.unsent) == 0 {
			a.unsentChanged.Wait()
		}
		line := append([]byte(nil), a.unsent...)
		a.mutex.Unlock()
		written, err := a.output.Write(line)
		a.mutex.Lock()
		a.unsent = a.unsent[written:]
		if err != nil && !errors.Is(err, io.ErrShortWrite) {
			a.writeFailed, a.unsent = true, nil
		}
		a.unsentChanged.Broadcast()
		a.mutex.Unlock()
	}
}

package agentprotocol

import "fmt"

// The agent's half of the conversation with its upgrader, as a state machine: it decides which
// messages the program may send, which of the upgrader's messages the program gets, and when the
// program must exit. It does no input or output, and reads no clock: agent.go performs the actions.
//
// The states of an agent:
//
//   - silent: it has not said `hello` yet.
//   - starting: it has said `hello`, and must not work yet (it is held).
//   - ready: it has said `ready`, and is still held.
//   - active: the upgrader has sent `activate`, and the agent works.
//   - stopping: a stop was requested by the upgrader, by SIGTERM or by the end of input. If the
//     stop was for an upgrade, the agent becomes active again when it says `cancel`.
//   - stopped: it has said `stopped`.
//   - ended: it was held, and has said `unfit` or must exit immediately.
//
// An active agent may say `healthy` while it is on trial, unless it has said `unfit`. If both sides
// have the feature `readiness`, it may also say `healthy` without a trial, and `extend` before its
// `healthy`.
//
// A message from the upgrader that does not fit the agent's state is ignored. Usually both sides
// have sent a message at the same moment: for example, the upgrader a `stop`, and the agent a
// `cancel` of the same upgrade. Only a `stop` for an agent that has stopped by itself is answered,
// with `stopped`.
//
// Without an upgrader, the program goes through the same states: it gets `activate` after its
// `ready`, and `stop` after a SIGTERM. A request for an upgrade is refused; all other messages are
// accepted and have no effect.

type life int

const (
	silent life = iota
	starting
	ready
	active
	stopping
	stopped
	ended
)

var standings = [...]string{
	"hello has not been said",
	"this agent is held",
	"this agent has said ready and is held",
	"this agent is active",
	"this agent has been told to stop",
	"this agent has said stopped",
	"this agent's part has ended",
}

type trial int

const (
	noTrial trial = iota
	onTrial
	saidUnfit
)

type step int

const (
	isAccepted step = iota
	isReady
	isConfirmed
	isCancelled
)

// The actions that a session orders, and the session itself. The caller performs the actions of a
// step in order.
type (
	action       interface{}
	sendThis     struct{} // send the message that the program has just said
	sendStopped  struct{} // send the stopped that the program said before the upgrader's stop came
	deliver      struct{ event Event }
	exitAtOnce   struct{ status int }
	sessionState struct {
		alone     bool
		life      life
		welcomed  bool
		role      string
		atBoot    bool // a fallback that was started at boot, since the first agent had failed
		trial     trial
		request   string // the id of a requested upgrade that the upgrader has not answered
		upgrade   string // the id of the upgrade under way that is to replace this agent
		step      step   // the step that this upgrade has reached
		ordered   string // the reason, if the upgrader has requested the stop
		signalled bool   // SIGTERM has requested a stop
		gone      bool   // the input has ended
		readiness bool   // both sides have the feature `readiness`
		works     bool   // the program has said `healthy`
	}
)

const (
	exitInputEnded = 1
	exitTerminated = 128 + 15 // 143: the status by which a shell reports SIGTERM
)

func (s *sessionState) held() bool        { return s.life < active || s.life == ended }
func (s *sessionState) stopOrdered() bool { return s.ordered != "" && !s.gone }

// ---- messages from the program

// say handles a message that the program wants to send, and returns the actions to perform. `word`
// is the message's type in agent-protocol(7). If the protocol does not allow the message in the
// current state, say returns an error and changes nothing.
func (s *sessionState) say(word, id string) ([]action, error) {
	why := s.whyNot(word, id)
	if why != "" && s.alone && word != "ready" && word != "upgrade" {
		return nil, nil
	}
	if why != "" {
		if id != "" {
			word += " " + id
		}
		return nil, fmt.Errorf("cannot say %s: %s", word, why)
	}
	actions := s.said(word, id)
	if !s.alone {
		return actions, nil
	}
	if word == "ready" {
		s.life = active
		return []action{deliver{Activate{}}}, nil
	}
	return nil, nil
}

func (s *sessionState) standing() string {
	if s.gone {
		return "the upgrader has gone"
	}
	return standings[s.life]
}

// fits returns a reason for whyNot: an empty string if `holds` is true, otherwise the agent's
// state.
func (s *sessionState) fits(holds bool) string {
	if holds {
		return ""
	}
	return s.standing()
}

func (s *sessionState) whyNot(word, id string) string {
	switch word {
	case "hello":
		if s.life != silent {
			return "it has been said already"
		}
	case "ready":
		return s.fits(s.life == starting)
	case "unfit":
		if s.life == active {
			return [...]string{"this agent is not on trial", "", "it has been said already"}[s.trial]
		}
		return s.fits(s.life == starting || s.life == ready)
	case "upgrade":
		return s.whyNoUpgrade()
	case "confirm":
		return s.whyNotConfirm(id)
	case "cancel":
		return s.whyNotCancel(id)
	case "stopped":
		if s.life == active {
			return "this agent has not been told to stop"
		}
		return s.fits(s.life == stopping)
	case "healthy":
		if s.life == active && s.trial == noTrial && s.readiness {
			return ""
		}
		if s.life == active {
			return [...]string{"this agent is not on trial", "", "this agent has said unfit"}[s.trial]
		}
		return s.standing()
	case "extend":
		if s.life == active {
			return s.fits(!s.gone && s.readiness && !s.works)
		}
		return s.fits(!s.gone && (s.life == starting || s.life == stopping))
	case "heartbeat":
		return s.fits(!s.gone && (s.life == active || s.life == stopping))
	case "status":
		return s.fits(!s.gone && s.life != silent)
	}
	return ""
}

func (s *sessionState) whyNoUpgrade() string {
	switch {
	case s.alone:
		return "there is no upgrader"
	case s.life != active:
		return s.standing()
	case s.trial != noTrial:
		return "this agent is on trial"
	case s.request != "":
		return "upgrade " + s.request + " has been requested"
	case s.upgrade != "":
		return "upgrade " + s.upgrade + " is under way"
	}
	return ""
}

func (s *sessionState) whyNotKnown(id string) string {
	switch {
	case id != "" && s.request == id:
		return "it has not been accepted"
	case id == "" || s.upgrade != id:
		return "no such upgrade is under way"
	case s.step == isCancelled:
		return "it has been cancelled"
	}
	return ""
}

func (s *sessionState) whyNotConfirm(id string) string {
	if s.life != active {
		return s.standing()
	}
	if why := s.whyNotKnown(id); why != "" {
		return why
	}
	switch s.step {
	case isAccepted:
		return "its candidate is not ready"
	case isConfirmed:
		return "it has been confirmed"
	}
	return ""
}

func (s *sessionState) whyNotCancel(id string) string {
	if s.gone || (s.life != active && s.life != stopping) {
		return s.standing()
	}
	if s.signalled {
		return "SIGTERM has told this agent to stop"
	}
	if s.life == stopping && s.ordered != "upgrade" {
		return s.standing()
	}
	return s.whyNotKnown(id)
}

func (s *sessionState) said(word, id string) []action {
	switch word {
	case "hello":
		s.life = starting
	case "ready":
		s.life = ready
	case "unfit":
		if s.life == active {
			s.trial = saidUnfit
		} else {
			s.life = ended
		}
	case "upgrade":
		s.request = id
	case "confirm":
		s.step = isConfirmed
	case "cancel":
		s.step, s.life, s.ordered = isCancelled, active, ""
	case "stopped":
		s.life = stopped
		if !s.stopOrdered() {
			return nil
		}
	case "healthy":
		s.works = true
	case "extend":
		// If the upgrader has not requested this stop, there is no deadline that an `extend` could
		// move, so the `extend` is not sent.
		if s.life == stopping && s.ordered == "" {
			return nil
		}
	}
	return []action{sendThis{}}
}

// ---- messages from the upgrader

func (s *sessionState) hear(event Event) []action {
	if s.alone || s.gone || s.life == silent || s.life == ended {
		return nil
	}
	told := []action{deliver{event}}
	switch e := event.(type) {
	case Welcome:
		if s.welcomed || (s.life != starting && s.life != ready) {
			return nil
		}
		s.welcomed, s.role = true, e.Role
		s.atBoot = e.Failure != nil && e.Failure.ID == "boot"
		for _, feature := range e.Features {
			s.readiness = s.readiness || feature == "readiness"
		}
	case Activate:
		if s.life != ready {
			return nil
		}
		s.life = active
		if s.role == "candidate" || s.atBoot {
			s.trial = onTrial
		}
	case Stop:
		return s.heardStop(e)
	case Accepted:
		if s.life == stopped || s.request != e.ID {
			return nil
		}
		s.request, s.upgrade, s.step = "", e.ID, isAccepted
	case CandidateReady:
		if s.life == stopped || s.upgrade != e.ID || s.step != isAccepted || s.ordered != "" {
			return nil
		}
		s.step = isReady
	case CandidateLost:
		if s.life != stopping || s.ordered != "upgrade" || s.upgrade != e.ID {
			return nil
		}
	case UpgradeFailed:
		if s.life == stopped {
			return nil
		}
		switch e.Failure.ID {
		case s.request:
			s.request = ""
		case s.upgrade:
			s.upgrade = ""
		default:
			return nil
		}
	case Committed:
		if s.life == stopped || s.trial == noTrial {
			return nil
		}
		s.trial = noTrial
	case Error:
		if e.About == "upgrade" {
			s.request = ""
		}
	}
	return told
}

func (s *sessionState) heardStop(stop Stop) []action {
	if s.step == isCancelled && stop.Reason == "upgrade" && stop.ID != "" && stop.ID == s.upgrade {
		return nil
	}
	before := s.life
	if s.ordered != "" || before < active || before > stopped {
		return nil
	}
	s.ordered, s.trial = stop.Reason, noTrial
	if stop.Reason == "upgrade" && stop.ID != "" {
		s.upgrade, s.step = stop.ID, isAccepted
	}
	switch before {
	case active:
		s.life = stopping
		return []action{deliver{stop}}
	case stopped:
		return []action{sendStopped{}}
	}
	return nil
}

// ---- the end of the input from the upgrader, and SIGTERM

func (s *sessionState) inputEnded() []action {
	if s.alone || s.gone {
		return nil
	}
	s.gone = true
	if s.held() {
		s.life = ended
		return []action{exitAtOnce{exitInputEnded}}
	}
	if s.life != active {
		return nil
	}
	s.life = stopping
	return []action{deliver{Stop{Reason: "end_of_input"}}}
}

func (s *sessionState) terminated() []action {
	if s.held() {
		s.life = ended
		return []action{exitAtOnce{exitTerminated}}
	}
	if s.life == stopped {
		return nil
	}
	s.signalled = true
	if s.life == stopping {
		return nil
	}
	s.life = stopping
	return []action{deliver{Stop{Reason: "signal"}}}
}

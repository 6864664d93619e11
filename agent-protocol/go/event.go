package agentprotocol

import "time"

// Event is what the upgrader tells an agent: one of the types below.
type Event interface{ isEvent() }

// Failure says why an upgrade failed. Stage and Errno are words of agent-protocol(7). Version and
// Errno are empty, ExitStatus and Signal nil, where they do not apply.
type Failure struct {
	ID         string
	Stage      string
	Reason     string
	Version    string
	Errno      string
	ExitStatus *int64
	Signal     *int64
}

// Welcome answers hello. Role is "first", "candidate" or "fallback".
type Welcome struct {
	Protocol        int64
	Features        []string
	Generation      int64
	Role            string
	PreviousVersion string
	Failure         *Failure
	Watchdog        time.Duration // send a heartbeat at least every half of it; 0: none is wanted
}

// Activate: the work is yours, now. Where Clean is false, recover as after a crash. A fallback that
// was welcomed as a standby, before anything had failed, gets Failure here. An agent on trial gets
// Trial, how long that lasts, and Commit, what passes it: "survive" or "healthy". For others Trial
// is 0 and Commit empty.
type Activate struct {
	Clean   bool
	State   *string // nil: none was left
	Failure *Failure
	Trial   time.Duration
	Commit  string
}

// Stop: finish, give everything up, call Stopped, exit with status 0. Reason is "upgrade",
// "rollback" or "shutdown" where the upgrader asks for it, "signal" where SIGTERM reached this
// process, and "end_of_input" where the upgrader has gone. Deadline is 0 where there is none.
type Stop struct {
	Reason     string
	Deadline   time.Duration
	ID         string
	Generation int64
}

// Accepted: the upgrade is under way.
type Accepted struct {
	ID         string
	Generation int64
}

// CandidateReady: the candidate waits at the gate. Call Confirm or Cancel.
type CandidateReady struct {
	ID         string
	Generation int64
	Version    string
}

// CandidateLost: the candidate failed after this agent was told to stop. Call Cancel to keep the
// work.
type CandidateLost struct {
	ID     string
	Reason string
}

// UpgradeFailed: the upgrade is over, and this agent is active as before.
type UpgradeFailed struct{ Failure Failure }

// Committed: this agent has passed its trial.
type Committed struct {
	ID         string
	Generation int64
}

// Error: something that this agent sent was not obeyed. About is the type of that message, if it is
// known.
type Error struct {
	About  string
	Reason string
}

func (Welcome) isEvent()        {}
func (Activate) isEvent()       {}
func (Stop) isEvent()           {}
func (Accepted) isEvent()       {}
func (CandidateReady) isEvent() {}
func (CandidateLost) isEvent()  {}
func (UpgradeFailed) isEvent()  {}
func (Committed) isEvent()      {}
func (Error) isEvent()          {}

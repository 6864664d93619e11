package agentprotocol

import "time"

// Event is a message from the upgrader to an agent: one of the types below.
type Event interface{ isEvent() }

// Failure says why an upgrade failed. agent-protocol(7) lists the values of Stage and Errno. A
// member that does not apply is empty if it is a string, and nil if it is a pointer.
type Failure struct {
	ID         string
	Stage      string
	Reason     string
	Version    string
	Errno      string
	ExitStatus *int64
	Signal     *int64
}

// Welcome is the upgrader's answer to `hello`. Role is "first", "candidate" or "fallback". Features
// are the agent's features that the upgrader has, too.
type Welcome struct {
	Protocol        int64
	Features        []string
	Generation      int64
	Role            string
	PreviousVersion string
	Failure         *Failure
	// An active agent must call Heartbeat at least once in every half of this time. 0 means that
	// the upgrader wants no heartbeats.
	Watchdog time.Duration
}

// Activate gives the work to this agent, now. If Clean is false, the program must recover as after
// a crash. Trial (its length) and Commit ("survive" or "healthy", the condition for passing it) are
// set only for an agent on trial. Failure is set only for a fallback (the previous version, started
// again) that got its Welcome before the upgrade failed.
type Activate struct {
	Clean   bool
	State   *string // the state that the last active agent has left, or nil
	Failure *Failure
	Trial   time.Duration
	Commit  string
}

// Stop asks the program to finish, give up all work, call Stopped and exit with status 0. Reason is
// "upgrade", "rollback" or "shutdown" if the upgrader requests the stop, "signal" if SIGTERM
// reached this process, and "end_of_input" if the upgrader has gone. Deadline is how long the agent
// may take to call Stopped; 0 means that there is no limit.
type Stop struct {
	Reason     string
	Deadline   time.Duration
	ID         string
	Generation int64
}

// Accepted says that the upgrader has begun the upgrade that this agent requested.
type Accepted struct {
	ID         string
	Generation int64
}

// CandidateReady says that the candidate is ready. The upgrader waits for this agent to call
// Confirm or Cancel.
type CandidateReady struct {
	ID         string
	Generation int64
	Version    string
}

// CandidateLost says that the candidate failed after this agent was told to stop. This agent should
// call Cancel and stay active if it still can; otherwise it finishes its stop.
type CandidateLost struct {
	ID     string
	Reason string
}

// UpgradeFailed says that the upgrade is over, and that this agent is still active.
type UpgradeFailed struct{ Failure Failure }

// Committed says that this agent has passed its trial.
type Committed struct {
	ID         string
	Generation int64
}

// Error says that a message of this agent was refused. About is the type of that message, if it is
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

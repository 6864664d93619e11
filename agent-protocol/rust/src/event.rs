//! The events that the upgrader sends to an agent.

use std::time::Duration;

/// Why an upgrade failed. agent-protocol(7) lists the values of `stage` and `errno`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    pub id: String,
    pub stage: String,
    pub reason: String,
    /// The version of the failed agent, if it is known.
    pub version: Option<String>,
    pub errno: Option<String>,
    pub exit_status: Option<i64>,
    pub signal: Option<i64>,
}

/// The role in which this agent was started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    First,
    Candidate,
    Fallback,
}

/// The cause of a stop. `Upgrade`, `Rollback` and `Shutdown` mean that the upgrader has requested
/// the stop. `Signal` means that SIGTERM reached this process, and `EndOfInput` that the upgrader
/// has gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopReason {
    Upgrade,
    Rollback,
    Shutdown,
    Signal,
    EndOfInput,
}

/// An event for the program. Later versions of this library may add kinds of events, so a `match`
/// needs an arm for unknown events.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event {
    /// The upgrader's answer to `hello`.
    Welcome {
        protocol: i64,
        /// The agent's features that the upgrader has, too.
        features: Vec<String>,
        generation: i64,
        role: Role,
        previous_version: Option<String>,
        failure: Option<Failure>,
        /// An active agent must call `heartbeat` at least once in every half of this time. `None`
        /// means that the upgrader wants no heartbeats.
        watchdog: Option<Duration>,
    },
    /// Gives the work to this agent, now. If `clean` is false, the program must recover as after a
    /// crash. `failure` is set only for a fallback (the previous version, started again) that got
    /// its `Welcome` before the upgrade failed.
    Activate {
        clean: bool,
        state: Option<String>,
        failure: Option<Failure>,
        /// Only for an agent on trial: the length of the trial.
        trial: Option<Duration>,
        /// Only for an agent on trial: the condition for passing the trial, "survive" or "healthy".
        commit: Option<String>,
    },
    /// Asks the program to finish, give up all work, call `stopped` and exit with status 0.
    /// `deadline` is how long the agent may take to call `stopped`; `None` means that there is no
    /// limit.
    Stop {
        reason: StopReason,
        deadline: Option<Duration>,
        id: Option<String>,
        generation: Option<i64>,
    },
    /// The upgrader has begun the upgrade that this agent requested.
    Accepted { id: String, generation: i64 },
    /// The candidate is ready. The upgrader waits for this agent to call `confirm` or `cancel`.
    CandidateReady { id: String, generation: i64, version: Option<String> },
    /// The candidate failed after this agent was told to stop. This agent should call `cancel` and
    /// stay active if it still can; otherwise it finishes its stop.
    CandidateLost { id: String, reason: String },
    /// The upgrade is over, and this agent is still active.
    UpgradeFailed(Failure),
    /// This agent has passed its trial, so its upgrade is committed.
    Committed { id: String, generation: i64 },
    /// The upgrader has refused a message of this agent. `about` is the type of that message, if it
    /// is known.
    Error { about: Option<String>, reason: String },
}

impl Event {
    pub(crate) fn activate(clean: bool) -> Event {
        Event::Activate { clean, state: None, failure: None, trial: None, commit: None }
    }

    pub(crate) fn stop(reason: StopReason) -> Event {
        Event::Stop { reason, deadline: None, id: None, generation: None }
    }
}

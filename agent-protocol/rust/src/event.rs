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

/// The cause of a stop. For the first three, the upgrader has requested the stop. The fourth is a
/// SIGTERM to this process, and the last the end of the upgrader itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopReason {
    Upgrade,
    Rollback,
    Shutdown,
    Signal,
    EndOfInput,
}

/// One event. Later versions of this library add kinds of events, so a `match` needs an arm for
/// others.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event {
    /// The answer to `hello`.
    Welcome {
        protocol: i64,
        features: Vec<String>,
        generation: i64,
        role: Role,
        previous_version: Option<String>,
        failure: Option<Failure>,
        /// The longest time between two heartbeats. The program should send one at least every half
        /// of it.
        watchdog: Option<Duration>,
    },
    /// Gives the work to this agent, now. If `clean` is false, the program must recover as after a
    /// crash. A fallback that was started before the failure, as a standby, learns of it from
    /// `failure`.
    Activate {
        clean: bool,
        state: Option<String>,
        failure: Option<Failure>,
        /// Only for an agent on trial: the length of the trial.
        trial: Option<Duration>,
        /// Only for an agent on trial: how to pass it, "survive" or "healthy".
        commit: Option<String>,
    },
    /// Asks the program to finish, give up all work, call `stopped` and exit with status 0.
    Stop {
        reason: StopReason,
        deadline: Option<Duration>,
        id: Option<String>,
        generation: Option<i64>,
    },
    /// The upgrader has begun the upgrade that this agent requested.
    Accepted { id: String, generation: i64 },
    /// The candidate is ready, and waits for this agent to call `confirm` or `cancel`.
    CandidateReady { id: String, generation: i64, version: Option<String> },
    /// The candidate failed after this agent was told to stop: call `cancel` to keep the work.
    CandidateLost { id: String, reason: String },
    /// The upgrade has failed, and this agent is active as before.
    UpgradeFailed(Failure),
    /// This agent has passed its trial, so its upgrade is committed.
    Committed { id: String, generation: i64 },
    /// The upgrader has refused a message of this agent.
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

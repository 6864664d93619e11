//! The agent's half of the conversation with its upgrader, as a state machine: it decides which
//! messages the program may send, which of the upgrader's messages the program gets, and when the
//! program must exit. It does no input or output, and reads no clock: agent.rs performs the
//! actions.
//!
//! The states of an agent:
//!
//! - `Silent`: it has not said `hello` yet.
//! - `Starting`: it has said `hello`, and must not work yet (it is held).
//! - `Ready`: it has said `ready`, and is still held.
//! - `Active`: the upgrader has sent `activate`, and the agent works.
//! - `Stopping`: a stop was requested by the upgrader, by SIGTERM or by the end of input. If the
//!   stop was for an upgrade, the agent becomes active again when it says `cancel`.
//! - `Stopped`: it has said `stopped`.
//! - `Ended`: it was held, and has said `unfit` or must exit immediately.
//!
//! An active agent may say `healthy` while it is on trial, unless it has said `unfit`. If both
//! sides have the feature `readiness`, it may also say `healthy` without a trial, and `extend`
//! before its `healthy`.
//!
//! A message from the upgrader that does not fit the agent's state is ignored. Usually both sides
//! have sent a message at the same moment: for example, the upgrader a `stop`, and the agent a
//! `cancel` of the same upgrade. Only a `stop` for an agent that has stopped by itself is answered,
//! with `stopped`.
//!
//! Without an upgrader, the program goes through the same states: it gets `activate` after its
//! `ready`, and `stop` after a SIGTERM. A request for an upgrade is refused; all other messages are
//! accepted and have no effect.

use crate::event::{Event, Role, StopReason};

pub const EXIT_INPUT_ENDED: i32 = 1;
pub const EXIT_TERMINATED: i32 = 128 + 15; // 143: the status by which a shell reports SIGTERM

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Life {
    Silent,
    Starting,
    Ready,
    Active,
    Stopping,
    Stopped,
    Ended,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Trial {
    None,
    Running,
    SaidUnfit,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Accepted,
    CandidateReady,
    Confirmed,
    Cancelled,
}

/// The type of a message that the program sends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Word {
    Hello,
    Ready,
    Unfit,
    Upgrade(String),
    Confirm(String),
    Cancel(String),
    Stopped,
    Healthy,
    Extend,
    Heartbeat,
    Status,
}

impl Word {
    pub fn deed(&self) -> String {
        match self {
            Word::Hello => "say hello".to_string(),
            Word::Ready => "say ready".to_string(),
            Word::Unfit => "say unfit".to_string(),
            Word::Upgrade(id) => format!("request upgrade {id}"),
            Word::Confirm(id) => format!("confirm upgrade {id}"),
            Word::Cancel(id) => format!("cancel upgrade {id}"),
            Word::Stopped => "say stopped".to_string(),
            Word::Healthy => "say healthy".to_string(),
            Word::Extend => "extend the deadline".to_string(),
            Word::Heartbeat => "send a heartbeat".to_string(),
            Word::Status => "show a status".to_string(),
        }
    }
}

/// An action for the caller to perform; the actions of one step are performed in order. One variant
/// is much larger than the others, which is harmless, since only one action exists at a time.
#[allow(clippy::large_enum_variant)]
#[derive(Debug, PartialEq, Eq)]
pub enum Action {
    /// Send the message that the caller has passed to the session in this step.
    Send,
    /// Send the `stopped` that the program said before the upgrader's stop came.
    SendStopped,
    Deliver(Event),
    ExitAtOnce(i32),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    alone: bool,
    life: Life,
    welcomed: bool,
    role: Role,
    /// This agent is a fallback, started at boot because the upgrader's first agent had failed.
    at_boot: bool,
    trial: Trial,
    /// The id of a requested upgrade that the upgrader has not answered.
    request: Option<String>,
    /// The id of the upgrade under way that is to replace this agent, and the step that this
    /// upgrade has reached.
    upgrade: Option<(String, Step)>,
    /// The reason in the upgrader's `stop`, if the upgrader has sent one.
    ordered: Option<StopReason>,
    /// SIGTERM has requested a stop.
    signalled: bool,
    /// The input has ended.
    gone: bool,
    /// Both sides have the feature `readiness`.
    readiness: bool,
    /// The program has said `healthy`.
    works: bool,
}

type Why = Result<(), String>;

fn because(reason: &str) -> Why {
    Err(reason.to_string())
}

impl Session {
    pub fn new(alone: bool) -> Session {
        Session {
            alone,
            life: Life::Silent,
            welcomed: false,
            role: Role::First,
            at_boot: false,
            trial: Trial::None,
            request: None,
            upgrade: None,
            ordered: None,
            signalled: false,
            gone: false,
            readiness: false,
            works: false,
        }
    }

    pub fn alone(&self) -> bool {
        self.alone
    }

    /// Returns true while the agent has no work that it must give up before it exits.
    pub fn held(&self) -> bool {
        !matches!(self.life, Life::Active | Life::Stopping | Life::Stopped)
    }

    /// Returns true if the upgrader has requested a stop, and is still there. The session then
    /// sends the program's `stopped` immediately; otherwise it keeps `stopped` until the upgrader
    /// requests a stop.
    pub fn stop_ordered(&self) -> bool {
        self.ordered.is_some() && !self.gone
    }

    // ---- messages from the program

    /// Returns an error if the program may not send a message of the type `word` now. The error is
    /// a sentence that names the reason.
    pub fn ask(&self, word: &Word) -> Why {
        let bears = self.alone && !matches!(word, Word::Ready | Word::Upgrade(_));
        match self.why_not(word) {
            Err(why) if !bears => Err(format!("cannot {}: {why}", word.deed())),
            _ => Ok(()),
        }
    }

    /// Handles a message that the program says, and returns the actions to perform. If the protocol
    /// does not allow the message now, changes nothing and returns no actions.
    pub fn say(&mut self, word: &Word) -> Vec<Action> {
        if self.why_not(word).is_err() {
            return Vec::new();
        }
        let sends = self.said(word);
        if self.alone && *word == Word::Ready {
            self.life = Life::Active;
            return vec![Action::Deliver(Event::activate(false))];
        }
        if sends && !self.alone {
            vec![Action::Send]
        } else {
            Vec::new()
        }
    }

    fn standing(&self) -> Why {
        if self.gone {
            return because("the upgrader has gone");
        }
        because(match self.life {
            Life::Silent => "hello has not been said",
            Life::Starting => "this agent is held",
            Life::Ready => "this agent has said ready and is held",
            Life::Active => "this agent is active",
            Life::Stopping => "this agent has been told to stop",
            Life::Stopped => "this agent has said stopped",
            Life::Ended => "this agent's part has ended",
        })
    }

    fn fits(&self, holds: bool) -> Why {
        if holds {
            Ok(())
        } else {
            self.standing()
        }
    }

    fn why_not(&self, word: &Word) -> Why {
        use Life::*;
        let life = self.life;
        match word {
            Word::Hello if life == Silent => Ok(()),
            Word::Hello => because("it has been said already"),
            Word::Ready => self.fits(life == Starting),
            Word::Unfit if life == Active => match self.trial {
                Trial::Running => Ok(()),
                Trial::None => because("this agent is not on trial"),
                Trial::SaidUnfit => because("it has been said already"),
            },
            Word::Unfit => self.fits(life == Starting || life == Ready),
            Word::Upgrade(_) => self.why_no_upgrade(),
            Word::Confirm(id) => self.why_not_confirm(id),
            Word::Cancel(id) => self.why_not_cancel(id),
            Word::Stopped if life == Active => because("this agent has not been told to stop"),
            Word::Stopped => self.fits(life == Stopping),
            Word::Healthy if life == Active => match self.trial {
                Trial::Running => Ok(()),
                Trial::None if self.readiness => Ok(()),
                Trial::None => because("this agent is not on trial"),
                Trial::SaidUnfit => because("this agent has said unfit"),
            },
            Word::Healthy => self.standing(),
            Word::Extend if life == Active => {
                self.fits(!self.gone && self.readiness && !self.works)
            }
            Word::Extend => self.fits(!self.gone && (life == Starting || life == Stopping)),
            Word::Heartbeat => self.fits(!self.gone && (life == Active || life == Stopping)),
            Word::Status => self.fits(!self.gone && life != Silent),
        }
    }

    fn why_no_upgrade(&self) -> Why {
        if self.alone {
            return because("there is no upgrader");
        }
        if self.life != Life::Active {
            return self.standing();
        }
        if self.trial != Trial::None {
            return because("this agent is on trial");
        }
        if let Some(id) = &self.request {
            return Err(format!("upgrade {id} has been requested"));
        }
        match &self.upgrade {
            Some((id, _)) => Err(format!("upgrade {id} is under way")),
            None => Ok(()),
        }
    }

    /// Returns the step that the upgrade `id` has reached. Returns a reason if `id` is not the
    /// upgrade under way, or has been cancelled.
    fn step_of(&self, id: &str) -> Result<Step, String> {
        if self.request.as_deref() == Some(id) {
            return Err("it has not been accepted".to_string());
        }
        match &self.upgrade {
            Some((known, Step::Cancelled)) if known == id => {
                Err("it has been cancelled".to_string())
            }
            Some((known, step)) if known == id => Ok(*step),
            _ => Err("no such upgrade is under way".to_string()),
        }
    }

    fn why_not_confirm(&self, id: &str) -> Why {
        if self.life != Life::Active {
            return self.standing();
        }
        match self.step_of(id)? {
            Step::Accepted => because("its candidate is not ready"),
            Step::Confirmed => because("it has been confirmed"),
            Step::CandidateReady | Step::Cancelled => Ok(()),
        }
    }

    fn why_not_cancel(&self, id: &str) -> Why {
        let stopping = self.life == Life::Stopping;
        if self.gone || (self.life != Life::Active && !stopping) {
            return self.standing();
        }
        if self.signalled {
            return because("SIGTERM has told this agent to stop");
        }
        if stopping && self.ordered != Some(StopReason::Upgrade) {
            return self.standing();
        }
        self.step_of(id).map(|_| ())
    }

    fn set_step(&mut self, to: Step) {
        if let Some((_, step)) = &mut self.upgrade {
            *step = to;
        }
    }

    /// Changes the session for a message that the program says. Returns true if the message is to
    /// be sent now.
    fn said(&mut self, word: &Word) -> bool {
        match word {
            Word::Hello => self.life = Life::Starting,
            Word::Ready => self.life = Life::Ready,
            Word::Unfit if self.life == Life::Active => self.trial = Trial::SaidUnfit,
            Word::Unfit => self.life = Life::Ended,
            Word::Upgrade(id) => self.request = Some(id.clone()),
            Word::Confirm(_) => self.set_step(Step::Confirmed),
            Word::Cancel(_) => {
                self.set_step(Step::Cancelled);
                self.life = Life::Active;
                self.ordered = None;
            }
            Word::Stopped => {
                self.life = Life::Stopped;
                return self.stop_ordered();
            }
            // If the upgrader has not requested this stop, there is no deadline that an `extend`
            // could move, so the `extend` is not sent.
            Word::Extend => return self.life != Life::Stopping || self.ordered.is_some(),
            Word::Healthy => self.works = true,
            Word::Heartbeat | Word::Status => {}
        }
        true
    }

    // ---- messages from the upgrader

    pub fn hear(&mut self, event: Event) -> Vec<Action> {
        if self.alone || self.gone || matches!(self.life, Life::Silent | Life::Ended) {
            return Vec::new();
        }
        if let Event::Stop { reason, id, .. } = &event {
            let (reason, id) = (*reason, id.clone());
            return self.heard_stop(reason, id, event);
        }
        if self.heard(&event) {
            vec![Action::Deliver(event)]
        } else {
            Vec::new()
        }
    }

    /// Changes the state for the event, and returns whether the program gets the event.
    fn heard(&mut self, event: &Event) -> bool {
        let stopped = self.life == Life::Stopped;
        match event {
            Event::Welcome { role, failure, features, .. } => {
                if self.welcomed || !matches!(self.life, Life::Starting | Life::Ready) {
                    return false;
                }
                self.welcomed = true;
                self.role = *role;
                self.readiness = features.iter().any(|feature| feature == "readiness");
                self.at_boot = matches!(failure, Some(failure) if failure.id == "boot");
            }
            Event::Activate { .. } => {
                if self.life != Life::Ready {
                    return false;
                }
                self.life = Life::Active;
                if self.role == Role::Candidate || self.at_boot {
                    self.trial = Trial::Running;
                }
            }
            Event::Accepted { id, .. } => {
                if stopped || self.request.as_ref() != Some(id) {
                    return false;
                }
                self.request = None;
                self.upgrade = Some((id.clone(), Step::Accepted));
            }
            Event::CandidateReady { id, .. } => {
                let waits = Some((id.clone(), Step::Accepted));
                if stopped || self.ordered.is_some() || self.upgrade != waits {
                    return false;
                }
                self.set_step(Step::CandidateReady);
            }
            Event::CandidateLost { id, .. } => {
                return self.life == Life::Stopping
                    && self.ordered == Some(StopReason::Upgrade)
                    && self.is_under_way(id);
            }
            Event::UpgradeFailed(failure) => {
                if stopped {
                    return false;
                }
                if self.request.as_ref() == Some(&failure.id) {
                    self.request = None;
                } else if self.is_under_way(&failure.id) {
                    self.upgrade = None;
                } else {
                    return false;
                }
            }
            Event::Committed { .. } => {
                if stopped || self.trial == Trial::None {
                    return false;
                }
                self.trial = Trial::None;
            }
            Event::Error { about, .. } => {
                if about.as_deref() == Some("upgrade") {
                    self.request = None;
                }
            }
            Event::Stop { .. } => return false,
        }
        true
    }

    fn is_under_way(&self, id: &str) -> bool {
        matches!(&self.upgrade, Some((known, _)) if known == id)
    }

    fn heard_stop(&mut self, reason: StopReason, id: Option<String>, event: Event) -> Vec<Action> {
        let cancelled = id.clone().map(|id| (id, Step::Cancelled));
        if reason == StopReason::Upgrade && cancelled.is_some() && self.upgrade == cancelled {
            return Vec::new();
        }
        if self.ordered.is_some() || self.held() {
            return Vec::new();
        }
        self.ordered = Some(reason);
        self.trial = Trial::None;
        if let (StopReason::Upgrade, Some(id)) = (reason, id) {
            self.upgrade = Some((id, Step::Accepted));
        }
        match self.life {
            Life::Stopped => vec![Action::SendStopped],
            Life::Active => {
                self.life = Life::Stopping;
                vec![Action::Deliver(event)]
            }
            _ => Vec::new(),
        }
    }

    // ---- the end of the input from the upgrader, and SIGTERM

    /// Handles the end of input: the upgrader has gone.
    pub fn input_ended(&mut self) -> Vec<Action> {
        if self.alone || self.gone {
            return Vec::new();
        }
        self.gone = true;
        if self.held() {
            self.life = Life::Ended;
            return vec![Action::ExitAtOnce(EXIT_INPUT_ENDED)];
        }
        if self.life != Life::Active {
            return Vec::new();
        }
        self.life = Life::Stopping;
        vec![Action::Deliver(Event::stop(StopReason::EndOfInput))]
    }

    /// Handles SIGTERM.
    pub fn terminated(&mut self) -> Vec<Action> {
        if self.held() {
            self.life = Life::Ended;
            return vec![Action::ExitAtOnce(EXIT_TERMINATED)];
        }
        if self.life == Life::Stopped {
            return Vec::new();
        }
        self.signalled = true;
        if self.life == Life::Stopping {
            return Vec::new();
        }
        self.life = Life::Stopping;
        vec![Action::Deliver(Event::stop(StopReason::Signal))]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Failure;

    fn welcome(role: Role, features: &[&str]) -> Event {
        Event::Welcome {
            protocol: 1,
            features: features.iter().map(|feature| feature.to_string()).collect(),
            generation: 1,
            role,
            previous_version: None,
            failure: None,
            watchdog: None,
        }
    }

    fn held_with(role: Role, features: &[&str]) -> Session {
        let mut session = Session::new(false);
        session.say(&Word::Hello);
        session.hear(welcome(role, features));
        session.say(&Word::Ready);
        session
    }

    fn held(role: Role) -> Session {
        held_with(role, &[])
    }

    fn active_with(role: Role, features: &[&str]) -> Session {
        let mut session = held_with(role, features);
        session.hear(activate());
        session
    }

    fn active(role: Role) -> Session {
        active_with(role, &[])
    }

    fn activate() -> Event {
        Event::activate(true)
    }

    fn failure(upgrade: &str) -> Failure {
        Failure {
            id: id(upgrade),
            stage: id("start"),
            reason: id("it died"),
            version: None,
            errno: None,
            exit_status: None,
            signal: None,
        }
    }

    fn stop_for(id: &str) -> Event {
        Event::Stop {
            reason: StopReason::Upgrade,
            deadline: None,
            id: Some(id.to_string()),
            generation: Some(2),
        }
    }

    fn accepted(id: &str) -> Event {
        let (id, generation) = (id.to_string(), 2);
        Event::Accepted { id, generation }
    }

    fn id(id: &str) -> String {
        id.to_string()
    }

    fn refused(session: &Session, word: Word, why: &str) {
        let told = session.ask(&word).expect_err("it may be said");
        assert!(told.contains(why), "{told}");
        let mut same = session.clone();
        assert!(same.say(&word).is_empty());
        assert_eq!(same, *session);
    }

    #[test]
    fn a_held_agent_exits_at_once_at_the_end_of_input_and_at_sigterm() {
        assert_eq!(held(Role::First).input_ended(), [Action::ExitAtOnce(1)]);
        assert_eq!(held(Role::First).terminated(), [Action::ExitAtOnce(143)]);
    }

    #[test]
    fn an_active_agent_is_told_to_stop_once_whoever_asks() {
        let mut session = active(Role::First);
        let told = [Action::Deliver(Event::stop(StopReason::Signal))];
        assert_eq!(session.terminated(), told);
        assert_eq!(session.hear(Event::stop(StopReason::Shutdown)), []);
        assert_eq!(session.input_ended(), []);
    }

    #[test]
    fn a_stop_that_crosses_our_own_stopped_is_answered_with_it() {
        let mut session = active(Role::First);
        session.terminated();
        assert_eq!(session.say(&Word::Stopped), []);
        assert_eq!(session.hear(stop_for("u")), [Action::SendStopped]);
    }

    #[test]
    fn a_stop_for_an_upgrade_that_was_cancelled_is_void() {
        let mut session = active(Role::First);
        session.say(&Word::Upgrade(id("u")));
        session.hear(accepted("u"));
        session.say(&Word::Cancel(id("u")));
        assert_eq!(session.hear(stop_for("u")), []);
        assert_eq!(session.life, Life::Active);
    }

    #[test]
    fn work_can_be_taken_back_when_the_candidate_is_lost() {
        let mut session = active(Role::First);
        session.hear(stop_for("u"));
        let reason = id("it died");
        let lost = Event::CandidateLost { id: id("u"), reason };
        assert_eq!(session.hear(lost.clone()), [Action::Deliver(lost)]);
        assert_eq!(session.say(&Word::Cancel(id("u"))), [Action::Send]);
        let failed = Event::UpgradeFailed(failure("u"));
        assert_eq!(session.hear(failed.clone()), [Action::Deliver(failed)]);
        assert_eq!(session.say(&Word::Upgrade(id("next"))), [Action::Send]);
    }

    #[test]
    fn the_gate_is_opened_once() {
        let mut session = active(Role::First);
        session.say(&Word::Upgrade(id("u")));
        refused(&session, Word::Confirm(id("u")), "it has not been accepted");
        session.hear(accepted("u"));
        refused(&session, Word::Confirm(id("u")), "its candidate is not ready");
        let (generation, version) = (2, None);
        session.hear(Event::CandidateReady { id: id("u"), generation, version });
        session.say(&Word::Confirm(id("u")));
        refused(&session, Word::Confirm(id("u")), "it has been confirmed");
    }

    #[test]
    fn only_a_candidate_is_on_trial() {
        let mut session = active(Role::Candidate);
        refused(&session, Word::Upgrade(id("u")), "on trial");
        assert_eq!(session.say(&Word::Healthy), [Action::Send]);
        session.hear(Event::Committed { id: id("v"), generation: 2 });
        refused(&session, Word::Healthy, "not on trial");
        refused(&active(Role::Fallback), Word::Unfit, "not on trial");
    }

    #[test]
    fn a_fallback_at_boot_is_on_trial() {
        let mut session = Session::new(false);
        session.say(&Word::Hello);
        let mut told = welcome(Role::Fallback, &[]);
        if let Event::Welcome { failure: told_failure, .. } = &mut told {
            *told_failure = Some(failure("boot"));
        }
        session.hear(told);
        session.say(&Word::Ready);
        session.hear(activate());
        refused(&session, Word::Upgrade(id("u")), "on trial");
        assert_eq!(session.say(&Word::Healthy), [Action::Send]);
        let committed = Event::Committed { id: id("boot"), generation: 2 };
        assert_eq!(session.hear(committed.clone()), [Action::Deliver(committed)]);
    }

    #[test]
    fn with_readiness_healthy_is_said_in_every_role_and_extend_until_then() {
        for role in [Role::First, Role::Candidate, Role::Fallback] {
            let mut session = held_with(role, &["other", "readiness"]);
            refused(&session, Word::Healthy, "has said ready");
            refused(&session, Word::Extend, "has said ready");
            session.hear(activate());
            assert_eq!(session.say(&Word::Extend), [Action::Send]);
            assert_eq!(session.say(&Word::Healthy), [Action::Send]);
            refused(&session, Word::Extend, "this agent is active");
            session.hear(Event::Committed { id: id("v"), generation: 2 });
            assert_eq!(session.say(&Word::Healthy), [Action::Send]);
            session.hear(Event::stop(StopReason::Shutdown));
            assert_eq!(session.say(&Word::Extend), [Action::Send]);
        }
    }

    #[test]
    fn a_feature_that_the_upgrader_does_not_have_allows_nothing() {
        for session in [active(Role::First), active_with(Role::First, &["other"])] {
            refused(&session, Word::Healthy, "not on trial");
            refused(&session, Word::Extend, "this agent is active");
        }
    }

    #[test]
    fn an_agent_that_has_said_unfit_is_not_healthy_whatever_its_features_are() {
        let mut session = active_with(Role::Candidate, &["readiness"]);
        session.say(&Word::Unfit);
        refused(&session, Word::Healthy, "this agent has said unfit");
    }

    #[test]
    fn what_may_not_be_said_changes_nothing() {
        for word in [
            Word::Ready,
            Word::Stopped,
            Word::Healthy,
            Word::Heartbeat,
            Word::Extend,
            Word::Upgrade(id("u")),
            Word::Confirm(id("u")),
            Word::Cancel(id("u")),
        ] {
            refused(&held(Role::First), word, "held");
        }
    }

    #[test]
    fn messages_that_do_not_fit_are_told_to_nobody() {
        let mut session = held(Role::First);
        assert_eq!(session.hear(stop_for("u")), []);
        assert_eq!(session.hear(accepted("u")), []);
        assert_eq!(session.hear(Event::Committed { id: id("u"), generation: 1 }), []);
        session.hear(activate());
        assert_eq!(session.hear(activate()), []);
        assert_eq!(session.hear(welcome(Role::First, &[])), []);
    }

    #[test]
    fn alone_the_same_story_is_told_without_an_upgrader() {
        let mut session = Session::new(true);
        assert_eq!(session.say(&Word::Hello), []);
        let told = [Action::Deliver(Event::activate(false))];
        assert_eq!(session.say(&Word::Ready), told);
        for word in [Word::Heartbeat, Word::Healthy, Word::Status, Word::Cancel(id("u"))] {
            assert!(session.ask(&word).is_ok());
            assert_eq!(session.say(&word), []);
        }
        refused(&session, Word::Upgrade(id("u")), "there is no upgrader");
        assert_eq!(session.input_ended(), []);
        let told = [Action::Deliver(Event::stop(StopReason::Signal))];
        assert_eq!(session.terminated(), told);
        assert_eq!(session.say(&Word::Stopped), []);
    }
}

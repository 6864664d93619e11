//! An agent's end of the conversation.

use crate::channel::{pollfd, Channel};
use crate::event::Event;
use crate::mark;
use crate::message::{self, Writer};
use crate::session::{Action, Session, Word};
use crate::surroundings::{self, Signals};
use std::collections::VecDeque;
use std::fmt;
use std::io;
use std::os::unix::io::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

// True if this process has opened a conversation.
static OPENED: AtomicBool = AtomicBool::new(false);

/// The reason why a call failed, for people: what the call should have done, and why it failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused(String);

impl fmt::Display for Refused {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(&self.0)
    }
}

impl std::error::Error for Refused {}

/// The terms of an upgrade that an agent requests. For a member that is `None`, the upgrader uses
/// its own default.
#[derive(Clone, Debug, Default)]
pub struct Upgrade {
    /// The upgrade's id, which is required: 1 to 64 bytes of printable ASCII.
    pub id: String,
    /// The new program, which is required: an absolute path.
    pub executable: String,
    /// The arguments after the program's name. `None` means the arguments of this agent.
    pub args: Option<Vec<String>>,
    /// "parallel" or "sequential".
    pub mode: Option<String>,
    /// "none" or "confirm".
    pub gate: Option<String>,
    /// "survive" or "healthy".
    pub commit: Option<String>,
    /// "fallback" or "continue".
    pub on_unclean_stop: Option<String>,
    pub start_timeout: Option<Duration>,
    pub confirm_timeout: Option<Duration>,
    pub stop_timeout: Option<Duration>,
    pub trial: Option<Duration>,
    /// "cold" or "warm".
    pub fallback: Option<String>,
}

type Check = Box<dyn FnOnce() -> Result<(), String> + Send>;

/// The agent's end of the conversation with the upgrader. A process has one, and must open it
/// before anything else. A call that sends a message returns an error if the protocol does not
/// allow the message in the current state, if a text or a number is invalid, or if too much is
/// still unsent. Then nothing has been sent. `ready` is the exception: if a check fails, `ready`
/// sends `unfit` and returns an error.
pub struct Agent {
    session: Session,
    channel: Option<Channel>,
    signals: Signals,
    watch: OwnedFd,
    events: VecDeque<Event>,
    checks: VecDeque<(String, Check)>,
    unsent_stopped: String,
    told_over: bool,
    owner: u32, // the agent's process
}

impl Agent {
    /// Starts the conversation, and must be the first thing that a program does. `version` is the
    /// version of the program, at most 128 bytes. With an upgrader, these things are true
    /// afterwards:
    ///
    /// - `hello` has been sent.
    /// - Descriptor 0 is /dev/null, and 1 is a copy of 2.
    /// - The AGENT_PROTOCOL variables are gone from the environment.
    /// - SIGTERM is caught: a held agent (one that must not work yet) exits at once with status
    ///   143, an active one gets `Stop`.
    ///
    /// Without an upgrader, nothing is sent, and descriptors and environment are left alone;
    /// SIGTERM is caught nevertheless.
    ///
    /// After a failure nothing has been sent. The error is EBUSY if this process has opened its
    /// conversation before, and ENOTCONN if it had a conversation with an upgrader and has then
    /// executed its program again.
    pub fn open(version: Option<&str>) -> io::Result<Agent> {
        Agent::open_with(version, &[])
    }

    /// Starts the conversation as open() does, for an agent with features: at most 16 names of at
    /// most 32 bytes. If the agent and the upgrader have the feature "readiness", init is told that
    /// the service is ready when a first agent or a fallback calls healthy(), and not already at
    /// `Activate`.
    pub fn open_with(version: Option<&str>, features: &[&str]) -> io::Result<Agent> {
        let invalid = |why: String| io::Error::new(io::ErrorKind::InvalidInput, why);
        if let Some(version) = version {
            message::check_text("version", version, message::VERSION_BYTES_MAX).map_err(invalid)?;
        }
        message::check_features(features).map_err(invalid)?;
        if OPENED.swap(true, Ordering::Relaxed) {
            return Err(io::Error::from_raw_os_error(libc::EBUSY));
        }
        let opened = Agent::open_first(version, features);
        OPENED.store(opened.is_ok(), Ordering::Relaxed);
        opened
    }

    fn open_first(version: Option<&str>, features: &[&str]) -> io::Result<Agent> {
        let alone = std::env::var_os("AGENT_PROTOCOL").is_none();
        if alone && mark::is_left() {
            return Err(io::Error::from_raw_os_error(libc::ENOTCONN));
        }
        let mut agent = Agent::new(alone)?;
        if !alone {
            let channel = surroundings::take_pipes()?;
            agent.control(libc::EPOLL_CTL_ADD, channel.input.as_raw_fd(), libc::EPOLLIN)?;
            agent.control(libc::EPOLL_CTL_ADD, channel.output.as_raw_fd(), 0)?;
            agent.channel = Some(channel);
            surroundings::keep_lock_private();
            surroundings::clean_environment();
            mark::leave();
        }
        let hello = Writer::new("hello")
            .integer("protocol", Some(message::PROTOCOL))
            .text("version", version)
            .texts("features", Some(features).filter(|features| !features.is_empty()));
        // `hello` cannot be refused: it is the first message, and its texts have been checked.
        let _ = agent.say(Word::Hello, hello, false);
        Ok(agent)
    }

    /// Returns a new agent, which has no pipes to an upgrader yet and has sent no message.
    fn new(alone: bool) -> io::Result<Agent> {
        let signals = Signals::catch()?;
        // SAFETY: epoll_create1 returns a new descriptor, which nobody else owns.
        let watch = unsafe {
            let number = libc::epoll_create1(libc::EPOLL_CLOEXEC);
            if number < 0 {
                return Err(io::Error::last_os_error());
            }
            OwnedFd::from_raw_fd(number)
        };
        let agent = Agent {
            session: Session::new(alone),
            channel: None,
            signals,
            watch,
            events: VecDeque::new(),
            checks: VecDeque::new(),
            unsent_stopped: String::new(),
            told_over: false,
            owner: std::process::id(),
        };
        agent.control(libc::EPOLL_CTL_ADD, agent.signals.descriptor(), libc::EPOLLIN)?;
        Ok(agent)
    }

    /// Returns true if there is no upgrader. In that case a request for an upgrade is refused, and
    /// every other message is accepted and has no effect.
    pub fn alone(&self) -> bool {
        self.session.alone()
    }

    // ---- events

    /// Returns the next event, or `None` if there is none now. Never waits. Should be called until
    /// it returns `None`. If the input has ended, ends a held agent (one that must not work yet) at
    /// once, with status 1; an active agent gets `Stop`. A process that was forked from an agent
    /// with an upgrader gets no events.
    pub fn next_event(&mut self) -> Option<Event> {
        if self.is_forked() {
            return None;
        }
        self.signals.drain();
        self.leave_if_over();
        if let Some(channel) = &mut self.channel {
            channel.exchange();
        }
        self.hear_until_told();
        if self.events.is_empty() && self.signals.terminated() {
            self.signals.take_terminated();
            let actions = self.session.terminated();
            self.perform(actions, "");
        }
        let over = matches!(&self.channel, Some(channel) if channel.over && !channel.input_waits());
        if self.events.is_empty() && over {
            self.told_over = true;
            let actions = self.session.input_ended();
            self.perform(actions, "");
        }
        let event = self.events.pop_front();
        self.settle();
        event
    }

    /// Returns the next event. Waits for up to `timeout`, or without limit if `timeout` is `None`.
    /// Returns `None` when the time is over.
    pub fn wait(&mut self, timeout: Option<Duration>) -> Option<Event> {
        let begin = Instant::now();
        loop {
            if let Some(event) = self.next_event() {
                return Some(event);
            }
            let left_ms = match timeout {
                None => -1,
                Some(timeout) => {
                    let left =
                        timeout.checked_sub(begin.elapsed()).filter(|left| !left.is_zero())?;
                    i32::try_from(left.as_micros() / 1000 + 1).unwrap_or(i32::MAX)
                }
            };
            // In a forked process, which gets no events, poll() only waits: it ignores the number
            // -1.
            let number = if self.is_forked() { -1 } else { self.watch.as_raw_fd() };
            let mut watched = pollfd(number, libc::POLLIN);
            // SAFETY: the first argument points to one structure, as the second argument says.
            unsafe { libc::poll(&mut watched, 1, left_ms) };
        }
    }

    // ---- messages from the program

    /// Registers a start-up check, to be run by ready() in the order of registration. A check that
    /// fails returns an error that says what is wrong.
    pub fn add_check<F>(&mut self, name: &str, check: F)
    where
        F: FnOnce() -> Result<(), String> + Send + 'static,
    {
        self.checks.push_back((name.to_string(), Box::new(check)));
    }

    /// Runs the checks in order. If all pass, sends `ready`. If one fails, sends `unfit` with that
    /// check's name and reason, runs no further check and returns an error. The program must then
    /// exit without any other effect. If a check panics, ready() has sent nothing and may be called
    /// again; that check then counts as failed.
    pub fn ready(&mut self) -> Result<(), Refused> {
        self.ask(&Word::Ready)?;
        while let Some((name, check)) = self.checks.pop_front() {
            self.leave_if_over();
            // A check can run only once. If it panics, this failing check stays in its place.
            let panicked: Check = Box::new(|| Err("it has panicked".to_string()));
            self.checks.push_front((name.clone(), panicked));
            let result = check();
            self.checks.pop_front();
            if let Err(wrong) = result {
                let reason = format!("{name}: {wrong}");
                self.unfit(&reason)?;
                return Err(Refused(format!("cannot say ready: {reason}")));
            }
        }
        self.leave_if_over();
        self.say(Word::Ready, Writer::new("ready"), false)
    }

    /// Tells the upgrader that this agent must not get the work, or, if it is on trial, must not
    /// keep the work. An agent that is not active yet must then exit; an agent on trial is told to
    /// stop. `reason` is cut to 1,024 bytes. Returns when the whole message has been written to the
    /// pipe, or the upgrader has gone.
    pub fn unfit(&mut self, reason: &str) -> Result<(), Refused> {
        let reason = message::fit(reason, message::REASON_BYTES_MAX);
        let line = Writer::new("unfit").text("reason", Some(&reason));
        self.say(Word::Unfit, line, true)
    }

    /// Requests an upgrade of this agent. The answer is the event `Accepted` or `UpgradeFailed`.
    pub fn request_upgrade(&mut self, upgrade: &Upgrade) -> Result<(), Refused> {
        let line = upgrade_line(upgrade)
            .map_err(|why| Refused(format!("cannot request upgrade {}: {why}", upgrade.id)))?;
        self.say(Word::Upgrade(upgrade.id.clone()), line, false)
    }

    /// Confirms the upgrade `id`, whose candidate is ready: the upgrader then stops this agent and
    /// activates the candidate.
    pub fn confirm(&mut self, id: &str) -> Result<(), Refused> {
        let line = Writer::new("confirm").text("id", Some(id));
        self.say(Word::Confirm(id.to_string()), line, false)
    }

    /// Cancels the upgrade `id`, so that this agent stays active. May be called even after a `Stop`
    /// for that upgrade, until stopped() has been called. `reason` is cut to 1,024 bytes.
    pub fn cancel(&mut self, id: &str, reason: Option<&str>) -> Result<(), Refused> {
        let reason = reason.map(|text| message::fit(text, message::REASON_BYTES_MAX));
        let line = Writer::new("cancel").text("id", Some(id)).text("reason", reason.as_deref());
        self.say(Word::Cancel(id.to_string()), line, false)
    }

    /// Confirms a clean stop. All work must be finished or given up before the call, and the
    /// program must exit after it. `state` is passed to the next agent: at most 32,768 bytes, and
    /// at most 65,000 when escaped for JSON. Returns when the whole message has been written to the
    /// pipe, or the upgrader has gone.
    ///
    /// If the state is refused, nothing has been confirmed: call again with another state, or
    /// without one. After a stop that the upgrader did not request (a signal, the end of input),
    /// nothing is sent and `Ok` is returned.
    pub fn stopped(&mut self, state: Option<&str>) -> Result<(), Refused> {
        if let Some(state) = state {
            message::check_state(state)
                .map_err(|why| Refused(format!("cannot say stopped: {why}")))?;
        }
        if !self.session.stop_ordered() && !self.is_forked() {
            self.hear_what_is_there();
        }
        let line = || Writer::new("stopped").text("state", state);
        self.unsent_stopped = line().end().map_err(Refused)?;
        self.say(Word::Stopped, line(), true)
    }

    /// Tells the upgrader that this agent works. If the agent is on trial, the upgrade is then
    /// committed at once. With the feature "readiness", a first agent or a fallback must call this
    /// function, and init is then told that the service is ready. With an upgrader, returns an
    /// error if this agent is not active, if it has said `unfit`, or (without the feature) if it is
    /// not on trial.
    pub fn healthy(&mut self) -> Result<(), Refused> {
        self.say(Word::Healthy, Writer::new("healthy"), false)
    }

    /// Asks the upgrader for more time: moves this agent's current deadline to `by` (1 ms to 24 h)
    /// from now, unless the deadline is later already. May be called before ready(), and between
    /// `Stop` and stopped(). With the feature "readiness", it may also be called between `Activate`
    /// and healthy().
    pub fn extend(&mut self, by: Duration) -> Result<(), Refused> {
        let ms = message::check_time("the time", by, Duration::from_millis(1))
            .map_err(|why| Refused(format!("cannot extend the deadline: {why}")))?;
        let line = Writer::new("extend").integer("ms", Some(ms));
        self.say(Word::Extend, line, false)
    }

    /// Tells the upgrader that this agent is alive. If the event `Welcome` has a `watchdog`, an
    /// active agent must call this function at least once in every half of that time. An agent that
    /// is not active yet gets an error.
    pub fn heartbeat(&mut self) -> Result<(), Refused> {
        self.say(Word::Heartbeat, Writer::new("heartbeat"), false)
    }

    /// Sends a status of one line for people, cut to 256 bytes.
    pub fn status(&mut self, text: &str) -> Result<(), Refused> {
        let text = message::fit(text, message::STATUS_BYTES_MAX);
        self.say(Word::Status, Writer::new("status").text("text", Some(&text)), false)
    }

    // ---- internal functions

    /// Returns true in a process that was forked from an agent's process, if the agent has an
    /// upgrader. If such a process read the pipe, it would take messages, such as `stop`, from the
    /// agent.
    fn is_forked(&self) -> bool {
        self.channel.is_some() && std::process::id() != self.owner
    }

    fn ask(&self, word: &Word) -> Result<(), Refused> {
        if self.is_forked() {
            let why = "this process is a fork of the agent's process";
            return Err(Refused(format!("cannot {}: {why}", word.deed())));
        }
        self.session.ask(word).map_err(Refused)
    }

    fn say(&mut self, word: Word, line: Writer, last: bool) -> Result<(), Refused> {
        self.ask(&word)?;
        let line = line.end().map_err(Refused)?;
        if let (Some(channel), false) = (&self.channel, last) {
            if !channel.has_room_for(&line) {
                let why = "the upgrader does not read what has been sent";
                return Err(Refused(format!("cannot say more: {why}")));
            }
        }
        let actions = self.session.say(&word);
        self.perform(actions, &line);
        if let (Some(channel), true) = (&mut self.channel, last) {
            channel.flush();
        }
        self.settle();
        Ok(())
    }

    fn perform(&mut self, actions: Vec<Action>, line: &str) {
        self.signals.set_held(self.session.held());
        for action in actions {
            match (action, &mut self.channel) {
                (Action::Deliver(event), _) => self.events.push_back(event),
                // SAFETY: _exit only ends the process.
                (Action::ExitAtOnce(status), _) => unsafe { libc::_exit(status) },
                (Action::Send, Some(channel)) => channel.queue(line),
                (Action::SendStopped, Some(channel)) => channel.queue(&self.unsent_stopped),
                (Action::Send | Action::SendStopped, None) => {}
            }
        }
        if let Some(channel) = &mut self.channel {
            channel.exchange();
        }
    }

    fn hear_until_told(&mut self) {
        while self.events.is_empty() {
            match self.channel.as_mut().and_then(Channel::take) {
                Some(event) => {
                    let actions = self.session.hear(event);
                    self.perform(actions, "");
                }
                None => return,
            }
        }
    }

    fn hear_what_is_there(&mut self) {
        if let Some(channel) = &mut self.channel {
            channel.exchange();
        }
        while let Some(event) = self.channel.as_mut().and_then(Channel::take) {
            let actions = self.session.hear(event);
            self.perform(actions, "");
        }
    }

    fn leave_if_over(&mut self) {
        if !self.session.held() {
            return;
        }
        if let Some(channel) = &mut self.channel {
            channel.exchange();
            if channel.over {
                let actions = self.session.input_ended();
                self.perform(actions, "");
            }
        }
        if self.signals.terminated() {
            let actions = self.session.terminated();
            self.perform(actions, "");
        }
    }

    fn control(
        &self,
        operation: libc::c_int,
        number: RawFd,
        events: libc::c_int,
    ) -> io::Result<()> {
        let mut interest = libc::epoll_event { events: events as u32, u64: 0 };
        // SAFETY: the last argument points to a structure that the call only reads.
        let result =
            unsafe { libc::epoll_ctl(self.watch.as_raw_fd(), operation, number, &mut interest) };
        if result < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(())
    }

    /// Makes the conversation's descriptor poll readable while next_event() has something to do.
    fn settle(&self) {
        let mut more = !self.events.is_empty() || self.signals.terminated();
        if let Some(channel) = &self.channel {
            let (input, output) = (channel.input.as_raw_fd(), channel.output.as_raw_fd());
            more = more || channel.input_waits() || (channel.over && !self.told_over);
            // If the descriptors are no longer watched, the call fails with ENOENT and changes
            // nothing.
            let _ = if channel.over {
                self.control(libc::EPOLL_CTL_DEL, input, 0)
                    .and_then(|()| self.control(libc::EPOLL_CTL_DEL, output, 0))
            } else {
                let events = if channel.output_waits() { libc::EPOLLOUT } else { 0 };
                self.control(libc::EPOLL_CTL_MOD, output, events)
            };
        }
        if more {
            self.signals.wake();
        }
    }
}

/// Returns a descriptor for an event loop: it polls readable when next_event() may have an event or
/// can send messages for which the pipe had no room.
impl AsRawFd for Agent {
    fn as_raw_fd(&self) -> RawFd {
        self.watch.as_raw_fd()
    }
}

fn upgrade_line(upgrade: &Upgrade) -> Result<Writer, String> {
    message::check_id(&upgrade.id)?;
    message::check_text("executable", &upgrade.executable, message::EXECUTABLE_BYTES_MAX)?;
    if !upgrade.executable.starts_with('/') {
        return Err("executable is not an absolute path".to_string());
    }
    let args = upgrade.args.as_deref();
    if args.map_or(0, <[String]>::len) > message::ARGS_MAX {
        return Err(format!("args are too many: {} can be sent", message::ARGS_MAX));
    }
    for arg in args.unwrap_or_default() {
        message::check_text("an argument", arg, message::LINE_BYTES_MAX)?;
    }
    let time = |name, time: Option<Duration>, least| {
        time.map(|time| message::check_time(name, time, least)).transpose()
    };
    let zero = Duration::ZERO;
    Ok(Writer::new("upgrade")
        .text("id", Some(&upgrade.id))
        .text("executable", Some(&upgrade.executable))
        .texts("args", args)
        .text("mode", upgrade.mode.as_deref())
        .text("gate", upgrade.gate.as_deref())
        .text("commit", upgrade.commit.as_deref())
        .text("on_unclean_stop", upgrade.on_unclean_stop.as_deref())
        .integer("start_timeout_ms", time("start_timeout", upgrade.start_timeout, zero)?)
        .integer("confirm_timeout_ms", time("confirm_timeout", upgrade.confirm_timeout, zero)?)
        .integer(
            "stop_timeout_ms",
            time("stop_timeout", upgrade.stop_timeout, Duration::from_millis(1))?,
        )
        .integer("trial_ms", time("trial", upgrade.trial, zero)?)
        .text("fallback", upgrade.fallback.as_deref()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};

    fn pipe() -> [OwnedFd; 2] {
        let mut ends = [0; 2];
        // SAFETY: pipe() makes two new descriptors, which nobody else owns.
        unsafe {
            assert_eq!(libc::pipe(ends.as_mut_ptr()), 0);
            ends.map(|number| OwnedFd::from_raw_fd(number))
        }
    }

    #[test]
    fn a_process_that_was_forked_from_an_agent_sends_nothing_and_takes_no_message() {
        let mut agent = Agent::new(false).unwrap();
        let ([input, upgrader_writes], [upgrader_reads, output]) = (pipe(), pipe());
        agent.channel = Some(Channel::new(input, output));
        let mut upgrader = std::fs::File::from(upgrader_writes);
        upgrader.write_all(b"{\"type\":\"stop\",\"reason\":\"shutdown\"}\n").unwrap();

        agent.owner = 0; // as in a forked process: the owner's pid is another one

        let refused = agent.status("at work").unwrap_err().to_string();
        assert_eq!(refused, "cannot show a status: this process is a fork of the agent's process");
        assert!(agent.ready().is_err() && agent.stopped(None).is_err());
        assert_eq!(agent.wait(Some(Duration::from_millis(1))), None);
        let mut left = pollfd(agent.channel.as_ref().unwrap().input.as_raw_fd(), libc::POLLIN);
        // SAFETY: the first argument points to one structure, as the second argument says.
        assert_eq!(unsafe { libc::poll(&mut left, 1, 0) }, 1);
        drop(agent);
        let mut said = String::new();
        std::fs::File::from(upgrader_reads).read_to_string(&mut said).unwrap();
        assert_eq!(said, "");
    }

    #[test]
    fn a_check_that_has_panicked_fails_when_ready_is_called_again() {
        let mut agent = Agent::new(true).unwrap();
        agent.say(Word::Hello, Writer::new("hello"), false).unwrap();
        agent.add_check("configuration", || Ok(()));
        agent.add_check("database", || panic!("no database"));
        let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| agent.ready()));
        assert!(caught.is_err());

        let refused = agent.ready().unwrap_err().to_string();

        assert_eq!(refused, "cannot say ready: database: it has panicked");
    }

    #[test]
    fn an_agent_may_be_moved_to_another_thread() {
        fn moves<T: Send>() {}
        moves::<Agent>();
    }

    #[test]
    fn an_upgrade_may_ask_for_a_fallback_that_stands_by() {
        let upgrade = Upgrade {
            id: "u".to_string(),
            executable: "/agent".to_string(),
            fallback: Some("warm".to_string()),
            ..Upgrade::default()
        };
        let line = upgrade_line(&upgrade).unwrap().end().ok();
        let wanted = r#"{"type":"upgrade","id":"u","executable":"/agent","fallback":"warm"}"#;
        assert_eq!(line, Some(format!("{wanted}\n")));
    }
}

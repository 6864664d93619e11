//! This file turns a message into a line, and a line into an event. It checks the limits of
//! agent-protocol(7), and keeps no state. A text or a number beyond its limit is an error. No text
//! is cut, except by fit().

use crate::event::{Event, Failure, Role, StopReason};
use serde_json::{Map, Value};
use std::time::Duration;

pub const LINE_BYTES_MAX: usize = 65_536;
pub const VERSION_BYTES_MAX: usize = 128;
pub const FEATURES_MAX: usize = 16;
pub const FEATURE_BYTES_MAX: usize = 32;
pub const REASON_BYTES_MAX: usize = 1_024;
pub const STATUS_BYTES_MAX: usize = 256;
pub const STATE_BYTES_MAX: usize = 32_768;
pub const STATE_ESCAPED_BYTES_MAX: usize = 65_000;
pub const EXECUTABLE_BYTES_MAX: usize = 4_095;
pub const ARGS_MAX: usize = 1_024;
pub const ID_BYTES_MAX: usize = 64;
pub const DAY: Duration = Duration::from_secs(24 * 60 * 60);
pub const PROTOCOL: i64 = 1;

// ---- writing messages

/// Why a message cannot be sent.
pub type Unsendable = String;

pub fn check_text(name: &str, text: &str, bytes_max: usize) -> Result<(), Unsendable> {
    if text.contains('\0') {
        return Err(format!("{name} holds U+0000"));
    }
    if text.len() > bytes_max {
        let bytes = text.len();
        return Err(format!("{name} has {bytes} bytes: {bytes_max} can be sent"));
    }
    Ok(())
}

pub fn check_id(id: &str) -> Result<(), Unsendable> {
    check_text("id", id, ID_BYTES_MAX)?;
    if id.is_empty() || !id.bytes().all(|byte| (b' '..=b'~').contains(&byte)) {
        return Err("id is not printable ASCII of 1 to 64 bytes".to_string());
    }
    Ok(())
}

pub fn check_features(names: &[&str]) -> Result<(), Unsendable> {
    if names.len() > FEATURES_MAX {
        return Err(format!("features are {}: {FEATURES_MAX} can be sent", names.len()));
    }
    names.iter().try_for_each(|name| check_text("a feature", name, FEATURE_BYTES_MAX))
}

pub fn check_state(state: &str) -> Result<(), Unsendable> {
    check_text("state", state, STATE_BYTES_MAX)?;
    let escaped = quoted(state).len() - 2;
    if escaped > STATE_ESCAPED_BYTES_MAX {
        return Err(format!(
            "state has {escaped} bytes when it is escaped: {STATE_ESCAPED_BYTES_MAX} can be sent"
        ));
    }
    Ok(())
}

pub fn check_time(name: &str, time: Duration, least: Duration) -> Result<i64, Unsendable> {
    if time < least || time > DAY {
        return Err(format!("{name} is {time:?}: {least:?} to 24 h can be sent"));
    }
    Ok(time.as_millis() as i64)
}

/// Cuts a text for people to at most `bytes_max` bytes, and never inside a character.
pub fn fit(text: &str, bytes_max: usize) -> String {
    let mut clean = text.replace('\0', "?");
    let mut end = clean.len().min(bytes_max);
    while !clean.is_char_boundary(end) {
        end -= 1;
    }
    clean.truncate(end);
    clean
}

/// Returns the text in quotes; only the quote, the backslash and control characters are escaped, in
/// the shortest form.
fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

/// Builds the line of one message.
pub struct Writer {
    line: String,
}

impl Writer {
    pub fn new(kind: &str) -> Writer {
        let line = format!("{{\"type\":{}", quoted(kind));
        Writer { line }
    }

    fn member(mut self, name: &str, value: &str) -> Writer {
        self.line.push(',');
        self.line.push_str(&quoted(name));
        self.line.push(':');
        self.line.push_str(value);
        self
    }

    pub fn text(self, name: &str, value: Option<&str>) -> Writer {
        match value {
            Some(value) => self.member(name, &quoted(value)),
            None => self,
        }
    }

    pub fn integer(self, name: &str, value: Option<i64>) -> Writer {
        match value {
            Some(value) => self.member(name, &value.to_string()),
            None => self,
        }
    }

    pub fn texts<T: AsRef<str>>(self, name: &str, values: Option<&[T]>) -> Writer {
        match values {
            Some(values) => {
                let list: Vec<String> = values.iter().map(|value| quoted(value.as_ref())).collect();
                self.member(name, &format!("[{}]", list.join(",")))
            }
            None => self,
        }
    }

    pub fn end(mut self) -> Result<String, Unsendable> {
        self.line.push_str("}\n");
        let bytes = self.line.len();
        if bytes > LINE_BYTES_MAX {
            return Err(format!("the message has {bytes} bytes: {LINE_BYTES_MAX} can be sent"));
        }
        Ok(self.line)
    }
}

// ---- reading messages

/// The members of one JSON object, and the names that occurred more than once in the object.
struct Members<'a> {
    all: &'a Map<String, Value>,
    twice: Vec<String>,
}

/// The value of a member. `None` means that the message is malformed: agents must ignore such a
/// message by agent-protocol(7).
type Taken<T> = Option<T>;

impl Members<'_> {
    /// Returns the member `name`. Returns `Some(None)` if the member is absent and not required.
    fn find(&self, name: &str, required: bool) -> Taken<Option<&Value>> {
        if self.twice.iter().any(|other| other == name) {
            return None;
        }
        match self.all.get(name) {
            None if required => None,
            found => Some(found),
        }
    }

    fn optional_text(&self, name: &str, required: bool) -> Taken<Option<String>> {
        match self.find(name, required)? {
            None => Some(None),
            Some(Value::String(text)) if !text.contains('\0') => Some(Some(text.clone())),
            Some(_) => None,
        }
    }

    fn text(&self, name: &str) -> Taken<String> {
        self.optional_text(name, true)?
    }

    fn optional_integer(&self, name: &str, required: bool) -> Taken<Option<i64>> {
        match self.find(name, required)? {
            None => Some(None),
            Some(value) => Some(Some(value.as_i64()?)),
        }
    }

    fn integer(&self, name: &str) -> Taken<i64> {
        self.optional_integer(name, true)?
    }

    fn milliseconds(&self, name: &str) -> Taken<Option<Duration>> {
        match self.optional_integer(name, false)? {
            None => Some(None),
            Some(ms) => Some(Some(Duration::from_millis(u64::try_from(ms).ok()?))),
        }
    }

    fn failure(&self) -> Taken<Failure> {
        Some(Failure {
            id: self.text("id")?,
            stage: self.text("stage")?,
            reason: self.text("reason")?,
            version: self.optional_text("version", false)?,
            errno: self.optional_text("errno", false)?,
            exit_status: self.optional_integer("exit_status", false)?,
            signal: self.optional_integer("signal", false)?,
        })
    }

    /// Returns the member `failure`, which tells a fallback which upgrade has failed. The member is
    /// in `welcome`, or in `activate` if the upgrade failed after the `welcome`.
    fn past_failure(&self) -> Taken<Option<Failure>> {
        match self.find("failure", false)? {
            None => Some(None),
            Some(Value::Object(all)) => {
                let twice = Vec::new();
                Some(Some(Members { all, twice }.failure()?))
            }
            Some(_) => None,
        }
    }

    fn features(&self) -> Taken<Vec<String>> {
        match self.find("features", false)? {
            None => Some(Vec::new()),
            Some(Value::Array(list)) => {
                list.iter().map(|each| each.as_str().map(str::to_string)).collect()
            }
            Some(_) => None,
        }
    }

    fn welcome(&self) -> Taken<Event> {
        let role = match self.text("role")?.as_str() {
            "first" => Role::First,
            "candidate" => Role::Candidate,
            "fallback" => Role::Fallback,
            _ => return None,
        };
        Some(Event::Welcome {
            protocol: self.integer("protocol")?,
            features: self.features()?,
            generation: self.integer("generation")?,
            role,
            previous_version: self.optional_text("previous_version", false)?,
            failure: self.past_failure()?,
            watchdog: self.milliseconds("watchdog_ms")?,
        })
    }

    fn activate(&self) -> Taken<Event> {
        let commit = self.optional_text("commit", false)?;
        if !matches!(commit.as_deref(), None | Some("survive" | "healthy")) {
            return None;
        }
        Some(Event::Activate {
            clean: self.find("clean", true)??.as_bool()?,
            state: self.optional_text("state", false)?,
            failure: self.past_failure()?,
            trial: self.milliseconds("trial_ms")?,
            commit,
        })
    }

    fn stop(&self) -> Taken<Event> {
        let reason = match self.text("reason")?.as_str() {
            "upgrade" => StopReason::Upgrade,
            "rollback" => StopReason::Rollback,
            "shutdown" => StopReason::Shutdown,
            _ => return None,
        };
        Some(Event::Stop {
            reason,
            deadline: self.milliseconds("deadline_ms")?,
            id: self.optional_text("id", false)?,
            generation: self.optional_integer("generation", false)?,
        })
    }

    fn event(&self) -> Taken<Event> {
        Some(match self.text("type")?.as_str() {
            "welcome" => self.welcome()?,
            "activate" => self.activate()?,
            "stop" => self.stop()?,
            "accepted" => {
                Event::Accepted { id: self.text("id")?, generation: self.integer("generation")? }
            }
            "candidate_ready" => Event::CandidateReady {
                id: self.text("id")?,
                generation: self.integer("generation")?,
                version: self.optional_text("version", false)?,
            },
            "candidate_lost" => {
                Event::CandidateLost { id: self.text("id")?, reason: self.text("reason")? }
            }
            "upgrade_failed" => Event::UpgradeFailed(self.failure()?),
            "committed" => {
                Event::Committed { id: self.text("id")?, generation: self.integer("generation")? }
            }
            "error" => Event::Error {
                about: self.optional_text("about", false)?,
                reason: self.text("reason")?,
            },
            _ => return None,
        })
    }
}

/// Returns the names that occur more than once in the outermost object of `line`, which must be
/// well-formed JSON. serde_json would keep only the last value of such a name, without an error.
fn names_twice(line: &str) -> Vec<String> {
    let (mut names, mut twice) = (Vec::new(), Vec::new());
    let mut depth = 0;
    let mut at = 0;
    let bytes = line.as_bytes();
    while at < bytes.len() {
        match bytes[at] {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth -= 1,
            b'"' => {
                let begin = at;
                at += 1;
                while bytes[at] != b'"' {
                    at += if bytes[at] == b'\\' { 2 } else { 1 };
                }
                let rest = line[at + 1..].trim_start_matches([' ', '\t', '\r', '\n']);
                if depth == 1 && rest.starts_with(':') {
                    let name = serde_json::from_str(&line[begin..=at]).unwrap_or_default();
                    if names.contains(&name) {
                        twice.push(name);
                    } else {
                        names.push(name);
                    }
                }
            }
            _ => {}
        }
        at += 1;
    }
    twice
}

/// Returns the event for a line without its newline, or `None` if agents must ignore the line.
pub fn decode(line: &[u8]) -> Option<Event> {
    let line = std::str::from_utf8(line).ok()?;
    let all: Map<String, Value> = serde_json::from_str(line).ok()?;
    let twice = names_twice(line);
    Members { all: &all, twice }.event()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_must_be_escaped_is_escaped_in_the_shortest_form() {
        let got = quoted("\"\\\n\t\u{1}\u{7f}ü/\u{2028}");
        assert_eq!(got, "\"\\\"\\\\\\n\\t\\u0001\u{7f}ü/\u{2028}\"");
    }

    #[test]
    fn what_cannot_be_sent_is_refused_and_never_cut_in_silence() {
        assert!(check_state("a\0b").is_err());
        assert!(check_state(&"x".repeat(STATE_BYTES_MAX)).is_ok());
        assert!(check_state(&"x".repeat(STATE_BYTES_MAX + 1)).is_err());
        assert!(check_state(&"\u{1}".repeat(11_000)).is_err());
        assert!(check_features(&["x"; FEATURES_MAX]).is_ok());
        assert!(check_features(&["x"; FEATURES_MAX + 1]).is_err());
        assert!(check_features(&["x", &"x".repeat(FEATURE_BYTES_MAX + 1)]).is_err());
        assert!(check_id("").is_err());
        assert!(check_id("ü").is_err());
        assert!(check_time("trial", DAY * 2, Duration::ZERO).is_err());
        let long = "x".repeat(LINE_BYTES_MAX);
        assert!(Writer::new("x").text("a", Some(&long)).end().is_err());
    }

    #[test]
    fn texts_for_people_are_cut_between_two_characters() {
        assert_eq!(fit("aüü", 4), "aü");
    }

    #[test]
    fn a_message_may_have_members_that_are_not_known() {
        let line =
            r#" {"new":[1,{"x":null}],"new":2,"state":"\u00e4","clean":true,"type":"activate"} "#;
        match decode(line.as_bytes()) {
            Some(Event::Activate {
                clean: true,
                state,
                failure: None,
                trial: None,
                commit: None,
            }) => {
                assert_eq!(state.as_deref(), Some("ä"));
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn what_is_malformed_or_no_message_is_ignored() {
        for line in [
            "",
            "[]",
            "{",
            "{} {}",
            r#"{"type":"new"}"#,
            r#"{"type":"activate"}"#,
            r#"{"type":"activate","clean":1}"#,
            r#"{"type":"activate","clean":null}"#,
            r#"{"type":"activate","clean":true,"clean":true}"#,
            r#"{"type":"activate","type":"activate","clean":true}"#,
            r#"{"type":"activate","clean":true,"state":"\u0000"}"#,
            r#"{"type":"activate","clean":true,"state":"\ud800"}"#,
            r#"{"type":"activate","clean":true,"failure":null}"#,
            r#"{"type":"activate","clean":true,"trial_ms":"1"}"#,
            r#"{"type":"activate","clean":true,"commit":"perhaps"}"#,
            r#"{"type":"activate","clean":true,"commit":null}"#,
            r#"{"type":"activate","clean":true,"failure":{"id":"u","stage":"trial"}}"#,
            r#"{"type":"committed","id":"u","generation":1.0}"#,
            r#"{"type":"committed","id":"u","generation":1e3}"#,
            r#"{"type":"committed","id":"u","generation":true}"#,
            r#"{"type":"welcome","protocol":1,"generation":1,"role":"boss"}"#,
            &"[".repeat(60_000),
        ] {
            assert_eq!(decode(line.as_bytes()), None, "{line:.60}");
        }
        assert_eq!(decode(b"{\"type\":\"error\",\"reason\":\"\xff\"}"), None);
    }

    #[test]
    fn a_standby_is_told_why_it_runs_when_it_is_activated() {
        let line = r#"{"type":"welcome","protocol":1,"generation":3,"role":"fallback"}"#;
        match decode(line.as_bytes()) {
            Some(Event::Welcome { role: Role::Fallback, failure: None, .. }) => {}
            other => panic!("{other:?}"),
        }
        let line = concat!(
            r#"{"type":"activate","clean":false,"failure":{"id":"u","stage":"trial","reason":"r","#,
            r#""exit_status":1,"version":"2"}}"#
        );
        match decode(line.as_bytes()) {
            Some(Event::Activate { clean: false, state: None, failure: Some(failure), .. }) => {
                assert_eq!(failure.exit_status, Some(1));
                assert_eq!(failure.version.as_deref(), Some("2"));
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn an_agent_on_trial_is_told_how_long_that_lasts_and_what_passes_it() {
        let line = r#"{"type":"activate","clean":true,"trial_ms":1500,"commit":"healthy"}"#;
        match decode(line.as_bytes()) {
            Some(Event::Activate { trial, commit, .. }) => {
                assert_eq!(trial, Some(Duration::from_millis(1500)));
                assert_eq!(commit.as_deref(), Some("healthy"));
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn every_member_of_welcome_is_read() {
        let line = concat!(
            r#"{"type":"welcome","protocol":1,"features":["f"],"generation":3,"role":"fallback","#,
            r#""failure":{"id":"u","stage":"trial","reason":"r","signal":9},"watchdog_ms":1500}"#
        );
        match decode(line.as_bytes()) {
            Some(Event::Welcome {
                role: Role::Fallback, failure: Some(failure), watchdog, ..
            }) => {
                assert_eq!(failure.signal, Some(9));
                assert_eq!(watchdog, Some(Duration::from_millis(1500)));
            }
            other => panic!("{other:?}"),
        }
    }
}

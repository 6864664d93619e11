//! Turns a message into a line, and a line into an event. Checks the limits of agent-protocol(7),
//! and keeps no state. A text or a number beyond its limit is an error; only fit() cuts texts.

use crate::event::{Event, Failure, Role, StopReason};
use serde_json::value::RawValue;
use serde_json::Value;
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
const ABOUT_BYTES_MAX: usize = 64;
const NESTING_MAX: usize = 32;
const PROTOCOL_MAX: i64 = 2_147_483_647;
/// The largest integer that every reader of JSON reads exactly.
const INTEGER_MAX: i64 = 9_007_199_254_740_991;
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

/// The members of one JSON object: each is a name, and the value's unparsed text. An unknown member
/// may have a value that serde_json would refuse, such as a lone surrogate.
struct Members<'a>(Vec<(String, &'a str)>);

/// The value of a member. `None` means that the message is malformed; agents ignore such a message.
type Taken<T> = Option<T>;

/// Returns the text if a message may contain it unchanged.
fn checked(text: String, bytes_max: usize) -> Taken<String> {
    check_text("a member", &text, bytes_max).ok()?;
    Some(text)
}

/// Parses a JSON string. Returns nothing for any other value, and for a string with a lone
/// surrogate.
fn unquoted(spelled: &str) -> Taken<String> {
    serde_json::from_str(spelled).ok()
}

impl<'a> Members<'a> {
    /// Returns the members of an object, which must be well-formed JSON.
    fn of(object: &'a str) -> Taken<Members<'a>> {
        if !object.starts_with('{') {
            return None;
        }
        let pieces = pieces_of(object);
        // A name with a lone surrogate becomes the empty name. No known member has that name.
        let member = |pair: &[&'a str]| (unquoted(pair[0]).unwrap_or_default(), pair[1]);
        Some(Members(pieces.chunks_exact(2).map(member).collect()))
    }

    /// Returns the member `name`. Returns `Some(None)` if the member is absent and not required.
    fn find(&self, name: &str, required: bool) -> Taken<Option<&'a str>> {
        let mut found = self.0.iter().filter(|(other, _)| other == name);
        match (found.next(), found.next()) {
            (None, _) if required => None,
            (None, _) => Some(None),
            (Some((_, value)), None) => Some(Some(value)),
            _ => None,
        }
    }

    fn text_or_none(&self, name: &str, bytes_max: usize, required: bool) -> Taken<Option<String>> {
        match self.find(name, required)? {
            None => Some(None),
            Some(value) => Some(Some(checked(unquoted(value)?, bytes_max)?)),
        }
    }

    fn text(&self, name: &str, bytes_max: usize) -> Taken<String> {
        self.text_or_none(name, bytes_max, true)?
    }

    fn optional_text(&self, name: &str, bytes_max: usize) -> Taken<Option<String>> {
        self.text_or_none(name, bytes_max, false)
    }

    fn id_or_none(&self, required: bool) -> Taken<Option<String>> {
        let id = self.text_or_none("id", ID_BYTES_MAX, required)?;
        match id {
            Some(id) if check_id(&id).is_err() => None,
            id => Some(id),
        }
    }

    fn id(&self) -> Taken<String> {
        self.id_or_none(true)?
    }

    fn integer_or_none(&self, name: &str, least: i64, required: bool) -> Taken<Option<i64>> {
        match self.find(name, required)? {
            None => Some(None),
            Some(value) => {
                let number: i64 = value.parse().ok()?;
                (least..=INTEGER_MAX).contains(&number).then_some(Some(number))
            }
        }
    }

    fn optional_integer(&self, name: &str) -> Taken<Option<i64>> {
        self.integer_or_none(name, -INTEGER_MAX, false)
    }

    fn generation(&self) -> Taken<i64> {
        self.integer_or_none("generation", 1, true)?
    }

    fn milliseconds(&self, name: &str, required: bool) -> Taken<Option<Duration>> {
        match self.integer_or_none(name, 1, required)? {
            None => Some(None),
            Some(ms) => Some(Some(Duration::from_millis(u64::try_from(ms).ok()?))),
        }
    }

    /// Returns a failure. Its stage may be one that only a later upgrader knows.
    fn failure(&self) -> Taken<Failure> {
        Some(Failure {
            id: self.id()?,
            stage: self.text("stage", LINE_BYTES_MAX)?,
            reason: self.text("reason", REASON_BYTES_MAX)?,
            version: self.optional_text("version", VERSION_BYTES_MAX)?,
            errno: self.optional_text("errno", LINE_BYTES_MAX)?,
            exit_status: self.optional_integer("exit_status")?,
            signal: self.optional_integer("signal")?,
        })
    }

    /// Returns the member `failure`, which tells a fallback which upgrade has failed. The member is
    /// in `welcome`, or in `activate` if the upgrade failed after the `welcome`.
    fn past_failure(&self) -> Taken<Option<Failure>> {
        match self.find("failure", false)? {
            None => Some(None),
            Some(object) => Some(Some(Members::of(object)?.failure()?)),
        }
    }

    fn features(&self) -> Taken<Vec<String>> {
        let array = self.find("features", true)??;
        let names = pieces_of(array);
        if !array.starts_with('[') || names.len() > FEATURES_MAX {
            return None;
        }
        names.into_iter().map(|name| checked(unquoted(name)?, FEATURE_BYTES_MAX)).collect()
    }

    fn welcome(&self) -> Taken<Event> {
        let role = match self.text("role", LINE_BYTES_MAX)?.as_str() {
            "first" => Role::First,
            "candidate" => Role::Candidate,
            "fallback" => Role::Fallback,
            _ => return None,
        };
        Some(Event::Welcome {
            protocol: self
                .integer_or_none("protocol", 1, true)?
                .filter(|&number| number <= PROTOCOL_MAX)?,
            features: self.features()?,
            generation: self.generation()?,
            role,
            previous_version: self.optional_text("previous_version", VERSION_BYTES_MAX)?,
            failure: self.past_failure()?,
            watchdog: self.milliseconds("watchdog_ms", false)?,
        })
    }

    fn activate(&self) -> Taken<Event> {
        // A later upgrader may name a condition for the commit that this library does not know.
        // Treat it as if no condition was named.
        let commit = self
            .optional_text("commit", LINE_BYTES_MAX)?
            .filter(|word| matches!(word.as_str(), "survive" | "healthy"));
        let state = self.optional_text("state", STATE_BYTES_MAX)?;
        if state.as_deref().map_or(false, |state| check_state(state).is_err()) {
            return None;
        }
        Some(Event::Activate {
            clean: self.find("clean", true)??.parse().ok()?,
            state,
            failure: self.past_failure()?,
            trial: self.milliseconds("trial_ms", false)?,
            commit,
        })
    }

    fn stop(&self) -> Taken<Event> {
        let reason = match self.text("reason", LINE_BYTES_MAX)?.as_str() {
            "upgrade" => StopReason::Upgrade,
            "rollback" => StopReason::Rollback,
            "shutdown" => StopReason::Shutdown,
            _ => return None,
        };
        let is_upgrade = reason == StopReason::Upgrade;
        Some(Event::Stop {
            reason,
            deadline: self.milliseconds("deadline_ms", true)?,
            id: self.id_or_none(is_upgrade)?,
            generation: self.integer_or_none("generation", 1, is_upgrade)?,
        })
    }

    fn event(&self) -> Taken<Event> {
        Some(match self.text("type", LINE_BYTES_MAX)?.as_str() {
            "welcome" => self.welcome()?,
            "activate" => self.activate()?,
            "stop" => self.stop()?,
            "accepted" => Event::Accepted { id: self.id()?, generation: self.generation()? },
            "candidate_ready" => Event::CandidateReady {
                id: self.id()?,
                generation: self.generation()?,
                version: self.optional_text("version", VERSION_BYTES_MAX)?,
            },
            "candidate_lost" => Event::CandidateLost {
                id: self.id()?,
                reason: self.text("reason", LINE_BYTES_MAX)?,
            },
            "upgrade_failed" => Event::UpgradeFailed(self.failure()?),
            "committed" => Event::Committed { id: self.id()?, generation: self.generation()? },
            "error" => Event::Error {
                about: self.optional_text("about", ABOUT_BYTES_MAX)?,
                reason: self.text("reason", REASON_BYTES_MAX)?,
            },
            _ => return None,
        })
    }
}

/// Walks through a value, which must be well-formed JSON. Calls `visit` for each bracket, comma and
/// colon outside texts, with its index and the number of arrays and objects around it.
fn walk(json: &str, mut visit: impl FnMut(usize, usize)) {
    let (mut depth, mut at) = (0, 0);
    let bytes = json.as_bytes();
    while at < bytes.len() {
        match bytes[at] {
            b'{' | b'[' => {
                visit(at, depth);
                depth += 1;
            }
            b'}' | b']' => {
                depth -= 1;
                visit(at, depth);
            }
            b',' | b':' => visit(at, depth),
            b'"' => {
                at += 1;
                while bytes[at] != b'"' {
                    at += if bytes[at] == b'\\' { 2 } else { 1 };
                }
            }
            _ => {}
        }
        at += 1;
    }
}

/// Returns the elements of an array, or the names and values of an object, as unparsed JSON.
/// Returns nothing for any other value. The value must be well-formed JSON.
fn pieces_of(json: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut begin = 1;
    walk(json, |at, depth| {
        let ends = at > 0 && depth == 0;
        if ends || (depth == 1 && matches!(json.as_bytes()[at], b',' | b':')) {
            pieces.push(json[begin..at].trim());
            begin = at + 1;
        }
    });
    pieces.retain(|piece| !piece.is_empty());
    pieces
}

fn nests_too_deep(json: &str) -> bool {
    let mut too_deep = false;
    walk(json, |at, depth| {
        too_deep |= depth >= NESTING_MAX && matches!(json.as_bytes()[at], b'{' | b'[');
    });
    too_deep
}

/// Returns the event for a line without its newline, or `None` if agents must ignore the line.
pub fn decode(line: &[u8]) -> Option<Event> {
    if line.len() >= LINE_BYTES_MAX {
        return None;
    }
    let line = std::str::from_utf8(line).ok()?;
    let message: &RawValue = serde_json::from_str(line).ok()?;
    if nests_too_deep(message.get()) {
        return None;
    }
    Members::of(message.get())?.event()
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
        let line =
            r#"{"type":"welcome","protocol":1,"features":[],"generation":3,"role":"fallback"}"#;
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
        match decode(line.replace("healthy", "later").as_bytes()) {
            Some(Event::Activate { trial: Some(_), commit: None, .. }) => {}
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

    #[test]
    fn lines_are_judged_as_in_all_other_languages() {
        // AGENT_LINES is the path of a table of lines with which the libraries for all languages
        // are tested. It is not set if only this package is installed.
        let path = match std::env::var_os("AGENT_LINES") {
            Some(path) => path,
            None => return,
        };
        let mut wrong = Vec::new();
        for row in std::fs::read_to_string(path).unwrap().lines() {
            let columns: Vec<&str> = row.split(' ').collect();
            let digits = columns[2].trim_matches('-').as_bytes();
            let byte =
                |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
            let judged = match decode(&digits.chunks(2).map(byte).collect::<Vec<u8>>()) {
                None => "ignored",
                Some(Event::Welcome { .. }) => "welcome",
                Some(Event::Activate { .. }) => "activate",
                Some(Event::Stop { .. }) => "stop",
                Some(Event::Accepted { .. }) => "accepted",
                Some(Event::CandidateReady { .. }) => "candidate_ready",
                Some(Event::CandidateLost { .. }) => "candidate_lost",
                Some(Event::UpgradeFailed(_)) => "upgrade_failed",
                Some(Event::Committed { .. }) => "committed",
                Some(Event::Error { .. }) => "error",
            };
            if judged != columns[1] {
                wrong.push(format!("row {}: {judged}, and not {}", columns[0], columns[1]));
            }
        }
        assert_eq!(wrong, Vec::<String>::new());
    }
}

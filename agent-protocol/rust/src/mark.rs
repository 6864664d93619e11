//! Leaves and finds the mark by which a process recognizes that it has been an agent. Opening the
//! conversation removes the upgrader's variables from the environment. Without the mark, an agent
//! that executes its program again would find no upgrader, and activate itself although another
//! agent may be active.

const VARIABLE: &str = "LIBAGENT_PROTOCOL_PROCESS";
const UNKNOWN_START: &str = "0";
const START_FIELD: usize = 22;

/// Returns the time at which the process was started. This time stays the same when the process
/// executes a new program.
fn start_of_process() -> String {
    let line = std::fs::read("/proc/self/stat").unwrap_or_default();
    let line = String::from_utf8_lossy(&line);
    let fields = line.rsplit(')').next().unwrap_or(""); // skips the name, which may hold blanks
    fields.split_whitespace().nth(START_FIELD - 3).unwrap_or(UNKNOWN_START).to_string()
}

/// Leaves the mark: an environment variable with this process's pid and the time at which this
/// process was started. Processes that the agent starts inherit the variable, but have other pids,
/// so they are not taken for the agent.
pub fn leave() {
    std::env::set_var(VARIABLE, format!("{} {}", std::process::id(), start_of_process()));
}

pub fn is_left() -> bool {
    names_this_process(&std::env::var(VARIABLE).unwrap_or_default())
}

fn names_this_process(mark: &str) -> bool {
    let (number, start) = mark.split_once(' ').unwrap_or_default();
    let own = start_of_process();
    let same = start == own || start == UNKNOWN_START || own == UNKNOWN_START;
    number == std::process::id().to_string() && same
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_knows_its_own_mark_and_no_other() {
        let own = std::process::id();
        assert!(!names_this_process(""));
        assert!(!names_this_process(&format!("{own} 1")));
        assert!(!names_this_process(&format!("1 {}", start_of_process())));
        assert!(names_this_process(&format!("{own} 0")));
        assert!(names_this_process(&format!("{own} {}", start_of_process())));
    }

    #[test]
    fn what_has_been_an_agent_has_no_conversation_again() {
        leave();
        let refused = crate::Agent::open(None).err().and_then(|error| error.raw_os_error());
        assert_eq!(refused, Some(libc::ENOTCONN));
    }
}

//! The agent's two pipes. The type `Channel` writes lines, and reads lines and decodes them. Only
//! flush() blocks.

use crate::event::Event;
use crate::message::{decode, LINE_BYTES_MAX};
use std::os::unix::io::{AsRawFd, OwnedFd, RawFd};

const PIPE_BUF: usize = 4_096; // a pipe that polls writable takes up to this many bytes at once
/// The most bytes of this agent's messages that are kept while the pipe to the upgrader is full.
/// The upgrader has the same limit for the bytes that it keeps for an agent.
const UNSENT_BYTES_MAX: usize = 131_072;

pub struct Channel {
    pub input: OwnedFd,
    pub output: OwnedFd,
    /// True if the upgrader has gone: no more input will come, and nobody reads the output.
    pub over: bool,
    unsent: Vec<u8>,
    unread: Vec<u8>,
    /// True while the rest of a line that is too long is skipped.
    skipping: bool,
}

impl Channel {
    pub fn new(input: OwnedFd, output: OwnedFd) -> Channel {
        Channel {
            input,
            output,
            over: false,
            unsent: Vec::new(),
            unread: Vec::new(),
            skipping: false,
        }
    }

    pub fn has_room_for(&self, line: &str) -> bool {
        self.unsent.len() + line.len() <= UNSENT_BYTES_MAX
    }

    pub fn queue(&mut self, line: &str) {
        self.unsent.extend_from_slice(line.as_bytes());
    }

    pub fn output_waits(&self) -> bool {
        !self.unsent.is_empty()
    }

    /// Returns true if a whole line has been read that has not been returned as an event yet.
    pub fn input_waits(&self) -> bool {
        self.unread.contains(&b'\n')
    }

    /// Reads and writes as much as is possible without waiting.
    pub fn exchange(&mut self) {
        while self.turn(0) {}
    }

    /// Waits until all queued bytes have been written to the pipe, or the upgrader has gone.
    pub fn flush(&mut self) {
        while self.output_waits() && !self.over {
            self.turn(-1);
        }
    }

    /// Returns the next event, if a line for it has been read. Skips messages that are unknown or
    /// malformed.
    pub fn take(&mut self) -> Option<Event> {
        while let Some(end) = self.unread.iter().position(|&byte| byte == b'\n') {
            let line: Vec<u8> = self.unread.drain(..=end).collect();
            if std::mem::take(&mut self.skipping) {
                continue;
            }
            if let Some(event) = decode(&line[..end]) {
                return Some(event);
            }
        }
        if self.unread.len() >= LINE_BYTES_MAX {
            self.skipping = true;
            self.unread.clear();
        }
        None
    }

    fn full(&self) -> bool {
        self.unread.len() >= 2 * LINE_BYTES_MAX
    }

    fn turn(&mut self, timeout_ms: i32) -> bool {
        if self.over {
            return false;
        }
        let reads = !self.full() || timeout_ms < 0;
        let mut ends = [
            pollfd(if reads { self.input.as_raw_fd() } else { -1 }, libc::POLLIN),
            pollfd(self.output.as_raw_fd(), if self.output_waits() { libc::POLLOUT } else { 0 }),
        ];
        // SAFETY: `ends` is an array of two elements, as the second argument says.
        let count = unsafe { libc::poll(ends.as_mut_ptr(), 2, timeout_ms) };
        if count <= 0 {
            return count < 0 && interrupted();
        }
        let heard = ends[0].revents != 0;
        if heard {
            self.read_some();
        }
        if ends[1].revents & (libc::POLLERR | libc::POLLHUP | libc::POLLNVAL) == 0 {
            if ends[1].revents != 0 {
                self.write_some();
            }
            return true;
        }
        // The upgrader has closed the pipe to which the agent writes, so unsent messages are
        // dropped. The upgrader's last messages may still be unread in the other pipe: the
        // conversation ends only after they have been read.
        self.unsent.clear();
        if !heard && !self.full() {
            self.over = true;
        }
        heard
    }

    fn read_some(&mut self) {
        let mut bytes = [0u8; 16_384];
        // SAFETY: the last argument is the length of `bytes`.
        let count =
            unsafe { libc::read(self.input.as_raw_fd(), bytes.as_mut_ptr().cast(), bytes.len()) };
        match usize::try_from(count) {
            Ok(count) if count > 0 => self.unread.extend_from_slice(&bytes[..count]),
            Err(_) if interrupted() => {}
            _ => self.over = true,
        }
    }

    fn write_some(&mut self) {
        let size = self.unsent.len().min(PIPE_BUF);
        // SAFETY: `unsent` holds at least `size` bytes.
        let count =
            unsafe { libc::write(self.output.as_raw_fd(), self.unsent.as_ptr().cast(), size) };
        match usize::try_from(count) {
            Ok(count) => drop(self.unsent.drain(..count)),
            Err(_) if interrupted() => {}
            Err(_) => self.unsent.clear(),
        }
    }
}

pub fn pollfd(fd: RawFd, events: libc::c_short) -> libc::pollfd {
    let revents = 0;
    libc::pollfd { fd, events, revents }
}

fn interrupted() -> bool {
    let error = std::io::Error::last_os_error().raw_os_error();
    matches!(error, Some(libc::EINTR | libc::EAGAIN))
}

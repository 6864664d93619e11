//! Hides from the program, and from programs that it starts, what the upgrader has added to the
//! process: the pipes as descriptors 0 and 1, the descriptor of its lock, and environment
//! variables. Also catches SIGTERM.

use crate::channel::Channel;
use crate::session::EXIT_TERMINATED;
use std::io::{Error, Result};
use std::os::unix::io::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};

const FIRST_PRIVATE: libc::c_int = 3;

static TERMINATED: AtomicBool = AtomicBool::new(false);
static HELD: AtomicBool = AtomicBool::new(true);
static WAKE: AtomicI32 = AtomicI32::new(-1);
static OWNER: AtomicI32 = AtomicI32::new(0);

fn checked(result: libc::c_int) -> Result<libc::c_int> {
    if result < 0 {
        Err(Error::last_os_error())
    } else {
        Ok(result)
    }
}

/// Returns a private copy of a descriptor: the copy is close-on-exec, and its number is at least 3.
fn private_copy(number: RawFd) -> Result<OwnedFd> {
    // SAFETY: fcntl returns a new descriptor, which nobody else owns.
    unsafe {
        let copy = checked(libc::fcntl(number, libc::F_DUPFD_CLOEXEC, FIRST_PRIVATE))?;
        Ok(OwnedFd::from_raw_fd(copy))
    }
}

/// Moves the pipes from descriptors 0 and 1 to private ones, so that child processes do not inherit
/// them and printed text does not go to the upgrader. After a failure, descriptors 0 and 1 may have
/// been replaced already.
pub fn take_pipes() -> Result<Channel> {
    let (input, output) = (private_copy(0)?, private_copy(1)?);
    let null = std::fs::OpenOptions::new().read(true).write(true).open("/dev/null")?;
    // SAFETY: dup2 gets open descriptors, or returns an error.
    unsafe {
        checked(libc::dup2(null.as_raw_fd(), 0))?;
        if libc::dup2(2, 1) < 0 {
            checked(libc::dup2(null.as_raw_fd(), 1))?; // if standard error is closed
        }
    }
    Ok(Channel::new(input, output))
}

/// Makes the descriptor of the upgrader's lock, if there is one, close-on-exec, so that programs
/// that this process starts do not hold the lock. The process itself keeps it open until its end.
pub fn keep_lock_private() {
    let text = std::env::var("AGENT_PROTOCOL_LOCK_FD").unwrap_or_default();
    if let Ok(number) = text.parse::<libc::c_int>() {
        if number >= FIRST_PRIVATE {
            // SAFETY: changes only a flag. If the descriptor is not open, the call fails without
            // effect.
            unsafe { libc::fcntl(number, libc::F_SETFD, libc::FD_CLOEXEC) };
        }
    }
}

pub fn clean_environment() {
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("AGENT_PROTOCOL") {
            std::env::remove_var(name);
        }
    }
}

extern "C" fn note_term(signal: libc::c_int) {
    // SAFETY: the handler calls only async-signal-safe functions.
    unsafe {
        let error = *libc::__errno_location();
        if libc::getpid() != OWNER.load(Ordering::Relaxed) {
            libc::signal(signal, libc::SIG_DFL); // in a forked process, SIGTERM kills
            libc::raise(signal);
        } else if HELD.load(Ordering::Relaxed) {
            libc::_exit(EXIT_TERMINATED);
        } else {
            TERMINATED.store(true, Ordering::Relaxed);
            add_one(WAKE.load(Ordering::Relaxed));
        }
        *libc::__errno_location() = error;
    }
}

fn add_one(number: RawFd) {
    let one = 1u64;
    // SAFETY: writes eight bytes. If the eventfd is full, the write fails, and the eventfd polls
    // readable already.
    unsafe { libc::write(number, (&one as *const u64).cast(), 8) };
}

/// While an object of this type exists, the process catches SIGTERM. The object's descriptor polls
/// readable after a SIGTERM or a call of wake().
pub struct Signals {
    event: OwnedFd,
    before: libc::sigaction,
}

impl Signals {
    pub fn catch() -> Result<Signals> {
        // SAFETY: the structures are plain data, filled in before they are used.
        unsafe {
            let number = checked(libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK))?;
            let event = OwnedFd::from_raw_fd(number);
            WAKE.store(number, Ordering::Relaxed);
            OWNER.store(libc::getpid(), Ordering::Relaxed);
            let mut action: libc::sigaction = std::mem::zeroed();
            let handler: extern "C" fn(libc::c_int) = note_term;
            action.sa_sigaction = handler as usize;
            action.sa_flags = libc::SA_RESTART;
            let mut before: libc::sigaction = std::mem::zeroed();
            checked(libc::sigaction(libc::SIGTERM, &action, &mut before))?;
            Ok(Signals { event, before })
        }
    }

    pub fn descriptor(&self) -> RawFd {
        self.event.as_raw_fd()
    }

    pub fn wake(&self) {
        add_one(self.descriptor());
    }

    pub fn drain(&self) {
        let mut count = 0u64;
        // SAFETY: reads eight bytes into a number of eight bytes.
        unsafe { libc::read(self.descriptor(), (&mut count as *mut u64).cast(), 8) };
    }

    /// Sets whether SIGTERM ends the process at once, inside the handler. This is so while the
    /// agent is held (it must not work yet), since a start that hangs handles no events.
    pub fn set_held(&self, held: bool) {
        HELD.store(held, Ordering::Relaxed);
    }

    pub fn terminated(&self) -> bool {
        TERMINATED.load(Ordering::Relaxed)
    }

    pub fn take_terminated(&self) {
        TERMINATED.store(false, Ordering::Relaxed);
    }
}

impl Drop for Signals {
    fn drop(&mut self) {
        // SAFETY: restores the disposition that sigaction returned.
        unsafe { libc::sigaction(libc::SIGTERM, &self.before, std::ptr::null_mut()) };
    }
}

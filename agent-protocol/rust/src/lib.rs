//! The agent's half of agent-protocol(7): with this library, a program lets upgrader(8) replace the
//! program by its next version.
//!
//! [`Agent::open`] starts the conversation, and must be called first. Without an upgrader the same
//! calls work, and lead the program through the same steps: after `ready` comes the event
//! `Activate`, and after SIGTERM the event `Stop`. See README.md.

mod agent;
mod channel;
mod event;
mod mark;
mod message;
mod session;
mod surroundings;

pub use agent::{Agent, Refused, Upgrade};
pub use event::{Event, Failure, Role, StopReason};

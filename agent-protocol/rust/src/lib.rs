//! The agent's half of agent-protocol(7): by this library a program lets upgrader(8) replace it by
//! its next version.
//!
//! [`Agent::open`] starts the conversation, and must be called first. Without an upgrader the same
//! calls work, and lead the program through the same steps. See README.md.

mod agent;
mod channel;
mod event;
mod mark;
mod message;
mod session;
mod surroundings;

pub use agent::{Agent, Refused, Upgrade};
pub use event::{Event, Failure, Role, StopReason};

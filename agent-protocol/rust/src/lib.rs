//! The agent's half of agent-protocol(7): how a program lets itself be replaced by upgrader(8)
//! while it works.
//!
//! [`Agent::open`] starts the conversation, first of all. Where there is no upgrader the same calls
//! work and lead the program through the same story. See README.md.

mod agent;
mod channel;
mod event;
mod mark;
mod message;
mod session;
mod surroundings;

pub use agent::{Agent, Refused, Upgrade};
pub use event::{Event, Failure, Role, StopReason};

//! An agent in Rust with the feature `readiness`: init is told READY=1 only when the agent
//! has said `healthy`. play.py starts the agent. usage: agent FIFO

use agent_protocol::{Agent, Event};
use std::time::Duration;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let fifo = std::env::args().nth(1).ok_or("usage: agent FIFO")?;
    let mut agent = Agent::open_with(Some("1.0"), &["readiness"])?;
    agent.ready()?;
    loop {
        match agent.wait(None) {
            Some(Event::Activate { .. }) => {
                agent.extend(Duration::from_secs(3600))?;
                agent.status("not healthy yet")?;
                std::fs::read(&fifo)?;
                agent.healthy()?;
            }
            Some(Event::Stop { .. }) => {
                agent.stopped(None)?;
                return Ok(());
            }
            _ => {}
        }
    }
}

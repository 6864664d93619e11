//! Serves a counter on a TCP port: each connection gets the next number, and no number is given
//! away twice.
//!
//! usage: hello-agent PORT FILE, where FILE holds the last number that was given away. Upgrades,
//! crashes and power cuts repeat no number, since a number is on the disk before it is sent. A
//! number that was written, but not sent before a crash, is skipped.

use agent_protocol::{Agent, Event};
use std::fs::{self, File};
use std::io::{self, Write};
use std::net::TcpListener;
use std::os::unix::io::AsRawFd;
use std::path::Path;

fn last(path: &Path) -> Result<u64, String> {
    match fs::read_to_string(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(0),
        Err(error) => Err(error.to_string()),
        Ok(text) => text.trim().parse().map_err(|_| "it holds no number".to_string()),
    }
}

/// Writes the next number to the disk, and then returns the number.
fn next(path: &Path) -> io::Result<u64> {
    let number = last(path).map_err(|why| io::Error::new(io::ErrorKind::InvalidData, why))? + 1;
    let fresh = path.with_extension("new");
    let mut file = File::create(&fresh)?;
    file.write_all(number.to_string().as_bytes())?;
    file.sync_all()?;
    fs::rename(&fresh, path)?;
    let directory = path.parent().filter(|path| !path.as_os_str().is_empty());
    File::open(directory.unwrap_or_else(|| Path::new(".")))?.sync_all()?;
    Ok(number)
}

fn serve(listener: &TcpListener, path: &Path) -> io::Result<()> {
    let (mut connection, _) = listener.accept()?;
    let number = next(path)?;
    // If the client has gone, its number is skipped.
    let _ = writeln!(connection, "{number}");
    Ok(())
}

/// Waits until the agent has an event, a client connects, or `pause` milliseconds are over.
fn poll(agent: &Agent, listener: &Option<TcpListener>, pause: i32) -> bool {
    let pollfd = |fd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
    let listening = listener.as_ref().map_or(-1, AsRawFd::as_raw_fd);
    let mut watched = [pollfd(agent.as_raw_fd()), pollfd(listening)];
    // SAFETY: `watched` is an array of two elements, as the second argument says.
    unsafe { libc::poll(watched.as_mut_ptr(), 2, pause) };
    watched[1].revents != 0
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut agent = Agent::open(Some("1.0"))?;
    let args: Vec<String> = std::env::args().collect();
    let (port, path) = match args.as_slice() {
        [_, port, path] => (port.parse::<u16>()?, Path::new(path).to_path_buf()),
        _ => return Err("usage: hello-agent PORT FILE".into()),
    };
    let checked = path.clone();
    agent.add_check("counter", move || last(&checked).map(drop));
    agent.ready()?;
    let mut listener = None;
    let mut pause = -1; // the time between heartbeats
    loop {
        if poll(&agent, &listener, pause) {
            if let Some(listener) = &listener {
                serve(listener, &path)?;
            }
        }
        if listener.is_some() && pause >= 0 {
            agent.heartbeat()?;
        }
        while let Some(event) = agent.next_event() {
            match event {
                Event::Welcome { watchdog: Some(watchdog), .. } => {
                    pause = (watchdog.as_millis() / 3) as i32;
                }
                Event::Activate { .. } => listener = Some(TcpListener::bind(("127.0.0.1", port))?),
                Event::Stop { .. } => {
                    drop(listener); // give up the port before saying stopped
                    agent.stopped(None)?;
                    return Ok(());
                }
                _ => {}
            }
        }
    }
}

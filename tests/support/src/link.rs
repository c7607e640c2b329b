//! A network link to a server on loopback: a TCP proxy that delays both directions, and that can lose all packets.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

/// A link. Its threads end with the process.
#[derive(Debug)]
pub struct Link {
    /// The address that is connected to the server.
    pub address: SocketAddr,
    is_cut: Arc<AtomicBool>,
}

impl Link {
    /// Connects a new address to `server`. Each direction takes `delay`.
    pub fn new(server: SocketAddr, delay: Duration) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let link = Self { address: listener.local_addr().unwrap(), is_cut: Arc::default() };
        let is_cut = Arc::clone(&link.is_cut);
        thread::spawn(move || {
            for client in listener.incoming() {
                connect(client.unwrap(), server, delay, &is_cut);
            }
        });
        link
    }

    /// Loses all later bytes of all connections, without closing them.
    pub fn cut(&self) {
        self.is_cut.store(true, Ordering::SeqCst);
    }
}

fn connect(client: TcpStream, server: SocketAddr, delay: Duration, is_cut: &Arc<AtomicBool>) {
    let server = TcpStream::connect(server).unwrap();
    for stream in [&client, &server] {
        stream.set_nodelay(true).unwrap();
    }
    let copy = |stream: &TcpStream| stream.try_clone().unwrap();
    for (from, to) in [(copy(&client), copy(&server)), (server, client)] {
        let (sent, sending) = channel();
        let is_cut = Arc::clone(is_cut);
        thread::spawn(move || forward(&sending, to, &is_cut));
        thread::spawn(move || {
            let mut from = from;
            let mut bytes = [0; 64 * 1024];
            while let Ok(length @ 1..) = from.read(&mut bytes) {
                if sent.send((Instant::now() + delay, bytes[..length].to_vec())).is_err() {
                    break;
                }
            }
        });
    }
}

/// Writes each part at its time, and closes the stream when the other side has closed.
fn forward(sending: &Receiver<(Instant, Vec<u8>)>, mut to: TcpStream, is_cut: &AtomicBool) {
    for (at, bytes) in sending {
        thread::sleep(at.saturating_duration_since(Instant::now()));
        if !is_cut.load(Ordering::SeqCst) && to.write_all(&bytes).is_err() {
            break;
        }
    }
    if !is_cut.load(Ordering::SeqCst) {
        drop(to.shutdown(Shutdown::Both));
    }
}

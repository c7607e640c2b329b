//! Proxy to Postgres.

use std::net::{Shutdown, TcpListener};
use std::sync::atomic::AtomicU64;
use std::sync::{Mutex, mpsc};

use crate::copy::TIMEOUT;
use crate::prelude::*;

/// A proxy to Postgres, which stops forwarding after a number of bytes of all connections in both directions.
pub struct Proxy {
    pub url: String,
    pub forwarded: Arc<AtomicU64>,
    limit: Arc<AtomicU64>,
    streams: Arc<Mutex<Vec<TcpStream>>>,
    stopped: mpsc::Receiver<()>,
}

impl Proxy {
    pub fn start(postgres: &str, limit: u64) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (user, rest) = postgres.rsplit_once('@').unwrap();
        let (server, database) = rest.split_once('/').unwrap();
        let server = server.to_owned();
        let (sender, stopped) = mpsc::channel();
        let forwarded: Arc<AtomicU64> = Arc::default();
        let streams: Arc<Mutex<Vec<TcpStream>>> = Arc::default();
        let limit = Arc::new(AtomicU64::new(limit));
        let counted = forwarded.clone();
        let limited = limit.clone();
        let opened = streams.clone();
        thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let server = TcpStream::connect(&server).unwrap();
                for stream in [&client, &server] {
                    stream.set_nodelay(true).unwrap();
                }
                let clones = || [&client, &server].map(|stream| stream.try_clone().unwrap());
                opened.lock().unwrap().extend(clones());
                let [from_client, from_server] = clones();
                for (from, to) in [(from_client, server), (from_server, client)] {
                    let counted = counted.clone();
                    let limit = limited.clone();
                    let sender = sender.clone();
                    thread::spawn(move || forward(from, to, &limit, &counted, &sender));
                }
            }
        });
        Self { url: format!("{user}@{address}/{database}"), forwarded, limit, streams, stopped }
    }

    /// Stops forwarding, also on connections that are opened later. All connections stay open.
    pub fn cut(&self) {
        self.limit.store(0, Ordering::SeqCst);
    }

    /// Forwards the data of connections that are opened from now on.
    pub fn restore(&self) {
        self.limit.store(u64::MAX, Ordering::SeqCst);
    }

    /// Waits until the limit is reached.
    pub fn wait(&self) {
        self.stopped.recv_timeout(TIMEOUT).expect("the limit");
    }

    pub fn close_connections(&self) {
        for stream in &*self.streams.lock().unwrap() {
            drop(stream.shutdown(Shutdown::Both));
        }
    }
}

fn forward(
    mut from: TcpStream,
    mut to: TcpStream,
    limit: &AtomicU64,
    forwarded: &AtomicU64,
    stopped: &mpsc::Sender<()>,
) {
    let mut bytes = [0; 8192];
    while let Ok(length @ 1..) = from.read(&mut bytes) {
        let before = forwarded.fetch_add(length as u64, Ordering::SeqCst);
        let limit = limit.load(Ordering::SeqCst);
        let rest = limit.saturating_sub(before).min(length as u64) as usize;
        if rest < length {
            stopped.send(()).ok();
            return;
        }
        if to.write_all(&bytes[..rest]).is_err() {
            break;
        }
    }
    drop(to.shutdown(Shutdown::Write));
}

//! A receiver on a raw socket.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::watch;
use tokio::task::yield_now;
use tokio::time::{interval, timeout};
use tokio_rustls::TlsAcceptor;

use super::seen::{Seen, headers};

/// Longer than anything that is awaited takes.
const SOON: Duration = Duration::from_secs(20);

/// What a receiver does with a connection.
#[derive(Clone, Copy, Debug)]
pub enum Act {
    /// Answers this, and hangs up.
    Say(&'static [u8]),
    /// The same, a byte at a time.
    Drip(&'static [u8]),
    /// Answers this, and then nothing.
    Hold(&'static [u8]),
    /// Answers this to one request after the other.
    Serve(&'static [u8]),
    /// Answers this, and hangs up at the next request.
    Quit(&'static [u8]),
    /// Answers the first, and then the second without end.
    Flood(&'static [u8], &'static [u8]),
    /// The same, with a pause before each.
    Trickle(&'static [u8], &'static [u8]),
    /// Breaks the connection off at the first byte.
    Reset,
    /// Says this without being asked.
    Blurt(&'static [u8]),
}

/// Listens on loopback until the test ends.
#[derive(Debug)]
pub struct Receiver {
    port: u16,
    seen: watch::Receiver<Vec<Seen>>,
}

/// The place where a connection is noted.
struct Note(Arc<watch::Sender<Vec<Seen>>>, usize);

impl Receiver {
    pub async fn new(act: Act) -> Self {
        Self::acting(vec![act], None).await
    }

    /// One that does one thing with each connection after the other, and the last one for ever.
    pub async fn acting(acts: Vec<Act>, tls: Option<TlsAcceptor>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let (noted, seen) = watch::channel(Vec::new());
        let noted = Arc::new(noted);
        tokio::spawn(async move {
            for place in 0.. {
                let (socket, _) = listener.accept().await.unwrap();
                noted.send_modify(|seen| seen.push(Seen::default()));
                let act = acts.get(place).or(acts.last()).copied().unwrap();
                let (note, tls) = (Note(noted.clone(), place), tls.clone());
                tokio::spawn(async move {
                    drop(converse(socket, act, tls, &note).await);
                    note.that(|seen| seen.ended = true);
                });
            }
        });
        Self { port, seen }
    }

    /// One whose port is taken, and at which nobody listens.
    pub fn deaf() -> Self {
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let port = socket.local_addr().unwrap().port();
        let (noted, seen) = watch::channel(Vec::new());
        tokio::spawn(async move {
            noted.closed().await;
            drop(socket);
        });
        Self { port, seen }
    }

    /// A URL that leads to it: `origin`, as `http://receiver.test`, with its port and a path.
    pub fn url(&self, origin: &str) -> String {
        format!("{origin}:{}/hook?of=board", self.port)
    }

    /// Its address.
    pub fn address(&self) -> SocketAddr {
        ([127, 0, 0, 1], self.port).into()
    }

    /// How many connections there were.
    pub fn connections(&self) -> usize {
        self.seen.borrow().len()
    }

    /// All connections, once all of them have ended.
    pub async fn ended(&mut self) -> Vec<Seen> {
        let ended = self.seen.wait_for(|seen| seen.iter().all(|it| it.ended));
        timeout(SOON, ended).await.unwrap().unwrap().clone()
    }
}

impl Note {
    fn that(&self, what: impl FnOnce(&mut Seen)) {
        self.0.send_modify(|seen| what(&mut seen[self.1]));
    }
}

async fn converse(
    mut socket: TcpStream,
    act: Act,
    tls: Option<TlsAcceptor>,
    note: &Note,
) -> io::Result<()> {
    match (act, tls) {
        (Act::Blurt(words), _) => {
            socket.write_all(words).await?;
            until_hung_up(&mut socket).await
        }
        (Act::Reset, _) => {
            socket.read_u8().await?;
            socket.set_zero_linger()
        }
        (_, None) => answer(socket, act, note).await,
        (_, Some(tls)) => {
            let stream = tls.accept(socket).await?;
            let name = stream.get_ref().1.server_name().map(str::to_owned);
            note.that(|seen| seen.name = name);
            answer(stream, act, note).await
        }
    }
}

async fn answer<S>(mut stream: S, act: Act, note: &Note) -> io::Result<()>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let request = read(&mut stream).await?;
    note.that(|seen| seen.request = request);
    match act {
        Act::Say(words) => {
            stream.write_all(words).await?;
            stream.shutdown().await
        }
        Act::Drip(words) => {
            for byte in words {
                stream.write_all(&[*byte]).await?;
                yield_now().await;
            }
            stream.shutdown().await
        }
        Act::Hold(words) => {
            stream.write_all(words).await?;
            until_hung_up(&mut stream).await
        }
        Act::Serve(words) => loop {
            stream.write_all(words).await?;
            let request = read(&mut stream).await?;
            note.that(|seen| seen.request = request);
        },
        Act::Quit(words) => {
            stream.write_all(words).await?;
            read(&mut stream).await.map(drop)
        }
        Act::Flood(first, then) => {
            stream.write_all(first).await?;
            loop {
                stream.write_all(then).await?;
            }
        }
        Act::Trickle(first, then) => {
            stream.write_all(first).await?;
            let mut pauses = interval(Duration::from_millis(20));
            loop {
                pauses.tick().await;
                stream.write_all(then).await?;
            }
        }
        Act::Reset | Act::Blurt(_) => Ok(()),
    }
}

/// A request, as far as it comes.
async fn read<S: AsyncRead + Unpin>(stream: &mut S) -> io::Result<String> {
    let mut request = Vec::new();
    while !request.ends_with(b"\r\n\r\n") {
        request.push(stream.read_u8().await?);
    }
    let head = text(request)?;
    let length = headers(&head)["content-length"].to_str().unwrap().parse();
    let mut body = vec![0; length.unwrap()];
    stream.read_exact(&mut body).await?;
    Ok(head + &text(body)?)
}

fn text(bytes: Vec<u8>) -> io::Result<String> {
    String::from_utf8(bytes).map_err(io::Error::other)
}

async fn until_hung_up<S: AsyncRead + Unpin>(stream: &mut S) -> io::Result<()> {
    while stream.read(&mut [0; 1024]).await? > 0 {}
    Ok(())
}

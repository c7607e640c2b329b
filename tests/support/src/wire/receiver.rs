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

use super::seen::{RecordedRequest, parse_headers};

/// Longer than anything that is awaited takes.
const TIMEOUT: Duration = Duration::from_secs(20);

/// What a receiver does with a connection.
#[derive(Clone, Copy, Debug)]
pub enum Behavior {
    /// Answers this, and hangs up.
    Respond(&'static [u8]),
    /// The same, a byte at a time.
    RespondSlowly(&'static [u8]),
    /// Answers this, and then nothing.
    RespondAndHang(&'static [u8]),
    /// Answers this to one request after the other.
    KeepAlive(&'static [u8]),
    /// Answers this, and hangs up at the next request.
    CloseOnReuse(&'static [u8]),
    /// Answers the first, and then the second without end.
    Flood(&'static [u8], &'static [u8]),
    /// The same, with a pause before each.
    Trickle(&'static [u8], &'static [u8]),
    /// Breaks the connection off at the first byte.
    Reset,
    /// Says this without being asked.
    SendUnprompted(&'static [u8]),
}

/// Listens on loopback until the test ends.
#[derive(Debug)]
pub struct ScriptedReceiver {
    port: u16,
    recorded: watch::Receiver<Vec<RecordedRequest>>,
}

/// The place where a connection is noted.
struct Recorder(Arc<watch::Sender<Vec<RecordedRequest>>>, usize);

impl ScriptedReceiver {
    pub async fn new(act: Behavior) -> Self {
        Self::with_behaviors(vec![act], None).await
    }

    /// One that does one thing with each connection after the other, and the last one for ever.
    pub async fn with_behaviors(acts: Vec<Behavior>, tls: Option<TlsAcceptor>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let (noted, seen) = watch::channel(Vec::new());
        let noted = Arc::new(noted);
        tokio::spawn(async move {
            for place in 0.. {
                let (socket, _) = listener.accept().await.unwrap();
                noted.send_modify(|seen| seen.push(RecordedRequest::default()));
                let act = acts.get(place).or(acts.last()).copied().unwrap();
                let (note, tls) = (Recorder(noted.clone(), place), tls.clone());
                tokio::spawn(async move {
                    drop(handle_connection(socket, act, tls, &note).await);
                    note.update(|seen| seen.is_closed = true);
                });
            }
        });
        Self { port, recorded: seen }
    }

    /// One whose port is taken, and at which nobody listens.
    pub fn refusing_connections() -> Self {
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let port = socket.local_addr().unwrap().port();
        let (noted, seen) = watch::channel(Vec::new());
        tokio::spawn(async move {
            noted.closed().await;
            drop(socket);
        });
        Self { port, recorded: seen }
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
        self.recorded.borrow().len()
    }

    /// All connections, once all of them have ended.
    pub async fn wait_for_close(&mut self) -> Vec<RecordedRequest> {
        let ended = self.recorded.wait_for(|seen| seen.iter().all(|it| it.is_closed));
        timeout(TIMEOUT, ended).await.unwrap().unwrap().clone()
    }
}

impl Recorder {
    fn update(&self, what: impl FnOnce(&mut RecordedRequest)) {
        self.0.send_modify(|seen| what(&mut seen[self.1]));
    }
}

async fn handle_connection(
    mut socket: TcpStream,
    act: Behavior,
    tls: Option<TlsAcceptor>,
    note: &Recorder,
) -> io::Result<()> {
    match (act, tls) {
        (Behavior::SendUnprompted(words), _) => {
            socket.write_all(words).await?;
            read_to_close(&mut socket).await
        }
        (Behavior::Reset, _) => {
            socket.read_u8().await?;
            socket.set_zero_linger()
        }
        (_, None) => respond(socket, act, note).await,
        (_, Some(tls)) => {
            let stream = tls.accept(socket).await?;
            let name = stream.get_ref().1.server_name().map(str::to_owned);
            note.update(|seen| seen.server_name = name);
            respond(stream, act, note).await
        }
    }
}

async fn respond<S>(mut stream: S, act: Behavior, note: &Recorder) -> io::Result<()>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let request = read(&mut stream).await?;
    note.update(|seen| seen.request = request);
    match act {
        Behavior::Respond(words) => {
            stream.write_all(words).await?;
            stream.shutdown().await
        }
        Behavior::RespondSlowly(words) => {
            for byte in words {
                stream.write_all(&[*byte]).await?;
                yield_now().await;
            }
            stream.shutdown().await
        }
        Behavior::RespondAndHang(words) => {
            stream.write_all(words).await?;
            read_to_close(&mut stream).await
        }
        Behavior::KeepAlive(words) => loop {
            stream.write_all(words).await?;
            let request = read(&mut stream).await?;
            note.update(|seen| seen.request = request);
        },
        Behavior::CloseOnReuse(words) => {
            stream.write_all(words).await?;
            read(&mut stream).await.map(drop)
        }
        Behavior::Flood(first, then) => {
            stream.write_all(first).await?;
            loop {
                stream.write_all(then).await?;
            }
        }
        Behavior::Trickle(first, then) => {
            stream.write_all(first).await?;
            let mut pauses = interval(Duration::from_millis(20));
            loop {
                pauses.tick().await;
                stream.write_all(then).await?;
            }
        }
        Behavior::Reset | Behavior::SendUnprompted(_) => Ok(()),
    }
}

/// A request, as far as it comes.
async fn read<S: AsyncRead + Unpin>(stream: &mut S) -> io::Result<String> {
    let mut request = Vec::new();
    while !request.ends_with(b"\r\n\r\n") {
        request.push(stream.read_u8().await?);
    }
    let head = text(request)?;
    let length = parse_headers(&head)["content-length"].to_str().unwrap().parse();
    let mut body = vec![0; length.unwrap()];
    stream.read_exact(&mut body).await?;
    Ok(head + &text(body)?)
}

fn text(bytes: Vec<u8>) -> io::Result<String> {
    String::from_utf8(bytes).map_err(io::Error::other)
}

async fn read_to_close<S: AsyncRead + Unpin>(stream: &mut S) -> io::Result<()> {
    while stream.read(&mut [0; 1024]).await? > 0 {}
    Ok(())
}

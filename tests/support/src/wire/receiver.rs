//! A receiver on raw sockets with scripted behavior.

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

use super::recorded_request::{RecordedRequest, parse_headers};

const TIMEOUT: Duration = Duration::from_secs(20);

/// Behavior of a receiver on a connection.
#[derive(Clone, Copy, Debug)]
pub enum Behavior {
    /// Sends a response and closes the connection.
    Respond(&'static [u8]),
    /// Sends a response byte by byte and closes the connection.
    RespondSlowly(&'static [u8]),
    /// Sends a part of a response, and then nothing.
    RespondAndHang(&'static [u8]),
    /// Sends a response to each request.
    KeepAlive(&'static [u8]),
    /// Sends a response, and closes the connection at the next request.
    CloseOnReuse(&'static [u8]),
    /// Sends the first text, and then the second repeatedly until the connection is closed.
    Flood(&'static [u8], &'static [u8]),
    /// Like `Flood`, with pauses.
    Trickle(&'static [u8], &'static [u8]),
    /// Resets the connection at the first byte.
    Reset,
    /// Sends a text before the request.
    SendUnprompted(&'static [u8]),
}

/// Listens on loopback until the test ends.
#[derive(Debug)]
pub struct ScriptedReceiver {
    port: u16,
    recorded: watch::Receiver<Vec<RecordedRequest>>,
}

/// Records the connection of this number.
struct Recorder(Arc<watch::Sender<Vec<RecordedRequest>>>, usize);

impl ScriptedReceiver {
    pub async fn new(behavior: Behavior) -> Self {
        Self::with_behaviors(vec![behavior], None).await
    }

    /// Creates a receiver that uses one behavior for each connection, and then repeats the last one.
    pub async fn with_behaviors(behaviors: Vec<Behavior>, tls: Option<TlsAcceptor>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let (sender, recorded) = watch::channel(Vec::new());
        let sender = Arc::new(sender);
        tokio::spawn(async move {
            for number in 0.. {
                let (socket, _) = listener.accept().await.unwrap();
                sender.send_modify(|recorded| recorded.push(RecordedRequest::default()));
                let behavior = behaviors.get(number).or(behaviors.last()).copied().unwrap();
                let recorder = Recorder(sender.clone(), number);
                let tls = tls.clone();
                tokio::spawn(async move {
                    drop(handle_connection(socket, behavior, tls, &recorder).await);
                    recorder.update(|recorded| recorded.is_closed = true);
                });
            }
        });
        Self { port, recorded }
    }

    /// Reserves a port without listening on it.
    pub fn refusing_connections() -> Self {
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let port = socket.local_addr().unwrap().port();
        let (sender, recorded) = watch::channel(Vec::new());
        tokio::spawn(async move {
            sender.closed().await;
            drop(socket);
        });
        Self { port, recorded }
    }

    /// Returns a URL with this origin, such as `http://receiver.test`, the port and a path.
    pub fn url(&self, origin: &str) -> String {
        format!("{origin}:{}/hook?of=board", self.port)
    }

    pub fn address(&self) -> SocketAddr {
        ([127, 0, 0, 1], self.port).into()
    }

    /// Returns the number of connections.
    pub fn connections(&self) -> usize {
        self.recorded.borrow().len()
    }

    /// Waits until all connections are closed, and returns them.
    pub async fn wait_for_close(&mut self) -> Vec<RecordedRequest> {
        let all_closed = |recorded: &Vec<RecordedRequest>| recorded.iter().all(|one| one.is_closed);
        let closed = self.recorded.wait_for(all_closed);
        timeout(TIMEOUT, closed).await.unwrap().unwrap().clone()
    }
}

impl Recorder {
    fn update(&self, update: impl FnOnce(&mut RecordedRequest)) {
        self.0.send_modify(|recorded| update(&mut recorded[self.1]));
    }
}

async fn handle_connection(
    mut socket: TcpStream,
    behavior: Behavior,
    tls: Option<TlsAcceptor>,
    recorder: &Recorder,
) -> io::Result<()> {
    match (behavior, tls) {
        (Behavior::SendUnprompted(text), _) => {
            socket.write_all(text).await?;
            read_to_close(&mut socket).await
        }
        (Behavior::Reset, _) => {
            socket.read_u8().await?;
            socket.set_zero_linger()
        }
        (_, None) => respond(socket, behavior, recorder).await,
        (_, Some(tls)) => {
            let stream = tls.accept(socket).await?;
            let name = stream.get_ref().1.server_name().map(str::to_owned);
            recorder.update(|recorded| recorded.server_name = name);
            respond(stream, behavior, recorder).await
        }
    }
}

async fn respond<S>(mut stream: S, behavior: Behavior, recorder: &Recorder) -> io::Result<()>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let request = read(&mut stream).await?;
    recorder.update(|recorded| recorded.request = request);
    match behavior {
        Behavior::Respond(text) => {
            stream.write_all(text).await?;
            stream.shutdown().await
        }
        Behavior::RespondSlowly(text) => {
            for byte in text {
                stream.write_all(&[*byte]).await?;
                yield_now().await;
            }
            stream.shutdown().await
        }
        Behavior::RespondAndHang(text) => {
            stream.write_all(text).await?;
            read_to_close(&mut stream).await
        }
        Behavior::KeepAlive(text) => loop {
            stream.write_all(text).await?;
            let request = read(&mut stream).await?;
            recorder.update(|recorded| recorded.request = request);
        },
        Behavior::CloseOnReuse(text) => {
            stream.write_all(text).await?;
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

/// Reads a request.
async fn read<S: AsyncRead + Unpin>(stream: &mut S) -> io::Result<String> {
    let mut request = Vec::new();
    while !request.ends_with(b"\r\n\r\n") {
        request.push(stream.read_u8().await?);
    }
    let head = text(request)?;
    let headers = parse_headers(&head);
    let length = headers["content-length"].to_str().unwrap().parse();
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

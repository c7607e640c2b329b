//! A connection, asked one thing after the other.

use std::future::{Future, pending, poll_fn};
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::Request;
use http_body_util::{BodyExt as _, Full};
use hyper::Error;
use hyper::client::conn::http1::{Builder, SendRequest};
use hyper_util::rt::TokioIo;

use super::connect::Wire;
use super::error;
use super::pool::Way;
use super::response::Heard;
use crate::webhook::Unsent;

/// What goes over the wire.
pub(super) type Ask = Request<Full<Bytes>>;

/// The longest head of an answer, in bytes, and the most lines in it.
const HEAD: (usize, usize) = (16 * 1024, 64);

/// A connection. It is closed when this is dropped, and works only while it is asked: no task of its own does.
pub(super) struct Client {
    pub(super) way: Way,
    /// Whether something was asked on it before.
    pub(super) has_waited: bool,
    sender: SendRequest<Full<Bytes>>,
    /// Never ready, not even when the connection has ended.
    connection: Pin<Box<dyn Future<Output = ()> + Send>>,
}

impl Client {
    pub(super) async fn over(wire: Wire, way: Way) -> Result<Self, Unsent> {
        let (bytes, lines) = HEAD;
        let mut client = Builder::new();
        client.max_buf_size(bytes).max_headers(lines);
        let handshake = client.handshake(TokioIo::new(wire)).await;
        let (sender, connection) = handshake.map_err(|error| error::no_answer(&error))?;
        let connection = Box::pin(async {
            drop(connection.await);
            pending().await
        });
        Ok(Self {
            way,
            has_waited: false,
            sender,
            connection,
        })
    }

    /// Asks, and puts the answer into `heard` as it comes.
    pub(super) async fn ask(&mut self, ask: Ask, heard: &mut Option<Heard>) -> Result<(), Error> {
        let Self {
            sender, connection, ..
        } = self;
        beside(connection.as_mut(), async {
            let (head, mut body) = sender.send_request(ask).await?.into_parts();
            let heard = heard.insert(Heard::new(head.status));
            while !heard.is_full() {
                let Some(Ok(frame)) = body.frame().await else {
                    break;
                };
                heard.keep(frame.data_ref().map_or(&[], |data| data));
            }
            Ok(())
        })
        .await
    }

    /// Whether it is still there, as far as is known, and can be asked.
    pub(super) async fn is_ready(&mut self) -> bool {
        poll_fn(|context| {
            drive(self.connection.as_mut(), context);
            Poll::Ready(self.sender.is_ready())
        })
        .await
    }
}

/// Whether the receiver closed the connection instead of answering, as one does that has not read what it was asked.
pub(super) fn was_closed(error: &Error) -> bool {
    let cause = std::error::Error::source(error).and_then(|source| source.downcast_ref());
    let broke = cause.is_some_and(|cause: &io::Error| {
        use io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset};
        matches!(
            cause.kind(),
            BrokenPipe | ConnectionAborted | ConnectionReset
        )
    });
    broke || error.is_canceled() || error.is_closed() || error.is_incomplete_message()
}

/// Runs `task`, and the connection as long as it takes.
async fn beside<T>(
    mut connection: Pin<&mut (dyn Future<Output = ()> + Send)>,
    task: impl Future<Output = T>,
) -> T {
    let mut task = std::pin::pin!(task);
    poll_fn(|context| {
        let done = task.as_mut().poll(context);
        if done.is_pending() {
            drive(connection.as_mut(), context);
        }
        done
    })
    .await
}

fn drive(connection: Pin<&mut (dyn Future<Output = ()> + Send)>, context: &mut Context<'_>) {
    let (Poll::Pending | Poll::Ready(())) = connection.poll(context);
}

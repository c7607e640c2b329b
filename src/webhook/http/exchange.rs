//! One request and its answer on a connection.

use std::future::{Future, pending, poll_fn};
use std::pin::pin;
use std::task::Poll;

use bytes::Bytes;
use http::Request;
use http_body_util::{BodyExt as _, Full};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;

use super::answer::Heard;
use super::connect::Connection;
use super::fault;
use crate::webhook::Unsent;

/// What goes over the wire.
pub(super) type Ask = Request<Full<Bytes>>;

/// The longest head of an answer, in bytes, and the most lines in it.
const HEAD: (usize, usize) = (16 * 1024, 64);

/// Asks, and puts the answer into `heard` as it comes. The connection is closed when this ends, or is dropped.
pub(super) async fn exchange(
    connection: Connection,
    ask: Ask,
    heard: &mut Option<Heard>,
) -> Result<(), Unsent> {
    let (bytes, lines) = HEAD;
    let mut client = http1::Builder::new();
    client.max_buf_size(bytes).max_headers(lines);
    let handshake = client.handshake(TokioIo::new(connection)).await;
    let (mut sender, connection) = handshake.map_err(|error| fault::no_answer(&error))?;
    let asking = async {
        let answer = sender.send_request(ask).await;
        let (head, mut body) = answer
            .map_err(|error| fault::no_answer(&error))?
            .into_parts();
        let heard = heard.insert(Heard::new(head.status));
        while !heard.is_full() {
            let Some(Ok(frame)) = body.frame().await else {
                break;
            };
            heard.keep(frame.data_ref().map_or(&[], |data| data));
        }
        Ok(())
    };
    beside(connection, asking).await
}

/// Runs `task`, and `helper` as long as it takes.
async fn beside<T>(helper: impl Future, task: impl Future<Output = T>) -> T {
    let mut task = pin!(task);
    let mut helper = pin!(async {
        helper.await;
        pending::<()>().await;
    });
    poll_fn(|context| {
        let done = task.as_mut().poll(context);
        if done.is_pending() {
            let (Poll::Pending | Poll::Ready(())) = helper.as_mut().poll(context);
        }
        done
    })
    .await
}

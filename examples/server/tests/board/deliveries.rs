//! Webhook deliveries of the board: withheld once their owner may no longer see the content.

use std::sync::Arc;
use std::time::Duration;

use forum_api::audit::AuditActor;
use forum_api::host::Authorizer;
use forum_api::store::DeliveryFilter;
use forum_api::webhook::DeliveryState;
use forum_api::webhook_admin::{NewEndpoint, WebhookAdmin};
use forum_api::{Environment, Language};
use serde_json::json;

use crate::backend::Backend;
use crate::board::accounts;
use crate::board::db::{Transaction, TransactionFuture, bind};
use crate::demo::Demo;
use crate::wire::{Behavior, LONG_TIMEOUT, ManualWorker, ScriptedReceiver, loopback_transport};

const OK: Behavior = Behavior::Respond(b"HTTP/1.1 204 No Content\r\n\r\n");
const LATER: Behavior = Behavior::Respond(b"HTTP/1.1 503 Later\r\ncontent-length: 0\r\n\r\n");

type Change = for<'a> fn(&'a Transaction<'a>) -> TransactionFuture<'a, ()>;

/// Change to alice, the owner of the endpoint, after the first attempt, and the resulting state of the delivery.
const CHANGES: [(&str, Change, DeliveryState); 4] = [
    (
        "nothing happens",
        |_| Box::pin(async { Ok(()) }),
        DeliveryState::Delivered,
    ),
    ("she is banned", ban, DeliveryState::Withheld),
    ("she leaves the members", leave, DeliveryState::Withheld),
    (
        "the forum becomes the staff's",
        close,
        DeliveryState::Withheld,
    ),
];

fn ban<'a>(tx: &'a Transaction<'a>) -> TransactionFuture<'a, ()> {
    Box::pin(async {
        let alice = accounts::named(tx, "alice").await?;
        accounts::set_banned(tx, alice, true).await?;
        Ok(())
    })
}

fn leave<'a>(tx: &'a Transaction<'a>) -> TransactionFuture<'a, ()> {
    Box::pin(async {
        let alice = accounts::named(tx, "alice").await?;
        accounts::set_groups(tx, alice, "newcomers".parse()?).await?;
        Ok(())
    })
}

fn close<'a>(tx: &'a Transaction<'a>) -> TransactionFuture<'a, ()> {
    Box::pin(async {
        let update = "UPDATE forum SET read_groups = ?1 WHERE title = 'Members'";
        tx.execute(update, bind!["staff"]).await?;
        Ok(())
    })
}

#[tokio::test]
async fn a_delivery_is_withheld_between_two_attempts() {
    for (what, change, expected) in CHANGES {
        let storage = Backend::File.or_from_environment().create_storage().await;
        let webhooks = storage.webhooks();
        let demo = Demo::in_storage(storage, Language::English).await;
        let receiver = ScriptedReceiver::with_behaviors(vec![LATER, OK], None).await;
        let environment = Environment::default().clock(demo.clock.clone());
        let webhook_admin =
            WebhookAdmin::new(webhooks.clone(), environment).allow_private_addresses(true);
        let new = NewEndpoint {
            url: receiver.url("http://127.0.0.1"),
            topics: "thread.created".parse().unwrap(),
            owner: demo.id("alice").await.into(),
            owner_name: None,
            secret: None,
        };
        webhook_admin.add(new, &AuditActor::SYSTEM).await.unwrap();
        let new = json!({ "title": "Cellar", "body": "Who has the key?" });
        let threads = demo.threads_path("Members").await;
        assert_eq!(demo.post("bob", &threads, new).await.0, 201);
        let board: Arc<dyn Authorizer> = Arc::new(demo.board.clone());
        let worker = ManualWorker::start(
            &demo.clock,
            &webhooks,
            board,
            loopback_transport(LONG_TIMEOUT),
        )
        .await;
        let state = async || {
            let listed = webhooks
                .deliveries
                .list(&DeliveryFilter {
                    limit: 10,
                    ..DeliveryFilter::default()
                })
                .await
                .unwrap();
            let [delivery] = &listed[..] else {
                panic!("{listed:?}");
            };
            delivery.progress.state
        };
        assert_eq!(state().await, DeliveryState::Retrying);
        demo.change(change).await;
        worker.advance(Duration::from_secs(3600)).await;
        assert_eq!(state().await, expected, "{what}");
        let sent = 1 + usize::from(expected == DeliveryState::Delivered);
        assert_eq!(receiver.connections(), sent, "{what}");
    }
}

//! What a token opens is asked anew on each request.

use crate::board::accounts;
use crate::demo::Demo;

#[tokio::test]
async fn an_owner_loses_a_forum_with_a_group() {
    let demo = Demo::new().await;
    let members = demo.threads_of("Members").await;
    let bob = demo.as_member("bob").await;
    assert_eq!(bob.get(&members).await.status, 200);
    demo.change(|tx| {
        Box::pin(async {
            let bob = accounts::named(tx, "bob").await?;
            Ok(accounts::set_groups(tx, bob, "newcomers".parse()?).await?)
        })
    })
    .await;
    assert_eq!(bob.get(&members).await.code(), Some("not_found"));
}

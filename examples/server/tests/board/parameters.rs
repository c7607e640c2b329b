//! Parameters of several statements that run as one.

use crate::prelude::*;

#[tokio::test]
async fn statements_with_missing_or_unused_parameters_are_refused() {
    let demo = Demo::new().await;
    demo.change(|tx| {
        Box::pin(async move {
            let statements = [
                "UPDATE member SET reputation = :reputation WHERE id = :member",
                "UPDATE forum SET position = 1 WHERE id = :forum",
            ];
            let missing = bind! { ":reputation": 7_i64, ":member": 1_i64 };
            let unused =
                bind! { ":reputation": 7_i64, ":member": 1_i64, ":forum": 2_i64, ":post": 3_i64 };
            for parameters in [&missing[..], unused] {
                let error = tx.execute_independent(&statements, parameters).await.unwrap_err();
                assert!(error.to_string().contains("do not match"), "{error}");
            }
            let all = bind! { ":reputation": 7_i64, ":member": 1_i64, ":forum": 2_i64 };
            tx.execute_independent(&statements, all).await?;
            Ok(())
        })
    })
    .await;
    let reputation: i64 =
        demo.query_value("SELECT reputation AS value FROM member WHERE id = 1").await;
    assert_eq!(reputation, 7);
}

//! Requests with the examples of the OpenAPI document, on the demo board.

use forum_api::{Environment, openapi_document};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

use crate::prelude::*;
use crate::schema::resolve_ref;

#[tokio::test]
async fn each_get_succeeds_with_the_examples_of_its_parameters() {
    let demo = Demo::new().await;
    let document = openapi_document(&ApiSettings::default(), &Environment::default());
    let mut count = 0;
    for (path, item) in document["paths"].as_object().unwrap() {
        let Some(operation) = item.get("get") else {
            continue;
        };
        let mut target = path.clone();
        let mut separator = '?';
        for parameter in operation["parameters"].as_array().unwrap() {
            let parameter = resolve_ref(&document, parameter);
            let name = parameter["name"].as_str().unwrap();
            let Some(example) = parameter["example"].as_str() else {
                assert_eq!(parameter["required"], false, "{path}: {name}");
                continue;
            };
            let value = utf8_percent_encode(example, NON_ALPHANUMERIC).to_string();
            if parameter["in"] == "path" {
                target = target.replace(&format!("{{{name}}}"), &value);
            } else {
                target += &format!("{separator}{name}={value}");
                separator = '&';
            }
        }
        let (status, body) = demo.get("alice", &target).await;
        assert_eq!(status, 200, "{target}: {body}");
        count += 1;
    }
    assert_eq!(count, 11);
}

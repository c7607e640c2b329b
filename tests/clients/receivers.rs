// Runs the document's receiver on deliveries: one JSON object a line on stdin, one result a line on stdout.

include!("receive.rs");

#[derive(serde::Deserialize)]
struct Delivery {
    secrets: Vec<String>,
    headers: std::collections::HashMap<String, String>,
    body: String,
}

fn main() {
    for line in std::io::stdin().lines() {
        let delivery: Delivery = serde_json::from_str(&line.unwrap()).unwrap();
        let secrets = delivery.secrets.iter().map(|secret| WebhookSecret::parse(secret).unwrap());
        let headers = HeaderMap::try_from(&delivery.headers).unwrap();
        let status = receive(&secrets.collect::<Vec<_>>(), &headers, delivery.body.as_bytes());
        println!("{}", status == StatusCode::NO_CONTENT);
    }
}

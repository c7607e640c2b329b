//! TLS to a real Redis, with certificates that must be refused.

use forum_api::store::redis::{RedisRateLimitStore, RedisSettings};
use forum_test_support::tls::{Certificate, TlsRedis};
use tokio::time::Duration;

async fn store(url: &str) -> RedisRateLimitStore {
    let mut settings = RedisSettings::default();
    settings.timeout = Duration::from_secs(5);
    RedisRateLimitStore::connect(url, settings).await.unwrap()
}

#[tokio::test]
async fn only_a_trusted_certificate_for_the_host_name_is_accepted() {
    let mut server = TlsRedis::stopped();
    let (root, other_root) = (server.certificates.root(), server.certificates.other_root());
    for (certificate, host, roots, accepted) in [
        (Certificate::Valid, "localhost", &root, true),
        (Certificate::Valid, "127.0.0.1", &root, false),
        (Certificate::Valid, "localhost", &other_root, false),
        (Certificate::OtherName, "localhost", &root, false),
        (Certificate::Expired, "localhost", &root, false),
    ] {
        server.start(certificate);
        let url = server.url(host);
        for url in [url.clone(), url.replace("rediss", "REDISS")] {
            let store = store(&format!("{url}?{roots}")).await;
            let context = format!("{certificate:?} {url} {roots}");
            assert_eq!(store.is_unreachable(), !accepted, "{context}");
        }
    }
}

#[tokio::test]
async fn root_certificates_that_cannot_be_used_are_refused() {
    for (scheme, path, reason) in [
        ("rediss", "/none.pem", "cannot read"),
        ("REDISS", "/none.pem", "cannot read"),
        ("rediss", "/dev/null", "contains no root certificate"),
        ("redis", "/none.pem", "sslrootcert requires TLS"),
    ] {
        let url = format!("{scheme}://localhost?sslrootcert={path}");
        let refused = RedisRateLimitStore::connect(&url, RedisSettings::default()).await;
        let refused = refused.map(drop).unwrap_err().to_string();
        assert!(refused.contains(reason), "{path}: {refused}");
    }
}

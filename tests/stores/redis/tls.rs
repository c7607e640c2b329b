//! TLS to a real Redis, with certificates that must be refused.

use forum_api::store::redis::{RedisRateLimitStore, RedisSettings};
use forum_test_support::free_port;
use forum_test_support::tls::{Certificate, Certificates, TlsRedis};
use tokio::time::Duration;

use super::group::RedisGroup;

async fn store(url: &str) -> RedisRateLimitStore {
    let mut settings = RedisSettings::default();
    settings.timeout = Duration::from_secs(5);
    RedisRateLimitStore::connect(url, settings).await.unwrap()
}

#[tokio::test]
async fn only_a_trusted_certificate_for_the_host_name_is_accepted() {
    let mut server = TlsRedis::stopped();
    let root = server.certificates.root();
    let other_root = server.certificates.other_root();
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

#[tokio::test(flavor = "multi_thread")]
async fn sentinels_and_nodes_of_a_cluster_need_a_trusted_certificate() {
    let certificates = Certificates::new();
    let path = |name: &str| certificates.path(name).display().to_string();
    let ports = [(); 3].map(|()| free_port());
    let [master, sentinel, node] = ports.map(|port| {
        let certificate = path("Valid.pem");
        let key = path("Valid.key");
        let root = path("root.pem");
        format!(
            "tls-port {port}\ntls-auth-clients no\ntls-cert-file {certificate}\ntls-key-file {key}\n\
             tls-ca-cert-file {root}\n"
        )
    });
    let mut group = RedisGroup::new();
    group.start("", &master);
    let sentinel = format!(
        "{sentinel}tls-replication yes\nsentinel resolve-hostnames yes\nsentinel announce-hostnames yes\n\
         sentinel monitor board localhost {} 1\n",
        ports[0]
    );
    group.start("", &sentinel);
    let config = format!(
        "{node}tls-cluster yes\ncluster-enabled yes\ncluster-port {}\n\
         cluster-announce-hostname localhost\ncluster-preferred-endpoint-type hostname\n",
        free_port()
    );
    let node = group.start("", &config);
    group.run(node, "cluster addslotsrange 0 16383");
    let state = "cluster_state:ok";
    group.wait_for(node, "cluster info", state).await;
    let root = certificates.root();
    let other_root = certificates.other_root();
    for (host, roots, accepted) in
        [("localhost", &root, true), ("127.0.0.1", &root, false), ("localhost", &other_root, false)]
    {
        for url in [
            format!("rediss+sentinel://{host}:{}/board?{roots}", ports[1]),
            format!("rediss+cluster://{host}:{}?{roots}", ports[2]),
        ] {
            let store = store(&url).await;
            assert_eq!(store.is_unreachable(), !accepted, "{url}");
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
        ("rediss+cluster", "/none.pem", "cannot read"),
        ("redis+cluster", "/none.pem", "sslrootcert requires TLS"),
    ] {
        let url = format!("{scheme}://localhost?sslrootcert={path}");
        let connected = RedisRateLimitStore::connect(&url, RedisSettings::default()).await;
        let refused = connected.map(drop).unwrap_err().to_string();
        assert!(refused.contains(reason), "{path}: {refused}");
    }
}

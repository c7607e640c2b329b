//! TLS to a real Postgres, with each `sslmode` and with certificates that must be refused.

use forum_api::store::postgres::tokio_postgres_0_7::connect;
use forum_test_support::tls::{Certificate, TlsPostgres};

const OTHER_HOST: &str = "the certificate is for another host name";
const EXPIRED: &str = "the certificate has expired";
const UNTRUSTED: &str = "the certificate is not trusted";

/// Returns whether the connection is encrypted, or the error of connecting.
async fn is_encrypted(url: &str) -> Result<bool, String> {
    let pool = connect(url, 1).map_err(|error| error.to_string())?;
    let client = pool
        .get()
        .await
        .map_err(|error| forum_api::store::postgres::PostgresError::from(error).to_string())?;
    let query = "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()";
    Ok(client.query_one(query, &[]).await.unwrap().get(0))
}

#[tokio::test]
async fn certificates_are_verified_according_to_the_mode() {
    let mut server = TlsPostgres::stopped();
    let root = server.certificates.root();
    let other_root = server.certificates.other_root();
    let with_root = |mode: &str| format!("sslmode={mode}&{root}");
    let with_other_root = |mode: &str| format!("sslmode={mode}&{other_root}");
    let as_root = |certificate| server.certificates.as_root(certificate);
    let self_signed = as_root(Certificate::SelfSigned);
    let self_signed_expired = as_root(Certificate::SelfSignedExpired);
    let with_self_signed = |mode: &str| format!("sslmode={mode}&{self_signed}");
    let with_expired = |mode: &str| format!("sslmode={mode}&{self_signed_expired}");
    for (certificate, cases) in [
        (
            Certificate::Valid,
            vec![
                ("localhost", with_root("verify-full"), Ok(true)),
                ("127.0.0.1", with_root("verify-full"), Err(OTHER_HOST)),
                ("127.0.0.1", with_root("verify-ca"), Ok(true)),
                ("127.0.0.1", "sslmode=require".into(), Ok(true)),
                ("127.0.0.1", String::new(), Ok(true)),
                ("127.0.0.1", "sslmode=disable".into(), Ok(false)),
                ("localhost", with_other_root("verify-full"), Err(UNTRUSTED)),
                ("localhost", with_other_root("verify-ca"), Err(UNTRUSTED)),
                ("localhost", with_other_root("require"), Err(UNTRUSTED)),
                ("localhost", other_root.clone(), Err(UNTRUSTED)),
            ],
        ),
        (
            Certificate::OtherName,
            vec![
                ("localhost", with_root("verify-full"), Err(OTHER_HOST)),
                ("localhost", with_root("verify-ca"), Ok(true)),
            ],
        ),
        (
            Certificate::Expired,
            vec![
                ("localhost", with_root("verify-full"), Err(EXPIRED)),
                ("localhost", with_root("verify-ca"), Err(EXPIRED)),
                ("localhost", with_root("require"), Err(EXPIRED)),
                ("localhost", "sslmode=require".into(), Ok(true)),
            ],
        ),
        (
            Certificate::SelfSigned,
            vec![
                ("127.0.0.1", with_self_signed("verify-ca"), Ok(true)),
                ("localhost", with_self_signed("verify-full"), Ok(true)),
                ("127.0.0.1", with_self_signed("verify-full"), Err(OTHER_HOST)),
                ("localhost", with_root("verify-ca"), Err(UNTRUSTED)),
            ],
        ),
        (
            Certificate::SelfSignedExpired,
            vec![("localhost", with_expired("verify-ca"), Err(EXPIRED))],
        ),
    ] {
        server.start(Some(certificate));
        for (host, parameters, expected) in cases {
            let outcome = is_encrypted(&server.url(host, &parameters)).await;
            let context = format!("{certificate:?} {host} {parameters}: {outcome:?}");
            match expected {
                Ok(encrypted) => assert_eq!(outcome, Ok(encrypted), "{context}"),
                Err(reason) => assert!(outcome.unwrap_err().contains(reason), "{context}"),
            }
        }
    }
}

#[tokio::test]
async fn a_server_without_tls_is_used_only_if_the_mode_allows_it() {
    let mut server = TlsPostgres::stopped();
    server.start(None);
    for mode in ["disable", "prefer"] {
        let url = server.url("localhost", &format!("sslmode={mode}"));
        assert_eq!(is_encrypted(&url).await, Ok(false), "{mode}");
    }
    for mode in ["require", "verify-ca", "verify-full"] {
        let parameters = format!("sslmode={mode}&{}", server.certificates.root());
        let url = server.url("localhost", &parameters);
        let encoded_name = url.replace("sslmode", "ssl%6dode");
        let question_mark = url.replace("postgres://forum:", "postgres://forum:?");
        for url in [url, encoded_name, question_mark] {
            let error = is_encrypted(&url).await.unwrap_err();
            assert!(error.contains("server does not support TLS"), "{url}");
        }
    }
}

/// As with libpq, the mode has no effect, also if the server offers TLS.
#[tokio::test]
async fn a_unix_domain_socket_is_used_without_tls_in_every_mode() {
    let mut server = TlsPostgres::stopped();
    for certificate in [None, Some(Certificate::Valid)] {
        server.start(certificate);
        let root = server.certificates.root();
        for mode in ["disable", "prefer", "require", "verify-ca", "verify-full"] {
            for parameters in [format!("sslmode={mode}"), format!("sslmode={mode}&{root}")] {
                for is_parameter in [true, false] {
                    let url = server.socket_url(is_parameter, &parameters);
                    assert_eq!(is_encrypted(&url).await, Ok(false), "{url}");
                }
            }
        }
        let url = server.socket_url(true, "sslrootcert=system");
        assert_eq!(is_encrypted(&url).await, Ok(false), "{url}");
    }
    let mixed = "postgres://forum@localhost/forum?host=/run/postgresql";
    assert!(refused(mixed, 1).contains("beside a host"), "{}", refused(mixed, 1));
}

/// Returns the error of a pool of this size.
fn refused(url: &str, size: usize) -> String {
    connect(url, size).unwrap_err().to_string()
}

#[test]
fn an_invalid_url_and_an_empty_pool_are_refused() {
    for url in [
        "host=localhost user=forum sslmode=require",
        "postgres://forum:p@ss/word@localhost/forum?sslmode=require",
        "postgres://forum:p@ss?hunter2@localhost/forum",
        "postgres://forum:p@ss?hunter2=secret@localhost/forum?sslmode=require",
        "localhost",
        "",
    ] {
        let refused = refused(url, 1);
        assert!(refused.starts_with("invalid Postgres URL"), "{url}");
        assert!(!refused.contains("hunter2") && !refused.contains("secret"), "{refused}");
    }
    let empty = refused("postgres://forum@localhost/forum", 0);
    assert_eq!(empty, "a pool needs at least one connection");
}

#[test]
fn parameters_that_cannot_be_used_are_refused_without_a_connection() {
    let system = "sslrootcert=system requires sslmode=verify-full";
    for (mode, root, reason) in [
        ("encrypt", "", "unknown sslmode; expected one of disable"),
        ("disable", "system", system),
        ("prefer", "system", system),
        ("require", "system", system),
        ("verify-ca", "system", system),
        ("verify-full", "/none.pem", "cannot read the root cert"),
        ("verify-ca", "/dev/null", "contains no root certificate"),
    ] {
        let parameters = format!("sslmode={mode}&sslrootcert={root}");
        let refused = refused(&format!("postgres://forum@h/forum?{parameters}"), 1);
        assert!(refused.contains(reason), "{parameters}: {refused}");
    }
}

//! What the service reaches for, and what it is told there.

use std::time::Duration;

use bytes::Bytes;
use forum_api::webhook::{HttpSettings, HttpTransport, Outgoing, Target, Transport as _};
use http::HeaderMap;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

#[tokio::test]
async fn api7_server_side_request_forgery() {
    let transport = HttpTransport::new(HttpSettings::default()).unwrap();
    for url in [
        "http://127.0.0.1/",
        "http://localhost/",
        "http://[::1]/",
        "http://[::ffff:127.0.0.1]/",
        "http://0/",
        "http://2130706433/",
        "http://0x7f.1/",
        "http://0177.0.0.1/",
        "http://127.1/",
        "http://10.0.0.1/",
        "http://192.168.1.1/",
        "http://172.16.0.1/",
        "http://100.64.0.1/",
        "http://[fc00::1]/",
        "http://[fe80::1]/",
        "http://169.254.169.254/latest/meta-data/",
        "http://[fd00:ec2::254]/",
        "http://[64:ff9b::7f00:1]/",
        "http://①②⑦.0.0.1/",
        "http://127.0.0.1%2f@example.com/",
        "http://user:pass@example.com/",
        "file:///etc/passwd",
        "gopher://127.0.0.1/",
        "ftp://example.com/",
        "//example.com/",
        "http://",
    ] {
        let request = Outgoing {
            url: url.into(),
            headers: HeaderMap::new(),
            body: Bytes::new(),
        };
        assert!(transport.post(request).await.is_err(), "sent to {url}");
        let named = url.contains("localhost");
        assert!(named || Target::parse(url, false).is_err(), "taken: {url}");
    }
    for url in [
        "http://169.254.169.254/",
        "http://[fd00:ec2::254]/",
        "http://[::ffff:169.254.169.254]/",
    ] {
        assert!(Target::parse(url, true).is_err(), "no setting allows {url}");
    }
}

#[tokio::test]
async fn api10_unsafe_consumption_of_apis() {
    let within = Duration::from_millis(500);
    let settings = HttpSettings {
        allow_private: true,
        connect: within,
        timeout: within,
        ..HttpSettings::default()
    };
    let transport = HttpTransport::new(settings).unwrap();
    for (head, heard) in [
        ("HTTP/1.1 200 OK\r\n\r\n", Some(200)),
        (
            "HTTP/1.1 200 OK\r\ncontent-length: 99999999999\r\n\r\n",
            Some(200),
        ),
        (
            "HTTP/1.1 302 Found\r\nlocation: http://169.254.169.254/\r\n\r\n",
            Some(302),
        ),
        ("HTTP/1.1 200 OK\r\nx: ", None),
        ("HTTP/1.1 99999 OK\r\n\r\n", None),
        ("<html>", None),
    ] {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        let endless = async {
            let (mut socket, _) = listener.accept().await.unwrap();
            drop(socket.read(&mut [0; 4096]).await);
            drop(socket.write_all(head.as_bytes()).await);
            while socket.write_all(&[b'y'; 65_536]).await.is_ok() {}
        };
        let request = Outgoing {
            url,
            headers: HeaderMap::new(),
            body: Bytes::from_static(b"{}"),
        };
        let (answer, ()) = tokio::join!(transport.post(request), endless);
        let answer = answer.ok();
        assert_eq!(
            answer.as_ref().map(|answer| answer.status),
            heard,
            "{head:?}"
        );
        assert!(answer.is_none_or(|answer| answer.excerpt.len() <= 4096));
        let again = tokio::time::timeout(Duration::from_millis(1), listener.accept());
        assert!(again.await.is_err(), "it came again: {head:?}");
    }
}

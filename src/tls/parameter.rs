//! Parameters of database URLs.

use std::borrow::Cow;
use std::fs;

use percent_encoding::percent_decode_str;
use tokio_rustls::rustls::pki_types::CertificateDer;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;

/// Reads the PEM file that the parameter `sslrootcert` names, which must begin with a valid certificate.
pub(crate) fn read_roots(path: &str) -> Result<Vec<u8>, String> {
    let pem = fs::read(path)
        .map_err(|error| format!("cannot read the root certificates \"{path}\": {error}"))?;
    match CertificateDer::pem_slice_iter(&pem).next() {
        Some(Ok(_)) => Ok(pem),
        _ => Err(format!("the file \"{path}\" contains no root certificate")),
    }
}

/// Removes a parameter from a URL. Returns the rest of the URL and the decoded value.
pub(crate) fn take_parameter(url: &str, name: &str) -> (String, Option<String>) {
    let Some((address, query)) = url.split_once('?') else {
        return (url.into(), None);
    };
    let mut kept = Vec::new();
    let mut taken = None;
    for parameter in query.split('&') {
        match parameter.split_once('=') {
            Some((key, value)) if decode(key) == name => taken = Some(decode(value).into_owned()),
            _ => kept.push(parameter),
        }
    }
    let separator = if kept.is_empty() { "" } else { "?" };
    (format!("{address}{separator}{}", kept.join("&")), taken)
}

fn decode(text: &str) -> Cow<'_, str> {
    percent_decode_str(text).decode_utf8_lossy()
}

#[cfg(test)]
mod tests {
    use super::{read_roots, take_parameter};

    #[test]
    fn a_file_without_a_certificate_is_named() {
        for (path, error) in [
            (
                "/none.pem",
                "cannot read the root certificates \"/none.pem\": No such file or directory (os error 2)",
            ),
            ("/dev/null", "the file \"/dev/null\" contains no root certificate"),
        ] {
            assert_eq!(read_roots(path), Err(error.into()));
        }
    }

    #[test]
    fn a_parameter_is_taken_out_of_a_url() {
        for (url, rest, value) in [
            ("a://h/d", "a://h/d", None),
            ("a://h/d?x=1", "a://h/d?x=1", None),
            ("a://h/d?p=%2Fr+t", "a://h/d", Some("/r+t")),
            ("a://h/d?%70=r", "a://h/d", Some("r")),
            ("a://h/d?x=1&p=r&y=2", "a://h/d?x=1&y=2", Some("r")),
            ("a://h/d?p&pp=r", "a://h/d?p&pp=r", None),
            ("a://h/d?p=a=b&p=c", "a://h/d", Some("c")),
        ] {
            let value = value.map(str::to_owned);
            assert_eq!(take_parameter(url, "p"), (rest.into(), value), "{url}");
        }
    }
}

//! Certificates, and a Postgres and a Redis that use them.

use std::fs;
use std::os::unix::fs::{MetadataExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair, date_time_ymd};
use tempfile::TempDir;

use crate::free_port;
use crate::program::{self, Running, wait_for_line};

/// User id of an unprivileged user: Postgres refuses to run as root.
const UNPRIVILEGED: u32 = 65534;

/// Password of the user `forum` of the Postgres.
const PASSWORD: &str = "certified";

/// A server's certificate. The trusted root signed each of them, except for [`Certificate::SelfSigned`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Certificate {
    /// For `localhost`.
    Valid,
    /// For `other.example`.
    OtherName,
    /// For `localhost`, expired in 2020.
    Expired,
    /// For `localhost`, a certificate authority that signed itself.
    SelfSigned,
    /// For `localhost`, a certificate authority that signed itself, expired in 2020.
    SelfSignedExpired,
}

/// PEM files of certificates and keys, readable for the servers.
#[derive(Debug)]
pub struct Certificates(TempDir);

impl Certificates {
    pub fn new() -> Self {
        let files = Self(TempDir::new().unwrap());
        let (root, pem) = authority();
        files.write("root.pem", &pem);
        files.write("other-root.pem", &authority().1);
        for (certificate, name, has_expired, is_authority) in [
            (Certificate::Valid, "localhost", false, false),
            (Certificate::OtherName, "other.example", false, false),
            (Certificate::Expired, "localhost", true, false),
            (Certificate::SelfSigned, "localhost", false, true),
            (Certificate::SelfSignedExpired, "localhost", true, true),
        ] {
            let mut parameters = CertificateParams::new([name.to_owned()]).unwrap();
            if has_expired {
                parameters.not_before = date_time_ymd(2019, 1, 1);
                parameters.not_after = date_time_ymd(2020, 1, 1);
            }
            let key = KeyPair::generate().unwrap();
            let signed = if is_authority {
                parameters.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
                parameters.self_signed(&key).unwrap()
            } else {
                parameters.signed_by(&key, &root).unwrap()
            };
            files.write(&format!("{certificate:?}.pem"), &signed.pem());
            files.write(&format!("{certificate:?}.key"), &key.serialize_pem());
        }
        files.give();
        files
    }

    /// Returns the parameter for the root that signed the certificates.
    pub fn root(&self) -> String {
        format!("sslrootcert={}", self.path("root.pem").display())
    }

    /// Returns the parameter for a root that signed none of the certificates.
    pub fn other_root(&self) -> String {
        format!("sslrootcert={}", self.path("other-root.pem").display())
    }

    /// Returns the parameter that makes a certificate its own root.
    pub fn as_root(&self, certificate: Certificate) -> String {
        let path = self.path(&format!("{certificate:?}.pem"));
        format!("sslrootcert={}", path.display())
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::write(&path, text).unwrap();
        let private = std::os::unix::fs::PermissionsExt::from_mode(0o600);
        fs::set_permissions(path, private).unwrap();
    }

    /// Gives the files to the user that runs the servers.
    fn give(&self) {
        if is_root() {
            chown(self.0.path(), Some(UNPRIVILEGED), Some(UNPRIVILEGED)).unwrap();
            for file in self.0.path().read_dir().unwrap() {
                chown(file.unwrap().path(), Some(UNPRIVILEGED), Some(UNPRIVILEGED)).unwrap();
            }
        }
    }
}

fn authority() -> (Issuer<'static, KeyPair>, String) {
    let mut parameters = CertificateParams::default();
    parameters.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let key = KeyPair::generate().unwrap();
    let certificate = parameters.self_signed(&key).unwrap().pem();
    (Issuer::new(parameters, key), certificate)
}

fn is_root() -> bool {
    fs::metadata("/proc/self").unwrap().uid() == 0
}

/// Returns a command that runs without the privileges of root.
fn unprivileged(program: impl AsRef<Path>) -> Command {
    let mut command = Command::new(program.as_ref());
    if is_root() {
        command.uid(UNPRIVILEGED).gid(UNPRIVILEGED);
    }
    command
}

/// A Postgres on loopback.
#[derive(Debug)]
pub struct TlsPostgres {
    pub certificates: Certificates,
    programs: PathBuf,
    running: Option<(Child, u16)>,
}

impl TlsPostgres {
    /// Creates a server without starting it.
    pub fn stopped() -> Self {
        let certificates = Certificates::new();
        certificates.write("password", PASSWORD);
        certificates.give();
        let server = Self { programs: postgres_programs(), certificates, running: None };
        let initialized = unprivileged(server.programs.join("initdb"))
            .arg("--pgdata")
            .arg(server.certificates.path("data"))
            .arg("--pwfile")
            .arg(server.certificates.path("password"))
            .args(["--username=forum", "--auth=scram-sha-256", "--no-sync"])
            .args(["--encoding=UTF8", "--locale=C.UTF-8"])
            .current_dir("/")
            .stdout(Stdio::null())
            .status();
        assert!(initialized.unwrap().success());
        server
    }

    /// Starts the server with this certificate, or without TLS. Stops it first if it runs.
    pub fn start(&mut self, certificate: Option<Certificate>) {
        self.stop();
        let port = free_port();
        let mut command = unprivileged(self.programs.join("postgres"));
        command.arg("-D").arg(self.certificates.path("data"));
        let mut set = |setting: String| {
            command.args(["-c", &setting]);
        };
        set("listen_addresses=127.0.0.1".into());
        set(format!("port={port}"));
        set(format!("unix_socket_directories={}", self.certificates.path("").display()));
        set("fsync=off".into());
        if let Some(certificate) = certificate {
            set("ssl=on".into());
            for (setting, end) in [("ssl_cert_file", "pem"), ("ssl_key_file", "key")] {
                let file = self.certificates.path(&format!("{certificate:?}.{end}"));
                set(format!("{setting}={}", file.display()));
            }
        }
        let command = command.current_dir("/").stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let log = child.stderr.take().unwrap();
        self.running = Some((child, port));
        wait_for_line(log, "ready to accept connections");
    }

    /// Returns a URL with this host and these parameters.
    pub fn url(&self, host: &str, parameters: &str) -> String {
        let (_, port) = self.running.as_ref().unwrap();
        format!("postgres://forum:{PASSWORD}@{host}:{port}/postgres?{parameters}")
    }

    /// Returns a URL of the Unix-domain socket with these parameters: the directory is a parameter, or the host.
    pub fn socket_url(&self, is_parameter: bool, parameters: &str) -> String {
        let (_, port) = self.running.as_ref().unwrap();
        let folder = self.certificates.path("");
        let directory = folder.to_str().unwrap().trim_end_matches('/');
        let user = format!("postgres://forum:{PASSWORD}@");
        if is_parameter {
            return format!("{user}/postgres?host={directory}&port={port}&{parameters}");
        }
        let host = directory.replace('/', "%2F");
        format!("{user}{host}:{port}/postgres?{parameters}")
    }

    fn stop(&mut self) {
        if let Some((mut child, _)) = self.running.take() {
            program::signal(&child, "QUIT");
            child.wait().unwrap();
        }
    }
}

impl Drop for TlsPostgres {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Returns the directory of the programs of Postgres.
fn postgres_programs() -> PathBuf {
    std::env::var_os("POSTGRES_PROGRAMS")
        .expect("`source tests/postgres` sets POSTGRES_PROGRAMS")
        .into()
}

/// A Redis on loopback that accepts only TLS.
#[derive(Debug)]
pub struct TlsRedis {
    running: Option<(Running, u16)>,
    pub certificates: Certificates,
}

impl TlsRedis {
    /// Creates a server without starting it.
    pub fn stopped() -> Self {
        Self { running: None, certificates: Certificates::new() }
    }

    /// Starts the server with this certificate. Stops it first if it runs.
    pub fn start(&mut self, certificate: Certificate) {
        self.running = None;
        let port = free_port();
        let mut command = unprivileged("redis-server");
        command
            .args(["--port", "0", "--bind", "127.0.0.1", "--save", ""])
            .args(["--tls-port", &port.to_string(), "--tls-auth-clients", "no"])
            .arg("--tls-cert-file")
            .arg(self.certificates.path(&format!("{certificate:?}.pem")))
            .arg("--tls-key-file")
            .arg(self.certificates.path(&format!("{certificate:?}.key")))
            .current_dir("/");
        let running = Running::until(&mut command, "eady to accept connections");
        self.running = Some((running, port));
    }

    /// Returns a URL with this host.
    pub fn url(&self, host: &str) -> String {
        let (_, port) = self.running.as_ref().unwrap();
        format!("rediss://{host}:{port}/0")
    }
}

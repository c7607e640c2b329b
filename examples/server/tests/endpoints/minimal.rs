//! The minimal embedding, served on a port of its own.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use crate::program::example;

/// One that runs until it is dropped.
#[derive(Debug)]
pub struct Minimal {
    forums: String,
    child: Child,
}

impl Minimal {
    /// Starts one.
    pub fn new() -> Self {
        let mut child = Command::new(example("minimal"))
            .arg("127.0.0.1:0")
            .stdout(Stdio::piped())
            .spawn()
            .expect("`cargo build --examples` comes first");
        let mut line = String::new();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        out.read_line(&mut line).unwrap();
        // A command that lists the forums.
        let forums = line.trim_end().rsplit(' ').next().unwrap().into();
        Self { forums, child }
    }

    /// The address of a path below the API's.
    pub fn api(&self, path: &str) -> String {
        self.forums.replace("/forums", path)
    }
}

impl Drop for Minimal {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

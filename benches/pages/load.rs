//! Load of a list of paths.

use std::fs;

use tempfile::TempDir;

use crate::client;
use crate::wrk::{requests_a_second, wrk};

/// Sends the requests in order, again and again.
const SCRIPT: &str = r#"
local requests, place = {}, 0

function init(arguments)
    for path in io.lines(arguments[1]) do
        table.insert(requests, wrk.format("GET", path))
    end
end

function request()
    place = place % #requests + 1
    return requests[place]
end
"#;

/// Requests with one token.
pub struct Load {
    directory: TempDir,
    authorization: String,
    first: String,
}

impl Load {
    /// Requests these paths of the API below a prefix.
    pub fn new(prefix: &str, token: &str, paths: &[String]) -> Self {
        let directory = TempDir::new().unwrap();
        let below = |path| format!("{prefix}/api/v1{path}");
        let paths: Vec<_> = paths.iter().map(below).collect();
        fs::write(directory.path().join("paths"), paths.join("\n")).unwrap();
        fs::write(directory.path().join("script.lua"), SCRIPT).unwrap();
        Self {
            directory,
            authorization: format!("Bearer {token}"),
            first: paths[0].clone(),
        }
    }

    /// Returns the length of the first response's body.
    pub fn sample(&self, origin: &str) -> usize {
        let headers = [("authorization", self.authorization.as_str())];
        let answer = client::send("GET", &format!("{origin}{}", self.first), &headers, "");
        assert_eq!(answer.status, 200, "{answer:?}");
        answer.body.len()
    }

    /// Returns the number of requests per second.
    pub fn run(&self, origin: &str) -> f64 {
        let mut wrk = wrk(&self.authorization);
        wrk.args(["-s", "script.lua", origin, "--", "paths"]);
        requests_a_second(wrk.current_dir(self.directory.path()))
    }
}

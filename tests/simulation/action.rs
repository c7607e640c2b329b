//! The actions of a simulation. To add one, add a variant here, its choice to [`Action::choose`], and its effect to
//! `World::perform`.

use std::time::Duration;

use crate::random::Random;

/// One step of a simulation. Numbers of members, threads, posts and so on are reduced to the existing ones, so that each
/// step remains possible when others are removed.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    pub(crate) action: Action,
    /// Seed of the choices during the step: order of the tasks, faults of stores, delays.
    pub(crate) seed: u64,
}

#[derive(Clone, Debug)]
pub(crate) enum Action {
    /// A member sends a new request to a node.
    Write {
        member: usize,
        node: usize,
        has_key: bool,
        kind: Write,
    },
    /// A client that got no answer, or lost it, sends an earlier request again.
    Repeat {
        write: usize,
        node: usize,
    },
    /// The client of an earlier request disconnects.
    Disconnect {
        write: usize,
    },
    /// A client reads the next page of the feed.
    ReadFeed {
        node: usize,
    },
    Approve {
        post: usize,
    },
    Restore {
        post: usize,
    },
    SetBanned {
        member: usize,
        banned: bool,
    },
    /// Hides a forum from members, or shows it to them again.
    SetHidden {
        forum: usize,
        hidden: bool,
    },
    Erase {
        member: usize,
    },
    /// Changes how the receiver of an endpoint responds.
    SetReceiver {
        endpoint: usize,
        mode: ReceiverMode,
    },
    IssueToken,
    RevokeToken {
        member: usize,
    },
    AddEndpoint,
    ChangeEndpoint {
        endpoint: usize,
        form: EndpointForm,
    },
    Redeliver {
        delivery: usize,
    },
    /// Advances the time.
    Wait {
        seconds: u64,
    },
    /// Ends a node or a worker between two polls. It starts again with the next `Start`, or when the faults end.
    Crash {
        process: usize,
    },
    Start {
        process: usize,
    },
    /// Stops a worker in an orderly way, and starts it again.
    StopWorker {
        worker: usize,
    },
    /// Sets the share of the calls of stores and of the board that fail, hang, are delayed or lose their result.
    SetFaults {
        percent: u64,
    },
    /// Sets the clock of a process ahead or back; `drift` is in milliseconds for each hour.
    SetClock {
        process: usize,
        offset_seconds: i64,
        drift: i64,
    },
}

/// A form of the panel about an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EndpointForm {
    SetTopics(&'static str),
    Rotate,
    Activate,
    Enable,
    Disable,
    Ping,
    Example,
    Remove,
    RetryDead,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Write {
    Thread { forum: usize },
    Post { thread: usize },
    Edit { post: usize },
    Delete { post: usize },
    Message { recipient: usize },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReceiverMode {
    Accepts,
    AcceptsAfter {
        seconds: u64,
    },
    RespondsWith {
        status: u16,
    },
    /// Responds with statuses at random.
    Lies,
    RefusesConnections,
    NeverResponds,
}

/// Conditions of a simulation, which hold from its beginning.
#[derive(Clone, Debug)]
pub(crate) struct Setting {
    /// `false` if the clocks of processes may be set. Rules about leases and delays then hold exactly.
    pub(crate) clocks_differ: bool,
    /// `true` if the board inserts its events into the outbox in its transactions; `false` if workers relay them.
    pub(crate) writes_to_outbox: bool,
    /// `true` if tokens and idempotency keys are in SQLite, too; otherwise they are in memory.
    pub(crate) keys_in_sqlite: bool,
    pub(crate) workers: usize,
    /// Time for which the feed keeps events.
    pub(crate) feed_retention: Duration,
}

pub(crate) const NODES: usize = 2;

/// Drift of a clock that does not move, in milliseconds for each hour.
const STOPPED: i64 = -3_600_000;

const HOUR: Duration = Duration::from_secs(3600);

#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) seed: u64,
    pub(crate) setting: Setting,
    pub(crate) steps: Vec<Step>,
}

impl Plan {
    pub(crate) fn new(seed: u64) -> Self {
        let mut random = Random::new(seed);
        let clocks_differ = random.chance(40);
        let setting = Setting {
            clocks_differ,
            writes_to_outbox: random.chance(50),
            keys_in_sqlite: random.chance(70),
            workers: 2 + random.index(2),
            feed_retention: if clocks_differ { HOUR * 24 * 30 } else { HOUR * 2 },
        };
        let length = 20 + random.below(40);
        let choose_step = |_| {
            let action = Action::choose(&mut random, &setting);
            Step { action, seed: random.next() }
        };
        let steps = (0..length).map(choose_step).collect();
        Self { seed, setting, steps }
    }
}

impl Action {
    fn choose(random: &mut Random, setting: &Setting) -> Self {
        let any = |random: &mut Random| random.index(64);
        match random.below(100) {
            0..30 => Self::Write {
                member: any(random),
                node: any(random),
                has_key: random.chance(60),
                kind: Write::choose(random),
            },
            30..38 => Self::Repeat { write: any(random), node: any(random) },
            38..40 => Self::Disconnect { write: any(random) },
            40..44 => Self::ReadFeed { node: any(random) },
            44..46 => Self::Approve { post: any(random) },
            46..48 => Self::Restore { post: any(random) },
            48..50 => Self::SetBanned { member: any(random), banned: random.chance(50) },
            50..53 => Self::SetHidden { forum: any(random), hidden: random.chance(50) },
            53 => Self::Erase { member: any(random) },
            54..62 => {
                Self::SetReceiver { endpoint: any(random), mode: ReceiverMode::choose(random) }
            }
            62..69 => {
                let form = EndpointForm::choose(random);
                // Few endpoints, so that a rotation follows another one.
                let is_rotation = matches!(form, EndpointForm::Rotate | EndpointForm::Activate);
                let endpoint = random.index(if is_rotation { 3 } else { 64 });
                Self::ChangeEndpoint { endpoint, form }
            }
            69 => match random.below(4) {
                0 => Self::IssueToken,
                1 => Self::AddEndpoint,
                _ => Self::RevokeToken { member: any(random) },
            },
            70..72 => Self::Redeliver { delivery: any(random) },
            72..80 => Self::Wait { seconds: wait(random) },
            80..86 => Self::Crash { process: any(random) },
            86..91 => Self::Start { process: any(random) },
            91 => Self::StopWorker { worker: any(random) },
            92..97 => Self::SetFaults { percent: [0, 5, 20, 60][random.index(4)] },
            _ if setting.clocks_differ => Self::SetClock {
                process: any(random),
                offset_seconds: [0, 45, -45, 90, -90, 3600, -3600, 7200][random.index(8)],
                drift: [0, 0, 0, 60_000, -60_000, STOPPED][random.index(6)],
            },
            _ => Self::Wait { seconds: wait(random) },
        }
    }
}

/// Returns a time from a moment to more than the rotation of a secret takes, in seconds.
fn wait(random: &mut Random) -> u64 {
    match random.below(40) {
        0 => 10 * 3600 + random.below(16 * 3600),
        1..7 => random.below(3600),
        7..24 => random.below(120),
        _ => random.below(10),
    }
}

impl EndpointForm {
    fn choose(random: &mut Random) -> Self {
        match random.below(70) {
            0..20 => Self::Rotate,
            20..40 => Self::Activate,
            40..46 => Self::Enable,
            46..50 => Self::Disable,
            50..58 => Self::RetryDead,
            58..61 => Self::Remove,
            61..64 => Self::SetTopics(["*", "post.created"][random.index(2)]),
            64..67 => Self::Ping,
            _ => Self::Example,
        }
    }
}

impl Write {
    const fn choose(random: &mut Random) -> Self {
        match random.below(10) {
            0..2 => Self::Thread { forum: random.index(64) },
            2..6 => Self::Post { thread: random.index(64) },
            6 => Self::Edit { post: random.index(64) },
            7 => Self::Delete { post: random.index(64) },
            _ => Self::Message { recipient: random.index(64) },
        }
    }
}

impl ReceiverMode {
    fn choose(random: &mut Random) -> Self {
        match random.below(10) {
            0..3 => Self::Accepts,
            3..5 => Self::AcceptsAfter { seconds: random.below(20) },
            5 => Self::RespondsWith { status: 410 },
            6 => Self::RespondsWith { status: [500, 503, 301, 404][random.index(4)] },
            7 => Self::Lies,
            8 => Self::RefusesConnections,
            _ => Self::NeverResponds,
        }
    }
}

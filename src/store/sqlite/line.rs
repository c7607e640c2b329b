//! The line before the writer: who goes ahead, and who goes behind.

use std::collections::VecDeque;
use std::sync::mpsc::Receiver;
use std::time::Instant;

use tokio::sync::OwnedSemaphorePermit;

use super::writer::Operation;

/// How many times as long as it had the writer, what goes behind lets the others go ahead.
const PATIENCE: u32 = 20;

/// An operation that stands in the line.
pub(super) struct Waiting {
    pub(super) operation: Box<dyn Operation>,
    /// Whether it goes behind those that do not.
    pub(super) behind: bool,
    /// Place in the bounded queue, given back when the operation begins.
    pub(super) permit: Option<OwnedSemaphorePermit>,
}

/// Those that wait for the writer.
///
/// What goes behind has its turn when nobody else waits. It has it all the same after a while, so that it never
/// starves: then the others wait for a twentieth of their time.
pub(super) struct Line<'a> {
    queue: &'a Receiver<Waiting>,
    ahead: VecDeque<Waiting>,
    behind: VecDeque<Waiting>,
    /// When what goes behind has its turn, whoever waits.
    due: Instant,
    /// Since when what goes behind has the writer.
    turn: Option<Instant>,
}

impl<'a> Line<'a> {
    pub(super) fn new(queue: &'a Receiver<Waiting>) -> Self {
        Self {
            queue,
            ahead: VecDeque::new(),
            behind: VecDeque::new(),
            due: Instant::now(),
            turn: None,
        }
    }

    /// Waits until somebody stands in it; `false` when nobody comes any more.
    pub(super) fn wait(&mut self) -> bool {
        self.end_turn();
        if self.ahead.is_empty() && self.behind.is_empty() {
            self.queue.recv().into_iter().for_each(|one| self.join(one));
        }
        !(self.ahead.is_empty() && self.behind.is_empty())
    }

    /// Whose turn it is among those that are there by now, in a group in which nobody or `somebody` goes ahead.
    pub(super) fn next(&mut self, somebody: bool) -> Option<Waiting> {
        self.end_turn();
        while let Ok(one) = self.queue.try_recv() {
            self.join(one);
        }
        if self.behind.is_empty() || (somebody || !self.ahead.is_empty()) && !self.is_due() {
            return self.ahead.pop_front();
        }
        self.turn = Some(Instant::now());
        self.behind.pop_front()
    }

    /// Ends the turn of what went behind.
    fn end_turn(&mut self) {
        if let Some(since) = self.turn.take() {
            self.due = Instant::now() + since.elapsed() * PATIENCE;
        }
    }

    fn is_due(&self) -> bool {
        Instant::now() >= self.due
    }

    fn join(&mut self, one: Waiting) {
        let line = if one.behind {
            &mut self.behind
        } else {
            &mut self.ahead
        };
        line.push_back(one);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Sender, channel};
    use std::time::Duration;

    use rusqlite::Transaction;

    use super::super::SqliteError;
    use super::super::writer::Answer;
    use super::*;

    struct Nothing;

    impl Operation for Nothing {
        fn run(self: Box<Self>, _: &mut Transaction<'_>) -> Answer {
            Box::new(drop)
        }

        fn fail(self: Box<Self>, _: SqliteError) {}
    }

    const HOUR: Duration = Duration::from_secs(3600);

    fn stand(line: &Sender<Waiting>, behind: bool) {
        let operation = Box::new(Nothing);
        let waiting = Waiting {
            operation,
            behind,
            permit: None,
        };
        line.send(waiting).unwrap();
    }

    /// Whether the next ones go behind, in a group that they make.
    fn group(line: &mut Line<'_>) -> Vec<bool> {
        let mut group = Vec::new();
        while let Some(next) = line.next(group.contains(&false)) {
            group.push(next.behind);
        }
        group
    }

    #[test]
    fn what_goes_behind_goes_first_when_it_is_due() {
        let (stands, queue) = channel();
        for behind in [false, true, false] {
            stand(&stands, behind);
        }
        assert_eq!(group(&mut Line::new(&queue)), [true, false, false]);
    }

    #[test]
    fn what_had_its_turn_lets_others_go_ahead() {
        let (stands, queue) = channel();
        let mut line = Line::new(&queue);
        line.due += HOUR;
        for behind in [true, false, true] {
            stand(&stands, behind);
        }
        assert_eq!(group(&mut line), [false]);
        assert_eq!(group(&mut line), [true, true], "nobody else waits");
    }

    #[test]
    fn a_turn_is_followed_by_a_rest_of_twenty_times_its_length() {
        let (stands, queue) = channel();
        let mut line = Line::new(&queue);
        stand(&stands, true);
        assert!(line.next(false).is_some());
        line.turn = line.turn.and_then(|since| since.checked_sub(HOUR));
        let now = Instant::now();
        assert!(line.next(false).is_none());
        assert!(line.due >= now + HOUR * PATIENCE);
    }

    #[test]
    fn all_have_their_turn_before_it_ends() {
        let (stands, queue) = channel();
        let mut line = Line::new(&queue);
        line.due += HOUR;
        for behind in [true, false] {
            stand(&stands, behind);
        }
        drop(stands);
        assert!(line.wait());
        assert_eq!(group(&mut line), [false]);
        assert!(line.wait());
        assert_eq!(group(&mut line), [true]);
        assert!(!line.wait());
    }
}

//! A queue that several threads take from, each as soon as it is free.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, PoisonError};

use crate::store::lock;

/// What waits for one of the threads.
pub(super) struct Queue<T> {
    state: Mutex<State<T>>,
    changed: Condvar,
}

struct State<T> {
    waiting: VecDeque<T>,
    /// How many threads wait for something to come: to wake one costs more than to look.
    idle: usize,
    closed: bool,
}

/// The one way into a queue. Nothing more comes when it is dropped.
pub(super) struct Entrance<T>(Arc<Queue<T>>);

/// An empty queue, and the way into it.
pub(super) fn queue<T>() -> (Entrance<T>, Arc<Queue<T>>) {
    let state = State {
        waiting: VecDeque::new(),
        idle: 0,
        closed: false,
    };
    let queue = Arc::new(Queue {
        state: Mutex::new(state),
        changed: Condvar::new(),
    });
    (Entrance(Arc::clone(&queue)), queue)
}

impl<T> Entrance<T> {
    pub(super) fn push(&self, one: T) {
        let mut state = lock(&self.0.state);
        state.waiting.push_back(one);
        let somebody_waits = state.idle > 0;
        drop(state);
        if somebody_waits {
            self.0.changed.notify_one();
        }
    }
}

impl<T> Drop for Entrance<T> {
    fn drop(&mut self) {
        lock(&self.0.state).closed = true;
        self.0.changed.notify_all();
    }
}

impl<T> Queue<T> {
    /// Waits for the next one; `None` when the queue is closed and empty.
    pub(super) fn next(&self) -> Option<T> {
        let mut state = lock(&self.state);
        loop {
            if let Some(next) = state.waiting.pop_front() {
                return Some(next);
            }
            if state.closed {
                return None;
            }
            state.idle += 1;
            let woken = self.changed.wait(state);
            state = woken.unwrap_or_else(PoisonError::into_inner);
            state.idle -= 1;
        }
    }
}

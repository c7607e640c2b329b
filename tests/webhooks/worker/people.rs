//! The members on whose behalf endpoints are told.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use forum_api::async_trait;
use forum_api::host::{Authority, Fault, Forums, Standing, Stored};
use forum_api::model::{ForumId, UserId};
use forum_api::runtime::Runtime;

/// What the board says of a member.
#[derive(Clone, Debug)]
pub(crate) enum Word {
    Sees(Vec<i64>),
    Offline,
    CannotAct,
    Fails,
    Panics,
    SeesAllAfter(Duration),
    NeverSays,
}

/// Members see every forum until something else is said of them.
#[derive(Debug)]
pub(crate) struct People {
    runtime: Arc<dyn Runtime>,
    words: Mutex<HashMap<UserId, Word>>,
    pub(crate) asked: AtomicU32,
}

impl People {
    pub(crate) fn new(runtime: impl Runtime) -> Self {
        Self {
            runtime: Arc::new(runtime),
            words: Mutex::default(),
            asked: AtomicU32::default(),
        }
    }

    pub(crate) fn say(&self, member: i64, word: Word) {
        self.words.lock().unwrap().insert(member.into(), word);
    }
}

#[async_trait]
impl Authority for People {
    async fn guest(&self) -> Stored<Standing> {
        Ok(Standing::new(Forums::none()))
    }

    async fn member(&self, owner: &UserId) -> Stored<Option<Standing>> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        let word = self.words.lock().unwrap().get(owner).cloned();
        match word {
            None => Ok(Some(Standing::new(Forums::all()))),
            Some(Word::Sees(forums)) => {
                let forums = forums.into_iter().map(ForumId::from);
                Ok(Some(Standing::new(Forums::of(forums))))
            }
            Some(Word::Offline) => Ok(Some(Standing::new(Forums::all()).locked_out(true))),
            Some(Word::CannotAct) => Ok(None),
            Some(Word::Fails) => Err(Fault::new("the board is out of reach")),
            Some(Word::Panics) => panic!("the board's own fault"),
            Some(Word::SeesAllAfter(wait)) => {
                self.runtime.sleep(wait).await;
                Ok(Some(Standing::new(Forums::all())))
            }
            Some(Word::NeverSays) => std::future::pending().await,
        }
    }
}

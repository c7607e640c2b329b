//! A board that does what the reference board does, but for one fault.

use std::fmt::Debug;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use forum_api::async_trait;
use forum_api::conformance::{Host, Set, Stage};
use forum_api::host::{Authority, Caller, Fault, Forums, Refusal, Result, Standing, Stored};
use forum_api::model::UserId;
use forum_api::runtime::ManualClock;
use tokio::sync::Mutex;

use super::plant::Plant;
use super::sound::Sound;
use super::twist::{Memory, Question, Twist};

/// A kind of board that has this fault.
pub struct Broken(pub &'static Plant);

#[async_trait]
impl Host for Broken {
    async fn empty(&self, clock: Arc<ManualClock>) -> Set<Box<dyn Stage>> {
        Ok(Box::new(Faulty(Arc::new(Inner {
            sound: Sound::new(clock).await?,
            plant: self.0,
            memory: Mutex::default(),
            under_way: AtomicUsize::new(0),
        }))))
    }
}

/// The board itself, which is its own stage.
#[derive(Clone)]
pub struct Faulty(Arc<Inner>);

struct Inner {
    sound: Sound,
    plant: &'static Plant,
    memory: Mutex<Memory>,
    /// How many questions that the fault is about are being answered.
    under_way: AtomicUsize,
}

impl Faulty {
    pub fn sound(&self) -> &Sound {
        &self.0.sound
    }

    pub fn plant(&self) -> &'static Plant {
        self.0.plant
    }

    /// The answer of a command that goes wrong like this. One question is answered after the other, so that the first of
    /// a race is the first to be answered as well.
    pub async fn twisted<Q, A, F>(
        &self,
        twist: &Twist<Q, A>,
        by: Caller,
        it: Q,
        ask: impl Fn(Caller, Q) -> F + Send + Sync,
    ) -> Result<A>
    where
        Q: Clone + Debug + Send + Sync,
        A: Clone + Send,
        F: Future<Output = Result<A>> + Send,
    {
        let racing = self.0.under_way.fetch_add(1, Ordering::Relaxed) > 0;
        let mut memory = self.0.memory.lock().await;
        let question = Question { by, it, racing };
        let answer = twist.apply(self.sound(), &mut memory, question, ask).await;
        self.0.under_way.fetch_sub(1, Ordering::Relaxed);
        answer
    }

    async fn standing(&self, user: Option<&UserId>) -> Stored<Option<Standing>> {
        let ask = |_, (user,): (Option<UserId>,)| async move {
            let authority = &self.sound().authority;
            Ok(match user {
                Some(user) => authority.member(&user).await?,
                None => Some(authority.guest().await?),
            })
        };
        let nobody = Caller::Guest(Standing::new(Forums::none()));
        let standing = match self.plant() {
            Plant::Standing(twist) => {
                let user = (user.cloned(),);
                self.twisted(twist, nobody, user, ask).await
            }
            _ => ask(nobody, (user.cloned(),)).await,
        };
        standing.map_err(|refusal: Refusal| Fault::new(format!("{refusal:?}")))
    }
}

#[async_trait]
impl Authority for Faulty {
    async fn guest(&self) -> Stored<Standing> {
        Ok(self.standing(None).await?.unwrap())
    }

    async fn member(&self, owner: &UserId) -> Stored<Option<Standing>> {
        self.standing(Some(owner)).await
    }
}

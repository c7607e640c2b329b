//! The ways in which a command goes wrong: what happens to a question before the board hears it, or to its answer.

use std::any::Any;
use std::collections::HashMap;
use std::fmt::Debug;

use forum_api::host::{Caller, Refusal, Result};
use forum_api::runtime::BoxFuture;

use super::sound::Sound;

/// What somebody asks a command for.
#[derive(Clone, Debug)]
pub struct Question<Q> {
    /// Who asks.
    pub by: Caller,
    /// The arguments.
    pub it: Q,
    /// Whether another one was under way when it came.
    pub racing: bool,
}

/// What is wrong with a command.
pub enum Twist<Q: 'static, A: 'static> {
    /// The board hears another question.
    Ask(fn(&mut Question<Q>)),
    /// The board hears it as an administrator's.
    AsRoot,
    /// What is granted is told otherwise.
    Granted(fn(&mut A, &Question<Q>)),
    /// What is refused is refused otherwise.
    Refused(fn(&mut Refusal)),
    /// The answer is another one.
    Answer(fn(&mut Result<A>, &Question<Q>)),
    /// The board hears nothing, and this is the answer.
    Made(fn(&Question<Q>) -> Result<A>),
    /// What is refused like this is done as an administrator's.
    Forced(fn(&Refusal, &Question<Q>) -> bool),
    /// What is refused like this gets the last answer that was granted, to whatever question.
    Repeats(fn(&Refusal, &Question<Q>) -> bool),
    /// Somebody is told of it who is not to be.
    Tells(fn(&Result<A>, &Question<Q>) -> bool),
    /// The first answer to a question is the last one, too.
    Stale,
    /// Something else is done.
    Instead(for<'a> fn(&'a Sound, &'a Question<Q>) -> BoxFuture<'a, Result<A>>),
}

/// What a faulty board remembers of one command: answers, by what was asked.
pub type Memory = HashMap<String, Box<dyn Any + Send>>;

impl<Q, A> Twist<Q, A>
where
    Q: Clone + Debug + Send + Sync,
    A: Clone + Send,
{
    /// What comes of `question` where the command goes wrong like this, and would otherwise be what `ask` does.
    pub async fn apply<F: Future<Output = Result<A>> + Send>(
        &self,
        sound: &Sound,
        memory: &mut Memory,
        mut question: Question<Q>,
        ask: impl Fn(Caller, Q) -> F + Send + Sync,
    ) -> Result<A> {
        let put = |question: Question<Q>| ask(question.by, question.it);
        match self {
            Self::Made(make) => make(&question),
            Self::Instead(act) => act(sound, &question).await,
            Self::AsRoot => put(sound.roots(question).await?).await,
            Self::Ask(spoil) => {
                spoil(&mut question);
                put(question).await
            }
            Self::Stale => {
                let key = format!("{:?} {:?}", question.by.user(), question.it);
                match recalled(memory, &key) {
                    Some(answer) => Ok(answer),
                    None => noted(memory, key, put(question).await),
                }
            }
            _ => {
                let answer = put(question.clone()).await;
                self.spoil(sound, memory, question, answer, put).await
            }
        }
    }

    async fn spoil<F: Future<Output = Result<A>> + Send>(
        &self,
        sound: &Sound,
        memory: &mut Memory,
        question: Question<Q>,
        answer: Result<A>,
        put: impl Fn(Question<Q>) -> F + Send + Sync,
    ) -> Result<A> {
        match (self, answer) {
            (Self::Granted(spoil), Ok(mut answer)) => {
                spoil(&mut answer, &question);
                Ok(answer)
            }
            (Self::Refused(spoil), Err(mut refusal)) => {
                spoil(&mut refusal);
                Err(refusal)
            }
            (Self::Answer(spoil), mut answer) => {
                spoil(&mut answer, &question);
                answer
            }
            (Self::Forced(these), Err(refusal)) if these(&refusal, &question) => {
                put(sound.roots(question).await?).await
            }
            (Self::Repeats(these), Err(refusal)) if these(&refusal, &question) => {
                recalled(memory, LAST).ok_or(refusal)
            }
            (Self::Tells(these), answer) => {
                if these(&answer, &question) {
                    sound.tell();
                }
                answer
            }
            (Self::Repeats(_), answer) => noted(memory, LAST.into(), answer),
            (_, answer) => answer,
        }
    }
}

const LAST: &str = "the last one";

fn recalled<A: Clone + 'static>(memory: &Memory, key: &str) -> Option<A> {
    memory.get(key)?.downcast_ref().cloned()
}

fn noted<A: Clone + Send + 'static>(
    memory: &mut Memory,
    key: String,
    answer: Result<A>,
) -> Result<A> {
    if let Ok(answer) = &answer {
        memory.insert(key, Box::new(answer.clone()));
    }
    answer
}

//! What a board answered, held against what it should have.

use std::fmt::Debug;

use super::forum_scoped::Placed;
use super::suite::Ground;
use super::{Part, Stop, Verdict};
use crate::host::{Refusal, Result, Standing};
use crate::model::ForumId;

/// A command of the board that was carried out, or refused.
#[derive(Debug)]
#[must_use = "say what was expected"]
pub struct Asked<T> {
    what: String,
    reply: Result<T>,
}

impl<T: Placed + Debug> Asked<T> {
    /// What was `asked` of the board, and its reply to a caller with this standing.
    ///
    /// A reply with anything that the standing does not cover breaks the rule, whichever it is: the library would drop
    /// it, and log it as the host's fault. So does a failure, and a command that is not written and not named as lacked.
    pub(crate) fn new(
        ground: &Ground,
        (what, part): (String, Part),
        standing: &Standing,
        reply: Result<T>,
    ) -> Verdict<Self> {
        let asked = Self { what, reply };
        match asked.reply {
            Err(Refusal::NotImplemented) => {
                ground.needs(part)?;
                asked.otherwise("it is written, or `Host::lacks` says that it is not")
            }
            Err(Refusal::Failed(_)) => asked.otherwise("no failure"),
            Ok(ref reply) => match hidden(reply, standing) {
                Some(forum) => {
                    let expected = format!("nothing in forum {forum}, which the caller cannot see");
                    asked.otherwise(&expected)
                }
                None => Ok(asked),
            },
            _ => Ok(asked),
        }
    }

    /// It was carried out.
    pub fn granted(self) -> Verdict<T> {
        match self.reply {
            Ok(reply) => Ok(reply),
            Err(refusal) => Err(Stop::broken(
                self.what,
                format_args!("{refusal:?}"),
                "an answer",
            )),
        }
    }

    /// What the path names is not there for the caller.
    pub fn absent(self) -> Verdict {
        match self.reply {
            Err(Refusal::Absent) => Ok(()),
            _ => self.otherwise("Refusal::Absent"),
        }
    }

    /// The caller sees it, and may not do this to it.
    pub fn forbidden(self) -> Verdict {
        match self.reply {
            Err(Refusal::Forbidden(_)) => Ok(()),
            _ => self.otherwise("Refusal::Forbidden"),
        }
    }

    /// It is carried out if the caller `may`, and forbidden otherwise.
    pub(crate) fn granted_if(self, may: bool) -> Verdict {
        match may {
            true => self.granted().map(drop),
            false => self.forbidden(),
        }
    }

    /// The caller's account can no longer act: the board says either that they may not, or that there is nothing.
    pub fn barred(self) -> Verdict {
        match self.reply {
            Err(Refusal::Absent | Refusal::Forbidden(_)) => Ok(()),
            _ => self.otherwise("Refusal::Forbidden or Refusal::Absent"),
        }
    }

    /// What the body names is not there, or the subscription is not.
    pub fn not_found(self) -> Verdict {
        match self.reply {
            Err(Refusal::NotFound(_)) => Ok(()),
            _ => self.otherwise("Refusal::NotFound"),
        }
    }

    /// It was changed underneath, or is done already.
    pub fn conflict(self) -> Verdict {
        match self.reply {
            Err(Refusal::Conflict(_)) => Ok(()),
            _ => self.otherwise("Refusal::Conflict"),
        }
    }

    /// The board refuses the contents of this `expected` field.
    pub fn invalid(self, expected: &str) -> Verdict {
        match &self.reply {
            Err(Refusal::Invalid { field, .. }) if *field == expected => Ok(()),
            _ => self.otherwise(&format!("Refusal::Invalid, of the field `{expected}`")),
        }
    }

    /// This query parameter cannot be used.
    pub fn unusable(self, parameter: &str) -> Verdict {
        match &self.reply {
            Err(Refusal::Unusable(name, _)) if *name == parameter => Ok(()),
            _ => self.otherwise(&format!("Refusal::Unusable, of `{parameter}`")),
        }
    }

    /// It is a page, or `after` cannot be used: a place that no list gave is no failure.
    pub fn page_or_unusable(self) -> Verdict {
        match &self.reply {
            Ok(_) | Err(Refusal::Unusable("after", _)) => Ok(()),
            _ => self.otherwise("a page, or Refusal::Unusable, of `after`"),
        }
    }

    /// It was too much at once.
    pub fn too_fast(self) -> Verdict {
        match self.reply {
            Err(Refusal::TooFast(..)) => Ok(()),
            _ => self.otherwise("Refusal::TooFast"),
        }
    }

    /// What the board said, for a rule that several answers keep.
    pub fn reply(self) -> (String, Result<T>) {
        (self.what, self.reply)
    }

    fn otherwise<U>(self, expected: &str) -> Verdict<U> {
        Err(Stop::broken(
            self.what,
            format_args!("{:?}", self.reply),
            expected,
        ))
    }
}

/// A forum in `reply` that the caller does not see.
fn hidden(reply: &impl Placed, standing: &Standing) -> Option<ForumId> {
    let mut forums = reply.forums().into_iter();
    let hidden = forums.find(|forum| !standing.forums().contains(forum));
    hidden.cloned()
}

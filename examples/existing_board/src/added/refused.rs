//! Added: which refusal of the form is which of the API.

use forum_api::host::{Fault, Refusal};

use crate::before::Refused;

impl From<Refused> for Refusal {
    fn from(refused: Refused) -> Self {
        let text = refused.to_string();
        match refused {
            Refused::NoTopic => Self::Absent,
            Refused::Banned | Refused::Locked => Self::Forbidden(text),
            Refused::Empty | Refused::TooLong => Self::invalid("body", text),
            Refused::TooSoon(left) => Self::TooFast(text, Some(left)),
            Refused::Failed(source) => Self::Failed(source),
        }
    }
}

impl From<Refused> for Fault {
    fn from(refused: Refused) -> Self {
        Self::new(refused)
    }
}

//! Numbers of a period on the usage page.

use maud::{Markup, html};

use super::components::number;
use super::intervals::Period;

/// A number of the period, and the same number of the period before.
pub(super) struct Figure {
    pub(super) name: &'static str,
    /// Id of the section with the parts of the number.
    pub(super) section: &'static str,
    pub(super) count: u64,
    /// `None` if there is no data of the period before, or it is incomplete.
    pub(super) before: Option<u64>,
}

impl Figure {
    /// Describes the difference to the period before.
    fn change(&self, period: &Period) -> String {
        let before = format!("than in the {} before", period.name);
        match self.before {
            None => "no data before".into(),
            Some(count) if self.count > count => {
                format!("{} more {before}", number(self.count - count))
            }
            Some(count) if self.count < count => {
                format!("{} fewer {before}", number(count - self.count))
            }
            Some(_) => "–".into(),
        }
    }

    /// Renders the number, with a link to its section if the page has API requests.
    pub(super) fn render(&self, period: &Period, has_requests: bool) -> Markup {
        let count = number(self.count);
        html! {
            div {
                dt { (self.name) }
                dd {
                    strong {
                        @if has_requests || self.section == "deliveries" { a href={ "#" (self.section) } { (count) } } @else { (count) }
                    }
                    small { (self.change(period)) }
                }
            }
        }
    }
}

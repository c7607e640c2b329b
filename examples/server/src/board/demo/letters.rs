//! What people write to each other alone.

/// A private message that asks for a receipt.
#[derive(Debug)]
pub(super) struct Letter {
    pub(super) from: &'static str,
    pub(super) to: &'static str,
    pub(super) days_ago: u32,
    pub(super) subject: &'static str,
    pub(super) body: &'static str,
}

/// All of them, unread.
pub(super) const ALL: [Letter; 1] = [Letter {
    from: "alice",
    to: "bob",
    days_ago: 2,
    subject: "Your dynamo",
    body: "My neighbour has a 27 inch tyre, hardly used, and would trade it for your **working** dynamo.\n\nShall I bring \
it to the river?",
}];

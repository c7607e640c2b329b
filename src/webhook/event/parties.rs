//! Parties of a private message, read from the body of its event.

use serde::Deserialize;

use super::Event;
use crate::model::UserId;
use crate::webhook::Topic;

#[derive(Deserialize)]
struct Body {
    data: Data,
}

#[derive(Deserialize)]
struct Data {
    message: Parties,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Parties {
    sender_id: UserId,
    recipient_ids: Vec<UserId>,
}

impl Event {
    /// Checks that `member` may receive the event as far as it depends on the member alone. `message.sent` concerns its
    /// sender and its recipients; every other topic concerns everyone (contract, section 8).
    ///
    /// The parties are those that the body names. A `message.sent` without them concerns no member.
    #[cfg_attr(not(feature = "webhooks"), allow(dead_code))]
    pub(crate) fn concerns(&self, member: &UserId) -> bool {
        if self.topic != Topic::MESSAGE_SENT {
            return true;
        }
        let body: Result<Body, _> = serde_json::from_str(&self.body);
        body.is_ok_and(|Body { data }| {
            let Parties {
                sender_id,
                recipient_ids,
            } = data.message;
            sender_id == *member || recipient_ids.contains(member)
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::Event;
    use crate::model::{MessageId, UserId};
    use crate::webhook::Topic;
    use crate::webhook::event::examples::occasion;

    fn concerned(event: &Event) -> Vec<i64> {
        let mut members = 1..=4;
        let concerned = members
            .by_ref()
            .filter(|member| event.concerns(&UserId::from(*member)));
        concerned.collect()
    }

    #[test]
    fn a_private_message_concerns_its_sender_and_its_recipients() {
        let (message, sender) = (MessageId::from(4), UserId::from(1));
        let to = [3, 4].map(UserId::from);
        let sent = Event::message_sent(occasion(), &message, &sender, &to);
        assert_eq!(concerned(&sent), [1, 3, 4]);
    }

    #[test]
    fn a_private_message_whose_parties_are_not_in_the_body_concerns_no_member() {
        for data in [
            json!({}),
            json!({ "message": { "messageId": "4", "recipientIds": ["1"] } }),
            json!({ "message": { "senderId": 1, "recipientIds": ["1"] } }),
            json!({ "senderId": "1", "recipientIds": ["1"] }),
        ] {
            let event = Event::new(Topic::MESSAGE_SENT, occasion(), None, &data);
            assert!(concerned(&event).is_empty(), "{data}");
        }
        let many: Vec<_> = (1..100_000).map(UserId::from).collect();
        let truncated =
            Event::message_sent(occasion(), &MessageId::from(4), &UserId::from(1), &many);
        assert!(concerned(&truncated).is_empty());
    }

    #[test]
    fn other_topics_concern_every_member() {
        let event = Event::new(Topic::MEMBER_RATED, occasion(), None, &json!({}));
        assert_eq!(concerned(&event), [1, 2, 3, 4]);
    }
}

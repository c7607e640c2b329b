//! Endpoints.

use std::collections::BTreeSet;

use super::Shelf;
use super::delivery_fixture::{endpoint, endpoint_id};
use super::store_fixture::at;
use super::{Stop, Verdict, equal};
use crate::model::UserId;
use crate::webhook::{Endpoint, KeyId, Pending, Sealed, Topic, Topics};

store_rules!(
    mod endpoints;

    /// Every field comes back as it was added.
    async fn what_is_added_is_found_whole(shelf: &Shelf) -> Verdict {
        let every_field = Endpoint {
            url: "http://ex\u{e4}mple.com:8443/a?b='c'".into(),
            topics: Topics {
                all: true,
                named: BTreeSet::from([Topic::MESSAGE_SENT, Topic::PING]),
            },
            owner: UserId::new("a_Member-01").unwrap_or(UserId::from(4)),
            enabled: false,
            created_at: at(-5),
            secret: Sealed::new((0..=255).collect()),
            pending: Some(Pending {
                secret: Sealed::new(vec![0]),
                from: at(9),
            }),
            version: 3,
            ..endpoint(2)?
        };
        let no_topic = Endpoint {
            topics: Topics {
                all: false,
                named: BTreeSet::new(),
            },
            secret: Sealed::new(Vec::new()),
            ..endpoint(3)?
        };
        for (number, endpoint) in (1..).zip([endpoint(1)?, every_field, no_topic]) {
            shelf.webhooks.endpoints.add(&endpoint).await?;
            equal("the endpoint", found(shelf, number).await?, Some(endpoint))?;
        }
        Ok(())
    }

    /// The second endpoint with an id is refused, and changes nothing.
    async fn an_id_is_taken_once(shelf: &Shelf) -> Verdict {
        let first = shelf.add(1).await?;
        let second = Endpoint {
            url: "https://example.org".into(),
            ..endpoint(1)?
        };
        let added = shelf.webhooks.endpoints.add(&second).await?;
        equal("whether the second was added", added, false)?;
        equal("the endpoint", found(shelf, 1).await?, Some(first))
    }

    /// What was never added is absent, which is no error.
    async fn what_was_never_added_is_absent(shelf: &Shelf) -> Verdict {
        shelf.add(1).await?;
        let endpoints = &shelf.webhooks.endpoints;
        equal("the endpoint", found(shelf, 2).await?, None)?;
        let removed = endpoints.remove(&endpoint_id(2)?).await?;
        equal("whether it was removed", removed, false)?;
        let changed = endpoints.update(&endpoint(2)?).await?;
        equal("whether it was changed", changed, false)
    }

    /// A change is made to the version that it was made from, and to no other one.
    async fn a_change_takes_the_place_of_what_it_was_made_from(shelf: &Shelf) -> Verdict {
        let first = shelf.add(1).await?;
        shelf.add(2).await?;
        let changed = Endpoint {
            url: "https://example.org".into(),
            topics: Topics {
                all: false,
                named: BTreeSet::from([Topic::POLL_VOTED]),
            },
            enabled: false,
            secret: Sealed::new(vec![8; 16]),
            ..first.clone()
        };
        let endpoints = &shelf.webhooks.endpoints;
        for (endpoint, expected) in [(&changed, true), (&first, false), (&changed, false)] {
            let updated = endpoints.update(endpoint).await?;
            equal("whether it was changed", updated, expected)?;
        }
        let successor = Endpoint {
            version: 2,
            ..changed
        };
        equal("the endpoint", found(shelf, 1).await?, Some(successor))?;
        equal("the other one", found(shelf, 2).await?, Some(endpoint(2)?))
    }

    /// Of any number of changes that were made from one version, one is made.
    async fn of_changes_at_once_one_is_made(shelf: &Shelf) -> Verdict {
        let endpoint = shelf.add(1).await?;
        let works = (0..20).map(|number| {
            let endpoints = shelf.webhooks.endpoints.clone();
            let endpoint = Endpoint {
                url: format!("https://example.org/{number}"),
                ..endpoint.clone()
            };
            async move { Ok::<_, Stop>((endpoints.update(&endpoint).await?, endpoint.url)) }
        });
        let mut made = Vec::new();
        for one in shelf.race(works).await {
            let (is_made, url) = one?;
            made.extend(is_made.then_some(url));
        }
        equal("how many were made", made.len(), 1)?;
        let found = found(shelf, 1).await?;
        let told = found.map(|endpoint| (endpoint.url, endpoint.version));
        equal("the endpoint", told, made.pop().map(|url| (url, 2)))
    }

    /// What was removed is neither found nor listed nor changed.
    async fn what_is_removed_is_away(shelf: &Shelf) -> Verdict {
        let (removed, other) = (shelf.add(1).await?, shelf.add(2).await?);
        let endpoints = &shelf.webhooks.endpoints;
        for expected in [true, false] {
            let away = endpoints.remove(&removed.id).await?;
            equal("whether it was removed", away, expected)?;
        }
        let changed = endpoints.update(&removed).await?;
        equal("whether it was changed", changed, false)?;
        equal("the endpoint", found(shelf, 1).await?, None)?;
        equal("all", endpoints.all().await?, vec![other])
    }

    /// All come in the order in which they were added, changed or not.
    async fn all_come_in_the_order_in_which_they_were_added(shelf: &Shelf) -> Verdict {
        let mut added = Vec::new();
        for number in [7, 3, 9, 1] {
            added.push(shelf.add(number).await?);
        }
        let endpoints = &shelf.webhooks.endpoints;
        for endpoint in &mut added {
            endpoints.update(endpoint).await?;
            endpoint.version = 2;
        }
        equal("all", endpoints.all().await?, added)
    }

    /// The id of the key is absent at first, and is replaced only by a call that names the recorded one.
    async fn a_key_is_recorded_in_the_place_of_the_former_one(shelf: &Shelf) -> Verdict {
        let endpoints = &shelf.webhooks.endpoints;
        let (first, second) = (key("plaintext")?, key("a_Key-02")?);
        equal("the first key", endpoints.key_id().await?, None)?;
        for (former, new, expected) in [
            (Some(&first), &second, false),
            (None, &first, true),
            (None, &second, false),
            (Some(&second), &second, false),
            (Some(&first), &second, true),
        ] {
            let before = endpoints.key_id().await?;
            let replaced = endpoints.replace_key(former, new, &[]).await?;
            equal("whether it was recorded", replaced, expected)?;
            let after = if expected { Some(new.clone()) } else { before };
            equal("the key", endpoints.key_id().await?, after)?;
        }
        Ok(())
    }

    /// The key and the secrets of all given endpoints are replaced together, if each is stored in its version.
    async fn a_key_is_replaced_with_the_secrets_or_not_at_all(shelf: &Shelf) -> Verdict {
        let endpoints = &shelf.webhooks.endpoints;
        let (first, second) = (key("first")?, key("second")?);
        let pending = Endpoint {
            pending: Some(Pending {
                secret: Sealed::new(vec![0xff; 3]),
                from: at(9),
            }),
            ..endpoint(2)?
        };
        let (one, other) = (shelf.add(1).await?, shelf.add(3).await?);
        endpoints.add(&pending).await?;
        let changed = |endpoint: &Endpoint| Endpoint {
            secret: Sealed::new(vec![0xfe; 64]),
            pending: endpoint.pending.clone().map(|pending| Pending {
                secret: Sealed::new(vec![0]),
                ..pending
            }),
            ..endpoint.clone()
        };
        let stale = Endpoint {
            version: 2,
            ..changed(&pending)
        };
        let absent = changed(&endpoint(4)?);
        for unfit in [stale, absent] {
            let given = [changed(&one), unfit];
            let replaced = endpoints.replace_key(None, &first, &given).await?;
            equal("whether the key was replaced", replaced, false)?;
            equal("the key", endpoints.key_id().await?, None)?;
            equal("the endpoint", found(shelf, 1).await?, Some(one.clone()))?;
        }
        let given = [changed(&one), changed(&pending)];
        let replaced = endpoints.replace_key(None, &second, &given).await?;
        equal("whether the key was replaced", replaced, true)?;
        equal("the key", endpoints.key_id().await?, Some(second))?;
        for (number, given) in (1..).zip(given) {
            let successor = Endpoint {
                version: 2,
                ..given
            };
            equal("the endpoint", found(shelf, number).await?, Some(successor))?;
        }
        equal("the other one", found(shelf, 3).await?, Some(other))
    }
);

async fn found(shelf: &Shelf, number: u64) -> Verdict<Option<Endpoint>> {
    let id = endpoint_id(number)?;
    Ok(shelf.webhooks.endpoints.find(&id).await?)
}

fn key(text: &str) -> Verdict<KeyId> {
    KeyId::new(text).ok_or_else(|| Stop::broken(text, "is no id of a key", "one"))
}

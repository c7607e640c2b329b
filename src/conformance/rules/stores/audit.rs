//! The audit log.

use std::net::{IpAddr, Ipv6Addr};

use super::*;
use crate::audit::{AuditAction, AuditActor, AuditEntry};
use crate::model::{AuditEntryId, UserId};
use crate::store::{AuditFilter, AuditRecord};
use crate::webhook::{DeliveryState, KeyId};

store_rules! {
    mod audit, __rules_audit;

    /// An inserted entry is listed with all fields unchanged.
    async fn an_entry_is_listed_unchanged(fixture: &StoreFixture) -> TestResult {
        let address = Some(IpAddr::V6(Ipv6Addr::LOCALHOST));
        let by_member = AuditEntry {
            actor: AuditActor::panel(UserId::parse("a_Member-01")?, address),
            target: "\u{e4} 'b'".into(),
            details: "label \"x\"; ☎".into(),
            ..entry(1)
        };
        let by_command = AuditEntry { actor: AuditActor::command_line(Some("root".into())), ..entry(2) };
        let all = [by_command, by_member];
        for entry in all.iter().rev() {
            fixture.stores.audit.insert(entry).await?;
        }
        let listed = list(fixture, &AuditFilter::default()).await?;
        check!(listed.iter().all(|record| record.count == 1))?;
        check_eq!(listed.into_iter().map(|record| record.entry).collect::<Vec<_>>(), all)
    }

    /// Control characters are stored as spaces, and long texts are truncated.
    async fn texts_are_stored_as_single_lines_of_limited_length(fixture: &StoreFixture) -> TestResult {
        let entry = AuditEntry { target: "a\0b\n".into(), details: "é".repeat(2_000), ..entry(1) };
        fixture.stores.audit.insert(&entry).await?;
        let listed = only(list(fixture, &AuditFilter::default()).await?)?.entry;
        check_eq!((listed.target, listed.details), ("a b ".into(), "é".repeat(1_000)))
    }

    /// Entries are listed newest first, filtered by actor, action and target. Pages have neither gaps nor overlaps.
    async fn entries_are_listed_newest_first(fixture: &StoreFixture) -> TestResult {
        let mut all = Vec::new();
        for number in 0..24 {
            let actor = AuditActor::panel(UserId::from(number % 2), None);
            let action = if number % 3 == 0 { AuditAction::TOKEN_ISSUED } else { AuditAction::TOKEN_REVOKED };
            let entry = AuditEntry { actor, action, target: (number % 4).to_string(), ..entry(number) };
            fixture.stores.audit.insert(&entry).await?;
            all.insert(0, entry);
        }
        for actor in [None, Some(UserId::from(1))] {
            for action in [None, Some(AuditAction::TOKEN_REVOKED)] {
                for target in [None, Some("3".to_owned())] {
                    let (actor, action) = (actor.clone(), action.clone());
                    let filter = AuditFilter { actor, action, target, limit: 5, ..AuditFilter::default() };
                    let expected = all.iter().filter(|one| {
                        filter.actor.as_ref().is_none_or(|actor| one.actor.user_id.as_ref() == Some(actor))
                            && filter.action.as_ref().is_none_or(|action| one.action == *action)
                            && filter.target.as_ref().is_none_or(|target| one.target == *target)
                    });
                    let listed = list_pages(fixture, filter.clone()).await?;
                    check_eq!(listed, expected.cloned().collect::<Vec<_>>(), "{filter:?}")?;
                }
            }
        }
        let id = all.get(7).map(|entry| entry.id.clone());
        let one = fixture.stores.audit.list(&AuditFilter { id: id.clone(), ..AuditFilter::default() }).await?;
        check_eq!(one.into_iter().map(|record| record.entry.id).collect::<Vec<_>>(), Vec::from_iter(id), "the entry of an id")?;
        let newest = fixture.stores.audit.list(&AuditFilter::default()).await?;
        check_eq!(newest.into_iter().map(|record| record.entry).collect::<Vec<_>>(), all, "entries of the default filter")
    }

    /// Changes of tokens and of endpoints are in one list, ordered by their times and then by their ids, also if the stores
    /// of tokens and of webhooks are in different databases. Pages have neither gaps nor overlaps.
    async fn changes_of_tokens_and_endpoints_are_listed_in_their_order(fixture: &StoreFixture) -> TestResult {
        let tokens = &fixture.stores.tokens;
        let endpoints = &fixture.webhooks.endpoints;
        check!(tokens.create(&token(1)?, &entry(0)).await?)?;
        let mut expected = vec![0];
        for number in 1..10 {
            // Two changes have the same time.
            let entry = AuditEntry { occurred_at: instant((number + 1) / 2), ..entry(number) };
            match number % 2 {
                0 => check!(tokens.set_label(&lookup(1)?, &number.to_string(), &entry).await?)?,
                _ => check!(endpoints.add(&endpoint(number.unsigned_abs())?, &entry).await?)?,
            }
            expected.insert(0, number);
        }
        let listed = list_pages(fixture, AuditFilter { limit: 3, ..AuditFilter::default() }).await?;
        let numbers: Vec<_> = listed.iter().map(number_of).collect();
        check_eq!(numbers, expected)
    }

    /// Inserting an entry with a stored id increments the count of the stored entry.
    async fn an_entry_with_a_known_id_is_counted(fixture: &StoreFixture) -> TestResult {
        for _ in 0..3 {
            fixture.stores.audit.insert(&entry(1)).await?;
        }
        expect_count(fixture, 1, 3).await
    }

    /// Creating and revoking a token, changing its label and purging tokens write an entry. A rejected creation, a change
    /// of an unknown token, a change without effect and a purge that removes no token do not.
    async fn changes_of_tokens_write_their_entries(fixture: &StoreFixture) -> TestResult {
        let tokens = &fixture.stores.tokens;
        check!(tokens.create(&token(1)?, &entry(1)).await?)?;
        check!(!tokens.create(&token(1)?, &entry(2)).await?)?;
        check!(tokens.revoke(&lookup(1)?, instant(0), &entry(3)).await?)?;
        check!(!tokens.revoke(&lookup(2)?, instant(0), &entry(4)).await?)?;
        check!(tokens.revoke(&lookup(1)?, instant(0), &entry(9)).await?)?;
        check!(tokens.set_label(&lookup(1)?, "x", &entry(7)).await?)?;
        check!(!tokens.set_label(&lookup(2)?, "x", &entry(8)).await?)?;
        check!(tokens.set_label(&lookup(1)?, "x", &entry(10)).await?)?;
        check_eq!(tokens.purge(instant(0), 1, &entry(5)).await?, 0)?;
        check_eq!(tokens.purge(instant(1), 1, &entry(6)).await?, 1)?;
        expect_entries(fixture, &[7, 6, 3, 1]).await
    }

    /// Changes of endpoints and of the key write their entries. Rejected changes write no entries.
    async fn changes_of_endpoints_write_their_entries(fixture: &StoreFixture) -> TestResult {
        let endpoints = &fixture.webhooks.endpoints;
        let endpoint = endpoint(1)?;
        check!(endpoints.add(&endpoint, &entry(1)).await?)?;
        check!(!endpoints.add(&endpoint, &entry(2)).await?)?;
        check!(endpoints.update(&endpoint, &entry(3)).await?)?;
        check!(!endpoints.update(&endpoint, &entry(4)).await?)?;
        let key = KeyId::parse("a_Key-02")?;
        check!(!endpoints.replace_key(Some(&key), &key, &[], Some(&entry(5))).await?)?;
        check!(endpoints.replace_key(None, &key, &[], Some(&entry(6))).await?)?;
        check!(endpoints.remove(&endpoint.id, &entry(7)).await?)?;
        check!(!endpoints.remove(&endpoint.id, &entry(8)).await?)?;
        expect_entries(fixture, &[7, 6, 3, 1]).await
    }

    /// Retries and removals of deliveries write their entries, with the number of deliveries of all batches.
    async fn changes_of_deliveries_write_their_entries(fixture: &StoreFixture) -> TestResult {
        let deliveries = &fixture.webhooks.deliveries;
        let endpoint = fixture.add_endpoint(1).await?;
        let [first, ..] = &fixture.finish_all::<4>(&endpoint, DeliveryState::Dead).await?;
        check!(deliveries.retry(first, instant(1), &entry(2)).await?)?;
        check!(!deliveries.retry(first, instant(1), &entry(3)).await?)?;
        for expected in [2, 1, 0] {
            check_eq!(deliveries.retry_dead(&endpoint.id, instant(1), 2, &entry(4)).await?, expected)?;
        }
        check!(deliveries.remove(first, &entry(5)).await?)?;
        check!(!deliveries.remove(first, &entry(6)).await?)?;
        expect_count(fixture, 4, 3).await?;
        // Adding the endpoint wrote the first entry.
        check_eq!(list(fixture, &AuditFilter::default()).await?.len(), 4)?;
        check!(numbers(fixture).await?.starts_with(&[5, 4, 2]))
    }
}

fn entry(number: i64) -> AuditEntry {
    AuditEntry {
        id: AuditEntryId::from_valid_text(format!("aud_{}", number + 100)),
        occurred_at: instant(number),
        actor: AuditActor::SYSTEM,
        action: AuditAction::TOKEN_ISSUED,
        target: String::new(),
        details: String::new(),
    }
}

async fn list(fixture: &StoreFixture, filter: &AuditFilter) -> TestResult<Vec<AuditRecord>> {
    let filter = with(filter.clone(), |filter| filter.limit = 99);
    Ok(fixture.stores.audit.list(&filter).await?)
}

/// Lists the entries of up to nine pages.
async fn list_pages(
    fixture: &StoreFixture,
    mut filter: AuditFilter,
) -> TestResult<Vec<AuditEntry>> {
    let mut listed = Vec::new();
    for _ in 0..9 {
        let page = fixture.stores.audit.list(&filter).await?;
        listed.extend(page.into_iter().map(|record| record.entry));
        let last = listed.last().cloned();
        filter.after = last.map(|entry| (entry.occurred_at, entry.id));
    }
    Ok(listed)
}

/// Returns the numbers of the listed [`entry`]s.
async fn numbers(fixture: &StoreFixture) -> TestResult<Vec<i64>> {
    let listed = list(fixture, &AuditFilter::default()).await?;
    Ok(listed.iter().map(|record| number_of(&record.entry)).collect())
}

/// Returns the number of an [`entry`], or -100 for another one.
fn number_of(entry: &AuditEntry) -> i64 {
    let id = entry.id.to_string();
    id.trim_start_matches("aud_").parse::<i64>().unwrap_or_default() - 100
}

async fn expect_entries(fixture: &StoreFixture, expected: &[i64]) -> TestResult {
    check_eq!(numbers(fixture).await?, expected)
}

/// Expects the number of records of the entry with this number.
async fn expect_count(fixture: &StoreFixture, number: i64, expected: u64) -> TestResult {
    let listed = list(fixture, &AuditFilter::default()).await?;
    let id = entry(number).id;
    let mut listed = listed.into_iter();
    let found = listed.find(|record| record.entry.id == id);
    check_eq!(found.map(|record| record.count), Some(expected))
}

//! The list of forums, its tree and its counts.

use std::collections::BTreeMap;
use std::fmt::Display;

use serde_json::{Value, json};

use super::*;

board_rules! {
    mod forums, __rules_forums;

    /// Parents come before their children. Siblings are in the order of their positions, which start at 1.
    async fn parents_come_before_children_by_position(suite: &Suite) -> TestResult {
        let [first, second] = suite.two_forums().await?;
        let last = suite.sub_forum(&second, Audience::Guests).await?;
        let inner = suite.sub_forum(&first, Audience::Guests).await?;
        let other = suite.sub_forum(&first, Audience::Guests).await?;
        let deepest = suite.sub_forum(&inner, Audience::Guests).await?;
        let alice = suite.member("alice").await?;
        for (forum, parent, position) in [
            (&first, None, 1),
            (&second, None, 2),
            (&last, Some(&second), 1),
            (&inner, Some(&first), 1),
            (&other, Some(&first), 2),
            (&deepest, Some(&inner), 1),
        ] {
            let actual = alice.fetch_forum(forum).await?;
            let place = (actual.parent_id.as_ref(), actual.position);
            check_eq!(place, (parent, position), "parent and position of {forum:?}")?;
        }
        let forums = alice.fetch_forums().await?;
        let index = |id: &ForumId| forums.iter().position(|forum| forum.forum_id == *id);
        for (before, after) in [
            (&first, &second),
            (&first, &inner),
            (&inner, &other),
            (&inner, &deepest),
            (&second, &last),
        ] {
            check!(index(before) < index(after), "{before:?} is before {after:?} in {forums:?}")?;
        }
        Ok(())
    }

    /// The parent of a forum is its nearest ancestor that the caller sees, or null if the caller sees none. The library
    /// removes a parent that is not in the list.
    async fn a_parent_is_the_nearest_visible_ancestor(suite: &Suite) -> TestResult {
        let top = suite.forum(Audience::Guests).await?;
        let hidden = suite.sub_forum(&top, Audience::Staff).await?;
        let seen = suite.sub_forum(&hidden, Audience::Guests).await?;
        let hidden_top = suite.forum(Audience::Staff).await?;
        let orphan = suite.sub_forum(&hidden_top, Audience::Guests).await?;
        let alice = suite.member("alice").await?;
        let sam = suite.staff("sam").await?;
        for (caller, forum, above) in [
            (&sam, &seen, Some(&hidden)),
            (&sam, &orphan, Some(&hidden_top)),
            (&alice, &seen, Some(&top)),
            (&alice, &orphan, None),
        ] {
            let forums = caller.fetch_forums().await?;
            let is_listed = |id: &ForumId| forums.iter().any(|forum| forum.forum_id == *id);
            let parent = caller.fetch_forum(forum).await?.parent_id.filter(is_listed);
            check_eq!(parent.as_ref(), above, "the parent of {forum:?} for {caller:?}")?;
        }
        Ok(())
    }

    /// A forum has the title that the fixture set.
    async fn a_forum_has_its_title(suite: &Suite) -> TestResult {
        let new = NewForum::new("Tea & Kettles", Audience::Guests, Audience::Guests);
        let id = suite.fixture.add_forum(&new).await?;
        let forum = suite.member("alice").await?.fetch_forum(&id).await?;
        check_eq!(forum.title, new.title)
    }

    /// A forum without threads has zero counts, and its `lastActivityAt` is null.
    async fn an_empty_forum_has_zero_counts(suite: &Suite) -> TestResult {
        let (forum, alice) = suite.forum_and_member().await?;
        let actual = alice.fetch_forum(&forum).await?;
        check_eq!((actual.thread_count, actual.post_count, actual.last_activity_at), (0, 0, None))
    }

    /// A thread and its replies are counted immediately, and only in their own forum.
    async fn posts_count_in_their_own_forum_only(suite: &Suite) -> TestResult {
        let [forum, other] = suite.two_forums().await?;
        let alice = suite.member("alice").await?;
        let untouched = alice.fetch_forum(&other).await?;
        let thread = suite.thread(&alice, &forum).await?.thread_id;
        suite.post(&alice, &thread).await?;
        suite.post(&alice, &thread).await?;
        let actual = alice.fetch_forum(&forum).await?;
        let active_at = Some(alice.fetch_thread(&thread).await?.last_activity_at);
        check_eq!((actual.thread_count, actual.post_count), (1, 3))?;
        check_eq!(actual.last_activity_at, active_at)?;
        check_eq!(alice.fetch_forum(&other).await?, untouched)
    }

    /// A forum's counts exclude its sub-forums.
    async fn forum_counts_exclude_sub_forums(suite: &Suite) -> TestResult {
        let (above, alice) = suite.forum_and_member().await?;
        let below = suite.sub_forum(&above, Audience::Guests).await?;
        let before = alice.fetch_forum(&above).await?;
        suite.thread(&alice, &below).await?;
        check_eq!(alice.fetch_forum(&above).await?, before)
    }

    /// Content that awaits approval changes nothing that other callers see.
    async fn content_awaiting_approval_is_not_counted(suite: &Suite) -> TestResult {
        let (forum, alice) = suite.forum_and_member().await?;
        let nora = suite.newcomer("nora").await?;
        let thread = suite.thread(&alice, &forum).await?.thread_id;
        let before = snapshot(suite, &alice, &nora, &thread).await?;
        suite.thread(&nora, &forum).await?;
        suite.post(&nora, &thread).await?;
        check_unchanged(&before, &snapshot(suite, &alice, &nora, &thread).await?)
    }

    /// Content of a hidden forum changes nothing that callers without access see.
    async fn hidden_content_is_not_counted(suite: &Suite) -> TestResult {
        let (forum, alice) = suite.forum_and_member().await?;
        let hidden = suite.forum(Audience::Staff).await?;
        let sam = suite.staff("sam").await?;
        let thread = suite.thread(&alice, &forum).await?.thread_id;
        let before = snapshot(suite, &alice, &sam, &thread).await?;
        let secret = suite.thread(&sam, &hidden).await?.thread_id;
        suite.post(&sam, &secret).await?;
        check_unchanged(&before, &snapshot(suite, &alice, &sam, &thread).await?)
    }
}

/// Returns the forums, a thread and a member's post count as `alice` and the guest see them: each value with its path.
async fn snapshot(
    suite: &Suite,
    alice: &TestCaller,
    writer: &TestCaller,
    thread: &ThreadId,
) -> TestResult<BTreeMap<String, Value>> {
    let mut values = BTreeMap::new();
    let callers = [Some(alice.clone()), suite.guest().ok()];
    for caller in callers.into_iter().flatten() {
        let needed = [Capability::Profiles, Capability::PublicPostCounts];
        let post_count = match needed.map(|capability| suite.require(capability)) {
            [Ok(()), Ok(())] => Some(caller.fetch_member(&writer.id_ref()).await?.post_count),
            _ => None,
        };
        let view = json!({
            "forums": caller.fetch_forums().await?,
            "thread": caller.fetch_thread(thread).await?,
            "postCount": post_count,
        });
        add_values(caller.name(), &view, &mut values);
    }
    Ok(values)
}

fn add_values(path: &str, value: &Value, values: &mut BTreeMap<String, Value>) {
    let mut add = |key: &dyn Display, inner| add_values(&format!("{path}/{key}"), inner, values);
    match value {
        Value::Array(items) => {
            let items = items.iter().enumerate();
            items.for_each(|(index, item)| add(&index, item));
        }
        Value::Object(fields) => fields.iter().for_each(|(key, field)| add(key, field)),
        value => drop(values.insert(path.into(), value.clone())),
    }
}

fn check_unchanged(old: &BTreeMap<String, Value>, new: &BTreeMap<String, Value>) -> TestResult {
    for path in old.keys().chain(new.keys()) {
        check_eq!(new.get(path), old.get(path), "{path}")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_names_only_the_value_that_changed() {
        let values = |view| {
            let mut values = BTreeMap::new();
            add_values("alice", &view, &mut values);
            values
        };
        let before = values(json!({ "forums": [{ "title": "A" }, { "postCount": 1 }] }));
        let after = values(json!({ "forums": [{ "title": "A" }, { "postCount": 2 }] }));
        let failure = format!("{:?}", check_unchanged(&before, &after));
        assert!(failure.contains("alice/forums/1/postCount"), "{failure}");
        assert!(!failure.contains("title"), "{failure}");
    }
}

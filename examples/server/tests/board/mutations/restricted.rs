//! A board without a fault that restricts moderators and forums, and removes what is deleted. The conformance suite must
//! accept it.

use std::any::Any;
use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard};

use forum_api::conformance::{
    Audience, Capability, FixtureResult, NewForum, Role, TestFailure, run, run_all,
};
use forum_api::host::{BoardError, BoardResult, Caller, InForum, ResourceRef};
use forum_api::model::*;
use forum_api::webhook::Event;
use serde_json::{Value, from_str, to_string};

use super::{MutantFactory, Mutation};

/// The capabilities that the board does not have, each with a rule that fails unless the board lists the capability.
const DIFFERENCES: [(Capability, &str); 11] = [
    (
        Capability::LockedEdits,
        "edits::only_moderators_edit_in_a_locked_thread",
    ),
    (
        Capability::MemberForums,
        "members::post_counts_exclude_hidden_forums",
    ),
    (
        Capability::ModeratorEdits,
        "edits::authors_and_moderators_edit_posts",
    ),
    (
        Capability::ModeratorsInLockedThreads,
        "permission::only_moderators_reply_in_a_locked_thread",
    ),
    (Capability::RenderedPosts, "edits::an_edit_changes_the_post"),
    (
        Capability::RestrictedReplies,
        "permission::a_caller_without_permission_is_forbidden",
    ),
    (
        Capability::SelfMessages,
        "message_sending::members_can_message_themselves",
    ),
    (
        Capability::SoftDeletion,
        "deletion::only_moderators_see_a_deleted_post",
    ),
    (
        Capability::SourceMarkup,
        "posts::a_page_has_the_requested_body_formats",
    ),
    (
        Capability::UnicodeSearch,
        "search::a_word_matches_in_any_unicode_form",
    ),
    (
        Capability::VisibleActivity,
        "counters::deleting_the_last_post_moves_its_thread_down",
    ),
];

fn restricted(except: Option<Capability>) -> MutantFactory {
    let unsupported = DIFFERENCES.map(|(capability, _)| capability).into_iter();
    MutantFactory {
        unsupported: unsupported.filter(|one| Some(*one) != except).collect(),
        ..MutantFactory::new("", Mutation::Restricted)
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn no_rule_fails_for_a_board_that_lists_its_restrictions() {
    let report = run_all(&restricted(None)).await;
    let failures: Vec<_> = report
        .results()
        .filter(|(name, _)| report.failed().any(|failed| failed == *name))
        .collect();
    assert!(failures.is_empty(), "{failures:#?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rule_fails_for_a_board_that_does_not_list_its_restriction() {
    for (capability, rule) in DIFFERENCES {
        let result = run(rule, &restricted(Some(capability))).await;
        assert!(matches!(result, Err(TestFailure::Failed(_))), "{rule}");
    }
}

/// An expected difference is reported with its reason. A listed rule that passes fails.
#[tokio::test(flavor = "multi_thread")]
async fn an_expected_difference_does_not_fail() {
    const RULE: &str = "message_sending::members_can_message_themselves";
    for (capability, expected) in [
        (
            Some(Capability::SelfMessages),
            "notes are a page of their own; ",
        ),
        (None, "the host does not support messages to oneself"),
    ] {
        let factory = MutantFactory {
            expected_differences: &[(RULE, "notes are a page of their own")],
            ..restricted(capability)
        };
        let result = run(RULE, &factory).await.unwrap_err().to_string();
        assert!(result.starts_with(expected), "{result}");
    }
    let passing = MutantFactory {
        expected_differences: &[("visibility::a_hidden_thread_is_not_found", "a joke")],
        ..restricted(None)
    };
    let report = run_all(&passing).await;
    let failed: Vec<_> = report.failed().collect();
    assert_eq!(failed, ["visibility::a_hidden_thread_is_not_found"]);
}

#[tokio::test(flavor = "multi_thread")]
#[should_panic(expected = "lists `visibility::nothing`, which is not a rule")]
async fn an_expected_difference_names_a_rule() {
    let factory = MutantFactory {
        expected_differences: &[("visibility::nothing", "it does not exist")],
        ..restricted(None)
    };
    run_all(&factory).await;
}

/// What the board knows in addition to the reference board.
#[derive(Default)]
pub(super) struct Restrictions(Mutex<State>);

#[derive(Default)]
struct State {
    members: HashMap<UserId, (String, Role)>,
    /// Forums in which only staff starts threads.
    notices: HashSet<ForumId>,
    moderators: HashSet<UserId>,
    locked: HashSet<ThreadId>,
    authors: HashMap<PostId, UserId>,
    /// The thread of each first post, and of each poll with the poll's author.
    first_posts: HashMap<PostId, ThreadId>,
    polls: HashMap<PollId, (ThreadId, UserId)>,
    deleted_posts: HashSet<PostId>,
    deleted_threads: HashSet<ThreadId>,
    /// The latest activity of each thread and forum that a caller has seen.
    thread_activity: HashMap<ThreadId, Timestamp>,
    forum_activity: HashMap<ForumId, Timestamp>,
}

impl Restrictions {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap()
    }

    pub(super) fn add_member(&self, id: &UserId, name: &str, role: Role) {
        let member = (name.to_owned(), role);
        self.state().members.insert(id.clone(), member);
    }

    /// Returns the forum that the reference board adds.
    pub(super) fn forum(new: &NewForum) -> FixtureResult<NewForum> {
        if new.readers == Audience::Members {
            return Err("the board has no forum for all members".into());
        }
        let mut forum = new.clone();
        forum.writers = Audience::Guests;
        Ok(forum)
    }

    pub(super) fn add_forum(&self, id: &ForumId, writers: Audience) {
        let notices = (writers != Audience::Guests).then(|| id.clone());
        self.state().notices.extend(notices);
    }

    pub(super) fn set_moderator(&self, member: &UserId, is_moderator: bool) {
        let moderators = &mut self.state().moderators;
        if is_moderator {
            moderators.insert(member.clone())
        } else {
            moderators.remove(member)
        };
    }

    /// Locks or unlocks a thread. The reference board, whose locks stop edits, does not know it.
    pub(super) fn set_locked(&self, thread: &ThreadId, locked: bool) {
        let all = &mut self.state().locked;
        if locked {
            all.insert(thread.clone())
        } else {
            all.remove(thread)
        };
    }

    pub(super) fn find(&self, resource: ResourceRef<'_>) -> BoardResult<()> {
        let state = self.state();
        match resource {
            ResourceRef::Thread(thread) => state.find_thread(thread),
            ResourceRef::Post(thread, post) => state.find_post(thread, post),
            ResourceRef::Poll(poll) => state.find_poll(poll),
            _ => Ok(()),
        }
    }

    /// Refuses a call that the reference board would make.
    pub(super) fn refuse(&self, by: &Caller, arguments: &dyn Any) -> BoardResult<()> {
        let state = self.state();
        let refused = || Err(BoardError::forbidden("not on this board"));
        let by = by.user_id();
        if let Some((forum, _)) = arguments.downcast_ref::<(ForumId, NewThread)>()
            && state.notices.contains(forum)
            && !state.is_staff(by)
        {
            return refused();
        }
        if let Some((thread, new)) = arguments.downcast_ref::<(ThreadId, NewPost)>() {
            state.find_thread(thread)?;
            let mut answered = new.in_reply_to.iter();
            if answered.any(|post| state.deleted_posts.contains(post)) {
                return Err(BoardError::not_found("inReplyTo: unknown post"));
            }
            if state.locked.contains(thread) {
                return refused();
            }
        }
        if let Some((path, _)) = arguments.downcast_ref::<(PostPath, PostUpdate)>() {
            state.find_post(&path.thread_id, &path.post_id)?;
            if state.is_moderator(by) && state.authors.get(&path.post_id) != by {
                return refused();
            }
        }
        if let Some((path, _)) = arguments.downcast_ref::<(PostPath, DeletePostParams)>() {
            state.find_post(&path.thread_id, &path.post_id)?;
        }
        if let Some((poll, _)) = arguments.downcast_ref::<(PollId, NewVote)>() {
            state.find_poll(poll)?;
        }
        if let Some((poll, _)) = arguments.downcast_ref::<(PollId, PollUpdate)>() {
            state.find_poll(poll)?;
            let author = state.polls.get(poll).map(|(_, author)| author);
            if state.is_moderator(by) && author != by {
                return refused();
            }
        }
        if let Some((new,)) = arguments.downcast_ref::<(NewMessage,)>()
            && new.to.iter().any(|to| state.names(to, by))
        {
            return refused();
        }
        let thread = None
            .or(first::<GetThreadParams>(arguments))
            .or(first::<List<PostFilter>>(arguments))
            .or(first::<GetPollParams>(arguments));
        thread.map_or(Ok(()), |thread| state.find_thread(thread))
    }

    /// Changes the result of a call.
    pub(super) fn change(&self, by: &Caller, arguments: &dyn Any, result: &mut dyn Any) {
        let state = &mut *self.state();
        if let Some((path, _)) = arguments.downcast_ref::<(PostPath, DeletePostParams)>() {
            match state.first_posts.get(&path.post_id) {
                Some(thread) => state.deleted_threads.insert(thread.clone()),
                None => state.deleted_posts.insert(path.post_id.clone()),
            };
        }
        if let Some(thread) = result.downcast_mut::<Thread>() {
            if arguments.is::<(ForumId, NewThread)>() {
                state.add_thread(thread, by);
            }
            state.change_thread(thread);
        } else if let Some(page) = result.downcast_mut::<Page<Thread>>() {
            page.items
                .retain(|thread| !state.deleted_threads.contains(&thread.thread_id));
            page.items
                .iter_mut()
                .for_each(|thread| state.change_thread(thread));
            page.items
                .sort_by_key(|thread| Reverse(thread.last_activity_at));
        } else if let Some(page) = result.downcast_mut::<Page<Forum>>() {
            for forum in &mut page.items {
                let is_notices = state.notices.contains(&forum.forum_id);
                forum.can_start_thread &= !is_notices || state.is_staff(by.user_id());
                let seen = state.forum_activity.entry(forum.forum_id.clone());
                if let Some(active_at) = &mut forum.last_activity_at {
                    *active_at = *seen
                        .and_modify(|seen| *seen = (*seen).max(*active_at))
                        .or_insert(*active_at);
                }
            }
        } else if let Some(post) = result.downcast_mut::<InForum<Post>>() {
            if arguments.is::<(ThreadId, NewPost)>() {
                let author = by.user_id().unwrap().clone();
                state.authors.insert(post.value.post_id.clone(), author);
            }
            state.change_post(&mut post.value, by);
        } else if let Some(page) = result.downcast_mut::<InForum<Page<Post>>>() {
            let posts = &mut page.value.items;
            posts.retain(|post| !state.deleted_posts.contains(&post.post_id));
            posts
                .iter_mut()
                .for_each(|post| state.change_post(post, by));
        } else if let Some(page) = result.downcast_mut::<Page<Subscription>>() {
            page.items.retain(|subscription| {
                let mut deleted = state.deleted_threads.iter();
                subscription.target != SubscriptionTargetKind::Thread
                    || deleted
                        .all(|thread| subscription.target_id.to_string() != thread.to_string())
            });
        } else if let Some(page) = result.downcast_mut::<Page<SearchHit>>() {
            let (search,) = arguments.downcast_ref::<(List<SearchFilter>,)>().unwrap();
            let query = search.filter.q.to_string();
            let accented = |word: &&str| word.contains(['ü', '\u{308}']) && !word.starts_with('-');
            let words: Vec<_> = query.split_whitespace().filter(accented).collect();
            page.items.retain(|hit| {
                let excerpt = hit.excerpt.to_lowercase();
                words.iter().all(|word| excerpt.contains(word))
            });
        }
    }
}

/// Returns the first of two arguments if it is a thread and the second one is a `T`.
fn first<T: 'static>(arguments: &dyn Any) -> Option<&ThreadId> {
    let (thread, _) = arguments.downcast_ref::<(ThreadId, T)>()?;
    Some(thread)
}

impl State {
    fn is_staff(&self, member: Option<&UserId>) -> bool {
        let member = member.and_then(|id| self.members.get(id));
        member.is_some_and(|(_, role)| [Role::Staff, Role::Administrator].contains(role))
    }

    fn is_moderator(&self, member: Option<&UserId>) -> bool {
        member.is_some_and(|id| {
            let is_administrator = self
                .members
                .get(id)
                .is_some_and(|(_, role)| *role == Role::Administrator);
            is_administrator || self.moderators.contains(id)
        })
    }

    /// Returns `true` if `user` names `member`.
    fn names(&self, user: &UserRef, member: Option<&UserId>) -> bool {
        let Some(id) = member else {
            return false;
        };
        match user {
            UserRef::Id(user) => user == id,
            UserRef::Name(user) => self.members.get(id).is_some_and(|(name, _)| name == user),
        }
    }

    fn find_thread(&self, thread: &ThreadId) -> BoardResult<()> {
        if self.deleted_threads.contains(thread) {
            Err(BoardError::PathNotFound)
        } else {
            Ok(())
        }
    }

    fn find_post(&self, thread: &ThreadId, post: &PostId) -> BoardResult<()> {
        self.find_thread(thread)?;
        if self.deleted_posts.contains(post) {
            Err(BoardError::PathNotFound)
        } else {
            Ok(())
        }
    }

    fn find_poll(&self, poll: &PollId) -> BoardResult<()> {
        let poll = self.polls.get(poll);
        poll.map_or(Ok(()), |(thread, _)| self.find_thread(thread))
    }

    fn add_thread(&mut self, thread: &Thread, by: &Caller) {
        let author = by.user_id().unwrap().clone();
        let id = thread.thread_id.clone();
        let first = thread.first_post_id.clone();
        let poll = thread.poll_id.clone();
        self.polls
            .extend(poll.map(|poll| (poll, (id.clone(), author.clone()))));
        self.authors.insert(first.clone(), author);
        self.first_posts.insert(first, id);
    }

    fn change_thread(&mut self, thread: &mut Thread) {
        thread.locked = self.locked.contains(&thread.thread_id);
        thread.can_reply &= !thread.locked;
        let seen = self.thread_activity.entry(thread.thread_id.clone());
        let active_at = thread.last_activity_at;
        thread.last_activity_at = *seen
            .and_modify(|seen| *seen = (*seen).max(active_at))
            .or_insert(active_at);
    }

    fn change_post(&self, post: &mut Post, by: &Caller) {
        let author = self.authors.get(&post.post_id);
        post.can_edit &= author.is_some() && author == by.user_id();
        let answered = post.in_reply_to.take();
        post.in_reply_to = answered.filter(|answered| !self.deleted_posts.contains(answered));
        if post.number.is_multiple_of(2) {
            post.body = None;
            post.body_html = None;
        }
    }
}

/// Removes the texts of every other post.
pub(super) fn change_event(event: &mut Event) {
    let mut body: Value = from_str(&event.body).unwrap();
    let Some(post) = body.pointer_mut("/data/post") else {
        return;
    };
    if post["number"]
        .as_i64()
        .is_some_and(|number| number % 2 == 0)
        && post.get("body").is_some()
    {
        post["body"] = Value::Null;
        post["bodyHtml"] = Value::Null;
        event.body = to_string(&body).unwrap();
    }
}

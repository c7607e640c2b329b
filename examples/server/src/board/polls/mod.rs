//! Reads and updates polls, and stores votes. A poll is added with its thread.

pub mod option_removal;
pub mod poll_rules;

use std::collections::HashSet;
use std::sync::LazyLock;

use forum_api::host::{BackendResult, BoardError, BoardResult, InForum};
use forum_api::model::{
    ContentState, ForumId, NewVote, Poll, PollOption, PollUpdate, Timestamp, UserId,
};
use forum_api::webhook::{Event, EventContext, EventMeta};

use crate::board::access::actor::Actor;
use crate::board::access::visibility::{Visibility, sees_thread};
use crate::board::db::{Bound, Connection, Row, Transaction, bind, json};
use crate::board::events::{Command, EventRecorder};
use crate::board::posts::edit_limit::{self, OLDEST};
use crate::board::posts::post_events::EventScope;
use crate::board::posts::post_insert::TimesParams;
use crate::board::posts::post_row::PostRow;
use crate::board::rules::check_version;
use crate::board::settings::EDITS_PER_HOUR;
use poll_rules::PollDraft;

/// Reads the poll of a thread.
pub async fn of_thread(
    connection: &Connection<'_>,
    actor: &Actor,
    thread: i64,
    now: Timestamp,
) -> BoardResult<InForum<Poll>> {
    find(connection, actor, &OF_THREAD, thread, now).await.map(PollRow::into_in_forum)
}

pub async fn vote(
    Command { tx, events, actor, texts }: Command<'_>,
    poll: i64,
    vote: NewVote,
) -> BoardResult<InForum<Poll>> {
    let mut found = find(tx, actor, &WITH_ID, poll, events.now).await?;
    poll_rules::check_not_deleted(found.state, texts)?;
    let chosen = poll_rules::check_vote(&found.poll, &vote, texts)?;
    if poll_rules::is_same_vote(&found.poll, &vote) {
        return Ok(found.into_in_forum());
    }
    write_vote(tx, &mut found, poll, actor.member, &chosen).await?;
    found.record_change(tx, events, Event::poll_voted).await
}

pub async fn edit(
    Command { tx, events, actor, texts }: Command<'_>,
    poll: i64,
    edit: PollUpdate,
) -> BoardResult<InForum<Poll>> {
    let found = find(tx, actor, &WITH_ID, poll, events.now).await?;
    poll_rules::check_not_deleted(found.state, texts)?;
    let access = actor.access(found.forum);
    let author = found.poll.author.as_ref().map(|author| &author.user_id);
    let is_writer = author.is_some() && author == actor.member.map(UserId::from).as_ref();
    poll_rules::check_may_edit(access, is_writer, found.locked, texts)?;
    check_version(edit.expected_version, found.poll.version, texts)?;
    let (oldest_edit, largest_stored_vote) = load_limits(tx, actor, poll, events.now).await?;
    let largest_vote = largest_stored_vote.min(found.chosen_options());
    let draft = poll_rules::apply_update(&found.poll, &edit, &actor.settings, texts)?;
    poll_rules::check_newcomers_edit(&found.poll, &draft, found.state, actor.groups, texts)?;
    if !access.moderate {
        poll_rules::check_writers_edit(&found.poll, &draft, largest_vote, texts)?;
    }
    if poll_rules::is_unchanged(&found.poll, &draft) {
        return Ok(found.into_in_forum());
    }
    edit_limit::check(actor, oldest_edit, events.now, texts)?;
    update(tx, actor, poll, &found, &draft, events.now).await?;
    let found = find(tx, actor, &WITH_ID, poll, events.now).await?;
    found.record_change(tx, events, Event::poll_updated).await
}

/// Returns the time of the oldest of the last edits, and the largest number of options of one vote; 0 without votes. The
/// number includes removed options until a batch removes their votes.
async fn load_limits(
    tx: &Transaction<'_>,
    actor: &Actor,
    poll: i64,
    now: Timestamp,
) -> BoardResult<(Option<Timestamp>, i64)> {
    static QUERY: LazyLock<String> = LazyLock::new(|| {
        format!(
            "SELECT
                {OLDEST}, coalesce((SELECT max(choices) FROM ballot WHERE poll_id = :poll), 0) AS largest_vote"
        )
    });
    let times = TimesParams::new(actor, &EDITS_PER_HOUR, now);
    tx.one(&QUERY, &times.with(bind! { ":poll": poll }), |row| {
        Ok((row.value("oldest_edit")?, row.value("largest_vote")?))
    })
    .await
}

/// A poll with the properties of its thread that the rules read.
#[derive(Clone, Debug)]
pub struct PollRow {
    pub forum: i64,
    pub state: ContentState,
    pub locked: bool,
    /// Stored number of voters. It includes the voters of removed options until a batch removes their votes.
    voters: u64,
    pub poll: Poll,
}

impl PollRow {
    pub fn into_in_forum(self) -> InForum<Poll> {
        InForum::new(ForumId::from(self.forum), self.poll)
    }

    /// Returns the number of options that have votes.
    fn chosen_options(&self) -> i64 {
        self.poll
            .options
            .iter()
            .filter(|option| option.votes.is_some_and(|votes| votes > 0))
            .count() as i64
    }

    /// Sets the shown number of voters: the stored number, but at most the number of votes for the remaining options.
    fn count_voters(&mut self) {
        let votes = self.poll.options.iter().filter_map(|option| option.votes).sum();
        self.poll.total_votes = Some(self.voters.min(votes));
    }

    /// Returns whether some callers who see the forum do not see the poll: its events wait.
    fn is_hidden(&self) -> bool {
        self.state != ContentState::Visible
    }

    /// Records the event if all callers who see the forum see the poll, and returns the poll.
    pub async fn record_change(
        self,
        tx: &Transaction<'_>,
        events: &mut EventRecorder,
        event: fn(EventMeta, &Poll, EventContext<'_>) -> Event,
    ) -> BoardResult<InForum<Poll>> {
        if !self.is_hidden() && events.has_readers {
            let thread = self.poll.thread_id.to_i64()?;
            let scope = EventScope::load(tx, thread, events.actor).await?;
            events.record(|meta| event(meta, &self.poll, scope.context()))?;
        }
        Ok(self.into_in_forum())
    }
}

static OF_THREAD: LazyLock<String> =
    LazyLock::new(|| query("poll.thread_id", &format!("AND {}", sees_thread())));

static WITH_ID: LazyLock<String> =
    LazyLock::new(|| query("poll.id", &format!("AND {}", sees_thread())));

/// Selects the poll of a thread in any state.
static OF_ANY_THREAD: LazyLock<String> = LazyLock::new(|| query("poll.thread_id", ""));

/// Returns a query for the options of the poll whose column `key` is `:key`. Each row has the columns of the poll.
///
/// `own_votes` does not depend on the row, so that Postgres evaluates it once. With a join, Postgres can read the votes of all
/// polls. With a look-up for each option, Postgres plans the query again for each poll that is newer than its statistics.
fn query(key: &str, condition: &str) -> String {
    format!(
        "
        SELECT
            poll.id, thread.forum_id, thread.state, thread.locked, poll.thread_id, poll.question,
            author.id AS author_id, author.username AS author_name, author.avatar_url AS author_avatar,
            poll.voters, poll.max_choices, poll.can_change_vote, poll.closes_at, poll.version,
            option.id AS option_id, option.text, option.votes,
            (
                SELECT string_agg(CAST(vote.option_id AS TEXT), ',') FROM vote
                WHERE vote.ballot_id = (
                    SELECT ballot.id FROM poll JOIN ballot ON ballot.poll_id = poll.id
                    WHERE {key} = :key AND ballot.member_id = :member
                )
            ) AS own_votes
        FROM poll
        JOIN thread ON thread.id = poll.thread_id
        JOIN poll_option AS option ON option.poll_id = poll.id AND NOT option.removed
        LEFT JOIN member AS author ON author.id = thread.author_id
        WHERE {key} = :key {condition} ORDER BY option.position"
    )
}

async fn find(
    connection: &Connection<'_>,
    actor: &Actor,
    query: &'static str,
    key: i64,
    now: Timestamp,
) -> BoardResult<PollRow> {
    let visibility = Visibility::of(actor);
    let parameters = visibility.with(bind! { ":key": key });
    select(connection, query, &parameters, now).await?.ok_or(BoardError::PathNotFound)
}

async fn select(
    connection: &Connection<'_>,
    query: &'static str,
    parameters: &[Bound<'_>],
    now: Timestamp,
) -> BoardResult<Option<PollRow>> {
    let mut found: Option<PollRow> = None;
    let mut own_votes = HashSet::new();
    connection
        .all(query, parameters, |row| {
            let found = match &mut found {
                Some(found) => found,
                None => {
                    own_votes = read_own_votes(row)?;
                    found.insert(read_poll(row, now)?)
                }
            };
            add_option(&mut found.poll, row, &own_votes)
        })
        .await?;
    if let Some(found) = &mut found {
        found.count_voters();
    }
    Ok(found)
}

/// What was changed in a poll while its thread was hidden.
struct HiddenChanges {
    update_waits: bool,
    votes_wait: bool,
}

/// Records the events of the changes to the poll of a thread while it was hidden. `item` is the first post of the thread, which
/// is visible now. If receivers do not know the thread, there are no events.
pub async fn publish(
    tx: &Transaction<'_>,
    events: &mut EventRecorder,
    item: &PostRow,
) -> BoardResult<()> {
    let find = "SELECT update_waits, votes_wait FROM poll WHERE thread_id = ?1 AND (update_waits OR votes_wait)";
    let changes = tx
        .first(find, bind![item.thread], |row| {
            Ok(HiddenChanges {
                update_waits: row.value("update_waits")?,
                votes_wait: row.value("votes_wait")?,
            })
        })
        .await?;
    let Some(HiddenChanges { update_waits, votes_wait }) = changes else {
        return Ok(());
    };
    let sent = "UPDATE poll SET update_waits = FALSE, votes_wait = FALSE WHERE thread_id = ?1";
    tx.execute(sent, bind![item.thread]).await?;
    if !item.published || !events.has_readers {
        return Ok(());
    }
    let voter: Option<i64> = None;
    let parameters = bind! { ":key": item.thread, ":member": voter };
    let found = select(tx, &OF_ANY_THREAD, parameters, events.now).await?;
    let Some(found) = found else {
        return Ok(());
    };
    if update_waits {
        found.clone().record_change(tx, events, Event::poll_updated).await?;
    }
    if votes_wait {
        found.record_change(tx, events, Event::poll_voted).await?;
    }
    Ok(())
}

/// Returns the options for which the caller has voted, also removed ones. They are the same in each row.
fn read_own_votes(row: &Row<'_>) -> BackendResult<HashSet<i64>> {
    let own_votes: Option<String> = row.value("own_votes")?;
    let ids = own_votes.as_deref().unwrap_or_default().split(',');
    Ok(ids.filter_map(|id| id.parse().ok()).collect())
}

/// Reads the columns that are the same in each row.
fn read_poll(row: &Row<'_>, now: Timestamp) -> BackendResult<PollRow> {
    let mut poll = Poll::new(
        row.id("id")?,
        row.id("thread_id")?,
        row.value::<String>("question")?,
        Vec::new(),
    );
    poll.author = row.author(["author_id", "author_name", "author_avatar"])?;
    poll.max_choices = row.count("max_choices")?;
    poll.can_change_vote = row.value("can_change_vote")?;
    poll.closes_at = row.value("closes_at")?;
    poll.version = row.value("version")?;
    poll.closed = poll.closes_at.is_some_and(|end| end <= now);
    Ok(PollRow {
        forum: row.value("forum_id")?,
        state: row.state("state")?,
        locked: row.value("locked")?,
        voters: row.count("voters")?,
        poll,
    })
}

fn add_option(poll: &mut Poll, row: &Row<'_>, own_votes: &HashSet<i64>) -> BackendResult<()> {
    let id: i64 = row.value("option_id")?;
    let mut option = PollOption::new(id.into(), row.value::<String>("text")?);
    option.votes = Some(row.count("votes")?);
    if own_votes.contains(&id) {
        poll.own_vote.get_or_insert_default().push(option.option_id.clone());
    }
    poll.options.push(option);
    Ok(())
}

/// Adds a poll to a thread, and returns its id.
pub async fn add(tx: &Transaction<'_>, thread: i64, draft: &PollDraft<'_>) -> BoardResult<i64> {
    const POLL: &str = "
        INSERT INTO poll (thread_id, question, max_choices, can_change_vote, closes_at)
        VALUES (:thread, :question, :max_choices, :can_change_vote, :closes_at) RETURNING id";
    const OPTIONS: &str = "
        INSERT INTO poll_option (poll_id, position, text)
        SELECT :poll, key, value ->> 'text' FROM json_each(:options) AS option";
    let parameters = bind! {
        ":thread": thread, ":question": draft.question, ":max_choices": draft.max_choices,
        ":can_change_vote": draft.can_change_vote, ":closes_at": draft.closes_at,
    };
    let poll = tx.insert(POLL, parameters).await?;
    let options = json(draft.options.as_deref().unwrap_or_default())?;
    tx.execute(OPTIONS, bind! { ":poll": poll, ":options": options }).await?;
    Ok(poll)
}

/// Updates a poll, and counts the edit. Removes the first votes for removed options; batches remove the others.
async fn update(
    tx: &Transaction<'_>,
    actor: &Actor,
    poll: i64,
    before: &PollRow,
    draft: &PollDraft<'_>,
    now: Timestamp,
) -> BoardResult<()> {
    let of_poll = bind! {
        ":poll": poll, ":question": draft.question, ":max_choices": draft.max_choices,
        ":can_change_vote": draft.can_change_vote, ":closes_at": draft.closes_at,
        ":hidden": before.is_hidden(),
    };
    let mut parameters = of_poll.to_vec();
    let mut statements = vec![UPDATE];
    let removed = removed_options(&before.poll, draft)?;
    let removed_ids = json(&removed)?;
    let options = draft.options.as_deref().map(json).transpose()?;
    if options.is_some() {
        let upsert = tx.dialect(&UPSERT_ON_SQLITE, &UPSERT_ON_POSTGRES);
        statements.extend([option_removal::MARK, upsert]);
        parameters.extend_from_slice(bind! { ":options": options, ":removed": removed_ids });
    }
    edit_limit::run_counted(tx, actor, now, statements, parameters).await?;
    if !removed.is_empty() {
        option_removal::run_batch(tx, poll).await?;
    }
    Ok(())
}

/// Returns the ids of the options that a draft does not keep.
fn removed_options(before: &Poll, draft: &PollDraft<'_>) -> BoardResult<Vec<i64>> {
    let Some(choices) = &draft.options else {
        return Ok(Vec::new());
    };
    let kept: HashSet<_> = choices.iter().filter_map(|choice| choice.id).collect();
    let mut removed = Vec::new();
    for option in &before.options {
        let id = option.option_id.to_i64()?;
        if !kept.contains(&id) {
            removed.push(id);
        }
    }
    Ok(removed)
}

const UPDATE: &str = "
    UPDATE poll SET question = :question, max_choices = :max_choices, can_change_vote = :can_change_vote,
        closes_at = :closes_at, version = version + 1, update_waits = update_waits OR :hidden
    WHERE id = :poll";

/// SQLite replaces a null id with a new one.
static UPSERT_ON_SQLITE: LazyLock<String> = LazyLock::new(|| upsert_query("value ->> 'id'"));

static UPSERT_ON_POSTGRES: LazyLock<String> = LazyLock::new(|| {
    upsert_query("coalesce(CAST(value ->> 'id' AS BIGINT), nextval('poll_option_id_seq'))")
});

fn upsert_query(id: &str) -> String {
    format!(
        "INSERT INTO poll_option (id, poll_id, position, text)
         SELECT {id}, :poll, key, value ->> 'text' FROM json_each(:options) WHERE TRUE
         ON CONFLICT (id) DO UPDATE SET position = excluded.position, text = excluded.text"
    )
}

/// Stores the vote of a member, in place of an earlier one, and updates `found`.
async fn write_vote(
    tx: &Transaction<'_>,
    found: &mut PollRow,
    id: i64,
    member: Option<i64>,
    chosen: &HashSet<i64>,
) -> BoardResult<()> {
    let mut voters = 0;
    if found.poll.own_vote.is_none() {
        // The ballot of a vote whose options are removed can still exist.
        let insert =
            "INSERT INTO ballot (poll_id, member_id) VALUES (?1, ?2) ON CONFLICT DO NOTHING";
        voters = tx.execute(insert, bind![id, member]).await?;
        found.voters += voters;
    }
    let earlier: HashSet<_> = found.poll.own_vote.take().into_iter().flatten().collect();
    let mut own_vote = Vec::new();
    let mut added = Vec::new();
    let mut removed = Vec::new();
    for option in &mut found.poll.options {
        let number = option.option_id.to_i64()?;
        let is_chosen = chosen.contains(&number);
        let was_chosen = earlier.contains(&option.option_id);
        if is_chosen {
            own_vote.push(option.option_id.clone());
        }
        if is_chosen && !was_chosen {
            added.push(number);
            option.votes = option.votes.map(|votes| votes + 1);
        }
        if was_chosen && !is_chosen {
            removed.push(number);
            option.votes = option.votes.map(|votes| votes.saturating_sub(1));
        }
    }
    found.poll.own_vote = Some(own_vote);
    found.count_voters();
    let parameters = bind! {
        ":poll": id, ":member": member, ":added": json(&added)?, ":removed": json(&removed)?,
        ":choices": added.len() as i64 - removed.len() as i64, ":voters": voters as i64,
        ":hidden": found.is_hidden(),
    };
    tx.execute_independent(&CHANGE_VOTE, parameters).await?;
    Ok(())
}

/// The changes of a vote, whose ballot exists.
const CHANGE_VOTE: [&str; 5] = [
    "DELETE FROM vote
    WHERE ballot_id = (SELECT id FROM ballot WHERE poll_id = :poll AND member_id = :member)
        AND option_id IN (SELECT CAST(value AS BIGINT) FROM json_each(:removed))",
    "INSERT INTO vote (ballot_id, option_id)
    SELECT ballot.id, CAST(value AS BIGINT) FROM ballot CROSS JOIN json_each(:added)
    WHERE poll_id = :poll AND member_id = :member",
    "UPDATE poll_option SET votes = votes + change.difference
    FROM (
        SELECT CAST(value AS BIGINT) AS option_id, 1 AS difference FROM json_each(:added)
        UNION ALL
        SELECT CAST(value AS BIGINT), -1 FROM json_each(:removed)
    ) AS change
    WHERE poll_option.id = change.option_id",
    "UPDATE ballot SET choices = choices + :choices WHERE poll_id = :poll AND member_id = :member",
    "UPDATE poll SET voters = voters + :voters, votes_wait = votes_wait OR :hidden WHERE id = :poll",
];

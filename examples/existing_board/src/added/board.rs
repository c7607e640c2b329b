//! Added: the board of the API, with one query for each method.

use forum_api::async_trait;
use forum_api::host::{Board, BoardError, BoardResult, Caller, InForum, MemberCaller, ResourceRef};
use forum_api::model::{
    BodyFormat, Forum, ForumId, List, Member, NewPost, OwnAccount, Page, PageKey, Post, PostFilter,
    PostId, PostSort, Thread, ThreadFilter, ThreadId, Timestamp, UserRef,
};
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use super::access::rank;
use super::convert::{forum, member, post, thread};
use crate::before::topics::{self, Entry, Topic};
use crate::before::{Club, ReplyError, reply};

/// Reads all topics. A board with many topics stores these numbers in the section.
const FORUMS: &str = "
    SELECT section.id, title, count(topic.id) AS topics, coalesce(sum(entries), 0)::bigint AS entries,
        max(active_at) AS active_at
    FROM section LEFT JOIN topic ON topic.section = section.id
    WHERE section.rank <= $1 GROUP BY section.id ORDER BY section.id";

const THREADS: &str = "
    SELECT * FROM topic_view WHERE section = $1 AND (active_at, id) < ($2, $3) AND active_at >= $4
    ORDER BY active_at DESC, id DESC LIMIT $5";

const OLDEST_POSTS: &str = "
    SELECT * FROM entry_view WHERE topic = $1 AND number > $2 AND written_at >= $3
    ORDER BY number LIMIT $4";

const NEWEST_POSTS: &str = "
    SELECT * FROM entry_view WHERE topic = $1 AND number < $2 AND written_at >= $3
    ORDER BY number DESC LIMIT $4";

const NUMBER: &str = "SELECT number FROM entry WHERE topic = $1 AND id = $2";

/// Counts the entries of the member. A board with many entries stores the number in the member.
const PROFILE: &str = "
    SELECT id, name, joined_at, (
        SELECT count(*) FROM entry
        JOIN topic ON topic.id = entry.topic JOIN section ON section.id = topic.section
        WHERE writer = member.id AND section.rank <= 1
    ) AS entries
    FROM member WHERE id = $1 OR name = $2";

#[async_trait]
impl Board for Club {
    async fn containing_forum(
        &self,
        caller: &Caller,
        resource: ResourceRef<'_>,
    ) -> BoardResult<ForumId> {
        match resource {
            ResourceRef::Thread(thread) => Ok(self.topic(caller, thread).await?.section.into()),
            ResourceRef::Post(thread, post) => {
                let topic = self.topic(caller, thread).await?;
                let entries = self.rows(NUMBER, &[&topic.id, &post.to_i64()?]).await?;
                let entry = entries.first().ok_or(BoardError::PathNotFound);
                entry.map(|_| topic.section.into())
            }
            _ => Err(BoardError::NotImplemented),
        }
    }

    async fn get_me(&self, member: &MemberCaller) -> BoardResult<OwnAccount> {
        let id = member.user_id().to_i64()?;
        Ok(OwnAccount::new(self.member(Some(id), None).await?))
    }

    async fn get_member(&self, _: &Caller, user: UserRef) -> BoardResult<Member> {
        match user {
            UserRef::Id(id) => self.member(Some(id.to_i64()?), None).await,
            UserRef::Name(name) => self.member(None, Some(&name)).await,
        }
    }

    async fn list_forums(&self, caller: &Caller) -> BoardResult<Page<Forum>> {
        let rows = self.rows(FORUMS, &[&rank(caller)?]).await?;
        let forums: Vec<_> = rows.iter().map(forum).collect();
        Ok(forums.into())
    }

    async fn list_threads(
        &self,
        caller: &Caller,
        forum: ForumId,
        list: List<ThreadFilter>,
    ) -> BoardResult<Page<Thread>> {
        let section = forum.to_i64()?;
        let rank = rank(caller)?;
        let [active_at, id] = list.after_or([i64::MAX; 2])?;
        let since = millis(list.filter.since);
        let limit = list.limit.plus_one();
        let rows = self.rows(THREADS, &[&section, &active_at, &id, &since, &limit]).await?;
        let topics = rows.iter().map(Topic::from).collect();
        let page = Page::from_overfetch(topics, list.limit, |last: &Topic| {
            PageKey::from([last.active_at, last.id])
        });
        Ok(page.map(|topic| thread(&topic, rank)))
    }

    async fn get_thread(&self, caller: &Caller, id: ThreadId) -> BoardResult<Thread> {
        Ok(thread(&self.topic(caller, &id).await?, rank(caller)?))
    }

    async fn list_posts(
        &self,
        caller: &Caller,
        thread: ThreadId,
        list: List<PostFilter>,
    ) -> BoardResult<InForum<Page<Post>>> {
        let topic = self.topic(caller, &thread).await?;
        let (query, start, step) = match list.filter.sort {
            PostSort::Oldest => (OLDEST_POSTS, 0, 1),
            PostSort::Newest => (NEWEST_POSTS, i64::MAX, -1),
        };
        let [after] = match &list.filter.from {
            Some(from) => [self.number(topic.id, from).await? - step],
            None => list.after_or([start])?,
        };
        let since = millis(list.filter.since);
        let limit = list.limit.plus_one();
        let rows = self.rows(query, &[&topic.id, &after, &since, &limit]).await?;
        let entries = rows.iter().map(Entry::from).collect();
        let page =
            Page::from_overfetch(entries, list.limit, |last: &Entry| PageKey::from([last.number]))
                .map(|entry| post(&entry, list.filter.body));
        Ok(InForum::new(topic.section.into(), page))
    }

    async fn create_post(
        &self,
        member: &MemberCaller,
        thread: ThreadId,
        new: NewPost,
    ) -> BoardResult<InForum<Post>> {
        let request = Some(member.request());
        let member = member.user_id().to_i64()?;
        let topic = thread.to_i64()?;
        let (topic, entry) = reply::reply(self, member, topic, &new.body, request).await?;
        Ok(InForum::new(topic.section.into(), post(&entry, BodyFormat::Both)))
    }
}

impl Club {
    async fn rows(
        &self,
        query: &str,
        parameters: &[&(dyn ToSql + Sync)],
    ) -> Result<Vec<Row>, ReplyError> {
        let client = self.pool.get().await?;
        let query = client.prepare_cached(query).await?;
        Ok(client.query(&query, parameters).await?)
    }

    async fn topic(&self, caller: &Caller, id: &ThreadId) -> BoardResult<Topic> {
        let client = self.pool.get().await.map_err(ReplyError::from)?;
        let topic = topics::find(&client, id.to_i64()?, rank(caller)?).await?;
        topic.ok_or(BoardError::PathNotFound)
    }

    async fn number(&self, topic: i64, entry: &PostId) -> BoardResult<i64> {
        let rows = match entry.to_i64() {
            Ok(entry) => self.rows(NUMBER, &[&topic, &entry]).await?,
            Err(_) => Vec::new(),
        };
        let number = rows.first().map(|row| row.get("number"));
        let expected = "a post of this thread";
        number.ok_or(BoardError::invalid_parameter("from", expected))
    }

    async fn member(&self, id: Option<i64>, name: Option<&str>) -> BoardResult<Member> {
        let rows = self.rows(PROFILE, &[&id, &name]).await?;
        rows.first().map(member).ok_or(BoardError::PathNotFound)
    }
}

fn millis(since: Option<Timestamp>) -> i64 {
    since.map_or(i64::MIN, Timestamp::as_millis)
}

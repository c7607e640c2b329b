-- The rows whose counters differ from what they count.
SELECT 'thread ' || thread.id
FROM thread
CROSS JOIN LATERAL (
    SELECT
        count(*) FILTER (WHERE post.state = 'visible' AND post.id <> thread.first_post_id) AS replies,
        max(post.number) AS last_number,
        count(DISTINCT post.number) AS numbers
    FROM post WHERE post.thread_id = thread.id
) AS counted
CROSS JOIN LATERAL (
    SELECT id, author_id, created_at FROM post
    WHERE post.thread_id = thread.id AND (post.state = 'visible' OR post.id = thread.first_post_id)
    ORDER BY created_at DESC, id DESC LIMIT 1
) AS last
WHERE (
    thread.reply_count, thread.last_number, thread.last_number, thread.last_post_id, thread.last_author_id,
    thread.last_activity_at
) IS DISTINCT FROM (
    counted.replies, counted.last_number, counted.numbers, last.id, last.author_id, last.created_at
)

UNION ALL

SELECT 'order of thread ' || thread_id
FROM (
    SELECT
        thread_id, number, id,
        lag(number) OVER earlier AS earlier_number, lag(id) OVER earlier AS earlier_id
    FROM post WINDOW earlier AS (PARTITION BY thread_id ORDER BY created_at, id)
) AS post
WHERE number <= earlier_number OR id <= earlier_id

UNION ALL

SELECT 'forum ' || forum.id
FROM forum
CROSS JOIN LATERAL (
    SELECT
        count(*) AS threads, coalesce(sum(1 + reply_count), 0) AS posts,
        coalesce(max(last_activity_at), 0) AS newest
    FROM thread WHERE thread.forum_id = forum.id AND thread.state = 'visible'
) AS counted
CROSS JOIN LATERAL (
    SELECT
        coalesce(sum(thread_count), 0) AS threads, coalesce(sum(post_count), 0) AS posts,
        coalesce(max(newest_at), 0) AS newest
    FROM forum_count WHERE forum_count.forum_id = forum.id
) AS stored
WHERE (stored.threads, stored.posts) <> (counted.threads, counted.posts) OR stored.newest < counted.newest

UNION ALL

SELECT 'member ' || member.id
FROM member
WHERE (
    post_count + (
        SELECT coalesce(sum(CASE WHEN counts THEN thread_author.post_count ELSE 0 END - counted), 0)
        FROM thread_recount JOIN thread_author ON thread_author.thread_id = thread_recount.thread_id
        WHERE author_id = member.id
    ),
    reputation, unread_count, inbox_used
) <> (
    (
        SELECT count(*)
        FROM post JOIN thread ON thread.id = post.thread_id JOIN forum ON forum.id = thread.forum_id
        WHERE post.author_id = member.id AND post.state = 'visible' AND thread.state = 'visible'
            AND forum.title <> 'Staff'
    ),
    (SELECT coalesce(sum(points), 0) FROM rating WHERE rating.member_id = member.id),
    (
        SELECT count(*) FROM message_copy
        WHERE message_copy.owner_id = member.id AND folder = 'inbox' AND read_at IS NULL
    ),
    (
        SELECT count(*) FROM message_copy JOIN message ON message.id = message_copy.message_id
        WHERE message_copy.owner_id = member.id AND folder = 'inbox' AND read_at IS NULL AND NOT is_receipt
    )
)

UNION ALL

SELECT 'author ' || member.id || ' of thread ' || thread.id
FROM thread CROSS JOIN member
CROSS JOIN LATERAL (
    SELECT count(*) AS posts FROM post
    WHERE post.thread_id = thread.id AND post.author_id = member.id AND post.state = 'visible'
) AS written
LEFT JOIN thread_author AS author ON author.thread_id = thread.id AND author.author_id = member.id
LEFT JOIN thread_recount AS recount ON recount.thread_id = thread.id
WHERE coalesce(author.post_count, 0) <> written.posts
    OR recount.thread_id IS NULL AND author.counted <> (
        SELECT CASE WHEN thread.state = 'visible' AND forum.title <> 'Staff' THEN written.posts ELSE 0 END
        FROM forum WHERE forum.id = thread.forum_id
    )

UNION ALL

SELECT 'poll ' || poll.id
FROM poll
WHERE voters <> (SELECT count(*) FROM ballot WHERE ballot.poll_id = poll.id)
    OR EXISTS (
        SELECT 1 FROM ballot
        WHERE ballot.poll_id = poll.id
            AND ballot.choices <> (SELECT count(*) FROM vote WHERE vote.ballot_id = ballot.id)
    )
    OR EXISTS (
        SELECT 1 FROM poll_option AS option
        WHERE option.poll_id = poll.id AND NOT option.removed
            AND option.votes <> (SELECT count(*) FROM vote WHERE vote.option_id = option.id)
    )

UNION ALL

SELECT 'events of thread ' || thread
FROM (
    SELECT thread, number, lag(number) OVER (PARTITION BY thread ORDER BY occurred_at, event) AS earlier
    FROM (
        SELECT
            occurred_at,
            number AS event,
            CAST(CAST(body AS JSON) #>> '{data,post,number}' AS BIGINT) AS number,
            CAST(body AS JSON) #>> '{data,post,threadId}' AS thread
        FROM forum_api_events
        -- An operator approves posts in any order.
        WHERE topic = 'post.created' AND CAST(body AS JSON) #>> '{data,actor}' IS NOT NULL
    ) AS created
) AS created
WHERE number <= earlier

-- Who asks and all forums in one statement: a row for each forum, or a single one on a board that has none; no row at
-- all for a member who is not there or banned.
SELECT
    member.groups,
    member.last_seen_at,
    EXISTS (SELECT 1 FROM setting WHERE key = 'board.offline'),
    EXISTS (SELECT 1 FROM forum_api_endpoints WHERE enabled),
    forum.id,
    forum.parent_id,
    forum.read_groups,
    forum.start_groups,
    forum.reply_groups,
    forum_moderator.member_id IS NOT NULL
FROM (SELECT 1) AS alone
LEFT JOIN member ON member.id = :member
LEFT JOIN forum ON TRUE
LEFT JOIN forum_moderator ON forum_moderator.forum_id = forum.id AND forum_moderator.member_id = :member
WHERE CAST(:member AS BIGINT) IS NULL OR member.banned = FALSE
ORDER BY forum.id

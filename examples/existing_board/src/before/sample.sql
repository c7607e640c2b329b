-- Content of an empty club: a member, three sections and a topic.
INSERT INTO member (name) SELECT 'alice' WHERE NOT EXISTS (SELECT FROM member);

INSERT INTO section (title, rank)
SELECT title, rank FROM (VALUES ('Tea', 0), ('Members', 1), ('Staff', 2)) AS sample (title, rank)
WHERE NOT EXISTS (SELECT FROM section);

INSERT INTO topic (section, subject, entries)
SELECT min(id), 'Which tea?', 1 FROM section HAVING NOT EXISTS (SELECT FROM topic);

INSERT INTO entry (topic, number, writer, body)
SELECT topic.id, 1, member.id, 'Green or black?' FROM topic CROSS JOIN member
WHERE NOT EXISTS (SELECT FROM entry) AND member.name = 'alice';

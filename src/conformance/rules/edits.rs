//! Posts that are edited.

use std::time::Duration;

use super::sanitizing::{HARM, harmless};
use super::thread_fixture::{Scene, edit, post};
use super::{Audience, Part, Role, Stop, Suite, Verdict, Written, equal, holds};
use crate::model::{EditPost, PostAt};

const A_YEAR: Duration = Duration::from_secs(366 * 24 * 60 * 60);

board_rules!(
    mod edits;

    /// An edit shows in the post, with who edited it and when.
    async fn an_edit_shows(suite: &Suite) -> Verdict {
        let Scene { alice, at, .. } = Scene::set(suite).await?;
        let before = post(&alice, &at).await?;
        let edited = alice
            .edit_post(&at, &edit("New words"))
            .await?
            .granted()?
            .it;
        equal("the body", edited.body.as_deref(), Some("New words"))?;
        let later = edited
            .edited_at
            .is_some_and(|time| time >= edited.created_at);
        holds("it was edited after it was written", later)?;
        let editor = edited.edited_by.clone().map(|editor| editor.user_id);
        equal("who edited it", editor, Some(alice.id()))?;
        equal("when it was written", edited.created_at, before.created_at)?;
        holds("its HTML follows", edited.body_html != before.body_html)?;
        equal("the post in the list", post(&alice, &at).await?, edited)
    }

    /// Each edit makes another version.
    async fn an_edit_counts(suite: &Suite) -> Verdict {
        suite.needs(Part::Versions)?;
        let Scene { alice, at, .. } = Scene::set(suite).await?;
        for version in [2, 3] {
            let edited = alice.edit_post(&at, &edit("New words")).await?.granted()?;
            equal("the version", edited.it.version, version)?;
        }
        Ok(())
    }

    /// An edit of what is no longer the version that was read is a conflict, and changes nothing.
    async fn a_stale_edit_is_a_conflict(suite: &Suite) -> Verdict {
        suite.needs(Part::Versions)?;
        let Scene { alice, at, .. } = Scene::set(suite).await?;
        let first = EditPost {
            expected_version: Some(1),
            ..edit("First")
        };
        alice.edit_post(&at, &first).await?.granted()?;
        alice.edit_post(&at, &first).await?.conflict()?;
        let found = post(&alice, &at).await?.body;
        equal("its body", found.as_deref(), Some("First"))
    }

    /// Of many edits of one version, one is carried out.
    async fn one_of_many_edits_of_a_version_is_made(suite: &Suite) -> Verdict {
        suite.needs(Part::Versions)?;
        let Scene { alice, at, .. } = Scene::set(suite).await?;
        let edits = (0..8).map(|_| {
            let (alice, at) = (alice.clone(), at.clone());
            async move {
                let edit = EditPost {
                    expected_version: Some(1),
                    ..edit("Mine")
                };
                alice
                    .edit_post(&at, &edit)
                    .await
                    .map(|asked| asked.reply().1.is_ok())
            }
        });
        let made: Vec<bool> = suite
            .race(edits)
            .await
            .into_iter()
            .collect::<Result<_, Stop>>()?;
        let found = made.iter().filter(|made| **made).count();
        equal("how many were made", found, 1)?;
        equal("the version", post(&alice, &at).await?.version, 2)
    }

    /// A body without any text is refused.
    async fn an_edit_needs_a_body(suite: &Suite) -> Verdict {
        let Scene { alice, at, .. } = Scene::set(suite).await?;
        let before = post(&alice, &at).await?;
        for body in ["", " \n\t "] {
            alice.edit_post(&at, &edit(body)).await?.invalid("body")?;
        }
        equal("the post", post(&alice, &at).await?, before)
    }

    /// A post is edited by its author and by those who moderate its forum, and each is told whether they may.
    async fn authors_and_moderators_edit(suite: &Suite) -> Verdict {
        let Scene {
            forum, alice, at, ..
        } = Scene::set(suite).await?;
        let elsewhere = suite.forum(Audience::Guests).await?;
        for (someone, may) in [
            (suite.member("bob").await?, false),
            (suite.join("ada", Role::Administrator).await?, true),
            (suite.moderator("max", &elsewhere).await?, false),
            (suite.moderator("mia", &forum).await?, true),
            (alice, true),
        ] {
            let told = post(&someone, &at).await?.can_edit;
            equal(
                format_args!("whether {} is told so", someone.name()),
                told,
                may,
            )?;
            let edited = someone.edit_post(&at, &edit("New words")).await?;
            edited.granted_if(may)?;
        }
        Ok(())
    }

    /// A guest is told that they edit and delete nothing.
    async fn a_guest_changes_nothing(suite: &Suite) -> Verdict {
        let Scene { at, .. } = Scene::set(suite).await?;
        let post = post(&suite.guest()?, &at).await?;
        let found = (post.can_edit, post.can_delete);
        equal("what a guest may", found, (false, false))
    }

    /// A post is found under its own thread alone, and nowhere by those who do not see it.
    async fn a_post_that_is_not_seen_there_is_not_edited(suite: &Suite) -> Verdict {
        let Scene {
            forum, alice, at, ..
        } = Scene::set(suite).await?;
        let other = suite.thread(&alice, &forum).await?;
        for wrong in [
            PostAt {
                thread: other.thread,
                post: at.post.clone(),
            },
            PostAt {
                thread: at.thread,
                post: 999_999.into(),
            },
            PostAt {
                thread: 999_999.into(),
                post: at.post,
            },
        ] {
            alice
                .edit_post(&wrong, &edit("New words"))
                .await?
                .absent()?;
            alice.delete_post(&wrong).await?.absent()?;
        }
        Ok(())
    }

    /// A post of a hidden forum is absent for those who would edit or delete it.
    async fn a_hidden_post_is_not_edited(suite: &Suite) -> Verdict {
        let forum = suite.forum(Audience::Staff).await?;
        let sam = suite.moderator("sam", &forum).await?;
        let Written { thread, first } = suite.thread(&sam, &forum).await?;
        let at = PostAt {
            thread,
            post: first,
        };
        let alice = suite.member("alice").await?;
        alice.edit_post(&at, &edit("New words")).await?.absent()?;
        alice.delete_post(&at).await?.absent()?;
        let found = post(&sam, &at).await?.edited_at;
        equal("whether it was edited", found, None)
    }

    /// In a locked thread moderators edit and delete, and nobody else.
    async fn a_locked_thread_is_edited_by_moderators(suite: &Suite) -> Verdict {
        suite.needs(Part::Locking)?;
        let Scene {
            forum, alice, at, ..
        } = Scene::set(suite).await?;
        let mia = suite.moderator("mia", &forum).await?;
        suite.stage.set_locked(&at.thread, true).await?;
        let told = post(&alice, &at).await?;
        let found = (told.can_edit, told.can_delete);
        equal("what the author may", found, (false, false))?;
        alice
            .edit_post(&at, &edit("New words"))
            .await?
            .forbidden()?;
        alice.delete_post(&at).await?.forbidden()?;
        mia.edit_post(&at, &edit("New words")).await?.granted()?;
        suite.stage.set_locked(&at.thread, false).await?;
        alice.edit_post(&at, &edit("My words")).await?.granted()?;
        suite.stage.set_locked(&at.thread, true).await?;
        mia.delete_post(&at).await?.granted()
    }

    /// After a time authors can no longer edit or delete what they wrote; moderators can.
    async fn an_edit_window_closes(suite: &Suite) -> Verdict {
        suite.needs(Part::EditWindow)?;
        let Scene {
            forum, alice, at, ..
        } = Scene::set(suite).await?;
        let mia = suite.moderator("mia", &forum).await?;
        suite.wait(A_YEAR);
        let told = post(&alice, &at).await?;
        let found = (told.can_edit, told.can_delete);
        equal("what the author may", found, (false, false))?;
        alice
            .edit_post(&at, &edit("New words"))
            .await?
            .forbidden()?;
        alice.delete_post(&at).await?.forbidden()?;
        let told = post(&mia, &at).await?;
        let found = (told.can_edit, told.can_delete);
        equal("what a moderator may", found, (true, true))?;
        mia.edit_post(&at, &edit("New words")).await?.granted()?;
        mia.delete_post(&at).await?.granted()
    }

    /// Whether somebody moderates is decided when the edit is made, not when the request came in.
    async fn a_moderator_who_is_one_no_longer_edits_no_longer(suite: &Suite) -> Verdict {
        let Scene { forum, at, .. } = Scene::set(suite).await?;
        let mia = suite.moderator("mia", &forum).await?;
        let under_way = mia.hold().await?;
        suite.stage.set_moderator(&forum, &mia.id(), false).await?;
        under_way
            .edit_post(&at, &edit("New words"))
            .await?
            .forbidden()?;
        under_way.delete_post(&at).await?.forbidden()
    }

    /// An edit or a deletion of one who was banned since the request began is not made.
    async fn a_banned_author_edits_no_longer(suite: &Suite) -> Verdict {
        suite.needs(Part::Bans)?;
        let Scene {
            otto, alice, at, ..
        } = Scene::set(suite).await?;
        let before = post(&otto, &at).await?;
        let under_way = alice.hold().await?;
        suite.stage.set_banned(&alice.id(), true).await?;
        under_way
            .edit_post(&at, &edit("New words"))
            .await?
            .barred()?;
        under_way.delete_post(&at).await?.barred()?;
        equal("the post", post(&otto, &at).await?, before)
    }

    /// No markup becomes HTML that runs by an edit.
    async fn what_is_edited_does_not_run(suite: &Suite) -> Verdict {
        let Scene { alice, at, .. } = Scene::set(suite).await?;
        let edited = alice.edit_post(&at, &edit(HARM)).await?.granted()?.it;
        harmless(&edited.body_html.unwrap_or_default())
    }
);

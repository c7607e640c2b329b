//! A small disk, and what becomes of files on it.

use std::fs::{self, File};
use std::io::Write;
use std::path::PathBuf;
use std::process::Command;

use crate::program::Home;

/// A disk of 8 MB in a home, which goes with this value.
pub(super) struct Disk(Home);

/// A file that takes all the room there was.
pub(super) struct Filling(PathBuf);

impl Disk {
    /// Mounted there; `None` where that is not allowed.
    pub(super) fn of(home: &Home) -> Option<Self> {
        let mount = Command::new("mount")
            .args(["-t", "tmpfs", "-o", "size=8m", "tmpfs"])
            .arg(home.path())
            .status();
        let mounted = mount.is_ok_and(|status| status.success());
        mounted.then(|| Self(home.clone()))
    }

    /// Makes it one that is read-only, `ro`, or not any more, `rw`.
    pub(super) fn remount(&self, how: &str) {
        let options = format!("remount,size=8m,{how}");
        let mount = Command::new("mount")
            .args(["-o", &options])
            .arg(self.0.path())
            .status();
        assert!(mount.unwrap().success());
    }

    /// Leaves no room on it.
    pub(super) fn fill(&self) -> Filling {
        let path = self.0.path().join("filling");
        let mut file = File::create(&path).unwrap();
        while file.write_all(&[0; 4096]).is_ok() {}
        Filling(path)
    }
}

impl Filling {
    pub(super) fn give_back(self) {
        fs::remove_file(self.0).unwrap();
    }
}

/// The database of a home, which nobody may write until this value goes.
pub(super) struct Shut(Home);

impl Shut {
    /// Takes the right to write it; `None` where that is not allowed.
    pub(super) fn of(home: &Home) -> Option<Self> {
        let shut = Self(home.clone());
        shut.may_be_changed("+i").then_some(shut)
    }

    /// The memory that its processes share is left alone: the kernel kills who writes it where it may not be written.
    fn may_be_changed(&self, how: &str) -> bool {
        let files = ["forum.db", "forum.db-wal"].map(|name| self.0.path().join(name));
        let changed = Command::new("chattr").arg(how).args(files).status();
        changed.is_ok_and(|status| status.success())
    }
}

impl Drop for Shut {
    fn drop(&mut self) {
        self.may_be_changed("-i");
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        drop(
            Command::new("umount")
                .arg("--lazy")
                .arg(self.0.path())
                .status(),
        );
    }
}

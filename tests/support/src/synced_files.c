// Appends the inode of each file that a process syncs to the file that the variable names. Loaded with LD_PRELOAD.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static void note(int file) {
    const char *path = getenv("SYNCED_FILES");
    struct stat status;
    int log = path ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : -1;
    if (log < 0) return;
    if (fstat(file, &status) == 0) dprintf(log, "%llu\n", (unsigned long long)status.st_ino);
    close(log);
}

int fsync(int file) {
    note(file);
    return syscall(SYS_fsync, file);
}

int fdatasync(int file) {
    note(file);
    return syscall(SYS_fdatasync, file);
}

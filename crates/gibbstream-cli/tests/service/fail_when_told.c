/* Lets fsync and fdatasync fail as long as the file that FAIL_WHEN names is there, and leaves a mark that they did. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int fails(void) {
    const char *when = getenv("FAIL_WHEN");
    if (!when || access(when, F_OK) != 0) return 0;
    char mark[4096];
    snprintf(mark, sizeof mark, "%s.failed", when);
    int file = open(mark, O_CREAT | O_WRONLY, 0600);
    if (file >= 0) close(file);
    errno = EIO;
    return 1;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

int fsync(int file) { return fails() ? -1 : REAL(fsync)(file); }

int fdatasync(int file) { return fails() ? -1 : REAL(fdatasync)(file); }

/* Stands between the program and the system's library: lets calls fail, and writes down which calls there were.

   FAULT_LOG     file that every call is written to: its kind, its file, and whether it was made to fail
   FAULT_FOLDER  only calls for files in this folder count
   FAIL_KINDS    kinds of calls that may fail, such as "create write fsync rename"
   FAIL_NTH      which of them fails, from 1; FAIL_LASTING: and all after it
   FAIL_ERRNO    what the system is said to have answered */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static atomic_long calls;

static const char *variable(const char *name) {
    const char *value = getenv(name);
    return value ? value : "";
}

static void note(const char *kind, const char *path, int failed) {
    if (!getenv("FAULT_LOG")) return;
    int saved = errno;
    int log = syscall(SYS_openat, AT_FDCWD, variable("FAULT_LOG"), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    char line[8192];
    int length = snprintf(line, sizeof line, "%s %s%s\n", kind, path, failed ? " FAILED" : "");
    if (log >= 0 && length > 0) syscall(SYS_write, log, line, (size_t)length);
    if (log >= 0) syscall(SYS_close, log);
    errno = saved;
}

/* Whether a call for this file is made to fail. */
static int fails(const char *kind, const char *path) {
    if (strncmp(path, variable("FAULT_FOLDER"), strlen(variable("FAULT_FOLDER"))) != 0) return 0;
    int failed = 0;
    if (strstr(variable("FAIL_KINDS"), kind)) {
        long call = atomic_fetch_add(&calls, 1) + 1, nth = atol(variable("FAIL_NTH"));
        failed = nth > 0 && (call == nth || (getenv("FAIL_LASTING") && call > nth));
    }
    note(kind, path, failed);
    if (failed) errno = atoi(variable("FAIL_ERRNO"));
    return failed;
}

static int fails_for(const char *kind, int file) {
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = syscall(SYS_readlinkat, AT_FDCWD, link, path, sizeof path - 1);
    path[length > 0 ? length : 0] = 0;
    return fails(kind, path);
}

/* The path from the root on, whether or not there is a file. */
static int fails_at(const char *kind, const char *path) {
    char whole[8192], folder[4096] = "";
    if (path[0] != '/' && !getcwd(folder, sizeof folder)) return 0;
    snprintf(whole, sizeof whole, path[0] == '/' ? "%s%s" : "%s/%s", folder, path);
    return fails(kind, whole);
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

ssize_t read(int file, void *bytes, size_t count) {
    return fails_for("read", file) ? -1 : REAL(read)(file, bytes, count);
}

ssize_t write(int file, const void *bytes, size_t count) {
    return fails_for("write", file) ? -1 : REAL(write)(file, bytes, count);
}

ssize_t writev(int file, const struct iovec *parts, int count) {
    return fails_for("write", file) ? -1 : REAL(writev)(file, parts, count);
}

int fsync(int file) { return fails_for("fsync", file) ? -1 : REAL(fsync)(file); }

int rename(const char *from, const char *to) { return fails_at("rename", to) ? -1 : REAL(rename)(from, to); }

int open64(const char *path, int flags, ...) {
    mode_t mode = 0;
    if (flags & O_CREAT) {
        va_list rest;
        va_start(rest, flags);
        mode = va_arg(rest, mode_t);
        va_end(rest);
        if (fails_at("create", path)) return -1;
    }
    return REAL(open64)(path, flags, mode);
}

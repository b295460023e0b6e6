/* Stands between the program and the system's library: lets calls fail, and writes down which calls there were.

   FAULT_LOG     file that every call is written to: its kind, its file, and whether it was made to fail
   FAULT_FOLDER  only calls for files in this folder count
   FAIL_KINDS    kinds of calls that may fail, such as "create write fsync rename"
   FAIL_NTH      which of them fails, from 1; FAIL_LASTING: and all after it
   FAIL_ERRNO    what the system is said to have answered
   FAIL_SIGNAL   the number of a signal that arrives then, instead of a failure
   FAULT_RECORD  folder that gets a file for every call that changed something: what a disk would have to be told */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
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
    if (failed && getenv("FAIL_SIGNAL")) return raise(atoi(variable("FAIL_SIGNAL")));
    if (failed) errno = atoi(variable("FAIL_ERRNO"));
    return failed;
}

/* Writes down a change that has been made: its kind, its file, another name or an offset, and then the bytes. */
static void record(const char *kind, const char *path, const char *other, const void *bytes, size_t count) {
    static atomic_long changes;
    if (!getenv("FAULT_RECORD") || strncmp(path, variable("FAULT_FOLDER"), strlen(variable("FAULT_FOLDER"))) != 0) return;
    int saved = errno;
    char name[4096], head[12288];
    snprintf(name, sizeof name, "%s/%06ld", variable("FAULT_RECORD"), atomic_fetch_add(&changes, 1));
    int file = syscall(SYS_openat, AT_FDCWD, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    int length = snprintf(head, sizeof head, "%s\n%s\n%s\n", kind, path, other);
    if (file >= 0 && length > 0) syscall(SYS_write, file, head, (size_t)length);
    if (file >= 0 && count > 0) syscall(SYS_write, file, bytes, count);
    if (file >= 0) syscall(SYS_close, file);
    errno = saved;
}

static void path_of(int file, char *path, size_t size) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = syscall(SYS_readlinkat, AT_FDCWD, link, path, size - 1);
    path[length > 0 ? length : 0] = 0;
}

/* The path from the root on, whether or not there is a file. */
static const char *whole_path(const char *path, char *whole, size_t size) {
    char folder[4096] = "";
    if (path[0] != '/' && !getcwd(folder, sizeof folder)) return path;
    snprintf(whole, size, path[0] == '/' ? "%s%s" : "%s/%s", folder, path);
    return whole;
}

static int fails_for(const char *kind, int file) {
    char path[4096];
    path_of(file, path, sizeof path);
    return fails(kind, path);
}

static int fails_at(const char *kind, const char *path) {
    char whole[8192];
    return fails(kind, whole_path(path, whole, sizeof whole));
}

static ssize_t record_write(int file, const void *bytes, ssize_t written) {
    char path[4096], offset[32];
    if (written > 0 && getenv("FAULT_RECORD")) {
        path_of(file, path, sizeof path);
        snprintf(offset, sizeof offset, "%ld", (long)lseek(file, 0, SEEK_CUR) - (long)written);
        record("write", path, offset, bytes, (size_t)written);
    }
    return written;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

ssize_t read(int file, void *bytes, size_t count) {
    return fails_for("read", file) ? -1 : REAL(read)(file, bytes, count);
}

ssize_t write(int file, const void *bytes, size_t count) {
    return fails_for("write", file) ? -1 : record_write(file, bytes, REAL(write)(file, bytes, count));
}

ssize_t writev(int file, const struct iovec *parts, int count) {
    return fails_for("write", file) ? -1 : REAL(writev)(file, parts, count);
}

int fsync(int file) {
    int result = fails_for("fsync", file) ? -1 : REAL(fsync)(file);
    char path[4096];
    path_of(file, path, sizeof path);
    if (result == 0) record("fsync", path, "", NULL, 0);
    return result;
}

int rename(const char *from, const char *to) {
    int result = fails_at("rename", to) ? -1 : REAL(rename)(from, to);
    char whole_from[8192], whole_to[8192];
    if (result == 0) record("rename", whole_path(from, whole_from, sizeof whole_from), whole_path(to, whole_to, sizeof whole_to), NULL, 0);
    return result;
}

int unlink(const char *path) {
    int result = REAL(unlink)(path);
    char whole[8192];
    if (result == 0) record("unlink", whole_path(path, whole, sizeof whole), "", NULL, 0);
    return result;
}

int open64(const char *path, int flags, ...) {
    mode_t mode = 0;
    if (flags & O_CREAT) {
        va_list rest;
        va_start(rest, flags);
        mode = va_arg(rest, mode_t);
        va_end(rest);
        if (fails_at("create", path)) return -1;
    }
    int file = REAL(open64)(path, flags, mode);
    char whole[8192];
    if (file >= 0 && (flags & O_CREAT)) record("create", whole_path(path, whole, sizeof whole), "", NULL, 0);
    return file;
}

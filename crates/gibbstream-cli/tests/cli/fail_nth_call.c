/* Lets the n-th call that changes files fail, or all from the n-th on: loaded before the system's own library.
   FAIL_NTH counts write, fsync, rename and the creation of files from 1; FAIL_LASTING keeps failing;
   FAIL_ERRNO is the answer. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/types.h>
#include <sys/uio.h>

static atomic_long calls;

static int fails(void) {
    const char *nth = getenv("FAIL_NTH");
    if (!nth) return 0;
    long call = atomic_fetch_add(&calls, 1) + 1;
    if (call != atol(nth) && !(getenv("FAIL_LASTING") && call > atol(nth))) return 0;
    errno = atoi(getenv("FAIL_ERRNO"));
    return 1;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

ssize_t write(int file, const void *bytes, size_t count) {
    if (file > 2 && fails()) return -1;
    return REAL(write)(file, bytes, count);
}

ssize_t writev(int file, const struct iovec *parts, int count) {
    if (file > 2 && fails()) return -1;
    return REAL(writev)(file, parts, count);
}

int fsync(int file) { return fails() ? -1 : REAL(fsync)(file); }

int rename(const char *from, const char *to) { return fails() ? -1 : REAL(rename)(from, to); }

int open64(const char *path, int flags, ...) {
    mode_t mode = 0;
    if (flags & O_CREAT) {
        va_list rest;
        va_start(rest, flags);
        mode = va_arg(rest, mode_t);
        va_end(rest);
        if (fails()) return -1;
    }
    return REAL(open64)(path, flags, mode);
}

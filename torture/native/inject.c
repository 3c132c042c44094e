/*
 * A fault at one exact write: preloaded into a program, it counts every call that changes
 * something under FI_ROOT and acts at call number FI_AT.
 *
 *   FI_ROOT     the folder whose writes count; absolute, without symbolic links
 *   FI_LOG      a file for one line per counted call: number, call, path, separated by tabs,
 *               and "failed" if it was made to
 *   FI_AT       the number of the call to act at, from 1; 0 or unset: only count
 *   FI_MODE     before       dies by SIGKILL instead of making the call
 *               after        makes the call, then dies
 *               half, one    writes half of the bytes, or a single one, then dies
 *                            (a call that writes no bytes: as before)
 *               stop-before  stops by SIGSTOP, goes on when continued
 *               stop-after
 *               cut-before   cuts the power of the file system under FI_ROOT, then dies
 *               cut-after
 *               enospc eio erofs emfile edquot    the call fails with that errno
 *   FI_LASTING  1: an errno stays for every later call as well
 *   FI_SHORT    1: a call that writes bytes and is to fail writes half of them and says so, as a
 *               disk does that becomes full; the errno comes with whatever is written next
 *   FI_OPENS    1: every open counts, also one that only reads ("look") or changes nothing yet;
 *               a look needs no room, so that it only fails with eio and emfile
 *   FI_SAID     1: what the program writes to its output is logged as well, as call 0, "said"
 *   FI_PROGRAM  a name: processes of that name are watched, all others only pass this on
 *   FI_COUNTER  a file: its processes count together
 *   FI_ABOVE    1: who dies takes along whoever started the first process of that name
 *
 * Calls are numbered with one atomic counter, so it does not matter which thread makes them.
 * Without FI_PROGRAM only the program itself is watched: what it starts is not preloaded.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

/* The shutdown ioctl that ext4 and xfs share: nothing more reaches the disk, no log is flushed. */
#define SHUT_DOWN _IOR('X', 125, unsigned)
#define NO_LOG_FLUSH 2u

enum mode { COUNT, BEFORE, AFTER, HALF, ONE, STOP_BEFORE, STOP_AFTER, CUT_BEFORE, CUT_AFTER, FAIL };

static const struct {
  const char *name;
  enum mode mode;
  int error;
} modes[] = {
    {"before", BEFORE, 0},           {"after", AFTER, 0},
    {"half", HALF, 0},               {"one", ONE, 0},
    {"stop-before", STOP_BEFORE, 0}, {"stop-after", STOP_AFTER, 0},
    {"cut-before", CUT_BEFORE, 0},   {"cut-after", CUT_AFTER, 0},
    {"enospc", FAIL, ENOSPC},        {"eio", FAIL, EIO},
    {"erofs", FAIL, EROFS},          {"emfile", FAIL, EMFILE},
    {"edquot", FAIL, EDQUOT},
};

static char root[PATH_MAX];
static size_t root_length;
static long act_at;
static enum mode act_mode = COUNT;
static int act_error;
static int lasting;
static int writes_short;
static atomic_int torn;
static int every_open;
static int logs_said;
static int log_fd = -1;
static atomic_long counted_here;
static atomic_long *counted = &counted_here;
static const char *program;
static int takes_above;

static void refuse_to_start(const char *what, const char *value) {
  fprintf(stderr, "inject: %s \"%s\" is not understood\n", what, value);
  _exit(97);
}

static int is_set(const char *name) {
  const char *value = getenv(name);
  return value != NULL && strcmp(value, "1") == 0;
}

static void count_together(const char *file) {
  int fd = syscall(SYS_openat, AT_FDCWD, file, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0 || syscall(SYS_ftruncate, fd, sizeof *counted) != 0) {
    refuse_to_start("FI_COUNTER", file);
  }
  void *shared = mmap(NULL, sizeof *counted, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (shared == MAP_FAILED) refuse_to_start("FI_COUNTER", file);
  counted = shared;
  syscall(SYS_close, fd);
}

__attribute__((constructor)) static void read_orders(void) {
  const char *given = getenv("FI_ROOT");
  if (given == NULL) return;
  program = getenv("FI_PROGRAM");
  if (program != NULL && strcmp(program, program_invocation_short_name) != 0) return;
  const char *counter = getenv("FI_COUNTER");
  if (counter != NULL) count_together(counter);
  takes_above = is_set("FI_ABOVE");
  if (given[0] != '/' || strlen(given) >= sizeof root) refuse_to_start("FI_ROOT", given);
  strcpy(root, given);
  root_length = strlen(root);

  const char *at = getenv("FI_AT");
  act_at = at ? atol(at) : 0;
  const char *name = getenv("FI_MODE");
  if (act_at > 0) {
    if (name == NULL) refuse_to_start("FI_MODE", "");
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
      if (strcmp(modes[i].name, name) != 0) continue;
      act_mode = modes[i].mode;
      act_error = modes[i].error;
    }
    if (act_mode == COUNT) refuse_to_start("FI_MODE", name);
  }
  lasting = is_set("FI_LASTING");
  writes_short = is_set("FI_SHORT");
  every_open = is_set("FI_OPENS");
  logs_said = is_set("FI_SAID");

  const char *log = getenv("FI_LOG");
  if (log != NULL) {
    int fd = syscall(SYS_openat, AT_FDCWD, log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (fd < 0) refuse_to_start("FI_LOG", log);
    // Out of the way: the program gets the same descriptor numbers as without us.
    log_fd = fcntl(fd, F_DUPFD_CLOEXEC, 900);
    syscall(SYS_close, fd);
  }
  if (program == NULL) unsetenv("LD_PRELOAD");
}

/* ── what a call concerns ─────────────────────────────────────────────────────────────────── */

static int under_root(const char *path) {
  return strncmp(path, root, root_length) == 0 &&
         (path[root_length] == '/' || path[root_length] == '\0');
}

static int path_of_descriptor(int fd, char out[PATH_MAX]) {
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, out, PATH_MAX - 1);
  if (length < 0) return 0;
  out[length] = '\0';
  return 1;
}

static int absolute(int folder, const char *path, char out[PATH_MAX]) {
  if (path[0] == '/') {
    if (strlen(path) >= PATH_MAX) return 0;
    strcpy(out, path);
    return 1;
  }
  if (folder == AT_FDCWD ? getcwd(out, PATH_MAX) == NULL : !path_of_descriptor(folder, out)) {
    return 0;
  }
  size_t length = strlen(out);
  return (size_t)snprintf(out + length, PATH_MAX - length, "/%s", path) < PATH_MAX - length;
}

/* ── what happens at a call ───────────────────────────────────────────────────────────────── */

/** Its name and its parent, from a line like "17 (git) S 16 …"; names here have no parentheses. */
static pid_t parent_if_named(pid_t pid, const char *name) {
  char file[64];
  char text[256];
  snprintf(file, sizeof file, "/proc/%d/stat", pid);
  int fd = syscall(SYS_openat, AT_FDCWD, file, O_RDONLY | O_CLOEXEC);
  ssize_t length = fd < 0 ? 0 : read(fd, text, sizeof text - 1);
  if (fd >= 0) syscall(SYS_close, fd);
  text[length < 0 ? 0 : length] = '\0';
  char comm[64];
  int parent;
  if (sscanf(text, "%*d (%63[^)]) %*c %d", comm, &parent) != 2) return 0;
  return strcmp(comm, name) == 0 ? parent : 0;
}

static void die(void) {
  if (takes_above && program != NULL) {
    pid_t above = getppid();
    for (pid_t next; (next = parent_if_named(above, program)) > 0;) above = next;
    if (above > 1) kill(above, SIGKILL);
  }
  kill(getpid(), SIGKILL);
  for (;;) pause();
}

/** Sent to this very thread: sent to the process, it would run on until another took notice. */
static void stop_here(void) {
  int kept = errno;
  syscall(SYS_tgkill, getpid(), gettid(), SIGSTOP);
  errno = kept;
}

static void cut_power_and_die(void) {
  int fd = syscall(SYS_openat, AT_FDCWD, root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  unsigned how = NO_LOG_FLUSH;
  if (fd < 0 || ioctl(fd, SHUT_DOWN, &how) != 0) {
    fprintf(stderr, "inject: the power of %s cannot be cut: %s\n", root, strerror(errno));
    _exit(98);
  }
  die();
}

static void write_down(long number, const char *call, const char *path, const char *second,
                       int failed) {
  if (log_fd < 0) return;
  int kept = errno;
  char line[2 * PATH_MAX + 64];
  int length = snprintf(line, sizeof line, "%ld\t%s\t%s%s%s%s\n", number, call, path,
                        second ? " -> " : "", second ? second : "", failed ? "\tfailed" : "");
  syscall(SYS_write, log_fd, line, (size_t)length);
  errno = kept;
}

static int is_refused(long number, const char *call) {
  if (act_mode != FAIL || number < act_at || (number > act_at && !lasting)) return 0;
  return strcmp(call, "look") != 0 || act_error == EIO || act_error == EMFILE;
}

/** Counts the call; what is to become of it besides. FAIL comes back with errno set. */
static enum mode arrive(const char *call, const char *path, const char *second) {
  long number = atomic_fetch_add(counted, 1) + 1;
  int refused = is_refused(number, call);
  write_down(number, call, path, second, refused);
  if (refused) {
    errno = act_error;
    return FAIL;
  }
  if (act_mode == COUNT || act_mode == FAIL || number != act_at) return COUNT;
  if (act_mode == BEFORE) die();
  if (act_mode == CUT_BEFORE) cut_power_and_die();
  if (act_mode == STOP_BEFORE) stop_here();
  return act_mode;
}

static void leave(enum mode mode) {
  if (mode == AFTER) die();
  if (mode == CUT_AFTER) cut_power_and_die();
  if (mode == STOP_AFTER) stop_here();
}

static enum mode at_path(const char *call, int folder, const char *path) {
  char whole[PATH_MAX];
  if (root_length == 0 || path == NULL || !absolute(folder, path, whole) || !under_root(whole)) {
    return COUNT;
  }
  enum mode mode = arrive(call, whole, NULL);
  if (mode == HALF || mode == ONE) die();
  return mode;
}

static enum mode at_two_paths(const char *call, int from_folder, const char *from, int to_folder,
                              const char *to) {
  char first[PATH_MAX];
  char second[PATH_MAX];
  if (root_length == 0 || from == NULL || to == NULL || !absolute(from_folder, from, first) ||
      !absolute(to_folder, to, second) || (!under_root(first) && !under_root(second))) {
    return COUNT;
  }
  enum mode mode = arrive(call, first, second);
  if (mode == HALF || mode == ONE) die();
  return mode;
}

static enum mode at_descriptor(const char *call, int fd) {
  char path[PATH_MAX];
  int kept = errno;
  int concerns_us = root_length > 0 && path_of_descriptor(fd, path) && under_root(path);
  errno = kept;
  return concerns_us ? arrive(call, path, NULL) : COUNT;
}

/* ── the calls ────────────────────────────────────────────────────────────────────────────── */

#define REAL(name)                                                   \
  static __typeof__(&name) real;                                     \
  if (real == NULL) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

/** The body of a wrapper whose call is made whole or not at all. */
#define AROUND(at, call)          \
  enum mode mode = at;            \
  if (mode == FAIL) return -1;    \
  int result = call;              \
  leave(mode);                    \
  return result

static int takes_mode(int flags) {
  return (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE;
}

static int changes(int flags) { return takes_mode(flags) || (flags & O_TRUNC) != 0; }

/** What an open counts as. */
static enum mode at_open(int folder, const char *path, int flags) {
  if (changes(flags)) return at_path("open", folder, path);
  if (!every_open) return COUNT;
  return at_path((flags & O_ACCMODE) == O_RDONLY ? "look" : "open", folder, path);
}

static mode_t mode_argument(int flags, va_list rest) {
  return takes_mode(flags) ? va_arg(rest, mode_t) : 0;
}

#define OPEN(name)                                                                \
  int name(const char *path, int flags, ...) {                                    \
    REAL(name);                                                                   \
    va_list rest;                                                                 \
    va_start(rest, flags);                                                        \
    mode_t bits = mode_argument(flags, rest);                                     \
    va_end(rest);                                                                 \
    AROUND(at_open(AT_FDCWD, path, flags), real(path, flags, bits));              \
  }
OPEN(open)
OPEN(open64)

#define OPENAT(name)                                                              \
  int name(int folder, const char *path, int flags, ...) {                        \
    REAL(name);                                                                   \
    va_list rest;                                                                 \
    va_start(rest, flags);                                                        \
    mode_t bits = mode_argument(flags, rest);                                     \
    va_end(rest);                                                                 \
    AROUND(at_open(folder, path, flags), real(folder, path, flags, bits));        \
  }
OPENAT(openat)
OPENAT(openat64)

#define CREAT(name)                                                               \
  int name(const char *path, mode_t bits) {                                       \
    REAL(name);                                                                   \
    AROUND(at_path("open", AT_FDCWD, path), real(path, bits));                    \
  }
CREAT(creat)
CREAT(creat64)

/** How many of `count` bytes a call that is cut short still writes. */
static size_t bytes_before_death(enum mode mode, size_t count) {
  return mode == HALF ? count / 2 : count < 1 ? count : 1;
}

/** Whether a write that has to fail still writes half: the first one of all, and only that. */
static int is_torn(size_t count) {
  return writes_short && count > 1 && atomic_exchange(&torn, 1) == 0;
}

static void hear(int fd, const void *bytes, size_t count) {
  if (!logs_said || fd != STDOUT_FILENO) return;
  char text[128];
  size_t length = count < sizeof text - 1 ? count : sizeof text - 1;
  memcpy(text, bytes, length);
  while (length > 0 && text[length - 1] == '\n') length--;
  text[length] = '\0';
  write_down(0, "said", text, NULL, 0);
}

ssize_t write(int fd, const void *bytes, size_t count) {
  REAL(write);
  hear(fd, bytes, count);
  enum mode mode = at_descriptor("write", fd);
  if (mode == FAIL) return is_torn(count) ? real(fd, bytes, count / 2) : -1;
  if (mode == HALF || mode == ONE) {
    real(fd, bytes, bytes_before_death(mode, count));
    die();
  }
  ssize_t written = real(fd, bytes, count);
  leave(mode);
  return written;
}

#define PWRITE(name, offset_type)                                                 \
  ssize_t name(int fd, const void *bytes, size_t count, offset_type offset) {     \
    REAL(name);                                                                   \
    enum mode mode = at_descriptor("pwrite", fd);                                 \
    if (mode == FAIL) return is_torn(count) ? real(fd, bytes, count / 2, offset) : -1; \
    if (mode == HALF || mode == ONE) {                                            \
      real(fd, bytes, bytes_before_death(mode, count), offset);                   \
      die();                                                                      \
    }                                                                             \
    ssize_t written = real(fd, bytes, count, offset);                             \
    leave(mode);                                                                  \
    return written;                                                               \
  }
PWRITE(pwrite, off_t)
PWRITE(pwrite64, off64_t)

static size_t total(const struct iovec *parts, int count) {
  size_t bytes = 0;
  for (int i = 0; i < count; i++) bytes += parts[i].iov_len;
  return bytes;
}

/** The parts that hold the first `bytes` bytes, written one by one by the real call. */
#define WRITE_FIRST(bytes, call)                                                  \
  do {                                                                            \
    size_t left = bytes;                                                          \
    for (int i = 0; i < count && left > 0; i++) {                                 \
      struct iovec part = parts[i];                                               \
      if (part.iov_len > left) part.iov_len = left;                               \
      call;                                                                       \
      left -= part.iov_len;                                                       \
    }                                                                             \
  } while (0)

ssize_t writev(int fd, const struct iovec *parts, int count) {
  REAL(writev);
  enum mode mode = at_descriptor("writev", fd);
  if (mode == FAIL) return -1;
  if (mode == HALF || mode == ONE) {
    WRITE_FIRST(bytes_before_death(mode, total(parts, count)), real(fd, &part, 1));
    die();
  }
  ssize_t written = real(fd, parts, count);
  leave(mode);
  return written;
}

#define PWRITEV(name, offset_type)                                                \
  ssize_t name(int fd, const struct iovec *parts, int count, offset_type offset) { \
    REAL(name);                                                                   \
    enum mode mode = at_descriptor("pwritev", fd);                                \
    if (mode == FAIL) return -1;                                                  \
    if (mode == HALF || mode == ONE) {                                            \
      offset_type at = offset;                                                    \
      WRITE_FIRST(bytes_before_death(mode, total(parts, count)),                  \
                  (real(fd, &part, 1, at), at += part.iov_len));                  \
      die();                                                                      \
    }                                                                             \
    ssize_t written = real(fd, parts, count, offset);                             \
    leave(mode);                                                                  \
    return written;                                                               \
  }
PWRITEV(pwritev, off_t)
PWRITEV(pwritev64, off64_t)

/** Neither has bytes of its own to halve. */
static enum mode at_whole_file(const char *call, int fd) {
  enum mode mode = at_descriptor(call, fd);
  if (mode == HALF || mode == ONE) die();
  return mode;
}

int fsync(int fd) {
  REAL(fsync);
  AROUND(at_whole_file("fsync", fd), real(fd));
}

int fdatasync(int fd) {
  REAL(fdatasync);
  AROUND(at_whole_file("fdatasync", fd), real(fd));
}

int ftruncate(int fd, off_t length) {
  REAL(ftruncate);
  AROUND(at_whole_file("ftruncate", fd), real(fd, length));
}

int ftruncate64(int fd, off64_t length) {
  REAL(ftruncate64);
  AROUND(at_whole_file("ftruncate", fd), real(fd, length));
}

int rename(const char *from, const char *to) {
  REAL(rename);
  AROUND(at_two_paths("rename", AT_FDCWD, from, AT_FDCWD, to), real(from, to));
}

int renameat(int from_folder, const char *from, int to_folder, const char *to) {
  REAL(renameat);
  AROUND(at_two_paths("rename", from_folder, from, to_folder, to),
         real(from_folder, from, to_folder, to));
}

int renameat2(int from_folder, const char *from, int to_folder, const char *to, unsigned flags) {
  REAL(renameat2);
  AROUND(at_two_paths("rename", from_folder, from, to_folder, to),
         real(from_folder, from, to_folder, to, flags));
}

int link(const char *from, const char *to) {
  REAL(link);
  AROUND(at_two_paths("link", AT_FDCWD, from, AT_FDCWD, to), real(from, to));
}

int linkat(int from_folder, const char *from, int to_folder, const char *to, int flags) {
  REAL(linkat);
  AROUND(at_two_paths("link", from_folder, from, to_folder, to),
         real(from_folder, from, to_folder, to, flags));
}

int symlink(const char *content, const char *path) {
  REAL(symlink);
  AROUND(at_path("symlink", AT_FDCWD, path), real(content, path));
}

int unlink(const char *path) {
  REAL(unlink);
  AROUND(at_path("unlink", AT_FDCWD, path), real(path));
}

int unlinkat(int folder, const char *path, int flags) {
  REAL(unlinkat);
  AROUND(at_path("unlink", folder, path), real(folder, path, flags));
}

int rmdir(const char *path) {
  REAL(rmdir);
  AROUND(at_path("rmdir", AT_FDCWD, path), real(path));
}

int mkdir(const char *path, mode_t bits) {
  REAL(mkdir);
  AROUND(at_path("mkdir", AT_FDCWD, path), real(path, bits));
}

int mkdirat(int folder, const char *path, mode_t bits) {
  REAL(mkdirat);
  AROUND(at_path("mkdir", folder, path), real(folder, path, bits));
}

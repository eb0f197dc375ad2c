// Loaded before the C library of a process (LD_PRELOAD), to make a disk fail as it is told by the environment. Linux.
//   FAULT_FOLDER  what is written, synced, cut, renamed and removed below it counts; nothing else does, nor memory that processes share (-shm).
//   FAULT_LOG     each such step is added to this file, a line each: "CALL NAME".
//   FAULT_KILL    "NUMBER KIND": before the step of that number among those of a kind the process gets a SIGKILL. The kind of a step is its
//                 line with `*` for whatever begins with a digit: "write backups/state-*db".
//   FAULT_LOCKS   every lock is refused with this errno.
#define _GNU_SOURCE
#include <ctype.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
static long steps = 0;

static int is_kind(const char *line, const char *kind) {
  while (*line && *kind) {
    if (*kind == '*' && isdigit((unsigned char)*line)) {
      line += strspn(line, "0123456789.-");
      kind++;
    } else if (*line++ != *kind++) return 0;
  }
  return *line == *kind;
}

static void step(const char *call, const char *path) {
  const char *folder = getenv("FAULT_FOLDER"), *log = getenv("FAULT_LOG"), *kill_at = getenv("FAULT_KILL");
  if (!folder || strncmp(path, folder, strlen(folder)) != 0 || strstr(path, "-shm")) return;
  char line[4200];
  snprintf(line, sizeof line - 1, "%s %s", call, path + strlen(folder) + 1);
  pthread_mutex_lock(&turn);
  char *kind = NULL;
  long wanted = kill_at ? strtol(kill_at, &kind, 10) : 0;
  int is_killed = wanted > 0 && is_kind(line, kind + 1) && ++steps == wanted;
  if (log) {
    int fd = syscall(SYS_openat, AT_FDCWD, log, O_WRONLY | O_APPEND | O_CREAT, 0600);
    strcat(line, "\n");
    syscall(SYS_write, fd, line, strlen(line));
    syscall(SYS_close, fd);
  }
  if (is_killed) syscall(SYS_kill, getpid(), SIGKILL);
  pthread_mutex_unlock(&turn);
}

static void step_of(const char *call, int fd) {
  char link[64], path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length <= 0) return;
  path[length] = 0;
  step(call, path);
}

ssize_t write(int fd, const void *bytes, size_t count) {
  step_of("write", fd);
  return REAL(write)(fd, bytes, count);
}
ssize_t pwrite64(int fd, const void *bytes, size_t count, off64_t at) {
  step_of("write", fd);
  return REAL(pwrite64)(fd, bytes, count, at);
}
int fsync(int fd) {
  step_of("sync", fd);
  return REAL(fsync)(fd);
}
int fdatasync(int fd) {
  step_of("sync", fd);
  return REAL(fdatasync)(fd);
}
int ftruncate64(int fd, off64_t length) {
  step_of("cut", fd);
  return REAL(ftruncate64)(fd, length);
}
int unlink(const char *path) {
  step("remove", path);
  return REAL(unlink)(path);
}
int rename(const char *from, const char *to) {
  step("rename", to);
  return REAL(rename)(from, to);
}

static int is_lock(int command) {
  return command == F_GETLK || command == F_SETLK || command == F_SETLKW || command == F_OFD_SETLK || command == F_OFD_GETLK ||
         command == F_OFD_SETLKW;
}
#define CONTROL(name)                                            \
  int name(int fd, int command, ...) {                           \
    va_list rest;                                                \
    va_start(rest, command);                                     \
    void *argument = va_arg(rest, void *);                       \
    va_end(rest);                                                \
    const char *refused = getenv("FAULT_LOCKS");                 \
    if (refused && is_lock(command)) {                           \
      errno = atoi(refused);                                     \
      return -1;                                                 \
    }                                                            \
    return REAL(name)(fd, command, argument);                    \
  }
CONTROL(fcntl)
CONTROL(fcntl64)

/*
 * Cuts the power of one file system: godown <mount point>
 *
 * Says "ready", waits for a line on its input, then makes the shutdown ioctl that ext4 and xfs
 * share: from that instant nothing more reaches the disk, and no log is flushed first. Says
 * "down" when it is done. Input that ends without a line: nothing is cut.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define SHUT_DOWN _IOR('X', 125, unsigned)
#define NO_LOG_FLUSH 2u

static void say(const char *line) {
  if (write(STDOUT_FILENO, line, strlen(line)) < 0) _exit(3);
}

int main(int count, char **arguments) {
  if (count != 2) {
    fprintf(stderr, "usage: godown <mount point>\n");
    return 2;
  }
  // Opened beforehand, so that the cut itself is a single call.
  int fd = open(arguments[1], O_RDONLY | O_DIRECTORY);
  if (fd < 0) {
    fprintf(stderr, "godown: %s: %s\n", arguments[1], strerror(errno));
    return 1;
  }
  say("ready\n");
  char order;
  if (read(STDIN_FILENO, &order, 1) != 1) return 0;
  unsigned how = NO_LOG_FLUSH;
  if (ioctl(fd, SHUT_DOWN, &how) != 0) {
    fprintf(stderr, "godown: %s: %s\n", arguments[1], strerror(errno));
    return 1;
  }
  say("down\n");
  return 0;
}

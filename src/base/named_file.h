/* SPDX-License-Identifier: MIT */
#ifndef PROTON_BASE_NAMED_FILE_H
#define PROTON_BASE_NAMED_FILE_H
/* Opening what somebody named: the user, or the program that is looked at. The name may be that of a FIFO, for
 * whose writer open() waits, or of a device, which may act on being opened. So what it is is asked first,
 * of a descriptor that opens nothing (O_PATH), and that very file is opened then. O_NONBLOCK alone
 * would open the device, and fails for files that a file server has lent (leases).
 *   thread  any, one that has its own descriptors, too
 *   errors  -errno; -EISDIR: a folder; -ENODEV: what is no file, or no pipe where one would do; -ENXIO: a FIFO that
 *           nobody opened for writing in time. open_error() says what they mean */
#include <sys/stat.h>

/* A regular file, those of /proc among them. flags: as of open(), O_CLOEXEC is implied. ret may be NULL. */
int regular_open(const char *path, int flags, struct stat *ret);
int regular_openat(int folder, const char *path, int flags, struct stat *ret);

/* To read from: a regular file, a pipe (a shell's <(…), /dev/stdin), /dev/null, or a FIFO, for whose writer it waits
 * so long. */
int input_open(const char *path, unsigned wait_ms);
#define INPUT_WAIT_MS 10000 /* somebody starts it beside us */

/* What the code of an error means, in words. */
const char *open_error(int code);         /* of input_open() */
const char *regular_open_error(int code); /* of regular_open() */

#endif

/* SPDX-License-Identifier: MIT */
#ifndef PROTON_LIVE_LOCAL_SOCKET_H
#define PROTON_LIVE_LOCAL_SOCKET_H
/* Sockets in the file system that only their user may open: both ends look who the other one is.
 *   errors  -errno: -ENAMETOOLONG, -EPERM another user's, -ENOTSOCK something else is there,
 *           -EADDRINUSE somebody listens there
 *   thread  any */
#include <stdbool.h>

#define LOCAL_SOCKET_PREFIX "unix:"

/* The path of "unix:PATH"; NULL: it is something else. */
const char *local_socket_path(const char *target);
/* May we connect there, or will we when somebody listens? 0 or -errno. */
int local_socket_check(const char *path);
/* Descriptors that do not block. What a listener that was killed has left there is replaced. */
int local_socket_connect(const char *path, int *ret_fd);
int local_socket_listen(const char *path, int *ret_fd);
/* -EAGAIN: there is none; -EPERM: another user's was sent away. */
int local_socket_accept(int listener, int *ret_fd);

#endif

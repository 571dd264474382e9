/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "live/local_socket.h"
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include "base/util.h"

enum { BACKLOG = 512 };

const char *local_socket_path(const char *target)
{
	size_t n = strlen(LOCAL_SOCKET_PREFIX);

	return strncmp(target, LOCAL_SOCKET_PREFIX, n) == 0 && target[n] ? target + n : NULL;
}

static int address_of(const char *path, struct sockaddr_un *ret)
{
	*ret = (struct sockaddr_un){.sun_family = AF_UNIX};
	if (strlen(path) >= sizeof(ret->sun_path))
		return -ENAMETOOLONG;
	memcpy(ret->sun_path, path, strlen(path) + 1);
	return 0;
}

int local_socket_check(const char *path)
{
	struct sockaddr_un address;
	struct stat st;
	int r = address_of(path, &address);

	if (r < 0)
		return r;
	if (stat(path, &st) < 0)
		return errno == ENOENT ? 0 : -errno;
	if (!S_ISSOCK(st.st_mode))
		return -ENOTSOCK;
	return st.st_uid == geteuid() ? 0 : -EPERM;
}

/* Who listens, or has connected: root may be anybody. */
static int check_peer(int fd)
{
	struct ucred peer;
	socklen_t n = sizeof(peer);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &n) < 0)
		return -errno;
	return peer.uid == geteuid() || peer.uid == 0 ? 0 : -EPERM;
}

static int socket_new(void)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	return fd < 0 ? -errno : fd;
}

int local_socket_connect(const char *path, int *ret_fd)
{
	_cleanup_(closep) int fd = -1;
	struct sockaddr_un address;
	int r = local_socket_check(path);

	if (r < 0)
		return r;
	fd = socket_new();
	if (fd < 0)
		return fd;
	r = address_of(path, &address);
	if (r == 0 && connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0)
		r = -errno;
	if (r == 0)
		r = check_peer(fd);
	if (r < 0)
		return r;
	*ret_fd = fd;
	fd = -1;
	return 0;
}

/* Remove what nobody listens at any more. */
static int clear_place(const char *path)
{
	_cleanup_(closep) int fd = -1;
	int r = local_socket_connect(path, &fd);

	if (r == 0 || r == -EAGAIN)
		return -EADDRINUSE;
	if (r != -ECONNREFUSED)
		return r == -ENOENT ? 0 : r;
	return unlink(path) < 0 && errno != ENOENT ? -errno : 0;
}

/* A name by which others find it only when it is ours alone. */
int local_socket_listen(const char *path, int *ret_fd)
{
	_cleanup_(closep) int fd = -1;
	struct sockaddr_un address;
	mode_t mask;
	int r = address_of(path, &address);

	if (r == 0)
		r = clear_place(path);
	if (r < 0)
		return r;
	fd = socket_new();
	if (fd < 0)
		return fd;
	mask = umask(0177);
	r = bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0 ? -errno : 0;
	umask(mask);
	if (r == 0 && listen(fd, BACKLOG) < 0)
		r = -errno;
	if (r < 0)
		return r;
	*ret_fd = fd;
	fd = -1;
	return 0;
}

int local_socket_accept(int listener, int *ret_fd)
{
	int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK), r;

	if (fd < 0)
		return errno == EINTR || errno == ECONNABORTED ? -EAGAIN : -errno;
	r = check_peer(fd);
	if (r < 0) {
		close(fd);
		return r;
	}
	*ret_fd = fd;
	return 0;
}

/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "collect/outlet.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
#include "collect/internal.h"
#include "collect/own_fd.h"
#include "wire/wire.h"

enum { PATH_BYTES = sizeof(collector->dir) + WIRE_REST_NAME_MAX };

static struct {
	struct own_fd pipe, rest;
	bool full;
	bool overflows; /* into `rest` */
	uint64_t rest_bytes;
} outlet = {.pipe = {.fd = -1}, .rest = {.fd = -1}};

static void rest_path(char path[PATH_BYTES])
{
	char name[WIRE_REST_NAME_MAX];

	snprintf(name, sizeof(name), WIRE_REST_NAME, collector->instance);
	snprintf(path, PATH_BYTES, "%s/%s", collector->dir, name);
}

bool outlet_open(void)
{
	char path[PATH_BYTES];

	snprintf(path, sizeof(path), "%s/stream", collector->dir);
	return outlet.overflows || own_fd_open(&outlet.pipe, path, O_WRONLY | O_NONBLOCK, S_IFIFO);
}

int outlet_emit(void *unused, const void *frame, size_t n)
{
	ssize_t r;

	(void)unused;
	if (outlet.overflows)
		return own_fd_append(&outlet.rest, frame, n, &outlet.rest_bytes);
	r = own_fd_write(&outlet.pipe, frame, n);
	if (r == (ssize_t)n)
		return 0;
	if (r >= 0 || r == -EAGAIN) {
		outlet.full = true;
		return -EAGAIN;
	}
	return (int)r;
}

bool outlet_was_full(void)
{
	bool was = outlet.full;

	outlet.full = false;
	return was;
}

void outlet_wait(int ms)
{
	own_fd_wait(&outlet.pipe, ms);
}

bool outlet_is_open(void)
{
	return outlet.pipe.fd >= 0;
}

int outlet_overflow(void)
{
	char path[PATH_BYTES];

	rest_path(path);
	if (!own_fd_open(&outlet.rest, path,
			 O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK, S_IFREG))
		return -EIO;
	outlet.overflows = true;
	outlet.rest_bytes = 0;
	return 0;
}

bool outlet_resume(void)
{
	char path[PATH_BYTES];

	if (!outlet.overflows)
		return false;
	rest_path(path);
	unlink(path);
	own_fd_close(&outlet.rest);
	outlet.overflows = false;
	return true;
}

void outlet_close(void)
{
	own_fd_close(&outlet.pipe);
	own_fd_close(&outlet.rest);
}

void outlet_forked(void)
{
	own_fd_close(&outlet.pipe);
	own_fd_close(&outlet.rest);
	outlet.overflows = outlet.full = false;
}

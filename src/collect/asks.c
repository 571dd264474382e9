/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "collect/asks.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "wire/wire.h"

static void ask_path(const struct ask_entry *e, char path[static PATH_MAX])
{
	snprintf(path, PATH_MAX, "%s/" WIRE_ANSWER_FILE, collector->dir, collector->instance,
		 e->id);
}

/* The file in which proton answers. That it is there says that we may ask, and where a file is asked for what is
 * in it says which. */
static int file_make(const struct ask_entry *e)
{
	const char *name = collector->session[e->session].name;
	char path[PATH_MAX];
	int fd, r = 0;

	ask_path(e, path);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return -errno;
	errno = ENOSPC; /* of a short write */
	if (e->what == WIRE_ASK_FILE && write(fd, name, strlen(name)) != (ssize_t)strlen(name))
		r = -errno;
	close(fd);
	return r;
}

static void file_remove(const struct ask_entry *e)
{
	char path[PATH_MAX];

	ask_path(e, path);
	unlink(path);
}

static int place_take(void)
{
	for (int i = 0; i < MAX_ASKS; i++) {
		uint32_t free = ASK_FREE;

		if (atomic_compare_exchange_strong(&collector->ask[i].state, &free, ASK_FILLED))
			return i;
	}
	return -EAGAIN;
}

int ask_post(const struct ask *ask)
{
	int place = place_take(), r;
	struct ask_entry *e;

	if (place < 0)
		return place;
	e = &collector->ask[place];
	e->id = atomic_fetch_add(&collector->n_asked, 1);
	e->what = ask->what;
	e->session = ask->session;
	e->phase = ask->phase;
	e->format = ask->format;
	r = file_make(e);
	if (r < 0)
		file_remove(e);
	atomic_store_explicit(&e->state, r < 0 ? ASK_FREE : ASK_POSTED, memory_order_release);
	return r < 0 ? r : place;
}

int ask_look(int place, int *ret_error, int *ret_fd)
{
	char path[PATH_MAX], head[WIRE_ANSWER_HEAD + 1];
	ssize_t n;
	int fd;

	ask_path(&collector->ask[place], path);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return errno == EMFILE || errno == ENFILE ? 0 : -errno;
	n = read(fd, head, WIRE_ANSWER_HEAD);
	if (n < WIRE_ANSWER_HEAD || *head == '/' || head[WIRE_ANSWER_HEAD - 1] != '\n') {
		close(fd);
		return 0;
	}
	head[WIRE_ANSWER_HEAD] = '\0';
	*ret_error = (int)strtol(head, NULL, 10);
	if (ret_fd)
		*ret_fd = fd;
	else
		close(fd);
	return 1;
}

void ask_done(int place)
{
	struct ask_entry *e = &collector->ask[place];

	file_remove(e);
	atomic_store_explicit(&e->state, ASK_FREE, memory_order_release);
}

void ask_leave(int place)
{
	struct ask_entry *e = &collector->ask[place];
	uint32_t posted = ASK_POSTED;

	if (!atomic_compare_exchange_strong(&e->state, &posted, ASK_LEFT))
		atomic_store_explicit(&e->state, ASK_FREE, memory_order_release);
}

uint32_t asks_due(struct ask_due due[static MAX_ASKS])
{
	uint32_t n = 0;

	for (int i = 0; i < MAX_ASKS; i++) {
		const struct ask_entry *e = &collector->ask[i];
		uint32_t state = atomic_load_explicit(&e->state, memory_order_acquire);

		if (state == ASK_POSTED || state == ASK_LEFT)
			due[n++] = (struct ask_due){
				i, e->id, {e->what, e->session, e->phase, e->format}};
	}
	return n;
}

/* Who asked may have given up, and another one asks in its place by now: that is for the next burst. */
void ask_sent(const struct ask_due *due)
{
	struct ask_entry *e = &collector->ask[due->place];
	uint32_t posted = ASK_POSTED, left = ASK_LEFT;

	if (e->id != due->id)
		return;
	if (!atomic_compare_exchange_strong(&e->state, &posted, ASK_SENT))
		atomic_compare_exchange_strong(&e->state, &left, ASK_FREE);
}

void asks_forked(void)
{
	for (uint32_t i = 0; i < MAX_ASKS; i++)
		atomic_store(&collector->ask[i].state, ASK_FREE);
}

/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "live/output_name.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include "base/buf.h"
#include "base/rank.h"
#include "base/util.h"

enum { VARIABLE_MAX = 128, NUMBER_MAX = 10000, LOCK_TRIES = 100 };

/* ---- directives ---- */

/* What stands at a percent sign. */
struct directive {
	char letter; /* '\0': of none that we know */
	size_t len;  /* of all of it */
	char variable[VARIABLE_MAX];
};

static struct directive directive_at(const char *p)
{
	struct directive d = {.letter = p[1], .len = p[1] ? 2 : 1};
	const char *end;

	if (!p[1] || !strchr("eprhtq%", p[1])) {
		d.letter = '\0';
		return d;
	}
	if (p[1] != 'q')
		return d;
	end = p[2] == '{' ? strchr(p, '}') : NULL;
	if (!end || end == p + 3 || (size_t)(end - p) - 3 >= sizeof(d.variable)) {
		d.letter = '\0';
		return d;
	}
	memcpy(d.variable, p + 3, (size_t)(end - p) - 3);
	d.len = (size_t)(end - p) + 1;
	return d;
}

bool output_name_check(const char *pattern, char **ret_why)
{
	struct directive d;

	for (const char *p = strchr(pattern, '%'); p; p = strchr(p + d.len, '%')) {
		d = directive_at(p);
		if (d.letter && (d.letter != 'q' || getenv(d.variable)))
			continue;
		if ((d.letter
			     ? asprintf(
				       ret_why,
				       "the variable '%s' of the name '%s' is not set in the environment",
				       d.variable, pattern)
			     : asprintf(
				       ret_why,
				       "'%.*s' in the name '%s' means nothing: there are %%e, %%h, %%p, "
				       "%%q{VARIABLE}, %%r, %%t and %%%%",
				       (int)d.len, p, pattern)) < 0)
			*ret_why = NULL;
		return false;
	}
	return true;
}

static void put_host(struct buf *out)
{
	char host[256] = "";

	gethostname(host, sizeof(host) - 1);
	buf_puts(out, host);
}

static void put_time(struct buf *out)
{
	time_t now = time(NULL);
	char stamp[32];

	strftime(stamp, sizeof(stamp), "%Y%m%d-%H%M%S", localtime(&now));
	buf_puts(out, stamp);
}

static void put_text(struct buf *out, const char *text, const char *otherwise)
{
	buf_puts(out, text ? text : otherwise);
}

char *output_name_expand(const char *pattern, const char *program, pid_t pid)
{
	_cleanup_(buf_done) struct buf out = {0};
	struct directive d = {.len = 1};

	for (const char *p = pattern; *p; p += d.len) {
		d = *p == '%' ? directive_at(p) : (struct directive){.len = 1};
		switch (d.letter) {
		case 'p':
			buf_printf(&out, "%d", (int)pid);
			break;
		case 'e':
			buf_puts(&out, program);
			break;
		case 'h':
			put_host(&out);
			break;
		case 'r':
			put_text(&out, rank_text(), "0");
			break;
		case 't':
			put_time(&out);
			break;
		case 'q':
			put_text(&out, getenv(d.variable), "");
			break;
		case '%':
			buf_putc(&out, '%');
			break;
		default:
			buf_put(&out, p, d.len);
			break;
		}
	}
	return out.error ? NULL : strdup(buf_str(&out));
}

char *output_name_foresee(const char *pattern)
{
	struct directive d;

	for (const char *p = strchr(pattern, '%'); p; p = strchr(p + d.len, '%')) {
		d = directive_at(p);
		if (!d.letter || strchr("ept", d.letter))
			return NULL;
	}
	return output_name_expand(pattern, "", 0);
}

/* ---- whose it is ---- */

/* NAME.2, before what tells the format. */
static char *numbered(const char *name, unsigned number)
{
	const char *slash = strrchr(name, '/'), *base = slash ? slash + 1 : name;
	const char *dot = strrchr(base, '.');
	char *path = NULL;

	if (number == 1)
		return strdup(name);
	if (!dot || dot == base)
		dot = base + strlen(base);
	return asprintf(&path, "%.*s.%u%s", (int)(dot - name), name, number, dot) < 0 ? NULL : path;
}

/* The lock of a file: beside it, whatever link names it. NULL: no memory. */
static char *lock_path(const char *name)
{
	_cleanup_(freep) char *real = realpath(name, NULL);
	const char *path = real ? real : name, *slash = strrchr(path, '/');
	const char *base = slash ? slash + 1 : path;
	size_t room = NAME_MAX - strlen(".proton-.lock"), len = strlen(base);
	char *lock = NULL;

	if (asprintf(&lock, "%.*s.proton-%s.lock", (int)(base - path), path,
		     base + (len > room ? len - room : 0)) < 0)
		return NULL;
	return lock;
}

static bool is_still_there(int fd, const char *path)
{
	struct stat ours, there;

	return fstat(fd, &ours) == 0 && S_ISREG(ours.st_mode) && lstat(path, &there) == 0 &&
	       same_file(&ours, &there);
}

/* A lock ends with the last that refers to the open file: a mapping needs no descriptor, of which a program may
 * have few, and our children do not get it. The file is empty: it is never read. */
static int hold(int fd, void **ret_held)
{
	void *held = mmap(NULL, 1, PROT_READ, MAP_SHARED, fd, 0);

	if (held == MAP_FAILED)
		return -errno;
	madvise(held, 1, MADV_DONTFORK);
	*ret_held = held;
	return 0;
}

/* 0: the lock is ours; -EAGAIN: it is another's; else there can be none. Who has it removes it at the end: then
 * what we locked is not there any more. */
static int lock_take(const char *path, void **ret_held)
{
	struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	int r = 0;

	for (int i = 0; i < LOCK_TRIES && r == 0; i++) {
		_cleanup_(closep) int fd = open(
			path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY,
			0600);

		if (fd < 0)
			return -errno;
		if (fcntl(fd, F_OFD_SETLK, &whole) < 0)
			r = errno == EACCES ? -EAGAIN : -errno;
		else if (is_still_there(fd, path))
			return hold(fd, ret_held);
	}
	return r < 0 ? r : -EDEADLK;
}

/* 0, -EAGAIN: another run has it, or -ENOMEM. */
static int claim(struct output_claim *claim, const char *name)
{
	struct stat st;
	int r;

	if (stat(name, &st) == 0 && !S_ISREG(st.st_mode))
		return 0;
	claim->lock_path = lock_path(name);
	if (!claim->lock_path)
		return -ENOMEM;
	r = lock_take(claim->lock_path, &claim->lock);
	if (r == 0)
		return 0;
	free(claim->lock_path);
	claim->lock_path = NULL;
	return r == -EAGAIN ? r : 0;
}

char *output_claim(struct output_claim *c, const char *name)
{
	*c = (struct output_claim){0};
	for (unsigned number = 1; number <= NUMBER_MAX; number++) {
		_cleanup_(freep) char *path = numbered(name, number);
		int r = path ? claim(c, path) : -ENOMEM;
		char *ours = path;

		if (r == -EAGAIN)
			continue;
		path = NULL;
		if (r == 0)
			return ours;
		free(ours);
		return NULL;
	}
	return strdup(name);
}

void output_claim_done(struct output_claim *c)
{
	if (!c->lock_path)
		return;
	unlink(c->lock_path);
	munmap(c->lock, 1);
	free(c->lock_path);
	*c = (struct output_claim){0};
}

/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "live/disassembly.h"
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/buf.h"
#include "base/clock.h"
#include "base/named_file.h"
#include "base/util.h"
#include "core/pc_samples.h"
#include "launch/disassembler.h"
#include "naming/cubin.h"
#include "naming/cubins.h"
#include "naming/sass.h"

#define KEPT_NAME "%016" PRIx64 DISASSEMBLY_SUFFIX /* of the cubin's checksum */

enum {
	PARTS_MAX =
		256, /* functions that are known: there are hundreds of kernels, few of them hot */
	KEPT_MAX =
		16
		<< 20, /* bytes of a cubin's instructions that are kept: half a million of them */
};

/* A function of a cubin that was asked for. */
struct part {
	uint64_t checksum;
	char *name;
	const struct cubin *cubin; /* NULL: … */
	int error;                 /* … for this */
	const struct cubin_function *function;
	struct sass sass;
	bool was_asked; /* for its instructions */
	bool is_whole;  /* all of them are known */
};

struct disassembly {
	struct cubins *cubins;
	char *tool;
	bool was_sought;   /* the tool */
	bool has_hung;     /* … which is not waited for again */
	uint64_t until_ns; /* 0: whenever it is asked */
	struct part parts[PARTS_MAX];
	size_t n;
	struct buf kept; /* of the cubin that was asked for last */
	uint64_t kept_of;
	bool was_read;
	const char *why;
	char unread[96];
};

struct disassembly *disassembly_new(const char *folder)
{
	struct disassembly *d = calloc(1, sizeof(*d));

	if (!d)
		return NULL;
	buf_init(&d->kept, KEPT_MAX);
	d->cubins = cubins_new(folder);
	return d->cubins ? d : disassembly_free(d);
}

struct disassembly *disassembly_free(struct disassembly *d)
{
	if (!d)
		return NULL;
	for (size_t i = 0; i < d->n; i++) {
		free(d->parts[i].name);
		sass_done(&d->parts[i].sass);
	}
	buf_done(&d->kept);
	cubins_free(d->cubins);
	free(d->tool);
	free(d);
	return NULL;
}

void disassembly_until(struct disassembly *d, uint64_t until_ns)
{
	d->until_ns = until_ns;
}

/* ---- functions ---- */

static void find_cubin(struct disassembly *d, struct part *p)
{
	char name[32];

	snprintf(name, sizeof(name), PC_CUBIN_NAME, p->checksum);
	p->cubin = cubins_find(d->cubins, name);
	p->error = cubins_error(d->cubins, name);
	p->function = p->cubin ? cubin_find(p->cubin, p->name) : NULL;
}

/* NULL: there are too many, or no memory. */
static struct part *part_of(struct disassembly *d, const struct pc_instruction *is)
{
	struct part *p;

	for (size_t i = 0; i < d->n; i++) {
		p = &d->parts[i];
		if (p->checksum == is->cubin && !strncmp(p->name, is->function, is->function_len) &&
		    !p->name[is->function_len])
			return p;
	}
	if (d->n == PARTS_MAX)
		return NULL;
	p = &d->parts[d->n];
	*p = (struct part){.checksum = is->cubin, .name = strndup(is->function, is->function_len)};
	if (!p->name)
		return NULL;
	d->n++;
	find_cubin(d, p);
	return p;
}

/* ---- what was kept ---- */

static char *kept_path(const char *folder, uint64_t checksum)
{
	char *path;

	return asprintf(&path, "%s/" KEPT_NAME, folder, checksum) < 0 ? NULL : path;
}

/* Nothing where there is none, or more than anybody keeps. */
static void read_kept_of(const char *folder, uint64_t checksum, struct buf *ret)
{
	_cleanup_(freep) char *path = kept_path(folder, checksum);
	_cleanup_(closep) int fd = path ? regular_open(path, O_RDONLY, NULL) : -1;

	buf_clear(ret);
	if (fd >= 0 && buf_read(ret, fd) < 0)
		buf_clear(ret);
}

static void read_kept(struct disassembly *d, uint64_t checksum)
{
	if (d->was_read && d->kept_of == checksum)
		return;
	read_kept_of(cubins_folder(d->cubins), checksum, &d->kept);
	d->kept_of = checksum;
	d->was_read = true;
}

/* ---- what the tool prints ---- */

static const char *tool_of(struct disassembly *d)
{
	if (!d->was_sought)
		d->tool = disassembler_find();
	d->was_sought = true;
	return d->tool;
}

static unsigned deadline_ms(const struct disassembly *d)
{
	uint64_t now = clock_monotonic_ns();

	if (!d->until_ns)
		return DISASSEMBLER_MS;
	return now >= d->until_ns ? 0
				  : (unsigned)MIN((d->until_ns - now) / NSEC_PER_MSEC,
						  (uint64_t)DISASSEMBLER_MS);
}

/* Why there is no function to print. */
static const char *no_code(struct disassembly *d, const struct part *p)
{
	switch (p->error) {
	case 0:
		return "the cubin of their kernel does not have it";
	case -ENOENT:
		return "the cubin of their kernel is not there";
	case -EBADMSG:
		return "what should be the cubin of their kernel is none, or damaged";
	default:
		snprintf(d->unread, sizeof(d->unread),
			 "the cubin of their kernel cannot be read: %s", strerror(-p->error));
		return d->unread;
	}
}

/* NULL, or why there are none. */
static const char *print(struct disassembly *d, struct part *p)
{
	static const char hung[] = "nvdisasm did not end in time";
	struct probe answer;
	unsigned ms = deadline_ms(d);
	const char *why = NULL;
	char *path;

	if (!p->function)
		return no_code(d, p);
	if (!tool_of(d))
		return "nvdisasm is not installed (it comes with CUDA)";
	if (d->has_hung || !ms)
		return hung;
	if (asprintf(&path, "%s/" PC_CUBIN_NAME, cubins_folder(d->cubins), p->checksum) < 0)
		return "memory is out";
	disassemble(d->tool, path, p->function->symbol, ms, &answer);
	free(path);
	if (sass_parse(answer.text.data, answer.text.len, p->function, &p->sass) < 0)
		why = "memory is out";
	else if (answer.end == PROBE_HUNG)
		why = hung;
	else if (answer.end != PROBE_ANSWERED || !p->sass.n)
		why = "nvdisasm does not know this chip's code, or failed";
	p->is_whole = !why;
	d->has_hung = answer.end == PROBE_HUNG;
	probe_done(&answer);
	return why;
}

static void ask(struct disassembly *d, struct part *p)
{
	const char *why = NULL;

	p->was_asked = true;
	read_kept(d, p->checksum);
	if (sass_kept(d->kept.data, d->kept.len, p->name, &p->sass) < 0)
		why = "memory is out";
	p->is_whole = p->sass.n > 0;
	if (!why && !p->is_whole) {
		sass_done(&p->sass);
		why = print(d, p);
	}
	if (why)
		d->why = why;
}

const char *disassembly_text(struct disassembly *d, const struct pc_instruction *is)
{
	struct part *p = part_of(d, is);

	if (p && !p->was_asked)
		ask(d, p);
	return p ? sass_at(&p->sass, is->offset) : NULL;
}

unsigned disassembly_functions(struct disassembly *d, const struct pc_instruction *is,
			       struct object_function ret[NATIVE_INLINED_MAX])
{
	struct part *p = part_of(d, is);

	return p && p->function ? cubin_lines(p->cubin, p->function, is->offset, ret) : 0;
}

const char *disassembly_why(const struct disassembly *d)
{
	return d->why;
}

/* ---- keeping ---- */

/* Anew: what stands there may be a link. */
static int write_kept(const char *path, const struct buf *text)
{
	_cleanup_(closep) int fd = -1;
	int r;

	unlink(path);
	if (!text->len)
		return 0;
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	r = fd < 0 ? -errno : fd_write_all(fd, text->data, text->len);
	if (r < 0 && fd >= 0)
		unlink(path);
	return r;
}

/* Of the cubin of part `first`, whose first one it is. */
static int keep_cubin(const struct disassembly *d, size_t first, const char *folder)
{
	uint64_t checksum = d->parts[first].checksum;
	_cleanup_(freep) char *path = kept_path(folder, checksum);
	_cleanup_(buf_done) struct buf text = {0};
	size_t len;

	if (!path)
		return -ENOMEM;
	buf_init(&text, KEPT_MAX);
	for (size_t i = first; i < d->n && !text.error; i++) {
		len = text.len;
		if (d->parts[i].checksum == checksum && d->parts[i].is_whole)
			sass_keep(&d->parts[i].sass, d->parts[i].name, &text);
		if (text.error)
			text.len = len; /* those before it are whole */
	}
	return text.error == -ENOMEM ? -ENOMEM : write_kept(path, &text);
}

int disassembly_keep(const struct disassembly *d, const char *folder)
{
	int r, first_error = 0;

	for (size_t i = 0, k; i < d->n; i++) {
		for (k = 0; d->parts[k].checksum != d->parts[i].checksum; k++)
			;
		r = k == i ? keep_cubin(d, i, folder) : 0;
		first_error = first_error ? first_error : r;
	}
	return first_error;
}

int disassembly_add(const char *from, const char *to, uint64_t checksum)
{
	_cleanup_(freep) char *path = kept_path(to, checksum);
	_cleanup_(buf_done) struct buf theirs = {0}, all = {0};
	size_t before;
	int r;

	if (!path)
		return -ENOMEM;
	buf_init(&theirs, KEPT_MAX);
	buf_init(&all, KEPT_MAX);
	read_kept_of(from, checksum, &theirs);
	read_kept_of(to, checksum, &all);
	before = all.len;
	r = sass_kept_add(theirs.data, theirs.len, &all);
	return r == -ENOMEM ? r : all.len > before ? write_kept(path, &all) : 0;
}

/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "live/session_warps.h"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/buf.h"
#include "base/util.h"
#include "intra/warp_file.h"
#include "live/kept_warps.h"
#include "live/receiver.h"
#include "wire/decode.h"
#include "wire/wire.h"

static ssize_t read_some(void *ctx, void *data, size_t n)
{
	ssize_t got;

	do
		got = read(*(const int *)ctx, data, n);
	while (got < 0 && errno == EINTR);
	return got < 0 ? -errno : got;
}

static int read_file(struct receiver *r, uint64_t instance, uint32_t epoch, struct warp_trace *t)
{
	char name[WIRE_WARPS_FILE_MAX];
	_cleanup_(closep) int fd = -1;
	struct warp_file_end end;
	int e;

	snprintf(name, sizeof(name), WIRE_WARPS_FILE, instance, epoch);
	fd = receiver_open_file(r, name);
	if (fd < 0)
		return 0;
	e = warp_file_read(read_some, &fd, t, &end);
	return e == -ENOMEM ? e : 0;
}

/* ---- of launches that the run keeps ---- */

#define NUMBERS_MOST ((size_t)64 << 20) /* bytes of a file with numbers that are believed */

struct names {
	char **items;
	size_t n, cap;
};

static void names_done(struct names *names)
{
	for (size_t i = 0; i < names->n; i++)
		free(names->items[i]);
	free(names->items);
}

static int add_name(struct names *names, uint64_t instance, uint64_t number)
{
	char *name;

	if (ARRAY_ROOM(names->items, names->cap, names->n + 1) < 0 ||
	    asprintf(&name, WIRE_LAUNCH_FILE, instance, number) < 0)
		return -ENOMEM;
	names->items[names->n++] = name;
	return 0;
}

static int add_names(struct receiver *r, uint64_t instance, uint32_t epoch, struct names *names)
{
	char name[WIRE_WARPS_FILE_MAX];
	_cleanup_(closep) int fd = -1;
	struct buf numbers;
	uint64_t number;
	int e;

	snprintf(name, sizeof(name), WIRE_KEPT_FILE, instance, epoch);
	fd = receiver_open_file(r, name);
	if (fd < 0)
		return 0;
	buf_init(&numbers, NUMBERS_MOST);
	e = buf_read(&numbers, fd);
	for (size_t at = 0; e == 0 && at + sizeof(number) <= numbers.len; at += sizeof(number)) {
		memcpy(&number, numbers.data + at, sizeof(number));
		e = add_name(names, instance, number);
	}
	buf_done(&numbers);
	return e;
}

int session_warps_keep(struct receiver *r, const struct session_warps *of, const char *profile)
{
	struct wire_decoder *d = receiver_decoder(r);
	struct kept_warps_counts counts;
	struct names names = {.n = 0};
	uint32_t epoch = 0;
	int e = 0;

	while (e == 0 && (epoch = wire_decoder_phase_epoch(d, of->instance, of->session, of->phase,
							   epoch)) != WIRE_NONE)
		e = add_names(r, of->instance, epoch++, &names);
	if (e == 0)
		e = kept_warps_copy_some(receiver_folder(r), names.items, names.n, profile,
					 &counts);
	names_done(&names);
	return e;
}

/* ---- of a trace of them ---- */

int session_warps_read(struct receiver *r, const struct session_warps *of, struct warp_trace *t)
{
	struct wire_decoder *d = receiver_decoder(r);
	uint32_t epoch = 0;
	int e = 0;

	while (e == 0 && (epoch = wire_decoder_phase_epoch(d, of->instance, of->session, of->phase,
							   epoch)) != WIRE_NONE)
		e = read_file(r, of->instance, epoch++, t);
	return e;
}

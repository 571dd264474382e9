/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "wire/counters.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/util.h"
#include "core/device_by_uuid.h"
#include "wire/wire.h"

struct time {
	struct wire_counted head;
	double v[COUNTED_N];
};
#define TIMES_MAX ((WIRE_PAYLOAD_MAX - sizeof(struct wire_counters)) / sizeof(struct time))

struct frame {
	struct wire_header h;
	struct wire_counters head;
	struct time times[TIMES_MAX];
};

static void begin(struct frame *f, const struct session *s, uint32_t device, uint64_t time_ns)
{
	const char *uuid = strtab_str(s->strings, s->devices[device].uuid);

	*f = (struct frame){.h = {.magic = WIRE_MAGIC,
				  .kind = WIRE_COUNTERS,
				  .n = 1,
				  .seq = WIRE_NO_SEQ,
				  .time_ns = time_ns},
			    .head = {.n = COUNTED_N, .lost = s->losses[LOSS_COUNTERS]}};
	memcpy(f->head.uuid, uuid, MIN(strlen(uuid), sizeof(f->head.uuid) - 1));
}

static void end(struct frame *f, struct buf *out)
{
	f->h.length =
		(uint16_t)(offsetof(struct frame, times) + f->head.n_times * sizeof(struct time));
	if (f->head.n_times && f->head.uuid[0])
		buf_put(out, f, f->h.length);
	f->head.n_times = 0;
}

static void put(struct frame *f, const struct counted *c, struct buf *out)
{
	struct time *t;

	if (f->head.n_times == TIMES_MAX)
		end(f, out);
	t = &f->times[f->head.n_times++];
	t->head = (struct wire_counted){.start_ns = c->start_ns,
					.end_ns = c->end_ns,
					.counted_ns = c->counted_ns,
					.n_samples = c->n};
	memcpy(t->v, c->v, sizeof(t->v));
}

static void put_device(const struct session *s, uint32_t device, uint64_t *told_ns,
		       uint64_t time_ns, struct buf *out)
{
	struct frame f;

	begin(&f, s, device, time_ns);
	for (size_t i = 0; i < s->n_counters; i++) {
		const struct counted *c = &s->counters[i].of;

		if (s->counters[i].device != device || c->start_ns < *told_ns)
			continue;
		put(&f, c, out);
		*told_ns = c->end_ns;
	}
	end(&f, out);
}

int wire_counters_frames(const struct session *s, struct wire_counters_told *told, uint64_t time_ns,
			 struct buf *out)
{
	if (!s->n_counters)
		return 0;
	if (ARRAY_ROOM(told->end_ns, told->cap, s->n_devices) < 0)
		return -ENOMEM;
	while (told->n < s->n_devices)
		told->end_ns[told->n++] = 0;
	for (uint32_t i = 0; i < s->n_devices; i++)
		put_device(s, i, &told->end_ns[i], time_ns, out);
	return 0;
}

void wire_counters_told_done(struct wire_counters_told *told)
{
	free(told->end_ns);
	*told = (struct wire_counters_told){.n = 0};
}

/* A newer version may know more numbers, behind these; an older one told fewer. */
static int take_time(struct session *s, uint32_t device, const char *at, uint32_t n)
{
	struct session_counters counters = {.device = device};
	struct wire_counted head;
	int r;

	memcpy(&head, at, sizeof(head));
	counted_init(&counters.of);
	counters.of.start_ns = head.start_ns;
	counters.of.end_ns = head.end_ns;
	counters.of.counted_ns = head.counted_ns;
	counters.of.n = head.n_samples;
	memcpy(counters.of.v, at + sizeof(head), MIN(n, (uint32_t)COUNTED_N) * sizeof(double));
	r = session_counters_add(s, &counters);
	return r == -EINVAL ? -EBADMSG : r;
}

int wire_counters_take(struct session *s, const void *payload, size_t size)
{
	const char *at = (const char *)payload + sizeof(struct wire_counters);
	struct wire_counters head;
	uint32_t device;
	size_t each;
	int r = 0;

	if (size < sizeof(head))
		return -EBADMSG;
	memcpy(&head, payload, sizeof(head));
	if (head.n > WIRE_FRAME_MAX || head.uuid[sizeof(head.uuid) - 1] != '\0')
		return -EBADMSG;
	each = sizeof(struct wire_counted) + head.n * sizeof(double);
	if (head.n_times > (size - sizeof(head)) / each)
		return -EBADMSG;
	s->losses[LOSS_COUNTERS] = MAX(s->losses[LOSS_COUNTERS], head.lost);
	device = device_by_uuid(s, head.uuid, sizeof(head.uuid));
	for (uint32_t i = 0; r == 0 && device != SESSION_NONE && i < head.n_times; i++)
		r = take_time(s, device, at + i * each, head.n);
	return r;
}

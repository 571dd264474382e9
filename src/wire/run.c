/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "wire/run.h"
#include <errno.h>
#include <string.h>
#include "base/util.h"
#include "wire/wire.h"

enum { PIECE_MAX = WIRE_PAYLOAD_MAX - sizeof(struct wire_run_piece) };

/* ---- writing ---- */

static void put_run(const struct session *s, const struct session_run *run, struct buf *out)
{
	struct wire_run head = {.start_ns = run->start_ns,
				.wall_ns = run->wall_ns,
				.first_work_ns = run->first_work_ns,
				.last_work_ns = run->last_work_ns,
				.exit_status = run->exit_status,
				.signal = run->signal,
				.end = run->end,
				.n_strings = RUN_STRING_N};

	buf_put(out, &head, sizeof(head));
	for (unsigned i = 0; i < RUN_STRING_N; i++) {
		uint32_t len = (uint32_t)strtab_len(s->strings, run->strings[i]);

		buf_put(out, &len, sizeof(len));
		buf_put(out, strtab_str(s->strings, run->strings[i]), len);
	}
}

static void put_frame(const struct buf *text, size_t offset, uint64_t time_ns, struct buf *out)
{
	size_t n = MIN(text->len - offset, (size_t)PIECE_MAX);
	size_t length = sizeof(struct wire_header) + sizeof(struct wire_run_piece) + n;
	struct wire_header h = {.magic = WIRE_MAGIC,
				.kind = WIRE_RUN,
				.length = (uint16_t)length,
				.n = 1,
				.seq = WIRE_NO_SEQ,
				.time_ns = time_ns};
	struct wire_run_piece piece = {(uint32_t)text->len, (uint32_t)offset, (uint32_t)n, 0};

	buf_put(out, &h, sizeof(h));
	buf_put(out, &piece, sizeof(piece));
	buf_put(out, text->data + offset, n);
	for (; length < wire_padded(length); length++)
		buf_putc(out, 0);
}

void wire_run_frames(const struct session *s, const struct session_run *run, uint64_t time_ns,
		     struct buf *out)
{
	_cleanup_(buf_done) struct buf text = {.max = WIRE_TEXT_MAX};

	put_run(s, run, &text);
	for (size_t at = 0; !text.error && at < text.len; at += PIECE_MAX)
		put_frame(&text, at, time_ns, out);
}

/* ---- reading ---- */

void wire_run_reader_done(struct wire_run_reader *r)
{
	buf_done(&r->text);
}

/* The next string behind *at, which moves on. -EBADMSG: it is not there. */
static int take_string(struct session *s, const struct buf *text, size_t *at, uint32_t *ret)
{
	uint32_t len;

	if (text->len - *at < sizeof(len))
		return -EBADMSG;
	memcpy(&len, text->data + *at, sizeof(len));
	*at += sizeof(len);
	if (text->len - *at < len)
		return -EBADMSG;
	*ret = strtab_add(s->strings, text->data + *at, len);
	*at += len;
	return *ret == STRTAB_NONE ? -ENOMEM : 0;
}

/* A newer version may know more strings, behind these. */
static int parse(struct session *s, const struct buf *text, struct session_run *ret)
{
	size_t at = sizeof(struct wire_run);
	struct wire_run head;
	int r = 0;

	if (text->len < sizeof(head))
		return -EBADMSG;
	memcpy(&head, text->data, sizeof(head));
	*ret = (struct session_run){.start_ns = head.start_ns,
				    .wall_ns = head.wall_ns,
				    .first_work_ns = head.first_work_ns,
				    .last_work_ns = head.last_work_ns,
				    .exit_status = head.exit_status,
				    .signal = head.signal,
				    .end = (uint8_t)MIN(head.end, (uint32_t)PROCESS_VANISHED)};
	for (unsigned i = 0; i < MIN(head.n_strings, (uint32_t)RUN_STRING_N) && r == 0; i++)
		r = take_string(s, text, &at, &ret->strings[i]);
	return r;
}

static int add(struct wire_run_reader *r, struct session *s)
{
	struct session_run run;
	int e = parse(s, &r->text, &run);

	if (e < 0)
		return e;
	if (r->run) {
		s->runs[r->run - 1] = run;
		s->generation++;
		return 0;
	}
	e = session_run_add(s, &run);
	r->run = e == 0 ? s->n_runs : 0;
	return e;
}

int wire_run_take(struct wire_run_reader *r, struct session *s, const void *payload, size_t size)
{
	struct wire_run_piece piece;

	if (size < sizeof(piece))
		return -EBADMSG;
	memcpy(&piece, payload, sizeof(piece));
	if (!piece.offset) {
		buf_clear(&r->text);
		r->total = piece.total;
	}
	if (piece.length > size - sizeof(piece) || piece.total > WIRE_TEXT_MAX ||
	    piece.total != r->total || piece.offset != r->text.len ||
	    piece.length > piece.total - piece.offset)
		return -EBADMSG;
	buf_put(&r->text, (const char *)payload + sizeof(piece), piece.length);
	if (r->text.error)
		return -ENOMEM;
	return r->text.len < r->total ? 0 : add(r, s);
}

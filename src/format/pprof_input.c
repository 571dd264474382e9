/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep

#include "format/pprof_input.h"

#include <errno.h>
#include <stdlib.h>

#define KEPT_MAX ((size_t)2 << 30) /* of one field: no message of a protobuf may be longer */

struct stream {
	struct reader_input *in;
	struct strtab *strings;
	struct pprof_file *file;
	struct format_error *error;
	struct buf payload;
	size_t at, len;
	unsigned char data[65536];
};

/* ---- bytes ---- */

/* 1: there are some; 0: the end. */
static int fill(struct stream *s)
{
	ssize_t n;

	if (s->at < s->len)
		return 1;
	n = reader_read(s->in, s->data, sizeof(s->data));
	if (n < 0)
		return format_fail_code(s->error, (int)n);
	s->at = 0;
	s->len = (size_t)n;
	s->file->n_bytes += s->len;
	return n > 0;
}

static uint64_t offset(const struct stream *s)
{
	return s->file->n_bytes - (s->len - s->at);
}

static int truncated(struct stream *s, int r)
{
	return r < 0 ? r : format_fail(s->error, -EBADMSG, offset(s), "truncated");
}

static int take_varint(struct stream *s, uint64_t *ret)
{
	unsigned char text[10];
	struct pb_span span = {text, text};
	int r;

	do {
		r = fill(s);
		if (r <= 0)
			return truncated(s, r);
		text[span.end - text] = s->data[s->at++];
		span.end++;
	} while (span.end[-1] & 0x80 && span.end < text + sizeof(text));
	if (!pb_take_varint(&span, ret))
		return format_fail(s->error, -EBADMSG, offset(s),
				   "not a profile of pprof: a number of more than 10 bytes");
	return 0;
}

static int take_payload(struct stream *s, uint64_t len)
{
	int r;

	buf_clear(&s->payload);
	if (len > FORMAT_NAME_MAX)
		return format_fail(s->error, -EFBIG, offset(s), FORMAT_NAME_LONG);
	while (len) {
		size_t n;

		r = fill(s);
		if (r <= 0)
			return truncated(s, r);
		n = MIN((size_t)len, s->len - s->at);
		buf_put(&s->payload, s->data + s->at, n);
		s->at += n;
		len -= n;
	}
	return s->payload.error ? format_fail_code(s->error, s->payload.error) : 0;
}

/* ---- fields ---- */

static bool is_message(uint64_t field)
{
	return field == PROFILE_SAMPLE_TYPE || field == PROFILE_SAMPLE ||
	       field == PROFILE_MAPPING || field == PROFILE_LOCATION || field == PROFILE_FUNCTION;
}

static int keep(struct stream *s, uint64_t field)
{
	struct buf *kept = field < PROFILE_FIELDS ? &s->file->kept[field] : NULL;
	uint32_t id;

	if (field == PROFILE_STRING) {
		id = strtab_add(s->strings, buf_str(&s->payload), s->payload.len);
		if (id == STRTAB_NONE ||
		    ARRAY_ROOM(s->file->strings, s->file->cap_strings, s->file->n_strings + 1) < 0)
			return format_fail_code(s->error, -ENOMEM);
		s->file->strings[s->file->n_strings++] = id;
	} else if (is_message(field)) {
		pb_varint(kept, s->payload.len);
		buf_put(kept, s->payload.data, s->payload.len);
	} else if (field == PROFILE_COMMENT) {
		buf_put(kept, s->payload.data, s->payload.len);
	}
	if (kept && kept->error == -EFBIG)
		return format_fail(s->error, -EFBIG, offset(s), "more than 2 GiB of samples");
	return kept && kept->error ? format_fail_code(s->error, kept->error) : 0;
}

static int keep_number(struct stream *s, uint64_t field)
{
	uint64_t v;
	int r = take_varint(s, &v);

	if (r < 0 || field >= PROFILE_FIELDS)
		return r;
	s->file->numbers[field] = v;
	if (field == PROFILE_COMMENT)
		pb_varint(&s->file->kept[field], v);
	return 0;
}

static int take_field(struct stream *s)
{
	uint64_t begin = offset(s), tag, len;
	int r = take_varint(s, &tag);

	if (r < 0)
		return r;
	switch (tag & 7) {
	case PB_VARINT:
		return keep_number(s, tag >> 3);
	case PB_FIXED64:
		return take_payload(s, 8);
	case PB_FIXED32:
		return take_payload(s, 4);
	case PB_BYTES:
		r = take_varint(s, &len);
		if (r == 0)
			r = take_payload(s, len);
		return r < 0 ? r : keep(s, tag >> 3);
	default:
		return format_fail(s->error, -EBADMSG, begin + 1,
				   "not a profile of pprof: no field of a protobuf");
	}
}

int pprof_file_read(struct reader_input *in, struct strtab *strings, struct pprof_file *file,
		    struct format_error *error)
{
	_cleanup_(freep) struct stream *s = malloc(sizeof(*s));
	int r;

	*file = (struct pprof_file){0};
	if (!s)
		return format_fail_code(error, -ENOMEM);
	for (unsigned i = 0; i < PROFILE_FIELDS; i++)
		buf_init(&file->kept[i], KEPT_MAX);
	s->in = in;
	s->strings = strings;
	s->file = file;
	s->error = error;
	s->at = s->len = 0;
	buf_init(&s->payload, 0);
	while ((r = fill(s)) > 0 && (r = take_field(s)) == 0)
		;
	buf_done(&s->payload);
	return r;
}

void pprof_file_done(struct pprof_file *file)
{
	for (unsigned i = 0; i < PROFILE_FIELDS; i++)
		buf_done(&file->kept[i]);
	free(file->strings);
	*file = (struct pprof_file){0};
}

/* ---- what was kept ---- */

struct pb_span pprof_messages(const struct pprof_file *file, unsigned field)
{
	const struct buf *kept = &file->kept[field];
	const unsigned char *data = (const unsigned char *)kept->data;

	return kept->len ? (struct pb_span){data, data + kept->len} : (struct pb_span){0};
}

bool pprof_next(struct pb_span *messages, struct pb_span *ret)
{
	uint64_t len;

	if (messages->at == messages->end || !pb_take_varint(messages, &len))
		return false;
	*ret = (struct pb_span){messages->at, messages->at + len};
	messages->at += len;
	return true;
}

/* ---- what it looks like ---- */

/* A ValueType: two numbers. A packet of Perfetto, which has the same field number, has more in it. */
static bool is_value_type(struct pb_span message)
{
	struct pb_field f;
	int r;

	while ((r = pb_take(&message, &f)) > 0)
		if (f.wire != PB_VARINT || f.number > TYPE_UNIT)
			return false;
	return r == 0;
}

/* Any other message: fields, and nothing else. */
static bool is_any_message(struct pb_span message)
{
	struct pb_field f;
	int r;

	while ((r = pb_take(&message, &f)) > 0)
		;
	return r == 0;
}

static bool is_right(uint64_t number, const struct pb_field *f)
{
	if (number == PROFILE_SAMPLE_TYPE || number == PROFILE_PERIOD_TYPE)
		return is_value_type(f->bytes);
	return !is_message(number) || is_any_message(f->bytes);
}

/* Messages and strings have their length before them, all else is a number. */
static bool is_field(uint64_t number, unsigned wire)
{
	bool bytes = number <= PROFILE_STRING || number == PROFILE_PERIOD_TYPE;

	if (number == PROFILE_COMMENT)
		return wire == PB_VARINT || wire == PB_BYTES;
	return number && number < PROFILE_FIELDS &&
	       wire == (bytes ? (unsigned)PB_BYTES : (unsigned)PB_VARINT);
}

/* All fields in the head can be of a profile, and one of them says what its numbers are. Go writes them
 * in another order than others do. */
bool pprof_detect(const char *head, size_t n)
{
	struct pb_span m = {(const unsigned char *)head, (const unsigned char *)head + n};
	bool typed = false;

	while (m.at < m.end) {
		struct pb_span at = m;
		struct pb_field f;
		uint64_t tag;

		/* What the head cuts is nothing against it. */
		if (!pb_take_varint(&at, &tag))
			break;
		if (!is_field(tag >> 3, tag & 7))
			return false;
		if (pb_take(&m, &f) < 0)
			break;
		if (!is_right(f.number, &f))
			return false;
		typed = typed || f.number == PROFILE_SAMPLE_TYPE || f.number == PROFILE_PERIOD_TYPE;
	}
	return typed;
}

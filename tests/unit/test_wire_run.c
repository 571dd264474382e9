/* SPDX-License-Identifier: MIT */
/* What a tape says of its run: through frames and back, however long, and whatever the frames hold. */
#include "config.h" // IWYU pragma: keep
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/util.h"
#include "check_main.h"
#include "core/session.h"
#include "wire/run.h"
#include "wire/wire.h"

static struct session *s, *back;
static struct session_run run;
static struct wire_run_reader reader;
static struct buf frames;

static void setup(void)
{
	s = session_new();
	back = session_new();
	reader = (struct wire_run_reader){0};
	buf_init(&frames, 0);
	run = (struct session_run){.strings[RUN_COMMAND] = strtab_add(s->strings, "a\0b c", 6),
				   .strings[RUN_LABEL] = strtab_adds(s->strings, "label"),
				   .start_ns = 5,
				   .wall_ns = 7,
				   .exit_status = 3,
				   .end = PROCESS_ENDED};
}

static void teardown(void)
{
	session_free(s);
	session_free(back);
	wire_run_reader_done(&reader);
	buf_done(&frames);
}

/* Hand the payload of each frame to the reader; the first error. */
static int take_all(void)
{
	const struct wire_header *h;
	int r = 0;

	for (size_t at = 0; at < frames.len && r == 0; at += wire_padded(h->length)) {
		h = (const void *)(frames.data + at);
		ck_assert_uint_eq(h->magic, WIRE_MAGIC);
		ck_assert_uint_eq(h->kind, WIRE_RUN);
		ck_assert_uint_le(h->length, WIRE_FRAME_MAX);
		r = wire_run_take(&reader, back, h + 1, h->length - sizeof(*h));
	}
	return r;
}

static void assert_string(uint32_t is, uint32_t wanted)
{
	ck_assert_uint_eq(strtab_len(back->strings, is), strtab_len(s->strings, wanted));
	ck_assert_mem_eq(strtab_str(back->strings, is), strtab_str(s->strings, wanted),
			 strtab_len(s->strings, wanted));
}

START_TEST(a_run_comes_back)
{
	wire_run_frames(s, &run, 1, &frames);
	ck_assert_int_eq(take_all(), 0);
	ck_assert_uint_eq(back->n_runs, 1);
	assert_string(back->runs[0].strings[RUN_COMMAND], run.strings[RUN_COMMAND]);
	assert_string(back->runs[0].strings[RUN_LABEL], run.strings[RUN_LABEL]);
	ck_assert_uint_eq(back->runs[0].strings[RUN_HOST], 0);
	ck_assert_uint_eq(back->runs[0].wall_ns, 7);
	ck_assert_uint_eq(back->runs[0].exit_status, 3);
	ck_assert_uint_eq(back->runs[0].end, PROCESS_ENDED);
}
END_TEST

START_TEST(the_newest_counts)
{
	wire_run_frames(s, &run, 1, &frames);
	run.wall_ns = 9;
	wire_run_frames(s, &run, 2, &frames);
	ck_assert_int_eq(take_all(), 0);
	ck_assert_uint_eq(back->n_runs, 1);
	ck_assert_uint_eq(back->runs[0].wall_ns, 9);
}
END_TEST

/* 100 KiB of words take 25 frames; more than a text may have are left out. */
START_TEST(long_words)
{
	size_t n = _i ? WIRE_TEXT_MAX : 100000;
	char *words = malloc(n);

	memset(words, 'x', n);
	run.strings[RUN_COMMAND] = strtab_add(s->strings, words, n);
	free(words);
	wire_run_frames(s, &run, 1, &frames);
	ck_assert_int_eq(take_all(), 0);
	ck_assert_uint_eq(back->n_runs, _i ? 0 : 1);
	if (!_i)
		assert_string(back->runs[0].strings[RUN_COMMAND], run.strings[RUN_COMMAND]);
}
END_TEST

/* Pieces that are not of one text, lengths that lie, strings that end behind the end. */
START_TEST(nonsense_is_refused)
{
	static const struct {
		struct wire_run_piece piece;
		uint32_t first; /* word of the bytes */
		int r;
	} cases[] = {
		{{56, 0, 56, 0}, 0, 0},
		{{56, 0, 57, 0}, 0, -EBADMSG},         /* more than the whole */
		{{56, 8, 8, 0}, 0, -EBADMSG},          /* the middle of nothing */
		{{56, 0, UINT32_MAX, 0}, 0, -EBADMSG}, /* more than the frame */
		{{UINT32_MAX, 0, 56, 0}, 0, -EBADMSG}, /* more than a text may have */
		{{8, 0, 8, 0}, 0, -EBADMSG},           /* less than a run */
		{{0, 0, 0, 0}, 0, -EBADMSG},
		{{56, 0, 56, 0}, 6, -EBADMSG}, /* six strings, and room for two lengths */
	};
	struct {
		struct wire_run_piece piece;
		struct wire_run head;
		uint32_t lengths[2];
		char more[64];
	} payload = {.piece = cases[_i].piece, .head = {.n_strings = cases[_i].first}};

	ck_assert_int_eq(wire_run_take(&reader, back, &payload, sizeof(payload)), cases[_i].r);
	ck_assert_uint_eq(back->n_runs, cases[_i].r == 0);
	ck_assert_int_eq(wire_run_take(&reader, back, &payload, 8), -EBADMSG);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("wire_run");
	TCase *tcase = tcase_create("all");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, a_run_comes_back);
	tcase_add_test(tcase, the_newest_counts);
	tcase_add_loop_test(tcase, long_words, 0, 2);
	tcase_add_loop_test(tcase, nonsense_is_refused, 0, 8);
	suite_add_tcase(suite, tcase);
	return check_run(suite);
}

/* SPDX-License-Identifier: MIT */
/* Frames of Python that are none: what is read of them has an end. */
#include "config.h" // IWYU pragma: keep
#include <stdint.h>
#include <string.h>
#include "base/util.h"
#include "collect/python_abi.h"
#include "collect/python_read.h"
#include "test_collect.h"

enum { N_FRAMES = 3 * PYTHON_PLACES_MAX };

static _Alignas(16) char frames[N_FRAMES][256], code[512], state[256];
static struct python_place places[PYTHON_PLACES_MAX];

static void put(char *at, unsigned offset, const void *pointer)
{
	memcpy(at + offset, &pointer, sizeof(pointer));
}

/* A thread of 3.13 with so many frames, the last of which was called by frame `back`; -1: by none. */
static void make(unsigned n, int back, char owner)
{
	const char *last = back < 0 ? NULL : frames[back];

	for (unsigned i = 0; i < ARRAY_SIZE(python_layouts); i++)
		if (python_layouts[i].minor == 13)
			py.layout = &python_layouts[i];
	put(state, py.layout->state_frame, frames[0]);
	for (unsigned i = 0; i < n; i++) {
		put(frames[i], py.layout->code, code);
		put(frames[i], py.layout->back, i + 1 < n ? frames[i + 1] : last);
		put(frames[i], py.layout->instruction,
		    code + py.layout->instructions + 2 * (i % 64));
		frames[i][py.layout->owner] = owner;
	}
}

/* Three frames and then five are the eight of them; each instruction counts. */
START_TEST(a_glance_is_a_part_of_a_look)
{
	uint64_t parts = 0, whole = 0, other = 0;

	rig_start();
	make(10, -1, 0);
	python_hash_frames(python_hash_frames(frames[0], 3, &parts), 5, &parts);
	ck_assert_ptr_eq(python_hash_frames(frames[0], 8, &whole), frames[8]);
	ck_assert_uint_eq(parts, whole);
	for (unsigned i = 0; i < 8; i++) {
		put(frames[i], py.layout->instruction, code + py.layout->instructions + 200);
		other = 0;
		python_hash_frames(frames[0], 8, &other);
		ck_assert_uint_ne(other, whole);
		whole = other;
	}
	put(frames[8], py.layout->instruction, code + py.layout->instructions + 200);
	other = 0;
	python_hash_frames(frames[0], 8, &other);
	ck_assert_uint_eq(other, whole);
}
END_TEST

START_TEST(stacks_have_a_bound)
{
	uint64_t hash = 0;

	rig_start();
	make(10, -1, 0);
	ck_assert_uint_eq(python_walk_all(state, places), 10);
	ck_assert_ptr_eq(python_hash_frames(frames[0], 3, &hash), frames[3]);
	ck_assert_ptr_eq(python_hash_frames(frames[3], 10, &hash), NULL);
	make(PYTHON_PLACES_MAX, -1, 0);
	ck_assert_uint_eq(python_walk_all(state, places), PYTHON_PLACES_MAX);
	ck_assert_uint_eq(rig_losses(LOSS_CONTEXTS_CUT), 0);
	make(N_FRAMES, -1, 0);
	ck_assert_uint_eq(python_walk_all(state, places), PYTHON_PLACES_MAX);
	ck_assert_int_eq(places[PYTHON_PLACES_MAX - 1].at, 2 * ((N_FRAMES - 1) % 64));
	ck_assert_uint_eq(rig_losses(LOSS_CONTEXTS_CUT), 1);
}
END_TEST

/* As between two greenlets: no end, wherever the circle begins, with places in it and without. */
START_TEST(circles_have_an_end)
{
	static const struct {
		unsigned n;
		int back;
	} circles[] = {{1, 0}, {2, 0}, {7, 3}, {300, 299}, {N_FRAMES, 0}, {N_FRAMES, 500}};

	uint64_t hash = 0;

	rig_start();
	for (unsigned i = 0; i < ARRAY_SIZE(circles); i++)
		for (char owner = 0; owner <= PYTHON_OWNER_INTERPRETER;
		     owner += PYTHON_OWNER_INTERPRETER) {
			make(circles[i].n, circles[i].back, owner);
			ck_assert_uint_eq(python_walk_all(state, places), 0);
			python_hash_frames(frames[0], 3, &hash); /* ends */
			ck_assert(!python_is_at(state, places, 0));
		}
	ck_assert_uint_eq(rig_losses(LOSS_CONTEXTS_CUT), 2 * ARRAY_SIZE(circles));
}
END_TEST

TCase *collect_python_case(void)
{
	TCase *tc = tcase_create("python");

	tcase_add_test(tc, a_glance_is_a_part_of_a_look);
	tcase_add_test(tc, stacks_have_a_bound);
	tcase_add_test(tc, circles_have_an_end);
	return tc;
}

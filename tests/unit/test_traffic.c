/* SPDX-License-Identifier: MIT */
/* Copies of a run: from where to where, and of which sizes. */
#include "config.h" // IWYU pragma: keep
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/util.h"
#include "check_main.h"
#include "core/device_work.h"
#include "core/traffic.h"

static struct session *s;
static struct traffic t;
static uint32_t process, lanes[2];

static void setup(void)
{
	s = session_new();
	process = session_process_add(s, 1);
	for (int32_t i = 0; i < 2; i++) {
		struct session_device device = {.type = strtab_adds(s->strings, "CUDA"),
						.index = i};
		struct session_lane lane = {.process = process,
					    .device = session_device_intern(s, &device)};

		lanes[i] = session_lane_intern(s, &lane);
	}
}

static void teardown(void)
{
	traffic_done(&t);
	session_free(s);
}

static void add(uint32_t node, uint32_t lane, uint32_t metric, uint64_t v)
{
	ck_assert_int_eq(session_add(s, node, lane, 0, metric, (union metric_value){.u64 = v}), 0);
}

/* n copies, each of so many bytes and as many nanoseconds. */
static void copies(const char *name, unsigned device, uint64_t n, uint64_t bytes)
{
	uint32_t node = session_node(s, SESSION_ROOT, FRAME_COPY, name);

	add(node, lanes[device], METRIC_COUNT, n);
	add(node, lanes[device], METRIC_BYTES, n * bytes);
	add(node, lanes[device], METRIC_TIME, n * bytes);
	add(node, lanes[device], metric_of_copies(copy_size(bytes)), n);
	add(node, lanes[device], metric_of_copied_bytes(copy_size(bytes)), n * bytes);
}

static void has_pair(const char *name, double n, double bytes)
{
	char text[TRAFFIC_NAME];

	for (size_t i = 0; i < t.n_pairs; i++) {
		traffic_pair_name(s, &t.pairs[i], text);
		if (strcmp(text, name) != 0)
			continue;
		ck_assert_msg(t.pairs[i].n == n && t.pairs[i].bytes == bytes &&
				      t.pairs[i].time_ns == bytes,
			      "%s: %g copies, %g bytes, %g ns", name, t.pairs[i].n,
			      t.pairs[i].bytes, t.pairs[i].time_ns);
		return;
	}
	ck_abort_msg("no '%s'", name);
}

START_TEST(from_where_to_where)
{
	copies("memcpy HtoD pinned", 0, 2, 4096);
	copies("memcpy HtoD pinned", 1, 1, 4096);
	copies("memcpy HtoD pageable", 0, 3, 100);
	copies("Memcpy HtoD (Pageable -> Device)", 0, 1, 100);
	copies("memcpy DtoH", 1, 1, 10);
	copies("memcpy DtoD", 1, 1, 1000);
	copies("memcpy HtoH managed", 0, 1, 7);
	copies("memcpy PtoP 1 to 0", 0, 5, 300);
	copies("memcpy PtoP 0 to 7", 0, 1, 300);
	copies("Memcpy PtoP (Device -> Device)", 1, 1, 50);
	copies("what is this", 1, 1, 50);
	ck_assert_int_eq(traffic_make(&t, s, NULL, NULL), 0);
	ck_assert_int_eq(traffic_make(&t, s, NULL, NULL),
			 0); /* again: nothing is left of the first time */
	ck_assert_uint_eq(t.n_pairs, 9);
	has_pair("host pinned to GPU0", 2, 8192);
	has_pair("host pinned to GPU1", 1, 4096);
	has_pair("host pageable to GPU0", 4, 400);
	has_pair("GPU1 to host", 1, 10);
	has_pair("within GPU1", 1, 1000);
	has_pair("within host managed", 1, 7);
	has_pair("GPU1 to GPU0", 5, 1500);
	has_pair("GPU0 to another device", 1, 300);
	has_pair("GPU1 to another device", 1, 50);
	for (size_t i = 1; i < t.n_pairs; i++)
		ck_assert(t.pairs[i - 1].bytes >= t.pairs[i].bytes);
	ck_assert_double_eq_tol(t.pairs[0].share, 8192.0 / 15555, 1e-9);
}
END_TEST

/* Of as many bytes, in whatever order they came. */
START_TEST(alike)
{
	static const char *const names[] = {"memcpy HtoD pinned", "memcpy HtoD pageable",
					    "memcpy DtoH", "memcpy DtoD"};
	static const char *const order[] = {"host pageable to GPU0", "host pinned to GPU0",
					    "GPU0 to host", "within GPU0"};
	char text[TRAFFIC_NAME];

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		copies(names[_i ? ARRAY_SIZE(names) - 1 - i : i], 0, 1, 64);
	ck_assert_int_eq(traffic_make(&t, s, NULL, NULL), 0);
	ck_assert_uint_eq(t.n_pairs, ARRAY_SIZE(order));
	for (size_t i = 0; i < t.n_pairs; i++) {
		traffic_pair_name(s, &t.pairs[i], text);
		ck_assert_str_eq(text, order[i]);
	}
}
END_TEST

/* A batch is one call and one record. */
START_TEST(those_of_a_batch)
{
	copies("memcpy HtoD pinned", 0, 1, 4096);
	add(session_node(s, SESSION_ROOT, FRAME_COPY, "memcpy HtoD pinned"), lanes[0],
	    METRIC_BESIDES, 19);
	ck_assert_int_eq(traffic_make(&t, s, NULL, NULL), 0);
	has_pair("host pinned to GPU0", 20, 4096);
}
END_TEST

START_TEST(of_which_sizes)
{
	char text[TRAFFIC_NAME];

	copies("memcpy HtoD pinned", 0, 2, 4096);
	copies("memcpy HtoD pageable", 1, 1, 8191);
	copies("memcpy DtoH pinned", 0, 4, 1000);
	copies("memcpy DtoH pinned", 0, 1, UINT64_C(3) << 30);
	ck_assert_int_eq(traffic_make(&t, s, NULL, NULL), 0);
	ck_assert_uint_eq(t.n_sizes, 3);
	traffic_size_name(&t.sizes[0], text);
	ck_assert_str_eq(text, "below 1 KiB");
	ck_assert(t.sizes[0].n[COPY_DEVICE_TO_HOST] == 4);
	ck_assert(t.sizes[0].n[COPY_HOST_TO_DEVICE] == 0);
	ck_assert(isnan(t.sizes[0].n[COPY_PEER_TO_PEER]));
	traffic_size_name(&t.sizes[1], text);
	ck_assert_str_eq(text, "4 KiB to 8 KiB");
	ck_assert(t.sizes[1].n[COPY_HOST_TO_DEVICE] == 3);
	ck_assert(t.sizes[1].bytes[COPY_HOST_TO_DEVICE] == 2 * 4096 + 8191);
	traffic_size_name(&t.sizes[2], text);
	ck_assert_str_eq(text, "1 GiB and more");
}
END_TEST

START_TEST(of_nothing)
{
	ck_assert_int_eq(traffic_make(&t, s, NULL, NULL), 0);
	ck_assert_uint_eq(t.n_pairs + t.n_sizes, 0);
}
END_TEST

/* ---- what ran beside them, where all is known ---- */

enum { N_LANES = 12, LENGTH = 60000 };

/* By bytes a nanosecond: what others cover, and each lane. */
struct covered {
	uint8_t others[2][LENGTH + 1000], lane[N_LANES][LENGTH + 1000];
	uint64_t n[N_LANES];
};

static uint64_t marked(const uint8_t *a, const uint8_t *b)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < LENGTH + 1000; i++)
		n += a[i] && (!b || b[i]);
	return n;
}

/* Two devices, three streams, of which one is not known, two directions; more of each than go into a run. */
static void some_work(struct device_work *v, size_t n, struct covered *c)
{
	for (size_t i = 0; i < n; i++) {
		unsigned device = (unsigned)rand() % 2, stream = (unsigned)rand() % 3,
			 direction = (unsigned)rand() % 2;
		unsigned lane = (device * 3 + stream) * 2 + direction;
		struct device_work *w = &v[i];

		w->start_ns = (uint64_t)rand() % LENGTH;
		w->end_ns = w->start_ns + (uint64_t)(rand() % 100 ? rand() % 20 : rand() % 900);
		w->device = s->lanes[lanes[device]].device;
		w->process = process;
		w->context = 1;
		w->stream = stream ? stream : SESSION_NONE;
		w->direction = (uint8_t)(COPY_HOST_TO_DEVICE + direction);
		w->is_copy = rand() % 2;
		c->n[lane] += w->is_copy;
		for (uint64_t ns = w->start_ns; ns < w->end_ns; ns++)
			(w->is_copy ? c->lane[lane] : c->others[device])[ns] = 1;
	}
}

START_TEST(what_ran_beside_them)
{
	static struct covered c;
	static struct device_work v[4000];
	uint64_t n = 0;

	srand(3);
	some_work(v, ARRAY_SIZE(v), &c);
	ck_assert_int_eq(device_work_add_up(s, v, ARRAY_SIZE(v)), 0);
	ck_assert_uint_eq(s->n_copy_lanes, N_LANES);
	for (size_t i = 0; i < s->n_copy_lanes; i++) {
		const struct session_copy_lane *l = &s->copy_lanes[i];
		unsigned device = l->device != s->lanes[lanes[0]].device;
		unsigned stream = l->stream == SESSION_NONE ? 0 : l->stream;
		unsigned lane = (device * 3 + stream) * 2 + l->direction - COPY_HOST_TO_DEVICE;

		ck_assert_uint_eq(l->count, c.n[lane]);
		ck_assert_uint_eq(l->time_ns, marked(c.lane[lane], NULL));
		ck_assert_uint_eq(l->hidden_ns, marked(c.lane[lane], c.others[device]));
		ck_assert_uint_lt(0, l->hidden_ns);
		ck_assert_uint_eq(l->unsure_ns, 0);
		n += l->count;
	}
	ck_assert_uint_gt(n, 1000);
	for (unsigned device = 0; device < 2; device++) {
		const struct session_use *use =
			session_use_of(s, process, s->lanes[lanes[device]].device);
		static uint8_t copies[LENGTH + 1000];

		memset(copies, 0, sizeof(copies));
		for (unsigned lane = device * 6; lane < device * 6 + 6; lane++)
			for (unsigned ns = 0; ns < sizeof(copies); ns++)
				copies[ns] |= c.lane[lane][ns];
		ck_assert_uint_eq(use->copies_ns, marked(copies, NULL));
		ck_assert_uint_eq(use->hidden_ns, marked(copies, c.others[device]));
		ck_assert_uint_eq(use->busy_ns,
				  use->copies_ns - use->hidden_ns + marked(c.others[device], NULL));
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("traffic");
	TCase *tc = tcase_create("traffic");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, those_of_a_batch);
	tcase_add_test(tc, from_where_to_where);
	tcase_add_loop_test(tc, alike, 0, 2);
	tcase_add_test(tc, of_which_sizes);
	tcase_add_test(tc, of_nothing);
	tcase_add_test(tc, what_ran_beside_them);
	suite_add_tcase(suite, tc);
	return check_run(suite);
}

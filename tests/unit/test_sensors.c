/* SPDX-License-Identifier: MIT */
/* Looks at devices: how they add up, what counts only while there is work, and their way over a tape. */
#include "config.h" // IWYU pragma: keep
#include <check.h>
#include <fcntl.h>
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/buf.h"
#include "base/clock.h"
#include "base/util.h"
#include "check_main.h"
#include "core/merge.h"
#include "core/session.h"
#include "sensors/look.h"
#include "sensors/watch.h"
#include "sensors/watcher.h"
#include "wire/sensors.h"
#include "wire/wire.h"

static struct sensors of_looks(const struct sensor_look *looks, size_t n)
{
	struct sensors sum = {{0}};
	double errors = NAN;

	for (size_t i = 0; i < n; i++) {
		look_add(&sum, &looks[i], errors, 0);
		errors = looks[i].errors;
	}
	return sum;
}

START_TEST(work_alone_counts)
{
	static const struct sensor_look looks[] = {
		{.clock_mhz = 300, .power_w = 80, .temperature_c = 40, .pcie_generation = 1},
		{.working = true, .clock_mhz = 1900, .power_w = 500, .pcie_generation = 4},
		{.working = true, .clock_mhz = 1500, .power_w = 700, .pcie_generation = 5},
		{.clock_mhz = 345, .power_w = 90, .temperature_c = 60, .pcie_generation = 1},
	};
	struct sensors s = of_looks(looks, ARRAY_SIZE(looks));

	ck_assert_double_eq(s.v[SENSOR_LOOKS], 4);
	ck_assert_double_eq(s.v[SENSOR_WORKING], 2);
	ck_assert_double_eq(s.v[SENSOR_CLOCK], 345);
	ck_assert_double_eq(s.v[SENSOR_CLOCK_MEAN], 1700);
	ck_assert_double_eq(s.v[SENSOR_CLOCK_MIN], 1500);
	ck_assert_double_eq(s.v[SENSOR_CLOCK_MAX], 1900);
	ck_assert_double_eq(s.v[SENSOR_POWER_MEAN], 600);
	ck_assert_double_eq(s.v[SENSOR_POWER_MAX], 700);
	ck_assert_double_eq(s.v[SENSOR_TEMPERATURE_MAX], 60);
	ck_assert_double_eq(s.v[SENSOR_PCIE_GENERATION], 5);
	ck_assert_double_eq(s.v[SENSOR_CUT], 0);
}
END_TEST

START_TEST(cuts_have_their_own_clock)
{
	static const struct sensor_look looks[] = {
		{.working = true, .clock_mhz = 1900},
		{.working = true, .clock_mhz = 1200, .cut = LOOK_CUT_HEAT},
		{.working = true, .clock_mhz = 1000, .cut = LOOK_CUT_HEAT | LOOK_CUT_POWER},
		{.clock_mhz = 300, .cut = LOOK_CUT_BRAKE}, /* while it is idle it costs nothing */
	};
	struct sensors s = of_looks(looks, ARRAY_SIZE(looks));

	ck_assert_double_eq(s.v[SENSOR_CUT], 2);
	ck_assert_double_eq(s.v[SENSOR_CUT_CLOCK], 1100);
	ck_assert_double_eq(s.v[SENSOR_CUT_HEAT], 2);
	ck_assert_double_eq(s.v[SENSOR_CUT_POWER], 1);
	ck_assert_double_eq(s.v[SENSOR_CUT_BRAKE], 0);
}
END_TEST

START_TEST(errors_are_those_of_the_run)
{
	static const struct sensor_look looks[] = {
		{.errors = 7}, {.errors = 7}, {.errors = 9}, {.errors = NAN}};

	ck_assert_double_eq(of_looks(looks, 1).v[SENSOR_ERRORS], 0);
	ck_assert_double_eq(of_looks(looks, 4).v[SENSOR_ERRORS], 2);
}
END_TEST

/* A number that was not told has no part in a mean, and is not what it was before. */
START_TEST(what_is_not_told_does_not_count)
{
	static const struct sensor_look looks[] = {
		{.working = true, .temperature_c = 50},
		{.working = true, .temperature_c = 50},
		{.working = true, .clock_mhz = 1500, .power_w = 600, .temperature_c = 70},
		{.working = true, .clock_mhz = 1500, .power_w = 600},
	};
	struct sensors s = of_looks(looks, ARRAY_SIZE(looks));

	ck_assert_double_eq(s.v[SENSOR_CLOCK_MEAN], 1500);
	ck_assert_double_eq(s.v[SENSOR_POWER_MEAN], 600);
	ck_assert_double_eq(s.v[SENSOR_TEMPERATURE], 0);
	ck_assert_double_eq(s.v[SENSOR_TEMPERATURE_MAX], 70);
	sensors_forget_now(&s);
	ck_assert_double_eq(s.v[SENSOR_CLOCK], 0);
	ck_assert_double_eq(s.v[SENSOR_CLOCK_MEAN], 1500);
}
END_TEST

START_TEST(nonsense_is_not_taken)
{
	struct sensors sum = {{[SENSOR_CLOCK_MAX] = 5}};
	const struct sensors bad = {
		{[SENSOR_CLOCK_MAX] = INFINITY, [SENSOR_POWER] = -1, [SENSOR_LOOKS] = NAN}};

	sensors_add(&sum, &bad);
	ck_assert_double_eq(sum.v[SENSOR_CLOCK_MAX], 5);
	ck_assert_double_eq(sum.v[SENSOR_POWER], 0);
	ck_assert_double_eq(sum.v[SENSOR_LOOKS], 0);
}
END_TEST

/* However often a file says it. */
START_TEST(nonsense_makes_no_nonsense)
{
	const struct sensors bad = {{[SENSOR_WORKING] = INFINITY,
				     [SENSOR_CLOCK_MEAN] = 1000,
				     [SENSOR_ERRORS] = 1e15,
				     [SENSOR_CLOCK_LIMIT] = 1e308,
				     [SENSOR_CUT] = -1,
				     [SENSOR_CUT_CLOCK] = 900}};
	struct sensors sum = {{[SENSOR_WORKING] = 2, [SENSOR_CLOCK_MEAN] = 1500}};

	for (unsigned i = 0; i < 1000; i++)
		sensors_add(&sum, &bad);
	ck_assert_double_eq(sum.v[SENSOR_CLOCK_MEAN], 1500);
	for (unsigned i = 0; i < SENSOR_N; i++)
		ck_assert(sum.v[i] >= 0 && sum.v[i] <= 1e15);
}
END_TEST

/* What a helper wrote into its page, as watch_update() takes it into the session. */
struct helped {
	struct session *s;
	struct watch_page *page;
	struct watch w;
	uint32_t device;
};

static struct session *with_device(const char *uuid, uint32_t *ret);

static void help(struct helped *h)
{
	*h = (struct helped){.page = calloc(1, sizeof(*h->page))};
	h->s = with_device("GPU-1", &h->device);
	h->w = (struct watch){.page = h->page, .devices = {{.device = h->device}}, .n = 1};
	clock_fake(UINT64_C(1000000000000));
}

static const struct sensors *taken_after(struct helped *h, uint64_t ns)
{
	clock_fake(clock_monotonic_ns() + ns);
	watch_update(&h->w, h->s);
	return session_sensors_find(h->s, h->device);
}

static void helped_done(struct helped *h)
{
	clock_fake(0);
	session_free(h->s);
	free(h->page);
}

/* A library that overwrites the page makes no number of what is none. */
START_TEST(the_page_is_read_as_a_file_is)
{
	struct helped h;
	const struct sensors *known;

	help(&h);
	h.page->devices[0].sensors = (struct sensors){{[SENSOR_LOOKS] = 3,
						       [SENSOR_WORKING] = 3,
						       [SENSOR_CLOCK] = NAN,
						       [SENSOR_POWER] = -5,
						       [SENSOR_MEMORY] = INFINITY,
						       [SENSOR_TEMPERATURE] = 61}};
	atomic_store(&h.page->n, 0x7f7f7f7f);
	atomic_store(&h.page->devices[0].version, 2);
	known = taken_after(&h, NSEC_PER_SEC);
	ck_assert_ptr_nonnull(known);
	ck_assert_double_eq(known->v[SENSOR_TEMPERATURE], 61);
	ck_assert_double_eq(known->v[SENSOR_CLOCK], 0);
	ck_assert_double_eq(known->v[SENSOR_POWER], 0);
	ck_assert_double_eq(known->v[SENSOR_MEMORY], 0);
	helped_done(&h);
}
END_TEST

/* A helper that hangs, or died while it wrote: the last word is no more how things are. */
START_TEST(old_words_are_not_said_as_now)
{
	for (uint32_t version = 2; version <= 3; version++) {
		struct helped h;

		help(&h);
		ck_assert_ptr_null(taken_after(&h, NSEC_PER_SEC));
		h.page->devices[0].sensors = (struct sensors){
			{[SENSOR_LOOKS] = 3, [SENSOR_CLOCK] = 1500, [SENSOR_CLOCK_MAX] = 1600}};
		atomic_store(&h.page->devices[0].version, 2);
		ck_assert_double_eq(taken_after(&h, NSEC_PER_SEC)->v[SENSOR_CLOCK], 1500);
		atomic_store(&h.page->devices[0].version, version);
		ck_assert_double_eq(taken_after(&h, 2 * NSEC_PER_SEC)->v[SENSOR_CLOCK], 1500);
		ck_assert_double_eq(taken_after(&h, 2 * NSEC_PER_SEC)->v[SENSOR_CLOCK], 0);
		ck_assert_double_eq(taken_after(&h, NSEC_PER_SEC)->v[SENSOR_CLOCK_MAX], 1600);
		h.page->devices[0].sensors.v[SENSOR_LOOKS] = 4; /* it goes on */
		atomic_store(&h.page->devices[0].version, 4);
		ck_assert_double_eq(taken_after(&h, NSEC_PER_SEC)->v[SENSOR_CLOCK], 1500);
		helped_done(&h);
	}
}
END_TEST

static const char *note_of(const struct session *s, size_t i)
{
	return i < s->n_notes ? strtab_str(s->strings, s->notes[i].text) : "";
}

/* Whose library does not answer is told once, and how the helper ended; not of one who was stopped as long as we were. */
START_TEST(trouble_is_told)
{
	struct helped h;
	siginfo_t ended;

	help(&h);
	h.w.helper = (struct probe_child){.pid = fork(), .fd = open("/dev/null", O_RDONLY)};
	if (h.w.helper.pid == 0)
		for (;;)
			pause();
	ck_assert_int_gt(h.w.helper.pid, 0);
	taken_after(&h, NSEC_PER_SEC);
	taken_after(&h, 60 * NSEC_PER_SEC);
	ck_assert_uint_eq(h.s->n_notes, 0);
	for (unsigned i = 0; i < 60; i++) {
		atomic_fetch_add(&h.page->beats, 1);
		taken_after(&h, NSEC_PER_SEC);
	}
	ck_assert_uint_eq(h.s->n_notes, 0);
	atomic_store(&h.page->asked, 2);
	for (unsigned i = 0; i < 9; i++)
		taken_after(&h, NSEC_PER_SEC);
	ck_assert_uint_eq(h.s->n_notes, 0);
	for (unsigned i = 0; i < 60; i++)
		taken_after(&h, NSEC_PER_SEC);
	ck_assert_uint_eq(h.s->n_notes, 1);
	ck_assert_str_eq(note_of(h.s, 0),
			 "sensors say nothing: libnvidia-ml.so.1 has not answered for 10 s");
	atomic_store(&h.page->asked, 0x7f7f7f7f);
	kill(h.w.helper.pid, SIGKILL);
	ck_assert_int_eq(waitid(P_PID, (id_t)h.w.helper.pid, &ended, WEXITED | WNOWAIT), 0);
	taken_after(&h, NSEC_PER_SEC);
	ck_assert_str_eq(note_of(h.s, 1), "sensors are missing from here on: the process that asks "
					  "for them ended with SIGKILL");
	ck_assert_int_eq(h.w.helper.pid, 0);
	helped_done(&h);
}
END_TEST

/* A session with a device of this uuid, and its id. */
static struct session *with_device(const char *uuid, uint32_t *ret)
{
	struct session *s = session_new();
	struct session_device d = {.type = strtab_adds(s->strings, "CUDA"),
				   .uuid = strtab_adds(s->strings, uuid)};

	*ret = session_device_intern(s, &d);
	return s;
}

START_TEST(merging_weighs_by_looks)
{
	uint32_t device;
	struct session *a = with_device("GPU-1", &device), *b = with_device("GPU-1", &device),
		       *into;
	struct merge *m;

	*session_sensors_of(a, device) = (struct sensors){
		{[SENSOR_WORKING] = 3, [SENSOR_CLOCK_MEAN] = 1000, [SENSOR_CLOCK_MAX] = 1200}};
	*session_sensors_of(b, device) = (struct sensors){
		{[SENSOR_WORKING] = 1, [SENSOR_CLOCK_MEAN] = 2000, [SENSOR_CLOCK_MAX] = 1100}};
	into = session_new();
	m = merge_new(into);
	ck_assert_int_eq(merge_add(m, a, NULL), 0);
	ck_assert_int_eq(merge_add(m, b, NULL), 0);
	merge_free(m);
	ck_assert_uint_eq(into->n_sensors, 1);
	ck_assert_double_eq(into->sensors[0].of.v[SENSOR_WORKING], 4);
	ck_assert_double_eq(into->sensors[0].of.v[SENSOR_CLOCK_MEAN], 1250);
	ck_assert_double_eq(into->sensors[0].of.v[SENSOR_CLOCK_MAX], 1200);
	session_free(a);
	session_free(b);
	session_free(into);
}
END_TEST

/* The payload of the frame in `frames`. */
static const char *payload_of(const struct buf *frames, size_t *ret_size)
{
	const struct wire_header *h = (const void *)frames->data;

	ck_assert_uint_eq(h->magic, WIRE_MAGIC);
	ck_assert_uint_eq(h->kind, WIRE_SENSORS);
	ck_assert_uint_eq(frames->len, wire_padded(h->length));
	*ret_size = h->length - sizeof(*h);
	return frames->data + sizeof(*h);
}

START_TEST(over_a_tape)
{
	uint32_t device, other;
	struct session *s = with_device("GPU-1", &device), *back = with_device("GPU-1", &other);
	struct session *stranger = with_device("GPU-2", &other);
	_cleanup_(buf_done) struct buf frames = {0};
	const char *payload;
	size_t size;

	*session_sensors_of(s, device) =
		(struct sensors){{[SENSOR_CLOCK_MEAN] = 1500, [SENSOR_WORKING] = 4}};
	wire_sensors_frames(s, 1, &frames);
	payload = payload_of(&frames, &size);
	for (int again = 0; again < 2; again++) /* the newest counts: they do not add up */
		ck_assert_int_eq(wire_sensors_take(back, payload, size), 0);
	ck_assert_mem_eq(&back->sensors[0].of, &s->sensors[0].of, sizeof(struct sensors));
	ck_assert_int_eq(wire_sensors_take(stranger, payload, size), 0);
	ck_assert_uint_eq(stranger->n_sensors, 0);
	for (size_t less = 1; less <= size; less++) /* torn */
		ck_assert_int_eq(wire_sensors_take(back, payload, size - less), -EBADMSG);
	session_free(s);
	session_free(back);
	session_free(stranger);
}
END_TEST

/* One number of one device: that of which the used memory is a part. */
START_TEST(memory_is_what_sensors_say)
{
	uint32_t device;
	struct session *s = with_device("GPU-1", &device);

	ck_assert(isnan(session_device_memory(s, device)));
	s->devices[device].memory_bytes = 150000000000;
	ck_assert(session_device_memory(s, device) == 150e9);
	session_sensors_of(s, device)->v[SENSOR_MEMORY_TOTAL] = 151e9;
	ck_assert(session_device_memory(s, device) == 151e9);
	s->devices[device].memory_bytes = 20000000000; /* a part of that */
	ck_assert(session_device_memory(s, device) == 20e9);
	session_free(s);
}
END_TEST

START_TEST(a_device_without_uuid_is_not_told)
{
	uint32_t device;
	struct session *s = with_device("", &device);
	_cleanup_(buf_done) struct buf frames = {0};

	session_sensors_of(s, device);
	wire_sensors_frames(s, 1, &frames);
	ck_assert_uint_eq(frames.len, 0);
	session_free(s);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("sensors");
	TCase *tc = tcase_create("sensors");

	tcase_add_test(tc, work_alone_counts);
	tcase_add_test(tc, cuts_have_their_own_clock);
	tcase_add_test(tc, errors_are_those_of_the_run);
	tcase_add_test(tc, nonsense_is_not_taken);
	tcase_add_test(tc, nonsense_makes_no_nonsense);
	tcase_add_test(tc, what_is_not_told_does_not_count);
	tcase_add_test(tc, the_page_is_read_as_a_file_is);
	tcase_add_test(tc, old_words_are_not_said_as_now);
	tcase_add_test(tc, trouble_is_told);
	tcase_add_test(tc, merging_weighs_by_looks);
	tcase_add_test(tc, over_a_tape);
	tcase_add_test(tc, memory_is_what_sensors_say);
	tcase_add_test(tc, a_device_without_uuid_is_not_told);
	suite_add_tcase(suite, tc);
	return check_run(suite);
}

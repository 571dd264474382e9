/* SPDX-License-Identifier: MIT */
/* Phases of sessions: which launches are whose, when one is complete, and what is used anew. */
#include "config.h" // IWYU pragma: keep
#include <limits.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "base/util.h"
#include "collect/epochs.h"
#include "collect/internal.h"
#include "collect/phases.h"
#include "collect/sessions.h"
#include "core/ranges_wanted.h"
#include "test_collect.h"
#include "wire/decode.h"

static uint32_t launch(void)
{
	struct activity_sink *sink = collect_sink(SOURCE_FAKE);

	return sink->ops->launch(sink, NULL);
}

static struct activity kernel_of(uint32_t launched, uint64_t ns)
{
	return (struct activity){.kind = ACTIVITY_KERNEL,
				 .name = "gemm",
				 .start_ns = 1,
				 .end_ns = 1 + ns,
				 .launch = launched};
}

static void finish_in(uint32_t launched, uint64_t ns)
{
	struct activity_sink *sink = collect_sink(SOURCE_FAKE);
	const struct activity a = kernel_of(launched, ns);

	sink->ops->record(sink, &a);
}

static void finish(uint32_t launched)
{
	finish_in(launched, 5);
}

/* A metric of kernels in a phase of session 0, as the reader has it by now. */
static uint64_t in_phase(uint32_t phase, uint32_t metric)
{
	_cleanup_(freep) uint8_t *rows = calloc(rig_session->n_rows + 1, 1);
	uint64_t n = 0;

	ck_assert_int_eq(
		wire_decoder_phase_rows(rig_decoder(), collector->instance, 0, phase, rows), 0);
	for (size_t k = 0; k < rig_session->n_rows; k++)
		if (rows[k] && rig_session->rows[k].set == SET_KERNEL)
			n += rig_session->values[rig_session->rows[k].values + metric].u64;
	return n;
}

static void deliver(void)
{
	ck_assert(sender_deliver());
	rig_pump();
}

START_TEST(launches_are_of_their_phase)
{
	uint32_t first, second;

	rig_start();
	ck_assert_int_eq(collect_session_start("a", NULL), 0);
	first = launch();
	ck_assert_int_eq(collect_phase_is_complete(0, 0), 0); /* it goes on */
	ck_assert_int_eq(collect_phase_advance(0), 1);
	second = launch();
	ck_assert_int_eq(collect_phase_advance(0), 2);
	/* The second one ends first. */
	ck_assert_int_eq(collect_phase_is_complete(0, 1), 0);
	finish(second);
	ck_assert_int_eq(collect_phase_is_complete(0, 1), 1);
	ck_assert_int_eq(collect_phase_is_complete(0, 0), 0);
	finish(first);
	ck_assert_int_eq(collect_phase_is_complete(0, 0), 1);
	ck_assert_int_eq(collect_phase_is_complete(0, 2), 0);
	ck_assert_int_eq(collect_phase_is_complete(0, INT_MAX), 0);
	deliver();
	for (uint32_t phase = 0; phase < 3; phase++)
		ck_assert_uint_eq(in_phase(phase, METRIC_COUNT), phase < 2);
	/* One that is not active goes on as well, and has nothing. */
	ck_assert_int_eq(collect_session_deactivate(0, false), PROTON_OK);
	ck_assert_int_eq(collect_phase_advance(0), 3);
	finish(launch());
	deliver();
	ck_assert_uint_eq(in_phase(3, METRIC_COUNT), 0);
	ck_assert_int_eq(rig_sum("gemm", METRIC_COUNT), 3);
}
END_TEST

/* What comes of a phase that was cleared is the run's, and no other phase's, whenever it comes. */
START_TEST(late_records_are_of_no_other_phase)
{
	uint32_t late, now;

	rig_start();
	ck_assert_int_eq(collect_session_start("a", NULL), 0);
	late = launch();
	for (int phase = 1; phase <= 100; phase++) {
		ck_assert_int_eq(collect_phase_advance(0), phase);
		ck_assert_int_eq(collect_phase_clear(0, phase - 1, 1), PROTON_OK);
		now = launch();
		ck_assert_uint_ne(now, late);
		if (phase < 100)
			finish(now);
		deliver();
	}
	finish_in(late, 1000);
	deliver();
	ck_assert_uint_eq(in_phase(0, METRIC_COUNT), 0);
	ck_assert_uint_eq(in_phase(100, METRIC_COUNT), 0);
	finish(now);
	deliver();
	ck_assert_uint_eq(in_phase(100, METRIC_COUNT), 1);
	ck_assert_uint_eq(in_phase(100, METRIC_TIME), 5);
	ck_assert_int_eq(rig_sum("gemm", METRIC_COUNT), 101);
	ck_assert_int_eq(rig_sum("gemm", METRIC_TIME), 1000 + 100 * 5);
}
END_TEST

/* Hardware metrics of kernels in scopes. */
static void want_metrics(const char *range)
{
	char path[PATH_MAX];
	FILE *f;

	snprintf(path, sizeof(path), "%s/" RANGES_FILE, rig_dir->path);
	f = fopen(path, "we");
	ck_assert_ptr_nonnull(f);
	fprintf(f, "replay none\nrange %s\nmetric sum byte dram__bytes.sum\n", range);
	ck_assert_int_eq(fclose(f), 0);
	ck_assert_int_eq(collect_start(DOOR_API), 0);
	ck_assert_ptr_nonnull(collect_sink(SOURCE_FAKE)->ops->ranges(collect_sink(SOURCE_FAKE)));
}

/* Bytes of a phase of session 0. */
static double bytes_in(uint32_t phase)
{
	uint32_t metric = metric_table_find(rig_session->metrics, "dram__bytes.sum");
	_cleanup_(freep) uint8_t *rows = calloc(rig_session->n_rows + 1, 1);
	double bytes = 0, v;

	ck_assert_int_eq(
		wire_decoder_phase_rows(rig_decoder(), collector->instance, 0, phase, rows), 0);
	for (size_t k = 0; k < rig_session->n_rows; k++) {
		v = session_row_number(rig_session, &rig_session->rows[k], metric);
		if (rows[k] && !isnan(v))
			bytes += v;
	}
	return bytes;
}

/* Values that come when the phase of their launch is over are its own as long as anybody has it, and never those of a newer
 * one that has its number: late ones have 8 bytes, that of the newer phase has 1. */
static void check_late_ranges(const char *range,
			      bool (*place)(uint32_t launched, struct range_place *ret))
{
	struct activity_sink *sink = collect_sink(SOURCE_FAKE);
	const double early = 1, late = 8;
	struct range_place first, now;
	uint32_t launched;

	rig_open();
	want_metrics(range);
	ck_assert_int_eq(collect_session_start("a", NULL), 0);
	collect_push(FRAME_SCOPE, COLLECT_TAG_SCOPE, "step", 4);
	launched = launch();
	ck_assert(place(launched, &first));
	finish(launched);
	ck_assert_int_eq(collect_phase_advance(0), 1);
	deliver();
	sink->ops->measured(sink, &first, 5, &late); /* nobody has cleared it */
	deliver();
	ck_assert_double_eq(bytes_in(0), 8);
	ck_assert_int_eq(collect_phase_clear(0, 0, 1), PROTON_OK);
	deliver();
	sink->ops->measured(sink, &first, 5, &late); /* it is free */
	ck_assert_int_eq(collect_phase_advance(0), 2);
	launched = launch();
	ck_assert(place(launched, &now));
	ck_assert_uint_eq(now.slot, first.slot);
	sink->ops->measured(sink, &first, 5, &late); /* … and is another's */
	sink->ops->measured(sink, &now, 5, &early);
	finish(launched);
	collect_pop(COLLECT_TAG_SCOPE);
	deliver();
	ck_assert_double_eq(bytes_in(2), 1);
	ck_assert_int_eq(rig_sum(range[0] == 'k' ? "gemm" : "step",
				 metric_table_find(rig_session->metrics, "measured")),
			 4);
}

static bool place_of_scope(uint32_t launched, struct range_place *ret)
{
	struct activity_sink *sink = collect_sink(SOURCE_FAKE);

	return sink->ops->range_at(sink, launched, ret);
}

static bool place_of_kernel(uint32_t launched, struct range_place *ret)
{
	struct activity_sink *sink = collect_sink(SOURCE_FAKE);
	const struct activity a = kernel_of(launched, 5);

	return sink->ops->measured_at(sink, &a, ret);
}

START_TEST(late_ranges_are_of_no_other_phase)
{
	check_late_ranges("scope", place_of_scope);
}
END_TEST

START_TEST(late_values_of_kernels_are_of_no_other_phase)
{
	check_late_ranges("kernel", place_of_kernel);
}
END_TEST

/* What happens once when a thread has found the epoch of a late value alive, before it tells the value. */
static void (*found_alive)(void);
static uint32_t found_epoch;
uint32_t __real_epoch_told_late(uint32_t epoch, uint32_t use);
uint32_t __wrap_epoch_told_late(uint32_t epoch, uint32_t use);
uint32_t __wrap_epoch_told_late(uint32_t epoch, uint32_t use)
{
	uint32_t told = __real_epoch_told_late(epoch, use);
	void (*now)(void) = found_alive;

	found_alive = NULL;
	found_epoch = told;
	if (now)
		now();
	return told;
}

/* The phase is cleared, and the sender may make it the run's for as long as it would. */
static void clear_meanwhile(void)
{
	const struct timespec nap = {0, 5000000};

	ck_assert_uint_ne(found_epoch, 0);
	ck_assert_int_eq(collect_phase_clear(0, 0, 1), PROTON_OK);
	for (int i = 0; i < 100 && atomic_load(&collector->epochs[found_epoch].state) == EPOCH_LEFT;
	     i++)
		nanosleep(&nap, NULL);
}

/* Else the next one to have its number would have the value. */
START_TEST(an_epoch_is_not_given_back_while_a_value_is_told)
{
	struct activity_sink *sink = collect_sink(SOURCE_FAKE);
	const double late = 8;
	struct range_place first, now;
	uint32_t launched;

	rig_open();
	want_metrics("scope");
	ck_assert_int_eq(collect_session_start("a", NULL), 0);
	collect_push(FRAME_SCOPE, COLLECT_TAG_SCOPE, "step", 4);
	launched = launch();
	ck_assert(place_of_scope(launched, &first));
	finish(launched);
	ck_assert_int_eq(collect_phase_advance(0), 1);
	deliver();
	found_alive = clear_meanwhile;
	sink->ops->measured(sink, &first, 5, &late);
	deliver();
	deliver();
	ck_assert_int_eq(collect_phase_advance(0), 2);
	launched = launch();
	ck_assert(place_of_scope(launched, &now));
	ck_assert_uint_eq(now.slot, first.slot);
	finish(launched);
	collect_pop(COLLECT_TAG_SCOPE);
	deliver();
	ck_assert_double_eq(bytes_in(2), 0);
	ck_assert_int_eq(rig_sum("step", metric_table_find(rig_session->metrics, "measured")), 1);
}
END_TEST

enum { N_OF_RUN = 1000000, N_OF_PHASES = 1000 };

static void *tell_of_run(void *arg)
{
	struct activity_sink *sink = collect_sink(SOURCE_FAKE);
	const double one = 1;

	for (int i = 0; i < N_OF_RUN; i++)
		sink->ops->measured(sink, arg, 1, &one);
	return arg;
}

static double bytes_of_all(void)
{
	uint32_t metric = metric_table_find(rig_session->metrics, "dram__bytes.sum");
	double bytes = 0, v;

	for (size_t k = 0; k < rig_session->n_rows; k++) {
		v = session_row_number(rig_session, &rig_session->rows[k], metric);
		bytes += isnan(v) ? 0 : v;
	}
	return bytes;
}

/* One thread tells of the run, and values of phases become the run's meanwhile, in the same slot. */
START_TEST(values_that_move_lose_none_that_are_added)
{
	struct activity_sink *sink = collect_sink(SOURCE_FAKE);
	struct range_place of_run, at;
	const double one = 1;
	pthread_t thread;
	uint32_t launched;

	rig_open();
	rig_dir->control->period_ms = 10;
	want_metrics("scope");
	collect_push(FRAME_SCOPE, COLLECT_TAG_SCOPE, "step", 4);
	launched = launch();
	ck_assert(place_of_scope(launched, &of_run));
	finish(launched);
	ck_assert_int_eq(collect_session_start("a", NULL), 0);
	ck_assert_int_eq(pthread_create(&thread, NULL, tell_of_run, &of_run), 0);
	for (int phase = 0; phase < N_OF_PHASES; phase++) {
		launched = launch();
		ck_assert(place_of_scope(launched, &at));
		sink->ops->measured(sink, &at, 1, &one);
		finish(launched);
		ck_assert_int_eq(collect_phase_advance(0), phase + 1);
		ck_assert_int_eq(collect_phase_clear(0, phase, 0), PROTON_OK);
	}
	ck_assert_int_eq(pthread_join(thread, NULL), 0);
	collect_pop(COLLECT_TAG_SCOPE);
	deliver();
	deliver();
	ck_assert_double_eq(bytes_of_all(), N_OF_RUN + N_OF_PHASES);
}
END_TEST

/* A minimum and a maximum are those of a phase, and of the run; what is used anew is what there was. */
START_TEST(epochs_are_given_back)
{
	uint32_t n_contexts = 0, n_slots = 0;
	size_t n_rows = 0;

	rig_start();
	ck_assert_int_eq(collect_session_start("a", NULL), 0);
	for (int phase = 0; phase < 3000; phase++) {
		collect_push(FRAME_SCOPE, COLLECT_TAG_SCOPE, "step", 4);
		finish_in(launch(), (uint64_t)phase + 10);
		collect_metric_u64("tokens", 2, false);
		collect_metric_f64("loss", 0.5, true);
		collect_pop(COLLECT_TAG_SCOPE);
		if (phase % 100 == 99) {
			deliver();
			ck_assert_uint_eq(in_phase((uint32_t)phase, METRIC_COUNT), 1);
			ck_assert_uint_eq(in_phase((uint32_t)phase, METRIC_TIME_MIN),
					  (uint64_t)phase + 10);
			ck_assert_uint_eq(in_phase((uint32_t)phase, METRIC_TIME_MAX),
					  (uint64_t)phase + 10);
			ck_assert_uint_eq(in_phase((uint32_t)phase - 1, METRIC_COUNT), 0);
			ck_assert_int_eq(rig_sum("gemm", METRIC_COUNT), phase + 1);
			ck_assert_int_eq(rig_sum("step", METRIC_N_BUILTIN), 2 * (phase + 1));
		}
		ck_assert_int_eq(collect_phase_advance(0), phase + 1);
		ck_assert_int_eq(collect_phase_clear(0, phase, 0), PROTON_OK);
		if (phase == 999) {
			n_contexts = table_n(&collector->contexts);
			n_slots = table_n(&collector->slots);
			n_rows = rig_session->n_rows;
		}
	}
	deliver();
	ck_assert_uint_lt(atomic_load(&collector->n_epochs), 200);
	ck_assert_uint_eq(table_n(&collector->contexts), n_contexts);
	ck_assert_uint_eq(table_n(&collector->slots), n_slots);
	/* Those of the loop that the phases are may come late; of 2,000 phases there would be thousands. */
	ck_assert_uint_le(rig_session->n_rows, n_rows + 100);
	ck_assert_int_eq(rig_sum("gemm", METRIC_COUNT), 3000);
	/* A late reader has the same. */
	rig_forget();
	atomic_fetch_add(&rig_dir->control->resync, 1);
	rig_until_sum("gemm", METRIC_COUNT, 3000);
	deliver();
	ck_assert_int_eq(rig_sum("step", METRIC_N_BUILTIN), 6000);
	{
		union metric_value v;

		ck_assert(session_value(rig_session, rig_node("gemm"), METRIC_TIME_MIN, &v));
		ck_assert_uint_eq(v.u64, 10);
		ck_assert(session_value(rig_session, rig_node("gemm"), METRIC_TIME_MAX, &v));
		ck_assert_uint_eq(v.u64, 3009);
	}
	ck_assert_uint_eq(rig_session->losses[LOSS_WIRE_ERROR], 0);
}
END_TEST

/* Told again while epochs are merged: a reader that has all by then counts nothing twice. */
START_TEST(a_resync_counts_nothing_twice)
{
	rig_start();
	ck_assert_int_eq(collect_session_start("a", NULL), 0);
	for (int phase = 0; phase < 200; phase++) {
		finish(launch());
		deliver();
		ck_assert_int_eq(collect_phase_advance(0), phase + 1);
		ck_assert_int_eq(collect_phase_clear(0, phase, 0), PROTON_OK);
		atomic_fetch_add(&rig_dir->control->resync, 1);
		deliver();
		ck_assert_int_eq(rig_sum("gemm", METRIC_COUNT), phase + 1);
	}
}
END_TEST

/* The phase of now begins anew; several sessions share epochs, and one's clearing is none of another's. */
START_TEST(clearing_is_of_one_session)
{
	rig_start();
	ck_assert_int_eq(collect_session_start("a", NULL), 0);
	ck_assert_int_eq(collect_session_start("b", NULL), 1);
	finish(launch());
	ck_assert_int_eq(collect_phase_clear(0, 0, 0), PROTON_OK);
	finish(launch());
	finish(launch());
	deliver();
	ck_assert_uint_eq(in_phase(0, METRIC_COUNT), 2);
	{
		_cleanup_(freep) uint8_t *rows = calloc(rig_session->n_rows + 1, 1);
		uint64_t n = 0;

		ck_assert_int_eq(wire_decoder_session_rows(rig_decoder(), 1, rows), 0);
		for (size_t k = 0; k < rig_session->n_rows; k++)
			if (rows[k])
				n += rig_session->values[rig_session->rows[k].values + METRIC_COUNT]
					     .u64;
		ck_assert_uint_eq(n, 3);
	}
	ck_assert_int_eq(collect_phase_clear(1, 0, 0), PROTON_OK);
	deliver();
	ck_assert_int_eq(rig_sum("gemm", METRIC_COUNT), 3);
}
END_TEST

/* A launch that has no record: it is not waited for by whoever has waited, or when nothing else is in flight. */
START_TEST(launches_without_a_record)
{
	struct activity_sink *sink = collect_sink(SOURCE_FAKE);

	rig_start();
	ck_assert_int_eq(collect_session_start("a", NULL), 0);
	launch();
	sink->ops->unlaunch(sink, 1); /* it failed */
	ck_assert_int_eq(collect_phase_advance(0), 1);
	ck_assert_int_eq(collect_phase_is_complete(0, 0), 1);
	finish(launch());
	launch();
	ck_assert_int_eq(collect_phase_advance(0), 2);
	ck_assert_int_eq(collect_phase_is_complete(0, 1), 0);
	sink->ops->unlaunch(sink,
			    1); /* said late, by this thread: all that was launched has ended */
	ck_assert_int_eq(collect_phase_is_complete(0, 1), 1);
}
END_TEST

START_TEST(too_many_phases)
{
	int phase = 0, r;

	rig_start();
	ck_assert_int_eq(collect_session_start("a", NULL), 0);
	while ((r = collect_phase_advance(0)) >= 0)
		phase = r;
	ck_assert_int_eq(r, PROTON_FULL);
	ck_assert_uint_ge((unsigned)phase, MAX_EPOCHS - 2);
	ck_assert_int_eq(collect_phase_advance(0), PROTON_FULL);
	/* It goes on in its phase, and on when some are cleared. */
	finish(launch());
	deliver();
	ck_assert_uint_eq(in_phase((uint32_t)phase, METRIC_COUNT), 1);
	ck_assert_int_eq(collect_phase_clear(0, 9, 1), PROTON_OK);
	deliver();
	ck_assert_int_eq(collect_phase_advance(0), phase + 1);
}
END_TEST

START_TEST(nobody_answers_data)
{
	char *data = NULL;
	size_t size = 0;

	rig_start();
	ck_assert_int_eq(collect_session_start("a", NULL), 0);
	atomic_store(&rig_dir->control->alive, 0);
	ck_assert_int_eq(collect_session_data(0, 0, NULL, &data, &size), PROTON_UNWRITTEN);
	ck_assert_str_eq(collect_session_error(), "proton did not answer");
	ck_assert_ptr_null(data);
	for (int i = 0; i < MAX_ASKS; i++)
		ck_assert_uint_eq(atomic_load(&collector->ask[i].state), 0);
	session_dir_remove(rig_dir->path);
	ck_assert_int_eq(collect_session_data(0, 0, NULL, &data, &size), PROTON_UNWRITTEN);
	ck_assert_ptr_null(data);
}
END_TEST

/* ---- threads ---- */

enum { THREADS = 8, LAUNCHES = 5000 };

static void *launch_on(void *arg)
{
	for (int i = 0; i < LAUNCHES; i++)
		finish(launch());
	atomic_fetch_sub((_Atomic int *)arg, 1);
	return NULL;
}

/* Nothing is counted twice, or not at all, and in the end nothing is in flight. */
START_TEST(threads_launch_while_phases_go_on)
{
	_Atomic int n = THREADS;
	pthread_t threads[THREADS];
	int phase = 0;

	rig_start();
	ck_assert_int_eq(collect_session_start("a", NULL), 0);
	for (int i = 0; i < THREADS; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, launch_on, &n), 0);
	while (atomic_load(&n)) {
		phase = collect_phase_advance(0);
		ck_assert_int_gt(phase, 0);
		if (phase > 3)
			ck_assert_int_eq(collect_phase_clear(0, phase - 3, 1), PROTON_OK);
		rig_pump();
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	phase = collect_phase_advance(0);
	for (int i = 0; i < phase; i++)
		ck_assert_int_eq(collect_phase_is_complete(0, i), 1);
	ck_assert_int_eq(collect_phase_clear(0, phase, 1), PROTON_OK);
	deliver();
	deliver();
	ck_assert_int_eq(rig_sum("gemm", METRIC_COUNT), THREADS * LAUNCHES);
	ck_assert_int_eq(rig_sum("gemm", METRIC_TIME), THREADS * LAUNCHES * 5);
	ck_assert_uint_eq(epochs_n_left(), 0);
	ck_assert_uint_eq(rig_session->losses[LOSS_WIRE_ERROR], 0);
}
END_TEST

/* A child's phases are its own, and the parent's go on. */
START_TEST(a_fork_child_begins_at_0)
{
	pid_t pid;
	int status;

	rig_start();
	ck_assert_int_eq(collect_session_start("a", NULL), 0);
	finish(launch());
	ck_assert_int_eq(collect_phase_advance(0), 1);
	finish(launch());
	deliver();
	pid = fork();
	if (pid == 0) {
		bool fine = collect_phase_advance(0) == PROTON_UNKNOWN &&
			    collect_session_start("a", NULL) == 1;

		finish(launch());
		fine = fine && collect_phase_advance(1) == 1 &&
		       collect_phase_is_complete(1, 0) == 1 && sender_deliver();
		_exit(!fine);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	rig_until_sum("gemm", METRIC_COUNT, 3);
	ck_assert_int_eq(collect_phase_advance(0), 2);
	ck_assert_int_eq(collect_phase_is_complete(0, 1), 1);
	deliver();
	ck_assert_uint_eq(in_phase(0, METRIC_COUNT), 1);
	ck_assert_uint_eq(in_phase(1, METRIC_COUNT), 1);
}
END_TEST

TCase *collect_phases_case(void)
{
	TCase *t = tcase_create("phases");

	tcase_set_timeout(t, 120);
	tcase_add_checked_fixture(t, NULL, rig_close);
	tcase_add_test(t, launches_are_of_their_phase);
	tcase_add_test(t, late_records_are_of_no_other_phase);
	tcase_add_test(t, late_ranges_are_of_no_other_phase);
	tcase_add_test(t, late_values_of_kernels_are_of_no_other_phase);
	tcase_add_test(t, an_epoch_is_not_given_back_while_a_value_is_told);
	tcase_add_test(t, values_that_move_lose_none_that_are_added);
	tcase_add_test(t, epochs_are_given_back);
	tcase_add_test(t, a_resync_counts_nothing_twice);
	tcase_add_test(t, clearing_is_of_one_session);
	tcase_add_test(t, launches_without_a_record);
	tcase_add_test(t, too_many_phases);
	tcase_add_test(t, nobody_answers_data);
	tcase_add_test(t, threads_launch_while_phases_go_on);
	if (WITH_FORK)
		tcase_add_test(t, a_fork_child_begins_at_0);
	return t;
}

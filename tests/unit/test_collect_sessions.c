/* SPDX-License-Identifier: MIT */
/* Sessions that the program starts: which launches are whose, and how one ends. */
#include "config.h" // IWYU pragma: keep
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/util.h"
#include "collect/epochs.h"
#include "collect/internal.h"
#include "collect/session_table.h"
#include "collect/sessions.h"
#include "test_collect.h"
#include "wire/decode.h"

static uint32_t launch(void)
{
	struct activity_sink *sink = collect_sink(SOURCE_FAKE);

	return sink->ops->launch(sink, NULL);
}

static void finish(uint32_t launched)
{
	struct activity_sink *sink = collect_sink(SOURCE_FAKE);
	const struct activity a = {.kind = ACTIVITY_KERNEL,
				   .name = "gemm",
				   .start_ns = 1,
				   .end_ns = 6,
				   .launch = launched};

	sink->ops->record(sink, &a);
}

/* Executions of a session, as the reader has them by now. */
static uint64_t executions(size_t i)
{
	_cleanup_(freep) uint8_t *rows = calloc(rig_session->n_rows + 1, 1);
	uint64_t n = 0;

	ck_assert_int_eq(wire_decoder_session_rows(rig_decoder(), i, rows), 0);
	for (size_t k = 0; k < rig_session->n_rows; k++)
		if (rows[k] && rig_session->rows[k].set == SET_KERNEL)
			n += rig_session->values[rig_session->rows[k].values + METRIC_COUNT].u64;
	return n;
}

static struct wire_session_state state_of(size_t i)
{
	struct wire_session_state state;

	ck_assert(wire_decoder_session(rig_decoder(), i, &state));
	return state;
}

/* All that is there by now has been read. */
static void deliver(void)
{
	ck_assert(sender_deliver());
	rig_pump();
}

START_TEST(launches_are_of_those_active)
{
	uint32_t before, in_a, in_both, in_b, after;
	int a, b;

	rig_start();
	before = launch();
	a = collect_session_start("a", NULL);
	ck_assert_int_eq(a, 0);
	in_a = launch();
	b = collect_session_start("b", NULL);
	ck_assert_int_eq(b, 1);
	in_both = launch();
	ck_assert_int_eq(collect_session_deactivate(a, false), PROTON_OK);
	in_b = launch();
	ck_assert_int_eq(collect_session_deactivate(PROTON_ALL_SESSIONS, false), PROTON_OK);
	after = launch();
	/* They all run now. */
	finish(before);
	for (int i = 0; i < 10; i++)
		finish(in_a);
	for (int i = 0; i < 100; i++)
		finish(in_both);
	for (int i = 0; i < 1000; i++)
		finish(in_b);
	finish(after);
	deliver();
	ck_assert_uint_eq(executions(0), 110);
	ck_assert_uint_eq(executions(1), 1100);
	ck_assert_int_eq(rig_sum("gemm", METRIC_COUNT), 1112);
	ck_assert_uint_eq(state_of(0).state, WIRE_SESSION_INACTIVE);
	/* The same set again is the same epoch, and the same launch context. */
	ck_assert_int_eq(collect_session_activate(b), PROTON_OK);
	ck_assert_uint_eq(launch(), in_b);
	deliver();
	ck_assert_uint_eq(state_of(1).state, WIRE_SESSION_ACTIVE);
}
END_TEST

/* Switching on and off for ever takes no more than two epochs. */
START_TEST(epochs_are_sets)
{
	uint32_t n;

	rig_start();
	ck_assert_int_eq(collect_session_start("a", NULL), 0);
	n = atomic_load(&collector->n_epochs);
	for (int i = 0; i < 10000; i++) {
		ck_assert_int_eq(collect_session_deactivate(0, false), PROTON_OK);
		ck_assert_int_eq(collect_session_activate(0), PROTON_OK);
	}
	ck_assert_uint_eq(atomic_load(&collector->n_epochs), n);
	/* A name that is there is that session. */
	ck_assert_int_eq(collect_session_deactivate(0, false), PROTON_OK);
	ck_assert_int_eq(collect_session_start("./a/../a", NULL), 1);
	ck_assert_int_eq(collect_session_start("a", NULL), 0);
	deliver();
	ck_assert_uint_eq(state_of(0).state, WIRE_SESSION_ACTIVE);
}
END_TEST

START_TEST(host_metrics_count_too)
{
	rig_start();
	ck_assert_int_eq(collect_session_start("a", NULL), 0);
	collect_push(FRAME_SCOPE, COLLECT_TAG_SCOPE, "s", 1);
	collect_metric_u64("tokens", 3, false);
	collect_session_deactivate(0, false);
	collect_metric_u64("tokens", 4, false);
	collect_pop(COLLECT_TAG_SCOPE);
	deliver();
	{
		_cleanup_(freep) uint8_t *rows = calloc(rig_session->n_rows + 1, 1);
		size_t n = 0;

		ck_assert_int_eq(wire_decoder_session_rows(rig_decoder(), 0, rows), 0);
		for (size_t k = 0; k < rig_session->n_rows; k++)
			n += rows[k] ? rig_session->values[rig_session->rows[k].values].u64 : 0;
		ck_assert_uint_eq(n, 3);
	}
	ck_assert_int_eq(rig_sum("s", METRIC_N_BUILTIN), 7);
}
END_TEST

START_TEST(what_is_wrong_is_said)
{
	const struct proton_session_options bad[] = {
		{.size = sizeof(bad[0]), .context = "shadows"},
		{.size = sizeof(bad[0]), .data = "traces"},
		{.size = sizeof(bad[0]), .backend = "vulkan"},
		{.size = sizeof(bad[0]), .mode = "pcsampling:often"},
		{.size = sizeof(bad[0]), .mode = "pcsampling:interval="},
		{.size = sizeof(bad[0]), .mode = "pcsampling:interval=often"},
		{.size = sizeof(bad[0]), .mode = "periodic_flushing:"},
		{.size = sizeof(bad[0]), .mode = "periodic_flushing:format=folded"},
		{.size = sizeof(bad[0]), .hook = "triton"},
		{.size = sizeof(bad[0]) + 8},
	};
	const struct proton_session_options good[] = {
		{.size = sizeof(good[0]),
		 .context = "Shadow",
		 .data = "TREE",
		 .backend = "CUPTI",
		 .mode = "PCSampling:interval=1000"},
		{.size = offsetof(struct proton_session_options, mode),
		 .mode = "of a newer header"},
		{.size = 0, .context = "of a newer header"},
	};
	static char long_name[1 << 20];

	rig_start();
	ck_assert_str_eq(collect_session_error(), "");
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		ck_assert_int_eq(collect_session_start("bad", &bad[i]), PROTON_INVALID);
		ck_assert_uint_gt(strlen(collect_session_error()), 20);
	}
	memset(long_name, 'x', sizeof(long_name) - 1);
	ck_assert_int_eq(collect_session_start(long_name, NULL), PROTON_INVALID);
	ck_assert_int_eq(collect_session_start("-", NULL), PROTON_INVALID);
	for (size_t i = 0; i < ARRAY_SIZE(good); i++)
		ck_assert_int_eq(collect_session_start(i ? i > 1 ? "" : "\xff\n" : NULL, &good[i]),
				 i == 1);
	ck_assert_int_eq(collect_session_activate(2), PROTON_UNKNOWN);
	ck_assert_int_eq(collect_session_activate(-2), PROTON_UNKNOWN);
	ck_assert_int_eq(collect_session_deactivate(INT_MAX, true), PROTON_UNKNOWN);
	ck_assert_int_eq(collect_session_finalize(INT_MIN, NULL), PROTON_UNKNOWN);
	ck_assert_str_eq(collect_session_error(), "there is no session -2147483648");
	ck_assert_int_eq(collect_session_finalize(0, "chrome_trace"), PROTON_INVALID);
	ck_assert_int_eq(collect_session_activate(0), PROTON_OK); /* it goes on */
}
END_TEST

START_TEST(too_many)
{
	char name[32];
	int i, r = 0;

	rig_start();
	for (i = 0; i < MAX_LIVE_SESSIONS; i++) {
		snprintf(name, sizeof(name), "s%d", i);
		ck_assert_int_eq(collect_session_start(name, NULL), i);
	}
	ck_assert_int_eq(collect_session_start("one more", NULL), PROTON_FULL);
	/* Sets of them: those that there is no epoch for are of none. */
	for (i = 0; i < MAX_EPOCHS && r == PROTON_OK; i++) {
		for (int bit = 0; bit < 13; bit++)
			if (i >> bit & 1)
				atomic_store(&collector->session[bit].state, WIRE_SESSION_INACTIVE);
			else
				atomic_store(&collector->session[bit].state, WIRE_SESSION_ACTIVE);
		r = collect_session_activate(MAX_LIVE_SESSIONS - 1);
	}
	ck_assert_int_eq(r, PROTON_FULL);
	ck_assert_uint_eq(atomic_load(&collector->epoch), 0);
	ck_assert_uint_eq(atomic_load(&collector->n_epochs), MAX_EPOCHS);
	ck_assert_int_eq(collect_session_deactivate(PROTON_ALL_SESSIONS, false), PROTON_OK);
}
END_TEST

/* ---- the end of one ---- */

/* Answer what asks for it; `executed` gets how often each had run by then. */
static void answer_all(int error, uint64_t *executed, uint32_t *n_executed)
{
	char name[WIRE_SESSION_FILE_MAX], path[PATH_MAX], asked[PATH_MAX];
	struct wire_session_state state;
	FILE *f;

	for (size_t i = 0; wire_decoder_session(rig_decoder(), i, &state); i++) {
		if (state.state != WIRE_SESSION_FINALIZED || state.taken)
			continue;
		wire_decoder_session_take(rig_decoder(), i);
		executed[(*n_executed)++] = executions(i);
		snprintf(name, sizeof(name), WIRE_SESSION_FILE, state.instance, state.id);
		snprintf(path, sizeof(path), "%s/%s", rig_dir->path, name);
		f = fopen(path, "re");
		ck_assert(f != NULL);
		ck_assert(fgets(asked, sizeof(asked), f) != NULL);
		ck_assert_str_eq(asked, state.name);
		f = freopen(path, "we", f);
		ck_assert(f != NULL);
		fprintf(f, "%d\n", error);
		fclose(f);
	}
}

struct ending {
	int session, result;
	_Atomic bool done;
	char error[160];
};

static void *end_one(void *arg)
{
	struct ending *e = arg;

	e->result = collect_session_finalize(e->session, NULL);
	snprintf(e->error, sizeof(e->error), "%s", collect_session_error());
	atomic_store(&e->done, true);
	return NULL;
}

struct answering {
	struct ending *endings;
	size_t n;
	int error;
	uint64_t executed[256]; /* in the order in which they were answered */
	uint32_t n_executed;
};

static bool all_done(void *arg)
{
	struct answering *a = arg;

	answer_all(a->error, a->executed, &a->n_executed);
	for (size_t i = 0; i < a->n; i++)
		if (!atomic_load(&a->endings[i].done))
			return false;
	return true;
}

static int finalize(int session, struct answering *a)
{
	struct ending e = {.session = session};
	pthread_t thread;

	a->endings = &e;
	a->n = 1;
	ck_assert_int_eq(pthread_create(&thread, NULL, end_one, &e), 0);
	rig_until(all_done, a, "finalize");
	pthread_join(thread, NULL);
	return e.result;
}

/* The end is told when all values are; what was launched is waited for. */
START_TEST(the_end_comes_last)
{
	struct answering a = {0};
	struct wire_session_state none;
	uint32_t l;

	rig_start();
	ck_assert_int_eq(collect_session_start("a", NULL), 0);
	for (int i = 0; i < 500; i++) {
		l = launch();
		if (i % 2)
			finish(l);
	}
	/* These come when somebody waits for them, or never: then it ends, too. */
	for (int i = 0; i < 250; i++)
		finish(l);
	ck_assert_int_eq(finalize(0, &a), PROTON_OK);
	ck_assert_uint_eq(a.executed[0], 500);
	ck_assert_int_eq(collect_session_activate(0), PROTON_UNKNOWN);
	ck_assert_int_eq(collect_session_finalize(0, NULL), PROTON_UNKNOWN);
	/* Its name is free. */
	ck_assert_int_eq(collect_session_start("a", NULL), 1);
	a.error = ENOSPC;
	ck_assert_int_eq(finalize(1, &a), PROTON_UNWRITTEN);
	/* A late reader is told nothing of them, and of no value less: what was theirs is the run's. */
	rig_forget();
	atomic_fetch_add(&rig_dir->control->resync, 1);
	rig_until_sum("gemm", METRIC_COUNT, 500);
	deliver();
	ck_assert(!wire_decoder_session(rig_decoder(), 0, &none));
	ck_assert_uint_eq(rig_session->losses[LOSS_WIRE_ERROR], 0);
}
END_TEST

/* What the sender just tells of a session is not another's meanwhile. */
START_TEST(a_place_that_is_held_is_nobodys)
{
	struct answering a = {0};

	rig_start();
	ck_assert_int_eq(collect_session_start("a", NULL), 0);
	ck_assert_int_eq(finalize(0, &a), PROTON_OK);
	collector->session[0].is_held = true;
	ck_assert_int_eq(collect_session_start("b", NULL), 1);
	ck_assert_int_eq(session_place(1), 1);
	collector->session[0].is_held = false;
	ck_assert_int_eq(collect_session_start("c", NULL), 2);
	ck_assert_int_eq(session_place(2), 0);
	deliver();
	ck_assert_uint_eq(state_of(0).state, WIRE_SESSION_ACTIVE);
	ck_assert_uint_eq(state_of(1).state, WIRE_SESSION_ACTIVE);
}
END_TEST

START_TEST(nobody_answers)
{
	struct ending e = {.session = 0};

	rig_start();
	ck_assert_int_eq(collect_session_start("a", NULL), 0);
	atomic_store(&rig_dir->control->alive, 0);
	end_one(&e);
	ck_assert_int_eq(e.result, PROTON_UNWRITTEN);
	ck_assert_str_eq(e.error, "proton did not answer: the file may be missing");
	ck_assert_int_eq(collect_session_start("b", NULL), 1);
	session_dir_remove(rig_dir->path);
	e.session = 1;
	end_one(&e);
	ck_assert_int_eq(e.result, PROTON_UNWRITTEN);
}
END_TEST

static bool is_in_an_epoch(uint32_t place)
{
	bool have;

	ck_assert(sessions_lock());
	have = epochs_have(place, 0);
	sessions_unlock();
	return have;
}

/* Launched and ended, and read. */
static void run_one(void)
{
	finish(launch());
	deliver();
}

/* Nobody will write it: its epochs are those of who was active with it, and its place is free. */
START_TEST(what_cannot_be_asked_for_leaves_its_epochs)
{
	struct ending e = {.session = 0};
	char away[PATH_MAX];

	rig_start();
	snprintf(away, sizeof(away), "%s.away", rig_dir->path);
	ck_assert_int_eq(collect_session_start("a", NULL), 0);
	ck_assert_int_eq(collect_session_start("b", NULL), 1);
	run_one();
	ck_assert_uint_eq(executions(0), 1);
	ck_assert_int_eq(rename(rig_dir->path, away), 0);
	end_one(&e);
	ck_assert_int_eq(rename(away, rig_dir->path), 0);
	ck_assert_int_eq(e.result, PROTON_UNWRITTEN);
	ck_assert(!is_in_an_epoch(0));
	ck_assert(is_in_an_epoch(1));
	ck_assert_int_eq(collect_session_start("c", NULL), 2);
	ck_assert_int_eq(session_place(2), 0);
	run_one();
	ck_assert_uint_eq(executions(0), 1);
	ck_assert_uint_eq(executions(1), 2);
	ck_assert_uint_eq(rig_session->losses[LOSS_WIRE_ERROR], 0);
}
END_TEST

/* The file in which it was to be answered is there and cannot be made anew, as where the program has given up its
 * rights: proton writes it at the end, with all that was in it. */
START_TEST(what_proton_may_write_stays_in_its_epochs)
{
	struct ending e = {.session = 0};
	char path[PATH_MAX];

	rig_start();
	ck_assert_int_eq(collect_session_start("a", NULL), 0);
	run_one();
	snprintf(path, sizeof(path), "%s/" WIRE_SESSION_FILE, rig_dir->path, collector->instance,
		 0u);
	ck_assert_int_eq(unlink(path), 0);
	ck_assert_int_eq(mkdir(path, 0700), 0);
	end_one(&e);
	ck_assert_int_eq(e.result, PROTON_UNWRITTEN);
	ck_assert(is_in_an_epoch(0));
	ck_assert_int_eq(collect_session_start("b", NULL), 1);
	ck_assert_int_eq(session_place(1), 1);
	run_one();
	ck_assert_int_eq(rmdir(path), 0);
	ck_assert_uint_eq(state_of(0).state, WIRE_SESSION_INACTIVE);
	ck_assert_uint_eq(executions(0), 1);
	ck_assert_uint_eq(executions(1), 1);
}
END_TEST

/* There is no room for another file to be answered in: that of its start is. */
START_TEST(without_room_that_of_its_start_is_answered_in)
{
	struct answering a = {.n_executed = 0};
	char path[PATH_MAX];

	rig_start();
	ck_assert_int_eq(collect_session_start("a", NULL), 0);
	run_one();
	snprintf(path, sizeof(path), "%s/" WIRE_SESSION_FILE ".%d", rig_dir->path,
		 collector->instance, 0u, (int)getpid());
	ck_assert_int_eq(mkdir(path, 0700), 0);
	ck_assert_int_eq(finalize(0, &a), PROTON_OK);
	ck_assert_int_eq(rmdir(path), 0);
	ck_assert_uint_eq(a.n_executed, 1);
	ck_assert_uint_eq(a.executed[0], 1);
}
END_TEST

static void *one_of_many(void *arg)
{
	struct ending *e = arg;
	char name[32];
	uint32_t l;

	snprintf(name, sizeof(name), "s%d", e->session);
	e->session = collect_session_start(name, NULL);
	for (int i = 0; i < 20; i++) {
		l = launch();
		finish(l);
		if (i % 5 == 4) {
			collect_session_deactivate(e->session, false);
			collect_session_activate(e->session);
		}
	}
	return end_one(arg);
}

START_TEST(threads_start_and_finalize)
{
	enum { N = 64 };
	static struct ending endings[N];
	struct answering a = {.endings = endings, .n = N};
	pthread_t threads[N];

	rig_start();
	for (int i = 0; i < N; i++) {
		endings[i].session = i;
		ck_assert_int_eq(pthread_create(&threads[i], NULL, one_of_many, &endings[i]), 0);
	}
	rig_until(all_done, &a, "all finalized");
	for (int i = 0; i < N; i++) {
		pthread_join(threads[i], NULL);
		ck_assert_int_eq(endings[i].result, PROTON_OK);
		ck_assert_uint_ge(a.executed[i], 20);
	}
	ck_assert_uint_eq(atomic_load(&collector->epoch), 0);
	deliver();
	ck_assert_int_eq(rig_sum("gemm", METRIC_COUNT), N * 20);
}
END_TEST

/* A child has none of its parent's, and its own are its own. */
START_TEST(a_fork_child_has_none)
{
	pid_t pid;
	int status;

	rig_start();
	ck_assert_int_eq(collect_session_start("a", NULL), 0);
	finish(launch());
	deliver();
	pid = fork();
	if (pid == 0) {
		bool fine = collect_session_activate(0) == PROTON_UNKNOWN &&
			    atomic_load(&collector->epoch) == 0 &&
			    collect_session_start("a", NULL) == 1;

		finish(launch());
		fine = fine && sender_deliver();
		_exit(!fine);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	rig_until_sum("gemm", METRIC_COUNT, 2);
	finish(launch());
	deliver();
	ck_assert_uint_eq(executions(0), 2);
	ck_assert_uint_eq(state_of(1).id, 0); /* in the child its place was nobody's */
	ck_assert_uint_eq(executions(1), 1);
	ck_assert_uint_eq(rig_session->losses[LOSS_WIRE_ERROR], 0);
}
END_TEST

TCase *collect_sessions_case(void)
{
	TCase *t = tcase_create("sessions");

	tcase_set_timeout(t, 120);
	tcase_add_checked_fixture(t, NULL, rig_close);
	tcase_add_test(t, launches_are_of_those_active);
	tcase_add_test(t, epochs_are_sets);
	tcase_add_test(t, host_metrics_count_too);
	tcase_add_test(t, what_is_wrong_is_said);
	tcase_add_test(t, too_many);
	tcase_add_test(t, the_end_comes_last);
	tcase_add_test(t, a_place_that_is_held_is_nobodys);
	tcase_add_test(t, nobody_answers);
	tcase_add_test(t, what_cannot_be_asked_for_leaves_its_epochs);
	tcase_add_test(t, what_proton_may_write_stays_in_its_epochs);
	tcase_add_test(t, without_room_that_of_its_start_is_answered_in);
	tcase_add_test(t, threads_start_and_finalize);
	if (WITH_FORK)
		tcase_add_test(t, a_fork_child_has_none);
	return t;
}

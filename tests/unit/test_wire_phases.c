/* SPDX-License-Identifier: MIT */
/* Phases of sessions in the stream: which rows are whose, what becomes of epochs that are used anew, and what a
 * program asks for. */
#include "config.h" // IWYU pragma: keep
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include "base/buf.h"
#include "base/util.h"
#include "check_main.h"
#include "core/session.h"
#include "wire/decode.h"
#include "wire/encode.h"

/* A sender and a reader. */
static struct wire_encoder encoder;
static struct buf stream;
static struct session *session;
static struct wire_decoder *decoder;

static int to_buf(void *arg, const void *frame, size_t n)
{
	buf_put(arg, frame, n);
	return ((struct buf *)arg)->error;
}

static void setup(void)
{
	wire_encoder_init(&encoder, 77, to_buf, &stream);
	session = session_new();
	decoder = wire_decoder_new(session);
	ck_assert_ptr_nonnull(decoder);
}

static void teardown(void)
{
	wire_decoder_free(decoder);
	session_free(session);
	buf_done(&stream);
}

static void deliver(void)
{
	ck_assert_int_eq(wire_encoder_flush(&encoder), 0);
	ck_assert_int_eq(wire_decoder_feed(decoder, stream.data, stream.len), 0);
	buf_clear(&stream);
}

#define PUT(kind, ...)                                                                             \
	ck_assert_int_eq(wire_put(&encoder, WIRE_##kind, &(__VA_ARGS__), sizeof(__VA_ARGS__)), 0)

enum { N_SLOTS = 6 };

/* Node 1; slots 0 to 2 of it in epochs 0 to 2, of kernels; slots 3 to 5 of a metric that adds up, one that is the
 * highest, and a text. */
static void define(void)
{
	static const struct {
		const char *name;
		uint8_t type, add;
	} metrics[] = {{"sum", METRIC_F64, METRIC_SUM},
		       {"highest", METRIC_U64, METRIC_MAX},
		       {"last", METRIC_TEXT, METRIC_LAST}};
	struct {
		struct wire_set_def def;
		uint32_t metric[3];
	} set = {{3, 3}, {20, 21, 22}};

	PUT(HELLO, (struct wire_hello){.version = WIRE_VERSION, .pid = 9, .rank = -1});
	ck_assert_int_eq(wire_encode_text(&encoder, 1, "gemm", 4), 0);
	ck_assert_int_eq(wire_encode_text(&encoder, 2, "/tmp/a", 6), 0);
	ck_assert_int_eq(wire_encode_text(&encoder, 3, "hatchet", 7), 0);
	PUT(FRAMES, (struct wire_frame_def){
			    .id = 1, .kind = FRAME_KERNEL, .string = 1, .module = WIRE_NONE});
	PUT(NODES, (struct wire_node_def){1, 0, 1});
	for (uint32_t i = 0; i < ARRAY_SIZE(metrics); i++) {
		ck_assert_int_eq(wire_encode_text(&encoder, 10 + i, metrics[i].name,
						  (uint32_t)strlen(metrics[i].name)),
				 0);
		PUT(METRICS, (struct wire_metric_def){.id = 20 + i,
						      .name = 10 + i,
						      .type = metrics[i].type,
						      .scope = METRIC_EXCLUSIVE,
						      .add = metrics[i].add,
						      .weight = WIRE_NONE});
	}
	PUT(SET, set);
	PUT(SESSIONS, (struct wire_session){.id = 0, .state = WIRE_SESSION_ACTIVE, .name = 2});
	PUT(SESSIONS, (struct wire_session){.id = 1, .state = WIRE_SESSION_INACTIVE, .name = 2});
	for (uint32_t i = 1; i < 3; i++)
		PUT(EPOCHS, (struct wire_epoch_def){.id = i, .index = i});
	for (uint32_t i = 0; i < N_SLOTS; i++)
		PUT(SLOTS, (struct wire_slot_def){i, 1, 0, i % 3, i < 3 ? 0 : 3});
}

static void member(uint32_t epoch, uint32_t its, uint32_t phase)
{
	PUT(PHASES, (struct wire_phase){epoch, its, phase, 0});
}

static void kernel(uint32_t slot, uint64_t n, uint64_t min, uint64_t max)
{
	PUT(KERNELS, (struct wire_kernel_values){slot, 0, 10 * n, n, min, max});
}

static void values(uint32_t slot, double sum, uint64_t highest, uint64_t text)
{
	struct {
		struct wire_values head;
		double sum;
		uint64_t highest, text;
	} w = {{slot, 3, 7}, sum, highest, text};

	PUT(VALUES, w);
}

static void merge(uint32_t from, uint32_t into)
{
	PUT(MERGE, (struct wire_merge){from, into});
}

/* Executions in a phase of a session, or in all. */
static uint64_t executions(uint32_t its, uint32_t phase)
{
	_cleanup_(freep) uint8_t *rows = calloc(session->n_rows + 1, 1);
	uint64_t n = 0;

	ck_assert_ptr_nonnull(rows);
	if (phase == WIRE_NONE)
		ck_assert_int_eq(wire_decoder_session_rows(decoder, its, rows), 0);
	else
		ck_assert_int_eq(wire_decoder_phase_rows(decoder, 77, its, phase, rows), 0);
	for (size_t i = 0; i < session->n_rows; i++)
		if (rows[i] && session->rows[i].set == SET_KERNEL)
			n += session->values[session->rows[i].values + METRIC_COUNT].u64;
	return n;
}

static uint64_t whole(uint32_t metric)
{
	union metric_value v = {.u64 = 0};

	ck_assert(session_value(session, 1, metric, &v));
	return v.u64;
}

static uint32_t metric_named(const char *name)
{
	return metric_table_find(session->metrics, name);
}

START_TEST(rows_are_of_phases)
{
	define();
	member(1, 0, 0);
	member(1, 1, 5);
	member(2, 0, 1);
	member(2, 0, 1); /* told twice */
	kernel(0, 1, 4, 9);
	kernel(1, 10, 3, 8);
	kernel(2, 100, 5, 20);
	deliver();
	ck_assert_uint_eq(executions(0, 0), 10);
	ck_assert_uint_eq(executions(0, 1), 100);
	ck_assert_uint_eq(executions(0, 2), 0);
	ck_assert_uint_eq(executions(0, WIRE_NONE), 110);
	ck_assert_uint_eq(executions(1, 5), 10);
	ck_assert_uint_eq(executions(1, WIRE_NONE), 10);
	ck_assert_uint_eq(wire_decoder_session_phase(decoder, 0, 0), 0);
	ck_assert_uint_eq(wire_decoder_session_phase(decoder, 0, 1), 1);
	ck_assert_uint_eq(wire_decoder_session_phase(decoder, 0, 2), WIRE_NONE);
	ck_assert_uint_eq(wire_decoder_session_phase(decoder, 1, 0), 5);
	/* Of an older collector: phase 0. */
	PUT(EPOCHS, (struct wire_epoch_def){.id = 2, .index = 2});
	PUT(MEMBERS, (struct wire_member){2, 1});
	deliver();
	ck_assert_uint_eq(executions(0, WIRE_NONE), 10);
	ck_assert_uint_eq(executions(1, 0), 100);
	ck_assert_uint_eq(session->losses[LOSS_WIRE_ERROR], 0);
}
END_TEST

/* Its values are the run's, the phase is another one, and the sum is right all the time. */
START_TEST(an_epoch_is_used_anew)
{
	size_t n_rows;

	define();
	member(1, 0, 0);
	kernel(0, 1, 4, 9);
	kernel(1, 10, 3, 80);
	values(3, 0.5, 7, 2);
	values(4, 2.0, 9, 3);
	deliver();
	n_rows = session->n_rows;
	for (uint32_t phase = 0; phase < 100; phase++) {
		ck_assert_uint_eq(executions(0, phase), 10);
		merge(1, 0);
		merge(4, 3);
		deliver();
		ck_assert_uint_eq(executions(0, phase), 0);
		ck_assert_uint_eq(whole(METRIC_COUNT), 11 + 10 * phase);
		ck_assert_uint_eq(whole(METRIC_TIME_MIN), 3);
		ck_assert_uint_eq(whole(METRIC_TIME_MAX), 80);
		ck_assert_uint_eq(whole(metric_named("highest")), 9);
		ck_assert_str_eq(
			strtab_str(session->strings, (uint32_t)whole(metric_named("last"))),
			"hatchet");
		PUT(EPOCHS, (struct wire_epoch_def){.id = 1, .index = 1});
		member(1, 0, phase + 1);
		kernel(0, 11 + 10 * phase, 3, 80); /* as the collector has it by then */
		kernel(1, 10, 5, 6);
		values(4, 2.0, 9, 3);
		deliver();
	}
	ck_assert_uint_eq(whole(METRIC_COUNT), 1011);
	ck_assert_uint_eq(executions(0, WIRE_NONE), 10);
	ck_assert_uint_eq(session->n_rows, n_rows);
	ck_assert_uint_eq(session->losses[LOSS_WIRE_ERROR], 0);
}
END_TEST

START_TEST(there_is_no_room)
{
	define();
	member(1, 0, 0);
	kernel(0, 1, 4, 9);
	kernel(1, 10, 3, 80);
	merge(1, WIRE_NONE);
	deliver();
	ck_assert_uint_eq(whole(METRIC_COUNT), 1);
	ck_assert_uint_eq(executions(0, 0), 0);
	ck_assert_uint_eq(session->losses[LOSS_WIRE_ERROR], 0);
}
END_TEST

/* Two addresses of one function: slots that share a row, on either side. */
START_TEST(shared_rows_are_merged)
{
	define();
	member(1, 0, 0);
	PUT(NODES, (struct wire_node_def){2, 0, 1}); /* the same node of the session */
	PUT(SLOTS, (struct wire_slot_def){10, 2, 0, 0, 0});
	PUT(SLOTS, (struct wire_slot_def){11, 2, 0, 1, 0});
	kernel(0, 1, 4, 9);
	kernel(10, 2, 4, 9);
	kernel(1, 10, 3, 80);
	kernel(11, 20, 2, 8);
	deliver();
	ck_assert_uint_eq(whole(METRIC_COUNT), 33);
	ck_assert_uint_eq(executions(0, 0), 30);
	merge(1, 0);
	deliver();
	ck_assert_uint_eq(whole(METRIC_COUNT), 33);
	ck_assert_uint_eq(executions(0, 0), 20);
	merge(11, 10);
	kernel(0, 11, 3, 80);
	kernel(10, 22, 2, 9);
	kernel(11, 1, 7, 7);
	deliver();
	ck_assert_uint_eq(whole(METRIC_COUNT), 34);
	ck_assert_uint_eq(whole(METRIC_TIME), 340);
	ck_assert_uint_eq(executions(0, 0), 1);
}
END_TEST

/* A stream says anything. */
START_TEST(nonsense_is_counted)
{
	define();
	deliver();
	member(0, 0, 0); /* the whole run is nobody's */
	deliver();
	member(9, 0, 0); /* no such epoch */
	deliver();
	for (uint32_t i = 0; i < 200; i++)
		member(1, i, i);
	deliver();
	ck_assert_uint_eq(session->losses[LOSS_WIRE_ERROR], 3);
	merge(1, 1);
	deliver();
	merge(1, 3); /* another set */
	deliver();
	merge(99, 0);
	deliver();
	merge(0, 99);
	deliver();
	ck_assert_uint_eq(session->losses[LOSS_WIRE_ERROR], 7);
	PUT(ASK, (struct wire_ask){.id = 1, .session = 2, .format = 3});
	deliver();
	PUT(ASK, (struct wire_ask){.id = 1, .session = 0, .format = 99});
	deliver();
	ck_assert_uint_eq(session->losses[LOSS_WIRE_ERROR], 9);
}
END_TEST

START_TEST(what_is_asked_for)
{
	struct wire_ask_state ask;
	uint32_t n = 0;

	define();
	ck_assert(!wire_decoder_ask(decoder, &ask));
	PUT(ASK, (struct wire_ask){.id = 7, .session = 0, .phase = 3, .format = 3});
	PUT(ASK, (struct wire_ask){
			 .id = 8, .what = WIRE_ASK_FILE, .session = 1, .phase = 4, .format = 3});
	deliver();
	ck_assert(wire_decoder_ask(decoder, &ask));
	ck_assert_uint_eq(ask.id, 7);
	ck_assert_uint_eq(ask.what, WIRE_ASK_DATA);
	ck_assert_uint_eq(ask.phase, 3);
	ck_assert_uint_eq(ask.session.instance, 77);
	ck_assert_uint_eq(ask.session.id, 0);
	ck_assert_str_eq(ask.session.name, "/tmp/a");
	ck_assert_str_eq(ask.format, "hatchet");
	ck_assert(wire_decoder_ask(decoder, &ask));
	ck_assert_uint_eq(ask.id, 8);
	ck_assert_uint_eq(ask.what, WIRE_ASK_FILE);
	ck_assert(!wire_decoder_ask(decoder, &ask));
	/* What nobody takes does not become more and more. */
	for (uint32_t i = 0; i < 100000; i++)
		PUT(ASK, (struct wire_ask){.id = i, .session = 0, .format = 3});
	deliver();
	while (wire_decoder_ask(decoder, &ask))
		n++;
	ck_assert_uint_eq(n, 1024);
	ck_assert_uint_eq(session->losses[LOSS_WIRE_ERROR], 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("wire_phases");
	TCase *tc = tcase_create("wire_phases");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, rows_are_of_phases);
	tcase_add_test(tc, an_epoch_is_used_anew);
	tcase_add_test(tc, there_is_no_room);
	tcase_add_test(tc, shared_rows_are_merged);
	tcase_add_test(tc, nonsense_is_counted);
	tcase_add_test(tc, what_is_asked_for);
	suite_add_tcase(s, tc);
	return check_run(s);
}

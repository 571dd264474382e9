/* SPDX-License-Identifier: MIT */
/* The carry test: one of everything that the wire can say, in two instances, the second (rank 3)
 * over a socket, survives wire, tape, Hatchet file and JSON unchanged. */
#include "config.h" // IWYU pragma: keep
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "base/buf.h"
#include "base/clock.h"
#include "base/util.h"
#include "check_main.h"
#include "core/activity.h"
#include "core/session.h"
#include "format/format.h"
#include "format/hatchet.h"
#include "wire/decode.h"
#include "wire/encode.h"

static int to_buf(void *arg, const void *frame, size_t n)
{
	buf_put(arg, frame, n);
	return ((struct buf *)arg)->error;
}

static int to_socket(void *arg, const void *frame, size_t n)
{
	return write(*(int *)arg, frame, n) == (ssize_t)n ? 0 : -1;
}

/* ---- the script ---- */

static uint32_t next_string;

static uint32_t text(struct wire_encoder *e, const char *s)
{
	ck_assert_int_eq(wire_encode_text(e, ++next_string, s, (uint32_t)strlen(s)), 0);
	return next_string;
}

static void frame(struct wire_encoder *e, uint32_t id, enum frame_kind kind, uint32_t string)
{
	struct wire_frame_def *f = wire_encode(e, WIRE_FRAMES, sizeof(*f));

	*f = (struct wire_frame_def){
		.id = id, .kind = (uint8_t)kind, .string = string, .module = WIRE_NONE};
}

static void node(struct wire_encoder *e, uint32_t id, uint32_t parent, uint32_t f)
{
	struct wire_node_def *n = wire_encode(e, WIRE_NODES, sizeof(*n));

	*n = (struct wire_node_def){id, parent, f};
}

static void lane(struct wire_encoder *e, uint32_t id, uint32_t device, uint32_t stream,
		 uint64_t thread)
{
	struct wire_lane_def *l = wire_encode(e, WIRE_LANES, sizeof(*l));

	*l = (struct wire_lane_def){id, device, 1, stream, thread};
}

static void metric(struct wire_encoder *e, uint32_t id, const char *name, const char *unit,
		   uint8_t type, uint8_t scope, uint8_t add, uint32_t weight)
{
	uint32_t n = text(e, name), u = *unit ? text(e, unit) : 0;
	struct wire_metric_def *m = wire_encode(e, WIRE_METRICS, sizeof(*m));

	*m = (struct wire_metric_def){id,  n,     u, type, scope, (uint8_t)metric_add_plain(add),
				      add, weight};
}

static void set(struct wire_encoder *e, uint32_t id, uint32_t first_metric, uint32_t n)
{
	struct wire_set_def *s = wire_encode(e, WIRE_SET, sizeof(*s) + n * 4);
	uint32_t *m = (uint32_t *)(s + 1), i;

	*s = (struct wire_set_def){id, n};
	for (i = 0; i < n; i++)
		m[i] = first_metric + i;
	wire_encoder_flush(e);
}

static void slot(struct wire_encoder *e, uint32_t id, uint32_t n, uint32_t l, uint32_t epoch,
		 uint32_t s)
{
	struct wire_slot_def *w = wire_encode(e, WIRE_SLOTS, sizeof(*w));

	*w = (struct wire_slot_def){id, n, l, epoch, s};
}

static void kernel(struct wire_encoder *e, uint32_t id, uint64_t time, uint64_t count)
{
	struct wire_kernel_values *k = wire_encode(e, WIRE_KERNELS, sizeof(*k));

	*k = (struct wire_kernel_values){id, 0, time, count, time / count - 1, time / count + 1};
}

static void values(struct wire_encoder *e, uint32_t id, const uint64_t *v, uint32_t n,
		   uint64_t present)
{
	struct wire_values *w = wire_encode(e, WIRE_VALUES, sizeof(*w) + n * 8);

	*w = (struct wire_values){id, n, present};
	memcpy(w + 1, v, n * 8);
}

static void hello(struct wire_encoder *e, uint32_t pid, int32_t rank)
{
	uint32_t exe = text(e, "train"), cmdline = text(e, "train --x"), host = text(e, "node7");
	struct wire_hello *h = wire_encode(e, WIRE_HELLO, sizeof(*h));

	*h = (struct wire_hello){WIRE_VERSION, pid, 1,
				 rank,         exe, cmdline,
				 host,         0,   UINT64_C(1700000000000000000) + pid};
}

static void device(struct wire_encoder *e, uint32_t id, int32_t index)
{
	uint32_t type = text(e, "CUDA"), name = text(e, "NVIDIA H200"), arch = text(e, "90");
	uint32_t uuid = text(e, index ? "GPU-b" : "GPU-a"), driver = text(e, "580.1");
	struct wire_device *d = wire_encode(e, WIRE_DEVICE, sizeof(*d));

	*d = (struct wire_device){id,
				  type,
				  name,
				  arch,
				  uuid,
				  driver,
				  index,
				  132,
				  1980000,
				  3201000,
				  6016,
				  0,
				  UINT64_C(150754820096)};
}

enum { SET_STALLS = 1, SET_RANGE = 2, SET_MEMORY = 3, SET_CYCLES = 4, SET_TRANSFER = 5 };
enum { M_STALL = 100, M_RANGE = 200, M_LIVE = 300, M_CYCLES = 400 };

static void metrics_and_sets(struct wire_encoder *e)
{
	char name[64];
	uint32_t i;

	for (i = 0; i < 20; i++) {
		snprintf(name, sizeof(name), i ? "stalled_%u" : "num_samples", i);
		metric(e, M_STALL + i, name, "", METRIC_U64, METRIC_INCLUSIVE, METRIC_SUM,
		       WIRE_NONE);
	}
	for (i = 0; i < 30; i++) {
		snprintf(name, sizeof(name), i ? "sm__metric_%u.avg" : "sm__weight", i);
		metric(e, M_RANGE + i, name, "%", METRIC_F64, METRIC_INCLUSIVE,
		       i ? METRIC_WMEAN : METRIC_SUM, i ? M_RANGE : WIRE_NONE);
	}
	metric(e, M_LIVE, "live", "B", METRIC_U64, METRIC_INCLUSIVE, METRIC_GAUGE, WIRE_NONE);
	metric(e, M_LIVE + 1, "peak", "B", METRIC_U64, METRIC_INCLUSIVE, METRIC_PEAK, WIRE_NONE);
	metric(e, M_CYCLES, "cycles", "", METRIC_U64, METRIC_INCLUSIVE, METRIC_SUM, WIRE_NONE);
	metric(e, M_CYCLES + 1, "normalized_cycles", "", METRIC_F64, METRIC_INCLUSIVE, METRIC_SUM,
	       WIRE_NONE);
	metric(e, M_CYCLES + 2, "grid", "", METRIC_TEXT, METRIC_PROPERTY, METRIC_LAST, WIRE_NONE);
	set(e, SET_STALLS, M_STALL, 20);
	set(e, SET_RANGE, M_RANGE, 30);
	set(e, SET_MEMORY, M_LIVE, 2);
	set(e, SET_CYCLES, M_CYCLES, 3);
}

/* Ids are given in preorder, as a file's reader will give them. */
static void tree(struct wire_encoder *e)
{
	uint32_t module = text(e, "deadbeef"), path = text(e, "/usr/lib/libmodel.so");
	struct wire_module_def *m = wire_encode(e, WIRE_MODULES, sizeof(*m));
	struct wire_frame_def *f;

	*m = (struct wire_module_def){1, module, path, 0, 0x400000, 0x1000};
	frame(e, 1, FRAME_SCOPE, text(e, "forward"));
	f = wire_encode(e, WIRE_FRAMES, sizeof(*f));
	*f = (struct wire_frame_def){.id = 2, .kind = FRAME_NATIVE, .module = 1, .offset = 0x1f0};
	frame(e, 3, FRAME_KERNEL, text(e, "_Z4gemmPf"));
	frame(e, 4, FRAME_LINE, text(e, "model/attn.py:42@attend"));
	frame(e, 5, FRAME_INSTRUMENT, text(e, "softmax"));
	frame(e, 6, FRAME_GRAPH, text(e, "<captured_at>"));
	frame(e, 7, FRAME_PYTHON, text(e, "train.py:7@capture"));
	frame(e, 8, FRAME_ALLOC, text(e, "cudaMalloc"));
	node(e, 1, 0, 1); /* forward */
	node(e, 2, 1, 2); /*   libmodel.so+0x1f0, named later */
	node(e, 3, 2, 3); /*     gemm */
	node(e, 4, 3, 4); /*       a source line with stall reasons */
	node(e, 5, 3, 5); /*       a scope inside the kernel */
	node(e, 6, 1, 6); /*   <captured_at> */
	node(e, 7, 6, 7); /*     train.py:7@capture */
	node(e, 8, 7, 3); /*       gemm, replayed by a graph */
	node(e, 9, 0, 8); /* cudaMalloc */
}

static void numbers(struct wire_encoder *e, uint32_t grid)
{
	uint64_t v[30], i;
	double d;

	slot(e, 0, 3, 1, 0, 0);
	slot(e, 1, 3, 2, 1, 0); /* same kernel, other stream, first session */
	slot(e, 2, 8, 1, 2, 0); /* phase 1 of the second session */
	slot(e, 3, 4, 1, 0, SET_STALLS);
	slot(e, 4, 3, 1, 0, SET_RANGE);
	slot(e, 5, 9, 3, 0, SET_MEMORY);
	slot(e, 6, 5, 1, 0, SET_CYCLES);
	kernel(e, 0, 614400, 3);
	kernel(e, 1, 20480, 10);
	kernel(e, 2, UINT64_C(9007199254740993), 1); /* 2^53 + 1: no double in between */
	for (i = 0; i < 20; i++)
		v[i] = i * i;
	values(e, 3, v, 20, (1u << 20) - 1);
	for (i = 0; i < 30; i++) {
		d = 0.1 * (double)(i + 1);
		memcpy(&v[i], &d, 8);
	}
	values(e, 4, v, 30, (1u << 30) - 1 - (1u << 7)); /* number 7 is absent, not zero */
	v[0] = 4096;
	v[1] = 1u << 30;
	values(e, 5, v, 2, 3);
	v[0] = 123456;
	d = 17.25;
	memcpy(&v[1], &d, 8);
	v[2] = grid;
	values(e, 6, v, 3, 7);
}

/* A bulk file of two executions, in the pieces in which a reader passes it on. */
static void segment(struct wire_encoder *e, uint32_t clock)
{
	uint32_t path = text(e, "1.segment");
	struct wire_segment *w = wire_encode(e, WIRE_SEGMENT, sizeof(*w));
	struct wire_interval *v;
	struct wire_bulk *b;
	static const uint64_t used[USE_N] = {[USE_busy_ns] = 4242,
					     [USE_copies_ns] = 1242,
					     [USE_hidden_ns] = 1000,
					     [USE_first_ns] = UINT64_C(1700000000000000101),
					     [USE_last_ns] = UINT64_C(1700000000000004343)};
	static const uint64_t copied[COPY_LANE_N] = {3, 1242, 1000, 7};
	static const struct wire_config config = {.node = 3,
						  .device = 1,
						  .grid = {1, 2, 3},
						  .block = {4, 5, 6},
						  .cluster = {7, 8, 9},
						  .registers = 10,
						  .static_shared = 11,
						  .dynamic_shared = 12,
						  .local = 13,
						  .count = 14,
						  .time_ns = 15};
	struct wire_copy_lane lane = {.device = 1,
				      .n = COPY_LANE_N,
				      .context = 1,
				      .stream = 7,
				      .channel = 12,
				      .direction = COPY_PEER_TO_PEER,
				      .channel_kind = CHANNEL_COPY};
	unsigned i;

	*w = (struct wire_segment){1, WIRE_SEGMENT_INTERVALS, path, clock, 2 * sizeof(*v)};
	for (i = 0; i < 3; i++) { /* the last was there before */
		b = wire_encode(e, WIRE_BULK, sizeof(*b) + sizeof(*v));
		*b = (struct wire_bulk){1, sizeof(*v), i % 2 * sizeof(*v)};
		v = (struct wire_interval *)(b + 1);
		*v = (struct wire_interval){UINT64_C(1700000000000000101) + i % 2,
					    UINT64_C(1700000000000000201), 3, 1};
		wire_encoder_flush(e);
	}
	wire_put(e, WIRE_CONFIGS, &config, sizeof(config));
	wire_put_numbers(e, WIRE_USAGE, &(struct wire_usage){1, USE_N}, sizeof(struct wire_usage),
			 used, USE_N);
	wire_put_numbers(e, WIRE_COPY_LANES, &lane, sizeof(lane), copied, COPY_LANE_N);
	lane.context = lane.stream = WIRE_NONE;
	lane.direction = COPY_UNKNOWN;
	lane.channel_kind = CHANNEL_UNKNOWN;
	wire_put_numbers(e, WIRE_COPY_LANES, &lane, sizeof(lane), copied, COPY_LANE_N);
}

/* One goes on as it is told first; of another nobody here knows why. */
static void unrecorded(struct wire_encoder *e)
{
	static const struct wire_unrecorded spans[] = {
		{0, 5000, 0, UNRECORDED_PAUSED},
		{7000, 0, 1, UNRECORDED_ASIDE},
		{7000, 9000, 1, UNRECORDED_ASIDE},
		{20000, 0, 2, 4711},
	};

	for (unsigned i = 0; i < ARRAY_SIZE(spans); i++)
		wire_put(e, WIRE_UNRECORDED, &spans[i], sizeof(spans[i]));
}

static void extras(struct wire_encoder *e)
{
	uint32_t name = text(e, "gemm(float*)"), file = text(e, "gemm.cu"),
		 note = text(e, "a note");
	uint32_t clock = text(e, "realtime"), unit = text(e, "power");
	struct wire_symbol *y = wire_encode(e, WIRE_SYMBOLS, sizeof(*y));
	struct wire_sample *m;
	struct wire_interval *v;
	struct wire_clock *c;
	struct wire_note *n;
	struct wire_hist *h;
	struct wire_bucket *b;
	struct wire_octave *o;
	struct wire_tick *t;
	uint64_t *losses;
	unsigned i;

	(void)unit;
	*y = (struct wire_symbol){2, name, file, 12};
	for (i = 0; i < 3; i++) {
		m = wire_encode(e, WIRE_SAMPLES, sizeof(*m));
		*m = (struct wire_sample){1700000000 + i, 1, M_RANGE, 0.5 * i};
		v = wire_encode(e, WIRE_INTERVALS, sizeof(*v));
		*v = (struct wire_interval){1000 * i, 1000 * i + 500, 3, 1};
	}
	c = wire_encode(e, WIRE_CLOCK, sizeof(*c));
	*c = (struct wire_clock){clock, 0, 1234567, UINT64_C(1700000000000000001)};
	segment(e, clock);
	unrecorded(e);
	n = wire_encode(e, WIRE_NOTE, sizeof(*n));
	*n = (struct wire_note){note, NOTE_WARNING};
	h = wire_encode(e, WIRE_HISTS, sizeof(*h) + 2 * sizeof(*b));
	*h = (struct wire_hist){3, 1, 2, 0};
	b = (struct wire_bucket *)(h + 1);
	b[0] = (struct wire_bucket){40, 2};
	b[1] = (struct wire_bucket){63, 11};
	for (i = 0; i < 2; i++) {
		o = wire_encode(e, WIRE_OCTAVES, sizeof(*o) + 3 * sizeof(uint32_t));
		*o = (struct wire_octave){.node = 2, .device = 1, .octave = 6, .first = 29, .n = 3};
		((uint32_t *)(o + 1))[i] = 5; /* the second takes the place of the first */
	}
	t = wire_encode(e, WIRE_TICK, sizeof(*t) + LOSS_N * 8);
	*t = (struct wire_tick){14, 14, 0, 5000, 60000, 70000, WIRE_TICK_COUNTED, LOSS_N};
	losses = (uint64_t *)(t + 1);
	losses[LOSS_UNMATCHED] = 2;
	wire_encoder_flush(e);
}

static void epochs(struct wire_encoder *e)
{
	uint32_t a = text(e, "warmup"), b = text(e, "bench");
	struct wire_epoch_def *w = wire_encode(e, WIRE_EPOCHS, sizeof(*w));

	*w = (struct wire_epoch_def){1, a, 0, 0};
	w = wire_encode(e, WIRE_EPOCHS, sizeof(*w));
	*w = (struct wire_epoch_def){2, b, 1, 1};
}

static void perform(struct wire_encoder *e, uint32_t pid, int32_t rank)
{
	struct wire_bye *bye;

	next_string = 0;
	hello(e, pid, rank);
	epochs(e);
	device(e, 1, rank > 0);
	tree(e);
	lane(e, 1, 1, 7, 4711);
	lane(e, 2, 1, 13, 4711);
	lane(e, 3, WIRE_NONE, 0, 4711);
	metrics_and_sets(e);
	numbers(e, text(e, "264x1x1"));
	extras(e);
	/* A kind from the future is skipped, and one of the past that says nothing. */
	memset(wire_encode(e, (enum wire_kind)900, 64), 7, 64);
	memset(wire_encode(e, (enum wire_kind)23, 24), 7, 24);
	bye = wire_encode(e, WIRE_BYE, sizeof(*bye));
	bye->reason = WIRE_BYE_EXIT;
	ck_assert_int_eq(wire_encoder_flush(e), 0);
}

/* ---- the ways ---- */

static void json_of(const struct session *s, struct buf *ret)
{
	struct out *o = malloc(sizeof(*o));

	buf_init(ret, 0);
	out_to_buf(o, ret);
	ck_assert_int_eq(format_json.write(s, &(struct write_options){0}, o), 0);
	ck_assert_int_eq(out_flush(o), 0);
	free(o);
}

static void feed_socket(struct wire_decoder *d, int fd)
{
	unsigned char piece[61]; /* frames arrive torn */
	ssize_t n;

	while ((n = recv(fd, piece, sizeof(piece), MSG_DONTWAIT)) > 0)
		ck_assert_int_eq(wire_decoder_feed(d, piece, (size_t)n), 0);
}

/* Live: instance 1 from memory, instance 2 (rank 3) over a socket. *tape gets the same bytes. */
static struct session *live(struct buf *tape)
{
	struct wire_tape_header head = {.version = WIRE_VERSION,
					.header_size = sizeof(head),
					.start_ns = UINT64_C(1690000000000000000)};
	struct wire_encoder *e = malloc(sizeof(*e));
	struct session *s = session_new();
	struct wire_decoder *d = wire_decoder_new(s);
	size_t from = sizeof(head);
	int fds[2];

	memcpy(head.magic, WIRE_TAPE_MAGIC, 8);
	buf_init(tape, 0);
	buf_put(tape, &head, sizeof(head));
	s->start_ns = head.start_ns;
	wire_encoder_init(e, 0x1111, to_buf, tape);
	perform(e, 100, -1);
	ck_assert_int_eq(wire_decoder_feed(d, tape->data + from, tape->len - from), 0);
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	wire_encoder_init(e, 0x2222, to_socket, &fds[0]);
	perform(e, 200, 3);
	feed_socket(d, fds[1]);
	wire_encoder_init(e, 0x2222, to_buf, tape);
	perform(e, 200, 3);
	ck_assert_uint_eq(wire_decoder_pending(d), 0);
	wire_decoder_free(d);
	close(fds[0]);
	close(fds[1]);
	free(e);
	s->ended = true;
	return s;
}

static ssize_t memory_read(void *ctx, void *data, size_t n)
{
	struct reader_memory *m = ctx;

	n = MIN(n, m->len - m->at);
	memcpy(data, m->data + m->at, n);
	m->at += n;
	return (ssize_t)n;
}

static struct session *from_tape(const struct buf *tape)
{
	struct reader_memory m = {tape->data, tape->len, 0};
	struct session *s = session_new();
	uint64_t offset;

	ck_assert_int_eq(wire_read_tape(memory_read, &m, NULL, s, &offset), 0);
	ck_assert_uint_eq(offset, tape->len);
	return s;
}

static struct session *through_file(const struct session *s)
{
	struct session *again = session_new();
	struct format_error error = {0};
	struct reader_memory m;
	struct reader_input in;
	struct buf file;
	struct out *o = malloc(sizeof(*o));

	buf_init(&file, 0);
	out_to_buf(o, &file);
	ck_assert_int_eq(hatchet_write(s, &(struct write_options){0}, o), 0);
	ck_assert_int_eq(out_flush(o), 0);
	m = (struct reader_memory){file.data, file.len, 0};
	reader_init_memory(&in, &m);
	ck_assert_msg(hatchet_read(&in, again, &error) == 0, "%s", error.reason);
	again->ended = true;
	buf_done(&file);
	free(o);
	return again;
}

/* The first line that differs says more than two long texts. */
static void same(struct buf *a, struct buf *b, const char *what)
{
	const char *x = buf_str(a), *y = buf_str(b), *line_x = x, *line_y = y;

	for (; *x && *x == *y; x++, y++) {
		if (*x == '\n') {
			line_x = x + 1;
			line_y = y + 1;
		}
	}
	ck_assert_msg(*x == *y, "%s differs:\n%.200s\n---\n%.200s", what, line_x, line_y);
}

/* What no collector sends yet: epochs, modules, names for addresses, samples. */
static void what_nobody_sends_yet(const struct session *s)
{
	static const char *const epochs[] = {"", "warmup", "bench"};
	const struct session_frame *f = &s->frames[s->nodes[2].frame];
	const struct session_module *m = &s->modules[f->module];
	unsigned phases = 0;

	ck_assert_uint_eq(s->n_epochs, 3);
	for (unsigned i = 0; i < 3; i++) {
		ck_assert_str_eq(strtab_str(s->strings, s->epochs[i].name), epochs[i]);
		ck_assert_uint_eq(s->epochs[i].phase, i == 2);
	}
	for (size_t i = 0; i < s->n_rows; i++)
		phases += s->rows[i].epoch == 1 ? 1 : s->rows[i].epoch == 2 ? 10 : 0;
	ck_assert_uint_eq(phases, 22);
	ck_assert_uint_eq(s->n_modules, 1);
	ck_assert_str_eq(strtab_str(s->strings, m->build_id), "deadbeef");
	ck_assert_str_eq(strtab_str(s->strings, m->path), "/usr/lib/libmodel.so");
	ck_assert_uint_eq(m->base, 0x400000);
	ck_assert_uint_eq(f->offset, 0x1f0);
	ck_assert_str_eq(strtab_str(s->strings, f->symbol), "gemm(float*)");
	ck_assert_str_eq(strtab_str(s->strings, f->file), "gemm.cu");
	ck_assert_uint_eq(f->line, 12);
	ck_assert_uint_eq(s->n_samples, 6);
}

static uint8_t add_of(const struct session *s, const char *name)
{
	return metric_table_get(s->metrics, metric_table_find(s->metrics, name))->add;
}

static void rules(const struct session *s)
{
	ck_assert_uint_eq(add_of(s, "stalled_1"), METRIC_SUM);
	ck_assert_uint_eq(add_of(s, "sm__metric_1.avg"), METRIC_WMEAN);
	ck_assert_uint_eq(add_of(s, "live"), METRIC_GAUGE);
	ck_assert_uint_eq(add_of(s, "peak"), METRIC_PEAK);
	ck_assert_uint_eq(add_of(s, "grid"), METRIC_LAST);
}

/* Copies of which more is hidden than there were, work that ended before it began, and those of a device that nobody knows, are errors; what is
 * said of busy times later leaves copies alone. */
START_TEST(overlaps_make_sense)
{
	static const struct wire_overlap said[] = {
		{1, 0, 500, 200}, {1, 0, 500, 501}, {9, 0, 5, 1}};
	static const struct wire_worked worked[] = {{1, 0, 7, 9}, {1, 0, 9, 8}};
	struct wire_encoder *e = malloc(sizeof(*e));
	struct session *s = session_new();
	struct wire_decoder *d = wire_decoder_new(s);
	struct buf bytes;

	buf_init(&bytes, 0);
	wire_encoder_init(e, 0x1111, to_buf, &bytes);
	next_string = 0;
	hello(e, 100, -1);
	device(e, 1, 0);
	wire_put(e, WIRE_OVERLAPS, said, sizeof(said[0]));
	wire_put(e, WIRE_USES, &(struct wire_use){1, 0, 700}, sizeof(struct wire_use));
	wire_put(e, WIRE_OVERLAPS, said + 1, sizeof(said[0]));
	ck_assert_int_eq(wire_encoder_flush(e), 0); /* errors are counted by frames */
	wire_put(e, WIRE_OVERLAPS, said + 2, sizeof(said[0]));
	ck_assert_int_eq(wire_encoder_flush(e), 0);
	wire_put(e, WIRE_WORKED, worked, sizeof(worked[0]));
	ck_assert_int_eq(wire_encoder_flush(e), 0);
	wire_put(e, WIRE_WORKED, worked + 1, sizeof(worked[0]));
	ck_assert_int_eq(wire_encoder_flush(e), 0);
	ck_assert_int_eq(wire_decoder_feed(d, bytes.data, bytes.len), 0);
	ck_assert_uint_eq(s->n_uses, 1);
	ck_assert_uint_eq(s->uses[0].busy_ns, 700);
	ck_assert_uint_eq(s->uses[0].copies_ns, 500);
	ck_assert_uint_eq(s->uses[0].hidden_ns, 200);
	ck_assert_double_eq_tol(session_overlap_share(s, s->uses[0].device), 0.5, 1e-9);
	ck_assert_uint_eq(s->uses[0].first_ns, 7);
	ck_assert_uint_eq(s->uses[0].last_ns, 9);
	ck_assert_uint_eq(session_loss(s, LOSS_WIRE_ERROR), 3);
	wire_decoder_free(d);
	session_free(s);
	buf_done(&bytes);
	free(e);
}
END_TEST

/* What a device was used for, as it is told at once: numbers of the future are skipped, with fewer of them those behind
 * stay, and a frame that is shorter than it says is an error, as is a part that is larger than its whole. */
START_TEST(uses_come_as_a_list)
{
	struct wire_encoder *e = malloc(sizeof(*e));
	struct session *s = session_new();
	struct wire_decoder *d = wire_decoder_new(s);
	uint64_t v[USE_N + 2] = {0};
	struct wire_usage w = {1, USE_N + 2};
	struct buf bytes;

	buf_init(&bytes, 0);
	wire_encoder_init(e, 0x1111, to_buf, &bytes);
	next_string = 0;
	hello(e, 100, -1);
	device(e, 1, 0);
	for (unsigned i = 0; i < USE_N + 2; i++)
		v[i] = 1000 - (i < 3 ? i * 100 : 0);
	wire_put_numbers(e, WIRE_USAGE, &w, sizeof(w), v, w.n);
	w.n = 1;
	v[0] = 2000;
	wire_put_numbers(e, WIRE_USAGE, &w, sizeof(w), v, w.n);
	ck_assert_int_eq(wire_encoder_flush(e), 0);
	w.n = 3;
	v[2] = v[1] + 1;
	wire_put_numbers(e, WIRE_USAGE, &w, sizeof(w), v, w.n);
	ck_assert_int_eq(wire_encoder_flush(e), 0);
	w.n = UINT32_MAX;
	wire_put_numbers(e, WIRE_USAGE, &w, sizeof(w), v, 2);
	ck_assert_int_eq(wire_encoder_flush(e), 0);
	ck_assert_int_eq(wire_decoder_feed(d, bytes.data, bytes.len), 0);
	ck_assert_uint_eq(s->n_uses, 1);
	ck_assert_uint_eq(s->uses[0].busy_ns, 2000);
	ck_assert_uint_eq(s->uses[0].copies_ns, 900);
	ck_assert_uint_eq(s->uses[0].hidden_ns, 800);
	ck_assert_uint_eq(s->uses[0].v[USE_N - 1], 1000);
	ck_assert_uint_eq(session_loss(s, LOSS_WIRE_ERROR), 2);
	wire_decoder_free(d);
	session_free(s);
	buf_done(&bytes);
	free(e);
}
END_TEST

START_TEST(everything_survives)
{
	struct buf tape, a, b, c;
	struct session *s, *t, *f;

	clock_fake(1234567890); /* frames carry their time */
	s = live(&tape);
	t = from_tape(&tape);
	f = through_file(s);

	ck_assert_uint_eq(s->n_processes, 2);
	ck_assert_uint_eq(s->n_nodes, 10);
	ck_assert_uint_eq(s->n_rows, 14);
	ck_assert_uint_eq(s->n_devices, 2);
	what_nobody_sends_yet(s);
	what_nobody_sends_yet(t);
	what_nobody_sends_yet(f);
	rules(s);
	rules(t);
	rules(f);
	ck_assert_uint_eq(s->n_intervals, 10);
	ck_assert_uint_eq(s->intervals[3].start_ns, 1234567 + 100); /* on CLOCK_MONOTONIC */
	ck_assert_uint_eq(s->n_uses, 2);
	ck_assert_uint_eq(s->uses[0].busy_ns, 4242);
	ck_assert_uint_eq(s->uses[0].copies_ns, 1242);
	ck_assert_uint_eq(f->uses[1].hidden_ns, 1000);
	ck_assert_uint_eq(s->n_copy_lanes, 4);
	ck_assert_uint_eq(f->copy_lanes[3].unsure_ns, 7);
	ck_assert_uint_eq(f->copy_lanes[3].stream, SESSION_NONE);
	ck_assert_uint_eq(s->n_configs, 2); /* of two processes */
	ck_assert_uint_eq(f->configs[1].count, 14);
	ck_assert_uint_eq(f->configs[1].time_ns, 15);
	ck_assert_uint_eq(f->configs[1].of.shape.grid[0], 1);
	ck_assert_uint_eq(f->configs[1].of.local, 13);
	ck_assert_uint_eq(s->n_unrecorded, 6);
	ck_assert_uint_eq(f->unrecorded[1].reason, UNRECORDED_ASIDE);
	ck_assert_uint_eq(f->unrecorded[1].end_ns, 9000);
	ck_assert_uint_eq(f->unrecorded[2].reason, UNRECORDED_UNKNOWN);
	ck_assert_uint_eq(f->unrecorded[2].end_ns, 0);
	ck_assert_uint_eq(f->unrecorded[3].process, 1);
	ck_assert_uint_eq(s->uses[0].first_ns, UINT64_C(1700000000000000101));
	ck_assert_uint_eq(f->uses[1].last_ns, UINT64_C(1700000000000004343));
	ck_assert_uint_eq(session_loss(s, LOSS_UNMATCHED), 4);
	ck_assert_uint_eq(session_loss(s, LOSS_WIRE_ERROR), 0);
	json_of(s, &a);
	json_of(t, &b);
	json_of(f, &c);
	same(&a, &b, "tape");
	same(&a, &c, "file");
	buf_done(&a);
	buf_done(&b);
	buf_done(&c);
	buf_done(&tape);
	session_free(s);
	session_free(t);
	session_free(f);
}
END_TEST

/* Cut anywhere, flip anything: no crash, and what is lost is said. */
START_TEST(torn_tapes_are_read_as_far_as_they_go)
{
	struct buf tape;
	struct session *s = live(&tape), *t;
	struct reader_memory m;
	size_t cut;
	unsigned i;

	session_free(s);
	for (cut = sizeof(struct wire_tape_header); cut < tape.len; cut += 97) {
		m = (struct reader_memory){tape.data, cut, 0};
		t = session_new();
		ck_assert_int_eq(wire_read_tape(memory_read, &m, NULL, t, NULL), 0);
		session_free(t);
	}
	srand(1);
	for (i = 0; i < 300; i++) {
		tape.data[sizeof(struct wire_tape_header) +
			  (size_t)rand() % (tape.len - sizeof(struct wire_tape_header))] ^=
			1 << i % 8;
		m = (struct reader_memory){tape.data, tape.len, 0};
		t = session_new();
		ck_assert_int_eq(wire_read_tape(memory_read, &m, NULL, t, NULL), 0);
		session_free(t);
	}
	m = (struct reader_memory){tape.data, 10, 0};
	t = session_new();
	ck_assert_int_lt(wire_read_tape(memory_read, &m, NULL, t, NULL), 0);
	session_free(t);
	buf_done(&tape);
}
END_TEST

START_TEST(long_texts_travel_in_parts)
{
	struct wire_encoder *e = malloc(sizeof(*e));
	struct session *s = session_new();
	struct wire_decoder *d = wire_decoder_new(s);
	char *name = malloc(WIRE_TEXT_MAX);
	struct buf b;

	buf_init(&b, 0);
	memset(name, 'x', WIRE_TEXT_MAX);
	wire_encoder_init(e, 5, to_buf, &b);
	ck_assert_int_eq(wire_encode_text(e, 1, name, 9000), 0);
	ck_assert_int_eq(wire_encode_text(e, 2, name, WIRE_TEXT_MAX), 0);
	frame(e, 1, FRAME_KERNEL, 1);
	frame(e, 2, FRAME_KERNEL, 2);
	node(e, 1, 0, 1);
	node(e, 2, 0, 2);
	wire_encoder_flush(e);
	ck_assert_int_eq(wire_decoder_feed(d, b.data, b.len), 0);
	ck_assert_uint_eq(s->n_nodes, 3);
	ck_assert_uint_eq(strlen(session_node_name(s, 1)), 9000);
	ck_assert_uint_eq(strlen(session_node_name(s, 2)), WIRE_TEXT_MAX);
	wire_decoder_free(d);
	session_free(s);
	buf_done(&b);
	free(name);
	free(e);
}
END_TEST

/* A rule from the future is the one that every reader knows; without one there is no metric. */
START_TEST(rules_that_are_not_known)
{
	struct wire_encoder *e = malloc(sizeof(*e));
	struct session *s = session_new();
	struct wire_decoder *d = wire_decoder_new(s);
	struct wire_metric_def *m;
	struct buf b;
	uint32_t odd;

	next_string = 0;
	buf_init(&b, 0);
	wire_encoder_init(e, 5, to_buf, &b);
	metric(e, 20, "spread", "", METRIC_U64, METRIC_INCLUSIVE, METRIC_MAX, WIRE_NONE);
	odd = text(e, "odd");
	m = wire_encode(e, WIRE_METRICS, sizeof(*m));
	*m = (struct wire_metric_def){21, odd, 0, .add = 0xee, .weight = WIRE_NONE};
	wire_encoder_flush(e);
	/* The kind, name and so on of the first, which is in the second frame, behind its name. */
	m = (struct wire_metric_def *)(b.data + sizeof(struct wire_header) * 2 +
				       wire_padded(sizeof(struct wire_text) + strlen("spread")));
	ck_assert_uint_eq(m->id, 20);
	m->rule = 0xee;
	ck_assert_int_eq(wire_decoder_feed(d, b.data, b.len), 0);
	ck_assert_uint_eq(add_of(s, "spread"), METRIC_MAX);
	ck_assert_uint_eq(session_loss(s, LOSS_WIRE_ERROR), 1);
	ck_assert_uint_eq(metric_table_find(s->metrics, "odd"), METRIC_NONE);
	wire_decoder_free(d);
	session_free(s);
	buf_done(&b);
	free(e);
}
END_TEST

/* What names no bin is an error of the stream, and no more than that. */
START_TEST(octaves_that_are_none)
{
	static const struct wire_octave wrong[] = {
		{.node = 3, .device = 1, .octave = HIST_OCTAVES, .n = 1},
		{.node = 3, .device = 1, .octave = 1, .first = HIST_WIDTH, .n = 1},
		{.node = 3, .device = 1, .octave = 1, .first = UINT16_MAX, .n = 1},
		{.node = 3, .device = 1, .octave = 1, .first = 31, .n = 2},
		{.node = 3, .device = 1, .octave = 1, .n = UINT32_MAX},
		{.node = 3, .device = 1, .octave = 1, .n = 2}, /* more than the frame has */
		{.node = 77, .device = 1, .octave = 1, .n = 1},
		{.node = 3, .device = 77, .octave = 1, .n = 1},
	};
	struct wire_octave right = {.node = 3, .device = 1, .octave = 1, .n = 1};

	for (size_t i = 0; i <= ARRAY_SIZE(wrong); i++) {
		struct wire_encoder *e = malloc(sizeof(*e));
		struct session *s = session_new();
		struct wire_decoder *d = wire_decoder_new(s);
		struct buf b;
		void *at;

		next_string = 0;
		buf_init(&b, 0);
		wire_encoder_init(e, 5, to_buf, &b);
		hello(e, 100, -1);
		device(e, 1, 0);
		tree(e);
		at = wire_encode(e, WIRE_OCTAVES, sizeof(right) + sizeof(uint32_t));
		memcpy(at, i < ARRAY_SIZE(wrong) ? &wrong[i] : &right, sizeof(right));
		wire_encoder_flush(e);
		ck_assert_int_eq(wire_decoder_feed(d, b.data, b.len), 0);
		ck_assert_uint_eq(session_loss(s, LOSS_WIRE_ERROR), i < ARRAY_SIZE(wrong));
		ck_assert_uint_eq(s->n_hists, i == ARRAY_SIZE(wrong));
		wire_decoder_free(d);
		session_free(s);
		buf_done(&b);
		free(e);
	}
}
END_TEST

static void tick(struct wire_encoder *e, uint32_t n_losses, uint64_t last_loss)
{
	struct wire_tick *t = wire_encode(e, WIRE_TICK, sizeof(*t) + n_losses * 8);

	*t = (struct wire_tick){.n_losses = n_losses};
	((uint64_t *)(t + 1))[n_losses - 1] = last_loss;
	wire_encoder_flush(e);
}

/* A newer collector counts what this version has no word for: said once, however it grows. */
START_TEST(losses_that_are_not_known)
{
	static const struct {
		uint32_t n_losses;
		uint64_t last;
		size_t n_notes;
	} ticks[] = {{LOSS_N, 7, 0}, {LOSS_N + 1, 0, 0}, {LOSS_N + 2, 5, 1}, {LOSS_N + 2, 6, 1}};
	struct wire_encoder *e = malloc(sizeof(*e));
	struct session *s = session_new();
	struct wire_decoder *d = wire_decoder_new(s);

	for (size_t i = 0; i < ARRAY_SIZE(ticks); i++) {
		struct buf b;

		buf_init(&b, 0);
		wire_encoder_init(e, 5, to_buf, &b);
		tick(e, ticks[i].n_losses, ticks[i].last);
		ck_assert_int_eq(wire_decoder_feed(d, b.data, b.len), 0);
		ck_assert_uint_eq(s->n_notes, ticks[i].n_notes);
		buf_done(&b);
	}
	ck_assert_str_eq(strtab_str(s->strings, s->notes[0].text),
			 "lost, and counted by a newer version of proton: of further kinds");
	ck_assert_uint_eq(session_loss(s, LOSS_N - 1), 0); /* as the last tick says */
	wire_decoder_free(d);
	session_free(s);
	free(e);
}
END_TEST

START_TEST(a_lost_frame_heals)
{
	struct wire_encoder *e = malloc(sizeof(*e));
	struct session *s = session_new();
	struct wire_decoder *d = wire_decoder_new(s);
	struct buf b, lost;

	buf_init(&b, 0);
	buf_init(&lost, 0);
	wire_encoder_init(e, 5, to_buf, &b);
	wire_encode_text(e, 1, "k", 1);
	frame(e, 1, FRAME_KERNEL, 1);
	node(e, 1, 0, 1);
	slot(e, 0, 1, 0, 0, 0);
	kernel(e, 0, 100, 1);
	wire_encoder_flush(e);
	e->arg = &lost;
	kernel(e, 0, 200, 2);
	wire_encoder_flush(e);
	e->arg = &b;
	kernel(e, 0, 300, 3);
	wire_encoder_flush(e);
	ck_assert_int_eq(wire_decoder_feed(d, b.data, b.len), 0);
	ck_assert_uint_eq(session_loss(s, LOSS_WIRE_GAP), 1);
	ck_assert_uint_eq(session_loss_total(s), 0);
	ck_assert_uint_eq(s->values[s->rows[0].values].u64, 300);
	/* The same pid says hello anew: the program called exec. */
	buf_clear(&b);
	next_string = 10;
	hello(e, 100, -1);
	wire_encoder_flush(e);
	wire_encoder_init(e, 6, to_buf, &b);
	next_string = 10;
	hello(e, 100, -1);
	wire_encoder_flush(e);
	ck_assert_int_eq(wire_decoder_feed(d, b.data, b.len), 0);
	ck_assert_uint_eq(s->n_processes, 2);
	ck_assert_uint_eq(s->processes[0].end, PROCESS_ENDED);
	ck_assert_uint_eq(s->processes[1].end, PROCESS_RUNS);
	wire_decoder_free(d);
	session_free(s);
	buf_done(&b);
	buf_done(&lost);
	free(e);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("wire");
	TCase *tc = tcase_create("carry");

	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, everything_survives);
	tcase_add_test(tc, overlaps_make_sense);
	tcase_add_test(tc, uses_come_as_a_list);
	tcase_add_test(tc, torn_tapes_are_read_as_far_as_they_go);
	tcase_add_test(tc, long_texts_travel_in_parts);
	tcase_add_test(tc, a_lost_frame_heals);
	tcase_add_test(tc, rules_that_are_not_known);
	tcase_add_test(tc, losses_that_are_not_known);
	tcase_add_test(tc, octaves_that_are_none);
	suite_add_tcase(suite, tc);
	return check_run(suite);
}

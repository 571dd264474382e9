/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "test_tui_session.h"
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/clock.h"
#include "base/util.h"
#include "tui/screen.h"
#include "tui/tabs.h"
#include "tui/tui_impl.h"
#include "count_ns.h"

#define MS(x) ((uint64_t)((x)*1e6))

uint32_t world_node(struct world *w, uint32_t parent, enum frame_kind kind, const char *name)
{
	uint32_t node = session_node(w->s, parent, kind, name);

	ck_assert_uint_ne(node, SESSION_NONE);
	return node;
}

void world_kernel(struct world *w, uint32_t node, uint32_t lane, const struct kernel_values *v)
{
	uint32_t row = session_row_intern(w->s, node, lane, 0, SET_KERNEL);
	const uint64_t values[] = {v->time_ns, v->count, v->min_ns, v->max_ns};

	for (unsigned i = 0; i < ARRAY_SIZE(values); i++)
		session_row_set(w->s, row, i, (union metric_value){.u64 = values[i]});
}

void world_number(struct world *w, uint32_t node, uint32_t lane, uint32_t metric, double v)
{
	bool real = metric_table_get(w->s->metrics, metric)->type == METRIC_F64;
	union metric_value value = {.u64 = real ? 0 : (uint64_t)v};

	if (real)
		value.f64 = v;
	ck_assert_int_eq(session_add(w->s, node, lane, 0, metric, value), 0);
}

static uint32_t add_string(struct world *w, const char *s)
{
	return strtab_adds(w->s->strings, s);
}

void world_init_empty(struct world *w)
{
	memset(w, 0, sizeof(*w));
	w->s = session_new();
	w->now_ns = START_NS;
	w->status = (struct tui_status){
		.run = TUI_RUN_RUNNING,
		.target = "train.py",
		.pid = 41207,
		.up_ns = 61 * NSEC_PER_SEC,
		.own_cpu = 0.009,
	};
	clock_fake(w->now_ns);
}

static void add_machine(struct world *w)
{
	struct session_device device = {
		.type = add_string(w, "CUDA"),
		.name = add_string(w, "NVIDIA H200"),
		.arch = add_string(w, "90"),
		.num_sms = 132,
		.clock_khz = 1980000,
		.memory_clock_khz = 3201000,
		.bus_width_bits = 6144,
		.memory_bytes = UINT64_C(150754820096),
		.host = SESSION_NONE,
	};
	uint32_t process = session_process_add(w->s, 7), d0, d1;
	struct session_process *p = &w->s->processes[process];

	p->pid = 41207;
	p->rank = -1;
	p->exe = add_string(w, "/usr/bin/python3");
	p->cmdline = add_string(w, "python3 train.py --cfg 7b.yaml");
	p->own_cpu_ns = MS(310);
	p->own_bytes = 9 << 20;
	p->buffer_bytes = 4 << 20;
	d0 = session_device_intern(w->s, &device);
	device.index = 1;
	d1 = session_device_intern(w->s, &device);
	w->lanes[0] = session_lane_intern(w->s, &(struct session_lane){process, d0, 1, 7, 0});
	w->lanes[1] = session_lane_intern(w->s, &(struct session_lane){process, d0, 1, 13, 0});
	w->lanes[2] = session_lane_intern(w->s, &(struct session_lane){process, d1, 2, 7, 0});
}

/* Streams that overlap: the device is busy for less time than its work adds up to. One of the devices has copies,
 * three quarters of which ran beside kernels. */
static void use(struct world *w, double ms_0, double ms_1)
{
	struct session_use first = {
		.busy_ns = MS(ms_0), .copies_ns = MS(ms_0 / 20), .hidden_ns = MS(ms_0 / 20 * 0.75)};
	struct session_use second = {.device = 1, .busy_ns = MS(ms_1)};

	ck_assert_int_eq(session_use_set(w->s, &first), 0);
	ck_assert_int_eq(session_use_set(w->s, &second), 0);
}

/* A kernel below a node: milliseconds of all calls; flops and bytes in units of 1e12 and 1e9. */
static uint32_t kernel(struct world *w, uint32_t parent, const char *name, double ms,
		       uint64_t count, double tflop, double gbyte)
{
	uint32_t node = world_node(w, parent, FRAME_KERNEL, name);
	uint64_t time = MS(ms), mean = time / count;

	world_kernel(w, node, w->lanes[0],
		     &(struct kernel_values){time, count, mean * 9 / 10, mean * 17 / 10});
	if (tflop > 0)
		world_number(w, node, w->lanes[0], METRIC_FLOPS16, tflop * 1e12);
	if (gbyte > 0)
		world_number(w, node, w->lanes[0], METRIC_BYTES, gbyte * 1e9);
	return node;
}

static void copy(struct world *w, uint32_t parent, enum frame_kind kind, const char *name,
		 double ms, uint64_t count, double gbyte)
{
	uint32_t node = world_node(w, parent, kind, name);
	uint64_t time = MS(ms);

	world_kernel(w, node, w->lanes[1],
		     &(struct kernel_values){time, count, time / count / 2, time / count * 4});
	world_number(w, node, w->lanes[1], METRIC_BYTES, gbyte * 1e9);
}

static void add_hist(struct world *w, uint32_t node)
{
	count_ns(w->s, node, 0, 771000, 700);
	count_ns(w->s, node, 0, 810000, 5800);
	count_ns(w->s, node, 0, 930000, 900);
	count_ns(w->s, node, 0, 1420000, 88);
}

/* Device 0 waited for this: ms late, in copies, launching, queued. */
static void idle(struct world *w, uint32_t node, double late, double copies, double launch,
		 double queued, uint64_t gaps)
{
	const struct {
		uint32_t metric;
		double value;
	} values[] = {
		{METRIC_IDLE_GAPS, (double)gaps},
		{METRIC_IDLE, (double)MS(late + copies + launch + queued)},
		{METRIC_IDLE_LATE, (double)MS(late)},
		{METRIC_IDLE_SYNC, 0},
		{METRIC_IDLE_COPY, (double)MS(copies)},
		{METRIC_IDLE_LAUNCH, (double)MS(launch)},
		{METRIC_IDLE_QUEUED, (double)MS(queued)},
		{METRIC_LATENCY, (double)MS(40)},
		{METRIC_LATENCY_N, 5000},
	};

	for (size_t i = 0; i < ARRAY_SIZE(values); i++)
		world_number(w, node, w->lanes[0], values[i].metric, values[i].value);
}

static void add_forward(struct world *w)
{
	uint32_t attention, mlp;

	w->forward = world_node(w, w->step, FRAME_SCOPE, "forward");
	attention = world_node(w, w->forward, FRAME_SCOPE, "attention");
	w->flash = kernel(w, attention, "flash_fwd<128,128>", 6020, 7488, 2438, 3672);
	add_hist(w, w->flash);
	idle(w, kernel(w, attention, "rope_fused", 1790, 14976, 0, 5209), 610, 0, 12, 0.4, 310);
	mlp = world_node(w, w->forward, FRAME_SCOPE, "mlp");
	kernel(w, mlp, "sm90_xmma_gemm_bf16", 7940, 44928, 5574, 3017);
	kernel(w, mlp, "silu_mul_fused", 990, 7488, 0, 3376);
}

static void add_backward(struct world *w)
{
	uint32_t backward = world_node(w, w->step, FRAME_SCOPE, "backward"), node;

	kernel(w, backward, "sm90_xmma_gemm_wgrad", 8620, 44928, 5931, 0);
	kernel(w, backward, "sm90_xmma_gemm_dgrad", 5940, 44928, 4253, 0);
	kernel(w, backward, "flash_bwd<64,128>", 5310, 7488, 1864, 2867);
	node = kernel(w, backward, "rope_bwd", 1200, 14976, 0, 3444);
	world_kernel(w, node, w->lanes[2], &(struct kernel_values){MS(1040), 7488, 100000, 150000});
}

void world_init(struct world *w)
{
	uint32_t optimizer, graph, eval, node;

	world_init_empty(w);
	add_machine(w);
	eval = world_node(w, SESSION_ROOT, FRAME_SCOPE, "eval");
	node = kernel(w, eval, "flash_fwd<128,128>", 180, 200, 73, 110);
	count_ns(w->s, node, 0, 900000, 200);
	kernel(w, eval, "sm90_xmma_gemm_bf16", 520, 2200, 365, 198);
	w->step = world_node(w, SESSION_ROOT, FRAME_NVTX, "train_step");
	copy(w, w->step, FRAME_COPY, "memcpy HtoD pinned", 550, 1152, 28.6);
	copy(w, w->step, FRAME_COPY, "memcpy HtoD pageable", 60, 96, 0.37);
	add_forward(w);
	add_backward(w);
	optimizer = world_node(w, w->step, FRAME_PYTHON, "optim.py:210@step");
	graph = world_node(w, optimizer, FRAME_GRAPH, "<captured_at>");
	kernel(w, graph, "multi_tensor_adam", 2440, 2496, 0, 9565);
	copy(w, optimizer, FRAME_SET, "memset device", 1.8, 1872, 5.6);
	use(w, 38100, 1040);
}

/* ---- with counted values ---- */

enum { COUNTED_KERNELS = 3 };

static void add_counted(struct world *w, const uint32_t kernels[COUNTED_KERNELS], const char *name,
			const double values[COUNTED_KERNELS])
{
	struct metric m = {.name = name,
			   .unit = strstr(name, "(ns)") || strstr(name, "duration") ? "ns" : "",
			   .type = METRIC_F64,
			   .scope = METRIC_INCLUSIVE,
			   .add = strstr(name, ".avg") ? METRIC_MAX : METRIC_SUM,
			   .weight = METRIC_NONE};
	uint32_t metric = metric_table_add(w->s->metrics, &m);

	for (size_t k = 0; k < COUNTED_KERNELS; k++)
		world_number(w, kernels[k], w->lanes[0], metric, values[k]);
}

/* As record --metrics says of ten launches of each. */
static void add_counts(struct world *w, const uint32_t kernels[COUNTED_KERNELS])
{
	static const char *const ops[] = {"fadd", "fmul", "ffma", "hadd", "hmul",
					  "hfma", "dadd", "dmul", "dfma"};
	static const char *const sources[] = {"fp16", "bf16_dst_fp32", "tf32_dst_fp32", "fp64"};
	static const double none[COUNTED_KERNELS];
	char name[80];

	add_counted(w, kernels, "measured", (const double[]){10, 10, 10});
	add_counted(w, kernels, "measured_time (ns)", (const double[]){26.3e6, 1.58e6, 2.8e6});
	add_counted(w, kernels, "gpu__time_duration.sum",
		    (const double[]){26.29e6, 1.57e6, 2.79e6});
	add_counted(w, kernels, "dram__bytes.sum",
		    (const double[]){1342177280, 1476395008, 10737418240});
	for (size_t i = 0; i < ARRAY_SIZE(ops); i++) {
		snprintf(name, sizeof(name), "smsp__sass_thread_inst_executed_op_%s_pred_on.sum",
			 ops[i]);
		add_counted(w, kernels, name, i == 2 ? (const double[]){687362539500, 0, 0} : none);
	}
	add_counted(w, kernels, "sm__inst_executed_pipe_tensor.sum",
		    (const double[]){0, 5242880, 0});
	for (size_t i = 0; i < ARRAY_SIZE(sources); i++) {
		snprintf(name, sizeof(name), "sm__ops_path_tensor_src_%s.sum", sources[i]);
		add_counted(w, kernels, name,
			    i == 1 ? (const double[]){0, 1374389534720, 0} : none);
	}
	add_counted(w, kernels, "sm__throughput.avg.pct_of_peak_sustained_elapsed",
		    (const double[]){78.3, 93.1, 4.2});
}

void world_init_counted(struct world *w)
{
	static const struct {
		const char *name;
		uint64_t time_ns;
	} all[COUNTED_KERNELS] = {{"sm80_xmma_gemm_f32f32", 26300000},
				  {"sm90_xmma_gemm_bf16", 1580000},
				  {"vectorized_copy", 2800000}};
	uint32_t scope, kernels[COUNTED_KERNELS];

	world_init_empty(w);
	add_machine(w);
	scope = world_node(w, SESSION_ROOT, FRAME_SCOPE, "layer");
	for (size_t k = 0; k < COUNTED_KERNELS; k++) {
		uint64_t mean = all[k].time_ns / 10;

		kernels[k] = world_node(w, scope, FRAME_KERNEL, all[k].name);
		world_kernel(w, kernels[k], w->lanes[0],
			     &(struct kernel_values){all[k].time_ns, 10, mean, mean});
	}
	add_counts(w, kernels);
}

/* ---- the host ---- */

static int on_request(void *data, enum tui_action action, int arg)
{
	struct world *w = data;

	ck_assert_uint_lt(w->n_actions, ARRAY_SIZE(w->actions));
	w->args[w->n_actions] = arg;
	w->actions[w->n_actions++] = action;
	if (action == TUI_PAUSE || action == TUI_RESUME)
		w->status.paused = action == TUI_PAUSE;
	return action == TUI_RESYNC ? -ENOTSUP : 0;
}

static void on_status(void *data, struct tui_status *ret)
{
	*ret = ((struct world *)data)->status;
}

static const char *on_log(void *data, size_t *ret_len, uint64_t *ret_start)
{
	struct world *w = data;

	*ret_start = 0;
	*ret_len = w->log ? strlen(w->log) : 0;
	return w->log;
}

static int on_input(void *data, const char *text, size_t len)
{
	struct world *w = data;

	if (w->typing == 0)
		ck_assert_uint_lt(strlen(w->typed) + len, sizeof(w->typed));
	if (w->typing == 0 && len)
		strncat(w->typed, text, len);
	return w->typing;
}

void world_open(struct world *w, const struct tui_options *options)
{
	struct tui_host host = {w, on_request, on_status, on_log, on_input};
	struct snapshot_spec spec = {.group = GROUP_NONE, .naming = w->naming};

	w->snap = snapshot_new(w->s, &spec);
	ck_assert_ptr_nonnull(w->snap);
	w->t = tui_new(options, w->snap, &host);
	ck_assert_ptr_nonnull(w->t);
}

void world_done(struct world *w)
{
	tui_free(w->t);
	snapshot_free(w->snap);
	session_free(w->s);
	clock_fake(0);
}

void world_counters(struct world *w, uint32_t device)
{
	static const double most[COUNTED_N] = {
		[COUNTED_BLOCKS] = 2.5e6,     [COUNTED_DRAM_READ] = 60,
		[COUNTED_DRAM_WRITE] = 0,     [COUNTED_ENGINE] = 100,
		[COUNTED_FMA] = NAN,          [COUNTED_GPC_CLOCK] = 1.755e9,
		[COUNTED_L2_HIT] = 75,        [COUNTED_NVLINK_RX] = NAN,
		[COUNTED_NVLINK_TX] = NAN,    [COUNTED_PCIE_READ] = 12.5e9,
		[COUNTED_PCIE_WRITE] = 0.5e9, [COUNTED_SM_ACTIVE] = 90,
		[COUNTED_SM_ISSUE] = 40,      [COUNTED_SYS_CLOCK] = NAN,
		[COUNTED_TENSOR] = 50,        [COUNTED_WARPS] = 30};

	for (unsigned i = 0; i < 60; i++) {
		struct session_counters c = {.device = device,
					     .of = {.start_ns = START_NS + i * NSEC_PER_SEC,
						    .end_ns = START_NS + (i + 1) * NSEC_PER_SEC,
						    .counted_ns = NSEC_PER_SEC,
						    .n = 100}};

		for (unsigned k = 0; k < COUNTED_N; k++)
			c.of.v[k] = most[k] * (i + 1) / 60;
		if (i < 20 || i >= 25)
			ck_assert_int_eq(session_counters_add(w->s, &c), 0);
	}
}

void world_tick(struct world *w)
{
	struct session *s = w->s;

	for (size_t i = 0; i < s->n_rows; i++) {
		const struct session_set *set = &s->sets[s->rows[i].set];

		for (uint32_t k = 0; k < set->n; k++) {
			union metric_value v = s->values[s->rows[i].values + k];

			if (set->metrics[k] == METRIC_FLOPS16)
				v.f64 += v.f64 / 40;
			else if (set->metrics[k] != METRIC_TIME_MIN &&
				 set->metrics[k] != METRIC_TIME_MAX)
				v.u64 += v.u64 / 40;
			session_row_set(s, (uint32_t)i, k, v);
		}
	}
	for (size_t i = 0; i < s->n_uses; i++)
		s->uses[i].busy_ns += s->uses[i].busy_ns / 40;
	w->now_ns += NSEC_PER_SEC;
	w->status.up_ns += NSEC_PER_SEC;
	clock_fake(w->now_ns);
	ck_assert_int_eq(tui_refresh(w->t), 0);
}

/* ---- golden screens ---- */

static void golden_path(char *path, size_t size, const char *name, const char *suffix)
{
	const char *srcdir = getenv("srcdir");

	snprintf(path, size, "%s/tests/golden/%s.%s", srcdir ? srcdir : ".", name, suffix);
}

static char *read_file(const char *path)
{
	_cleanup_(fclosep) FILE *f = fopen(path, "re");
	char *data = calloc(1, 1 << 18);

	ck_assert_ptr_nonnull(data);
	if (f)
		data[fread(data, 1, (1 << 18) - 1, f)] = '\0';
	return data;
}

static void write_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "we");

	ck_assert_msg(f != NULL, "cannot write %s", path);
	fputs(text, f);
	fclose(f);
}

/* Name the first line that differs; the whole screen is too long for a report. */
static void fail_at_line(const char *path, const char *expected, const char *is)
{
	int line = 1;

	for (;; line++) {
		size_t n = strcspn(expected, "\n"), m = strcspn(is, "\n");

		ck_assert_msg(n == m && !memcmp(expected, is, n),
			      "%s:%d: expected '%.*s', is '%.*s'", path, line, (int)n, expected,
			      (int)m, is);
		ck_assert_msg(expected[n] && is[m], "%s:%d: one of them ends here", path, line);
		expected += n + 1;
		is += m + 1;
	}
}

static void compare_text(struct buf *text, const char *name, const char *suffix)
{
	const char *mode = getenv("PROTON_GOLDEN");
	char path[512], *expected;

	golden_path(path, sizeof(path), name, suffix);
	if (mode && !strcmp(mode, "update"))
		write_file(path, buf_str(text));
	expected = read_file(path);
	if (strcmp(expected, buf_str(text)) != 0)
		fail_at_line(path, expected, buf_str(text));
	free(expected);
}

/* The tab row as it is drawn into an empty line, and how much of it the tabs take: what follows
 * them is the overlay's title and what the view is set to. Where that is cut at the edge, it belongs
 * to them, since they decide where. */
static size_t draw_tabs(struct world *w, int cols, struct buf *ret_row)
{
	struct hits hits = {.n = 0};
	struct screen *sc;
	struct canvas canvas;
	int end = 0;

	ck_assert_int_eq(screen_open_copy(NULL, 1, cols, &w->t->look, &sc), 0);
	canvas = screen_canvas(sc);
	canvas.hits = &hits;
	tabs_draw(w->t, &canvas, 0);
	screen_read(sc, false, ret_row);
	screen_close(sc);
	if (strstr(buf_str(ret_row), "…\n") || strstr(buf_str(ret_row), "~\n"))
		return ret_row->len - 1;
	for (unsigned i = 0; i < hits.n; i++)
		if (hits.v[i].kind == HIT_TAB)
			end = MAX(end, hits.v[i].end);
	return MIN((size_t)end, ret_row->len - 1); /* the line ends with \n */
}

/* Every panel has a tab: a new one changes this golden, the one of world_golden_tabs(), and none of
 * the others. */
static bool shows_tabs(const char *name)
{
	return !strcmp(name, "theme_default");
}

static void replace(struct buf *text, size_t at, size_t len, const char *by)
{
	struct buf result;

	buf_init(&result, 1 << 20);
	buf_put(&result, text->data, at);
	buf_puts(&result, by);
	buf_put(&result, text->data + at + len, text->len - at - len);
	buf_done(text);
	*text = result;
}

/* Where a line begins; past the last one: the end. */
static size_t line_start(struct buf *text, int line)
{
	const char *p = buf_str(text);

	for (; line > 0 && *p; line--)
		p += strcspn(p, "\n") + 1;
	return (size_t)(p - buf_str(text));
}

/* Which line of a screen the tabs are; -1: none, or a menu lies over them. */
static int find_line(struct buf *screen, const struct buf *row)
{
	for (int line = 0; line_start(screen, line) < screen->len; line++)
		if (!strncmp(screen->data + line_start(screen, line), row->data, row->len))
			return line;
	return -1;
}

static int mask_text(struct buf *screen, const struct buf *row, size_t len)
{
	int line = find_line(screen, row);

	if (line >= 0)
		replace(screen, line_start(screen, line), len, "(tabs)");
	return line;
}

static void mask_line(struct buf *text, int line, const char *by)
{
	size_t at = line_start(text, line);

	replace(text, at, strcspn(text->data + at, "\n"), by);
}

/* A line of a picture is all that stands at its height. */
static void mask_svg(struct buf *svg, int line)
{
	char of_rect[32], of_text[32];
	size_t at = 0, end = 0;

	snprintf(of_rect, sizeof(of_rect), " y=\"%d\" ", 8 + 18 * line);
	snprintf(of_text, sizeof(of_text), " y=\"%d\" ", 8 + 18 * line + 14);
	for (int i = 0; line_start(svg, i) < svg->len; i++) {
		size_t start = line_start(svg, i), n = strcspn(svg->data + start, "\n");

		if (!memmem(svg->data + start, n, of_rect, strlen(of_rect)) &&
		    !memmem(svg->data + start, n, of_text, strlen(of_text)))
			continue;
		at = end ? at : start;
		end = start + n;
	}
	ck_assert_uint_gt(end, at);
	replace(svg, at, end - at, "<!-- (tabs) -->");
}

/* How large a session is changes with each new kind of row and each compiler; no screen is about it. */
static void mask_size(struct buf *screen)
{
	static const char before[] = "the profile has ";
	char *at = memmem(screen->data, screen->len, before, strlen(before));

	for (at = at ? at + strlen(before) : NULL; at && isdigit((unsigned char)*at); at++)
		*at = '_';
}

static void compare(struct world *w, int rows, int cols, bool attributes, const char *name)
{
	struct buf screen, row;
	size_t len;

	buf_init(&screen, 1 << 20);
	buf_init(&row, 1 << 12);
	ck_assert_int_eq(tui_dump(w->t, rows, cols, attributes, &screen), 0);
	len = draw_tabs(w, cols, &row);
	mask_text(&screen, &row, len);
	mask_size(&screen);
	compare_text(&screen, name, "screen");
	buf_done(&row);
	buf_done(&screen);
}

void world_golden_tabs(struct world *w, const char *const *scripts, const char *name)
{
	static const int cols[] = {140, 80, 60, 40, 20};
	struct buf rows;

	buf_init(&rows, 1 << 20);
	for (; *scripts; scripts++) {
		world_keys(w, *scripts);
		for (unsigned i = 0; i < ARRAY_SIZE(cols); i++)
			draw_tabs(w, cols[i], &rows);
	}
	compare_text(&rows, name, "screen");
	buf_done(&rows);
}

/* The tabs of what was printed. */
static void mask_print(struct world *w, int rows, int cols, enum print_format format,
		       struct buf *out)
{
	struct buf screen, row;
	size_t len;
	int line;

	buf_init(&screen, 1 << 20);
	buf_init(&row, 1 << 12);
	ck_assert_int_eq(tui_dump(w->t, rows, cols, false, &screen), 0);
	len = draw_tabs(w, cols, &row);
	ck_assert_msg(row.len == len + 1, "something follows the tabs: '%s'", buf_str(&row));
	line = mask_text(&screen, &row, len);
	ck_assert_int_ge(line, 0);
	if (format == PRINT_SVG)
		mask_svg(out, line);
	else
		mask_line(out, line, "(tabs)");
	buf_done(&row);
	buf_done(&screen);
}

void world_golden_print(struct world *w, int rows, int cols, enum print_format format,
			const char *name)
{
	struct buf out;

	buf_init(&out, 1 << 20);
	ck_assert_int_eq(print_screen(w->t, rows, cols, format, &out), 0);
	if (!shows_tabs(name))
		mask_print(w, rows, cols, format, &out);
	compare_text(&out, name, print_suffix(format));
	buf_done(&out);
}

void world_golden(struct world *w, int rows, int cols, const char *name)
{
	compare(w, rows, cols, false, name);
}

void world_golden_attributes(struct world *w, int rows, int cols, const char *name)
{
	compare(w, rows, cols, true, name);
}

void world_draw(struct world *w, int rows, int cols)
{
	struct buf screen;

	buf_init(&screen, 1 << 20);
	ck_assert_int_eq(tui_dump(w->t, rows, cols, false, &screen), 0);
	buf_done(&screen);
}

void world_look(struct world *w, const struct golden_look *look)
{
	world_draw(w, look->rows, look->cols);
	world_keys(w, look->keys);
	if (look->attributes)
		world_golden_attributes(w, look->rows, look->cols, look->name);
	else
		world_golden(w, look->rows, look->cols, look->name);
}

void world_keys(struct world *w, const char *script)
{
	ck_assert_msg(tui_key_script(w->t, script) == 0, "bad keys: %s", script);
}

bool world_shows(struct world *w, const char *text)
{
	struct buf screen;
	bool found;

	buf_init(&screen, 1 << 20);
	ck_assert_int_eq(tui_dump(w->t, 24, 80, false, &screen), 0);
	found = strstr(buf_str(&screen), text) != NULL;
	buf_done(&screen);
	return found;
}

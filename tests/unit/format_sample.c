/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep

#include "format_sample.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"

static uint32_t str(struct session *s, const char *text)
{
	return strtab_adds(s->strings, text);
}

static void add_processes(struct session *s)
{
	uint32_t a = session_process_add(s, UINT64_C(0xfedcba9876543210));
	uint32_t b = session_process_add(s, 7);

	s->processes[a] = (struct session_process){
		.instance = UINT64_C(0xfedcba9876543210),
		.pid = 4242,
		.ppid = 4241,
		.exe = str(s, "/usr/bin/python3"),
		.cmdline = str(s, "python3 train.py \xff"),
		.host = str(s, "node1"),
		.rank = 3,
		.start_ns = UINT64_C(1700000000123456789),
		.end = PROCESS_ENDED,
		.n_launches = 1000,
		.n_records = 998,
		.launches_counted = true,
		.oldest_ns = 5,
		.last_ns = 77,
		.own_cpu_ns = 88,
		.own_bytes = 99,
		.buffer_bytes = 1 << 20,
		.paused = true,
	};
	for (unsigned i = 0; i < LOSS_N; i++)
		s->processes[a].losses[i] = 100 + i;
	s->processes[b].pid = 4243;
	s->processes[b].end = PROCESS_VANISHED;
}

/* Of one kernel all that there is, of another what is not told apart. */
static void add_configs(struct session *s)
{
	const struct session_config of[] = {
		{.node = 3,
		 .device = 0,
		 .process = 0,
		 .of = {{{1, 2, 3}, {4, 5, 6}}, {7, 8, 9}, 10, 11, 12, 13},
		 .count = 14,
		 .time_ns = UINT64_MAX},
		{.node = 3, .device = 1, .process = SESSION_NONE, .count = 1, .time_ns = 2}};

	for (size_t i = 0; i < sizeof(of) / sizeof(*of); i++)
		*session_config_of(s, &of[i]) = of[i];
}

/* One time of all numbers, and one of the least that there may be. */
static void add_counters(struct session *s)
{
	struct session_counters c = {.device = 0,
				     .of = {.start_ns = UINT64_C(1700000000000000000),
					    .end_ns = UINT64_C(1700000000010000000),
					    .counted_ns = 9000000,
					    .n = 9}};

	for (unsigned i = 0; i < COUNTED_N; i++)
		c.of.v[i] = i * 12.5;
	(void)session_counters_add(s, &c);
	c.device = 1;
	counted_init(&c.of);
	c.of.end_ns = c.of.counted_ns = c.of.n = 1;
	c.of.v[COUNTED_TENSOR] = 50;
	(void)session_counters_add(s, &c);
}

static void add_devices(struct session *s)
{
	struct session_device d = {
		.type = str(s, "CUDA"),
		.name = str(s, "NVIDIA H200"),
		.arch = str(s, "90"),
		.uuid = str(s, "GPU-1234"),
		.driver = str(s, "575.57"),
		.host = str(s, "node1"),
		.index = 0,
		.num_sms = 132,
		.clock_khz = 1980000,
		.memory_clock_khz = 3201000,
		.bus_width_bits = 6016,
		.memory_bytes = UINT64_C(150754820096),
	};

	session_device_intern(s, &d);
	d.host = str(s, "node2"); /* same type and index */
	d.uuid = str(s, "GPU-5678");
	session_device_intern(s, &d);
	d = (struct session_device){.type = str(s, "OpenCL"), .index = 1, .name = str(s, "pocl")};
	session_device_intern(s, &d);
}

static uint32_t lane(struct session *s, uint32_t process, uint32_t device, uint32_t stream,
		     uint64_t thread)
{
	struct session_lane l = {process, device, 1, stream, thread};

	return session_lane_intern(s, &l);
}

static void kernel(struct session *s, uint32_t node, uint32_t l, uint32_t epoch, uint64_t time,
		   uint64_t count, uint64_t min, uint64_t max)
{
	uint32_t row = session_row_intern(s, node, l, epoch, SET_KERNEL);
	const uint64_t v[] = {time, count, min, max};

	for (uint32_t i = 0; i < 4; i++)
		session_row_set(s, row, i, (union metric_value){.u64 = v[i]});
}

static void add_copy(struct session *s, uint32_t node, uint32_t l)
{
	static const uint32_t copy[] = {METRIC_BYTES, METRIC_ASYNC, METRIC_DIRECTION};
	uint32_t row = session_row_intern(s, node, l, 0, session_set_intern(s, copy, 3));

	kernel(s, node, l, 0, 5000, 2, 2000, 3000);
	session_row_set(s, row, 0, (union metric_value){.u64 = UINT64_MAX});
	session_row_set(s, row, 2, (union metric_value){.text = str(s, "HostToDevice")});
}

static uint32_t add_metric(struct session *s, const char *name, enum metric_type type,
			   enum metric_scope scope, enum metric_add add, uint32_t weight)
{
	struct metric m = {name, "W", (uint8_t)type, (uint8_t)scope, (uint8_t)add, weight};

	return metric_table_add(s->metrics, &m);
}

/* A set with every type and every way of adding, and values that are hard to write. */
static void add_odd_values(struct session *s, uint32_t node, uint32_t l)
{
	const uint32_t set[] = {
		add_metric(s, "unused", METRIC_U64, METRIC_INCLUSIVE, METRIC_SUM, METRIC_NONE),
		add_metric(s, "peak", METRIC_U64, METRIC_INCLUSIVE, METRIC_MAX, METRIC_NONE),
		add_metric(s, "occupancy", METRIC_F64, METRIC_INCLUSIVE, METRIC_WMEAN,
			   METRIC_COUNT),
		add_metric(s, "loss", METRIC_F64, METRIC_EXCLUSIVE, METRIC_LAST, METRIC_NONE),
		add_metric(s, "tag", METRIC_TEXT, METRIC_PROPERTY, METRIC_LAST, METRIC_NONE),
		add_metric(s, "low", METRIC_F64, METRIC_INCLUSIVE, METRIC_MIN, METRIC_NONE),
		METRIC_FLOPS16,
		METRIC_FLOPS,
	};
	uint32_t row = session_row_intern(s, node, l, 1, session_set_intern(s, set, 8));

	session_row_set(s, row, 1, (union metric_value){.u64 = UINT64_MAX - 1});
	session_row_set(s, row, 2, (union metric_value){.f64 = 0.1});
	session_row_set(s, row, 3, (union metric_value){.f64 = NAN});
	session_row_set(s, row, 4, (union metric_value){.text = str(s, "a\x80\"b\\\n")});
	session_row_set(s, row, 5, (union metric_value){.f64 = -INFINITY});
	session_row_set(s, row, 6, (union metric_value){.f64 = 6442450944.0});
}

static void add_nodes(struct session *s)
{
	uint32_t l0 = lane(s, 0, 0, 7, 1001), l1 = lane(s, 0, 1, 8, 1002);
	uint32_t host = lane(s, 1, SESSION_NONE, 0, 1003), bare = lane(s, SESSION_NONE, 0, 0, 0);
	struct session_module m = {str(s, "abcdef0123"), str(s, "/lib/libapp.so"), 0x7f0000000000,
				   0x20000};
	uint32_t module = session_module_intern(s, &m), frame, node, forward, twin, k;

	forward = session_node(s, SESSION_ROOT, FRAME_SCOPE, "forward");
	twin = session_node(s, SESSION_ROOT, FRAME_NVTX, "forward"); /* folded in the file */
	k = session_node(s, forward, FRAME_KERNEL, "_Z6matmulPfS_S_");
	kernel(s, k, l0, 0, 600, 3, 100, 300);
	kernel(s, k, l1, 1, 900, 4, 90, 310);
	add_odd_values(s, k, l0);
	kernel(s, session_node(s, twin, FRAME_KERNEL, "_Z6matmulPfS_S_"), l0, 0, 50, 1, 50, 50);
	session_node(s, twin, FRAME_FUNCTION, "only below the twin");
	add_copy(s, session_node(s, forward, FRAME_COPY, "memcpy HtoD pinned"), l0);
	kernel(s, session_node(s, forward, FRAME_KERNEL, "plain"), bare, 0, 10, 1, 10, 10);
	node = session_node(s, SESSION_ROOT, FRAME_PYTHON, "bad \xc3\x28 name");
	session_add(s, node, host, 0, METRIC_CPU_TIME, (union metric_value){.u64 = 812345});
	session_node(s, node, FRAME_SCOPE, "");
	frame = session_frame_intern(s, FRAME_NATIVE, 0, module, 0x1f40);
	node = session_node_intern(s, SESSION_ROOT, frame);
	frame = session_frame_intern(s, FRAME_NATIVE, 0, module, 0x2000);
	session_frame_symbol(s, frame, str(s, "main"), str(s, "app.c"), 42);
	session_node_intern(s, node, frame);
	session_add(s, SESSION_ROOT, host, 0, METRIC_CPU_COUNT, (union metric_value){.u64 = 0});
	for (unsigned i = 0; i < FRAME_N_KINDS; i++)
		if (i != FRAME_ROOT)
			session_node(s, node, (enum frame_kind)i, frame_kind_word(i));
}

/* Words with blanks, quotes, bytes that are not UTF-8, and an empty one. */
static void add_run(struct session *s)
{
	static const char command[] = "python3\0tr\xff.py\0\0--name=it's a \"test\"";
	static const char environment[] = "OMP_NUM_THREADS=8\0EMPTY=";
	struct session_run run = {
		.strings[RUN_COMMAND] = strtab_add(s->strings, command, sizeof(command)),
		.strings[RUN_ENVIRONMENT] =
			strtab_add(s->strings, environment, sizeof(environment)),
		.strings[RUN_FOLDER] = str(s, "/home/\xe2\x82\xac"),
		.strings[RUN_HOST] = str(s, "gpu17"),
		.strings[RUN_LABEL] = str(s, "after the fix"),
		.strings[RUN_VERSION] = str(s, "0.1.0"),
		.start_ns = UINT64_C(1700000000000000000),
		.wall_ns = UINT64_C(12345678901),
		.first_work_ns = UINT64_C(3000000000),
		.last_work_ns = UINT64_C(12000000000),
		.paused_ns = UINT64_C(500000000),
		.signal = 11,
		.end = PROCESS_ENDED,
	};

	session_run_add(s, &run);
	run.end = PROCESS_RUNS;
	run.signal = 0;
	run.strings[RUN_COMMAND] = run.strings[RUN_ENVIRONMENT] = run.strings[RUN_LABEL] = 0;
	session_run_add(s, &run);
}

static void add_rest(struct session *s)
{
	struct session_sample sample = {UINT64_C(1700000000200000000), 1, METRIC_NONE, 312.5, 0};
	struct session_interval interval = {10, 110, 3, 0};
	struct session_clock clock = {0, str(s, "realtime"), 1000, UINT64_C(1700000000000000000)};
	struct hist *h;

	sample.metric =
		add_metric(s, "power", METRIC_F64, METRIC_PROPERTY, METRIC_LAST, METRIC_NONE);
	session_sample_add(s, &sample);
	sample.device = sample.process = SESSION_NONE;
	sample.value = -0.0;
	session_sample_add(s, &sample);
	session_interval_add(s, &interval);
	interval.node = (uint32_t)s->n_nodes - 1;
	session_interval_add(s, &interval);
	session_clock_add(s, &clock);
	h = session_hist_of(s, 3, 0, 0);
	hist_count(h, 0, 1);
	hist_count(h, hist_bin(1000), 12);
	hist_count(h, HIST_BINS - 1, 4);
	h = session_hist_of(s, 3, SESSION_NONE, SESSION_NONE);
	hist_merge(h, &s->hists[0].hist);
	hist_count(h, 5, 7);
	add_configs(s);
	add_counters(s);
	session_note(s, 0, NOTE_WARNING, "CUPTI is held by 'Nsight \xe2\x82\xac'");
	session_note(s, SESSION_NONE, NOTE_INFO, "nothing to add");
	add_run(s);
	s->losses[LOSS_WIRE_ERROR] = UINT64_MAX;
	s->start_ns = UINT64_C(1700000000000000000);
	s->end_ns = UINT64_C(1700000060000000000);
	s->source = str(s, "./app --fast");
	s->ended = true;
}

struct session *sample_session(void)
{
	struct session *s = session_new();
	struct session_epoch e = {0, 0, 0};

	if (!s)
		abort();
	e = (struct session_epoch){str(s, "warmup"), 1, 2};
	session_epoch_intern(s, &e);
	add_processes(s);
	add_devices(s);
	add_nodes(s);
	add_rest(s);
	return s;
}

/* ---- comparing: both sessions as one text each ---- */

struct text {
	char *data;
	size_t len;
	FILE *f;
};

static void say_string(const struct session *s, struct text *t, uint32_t id)
{
	const char *p = strtab_str(s->strings, id);

	fputc('"', t->f);
	for (size_t i = 0; i < strtab_len(s->strings, id); i++)
		fprintf(t->f, (unsigned char)p[i] < 0x7f && p[i] > 0x1f ? "%c" : "\\%02x",
			(unsigned char)p[i]);
	fputs("\" ", t->f);
}

static void say_value(const struct session *s, struct text *t, uint32_t metric, uint32_t at)
{
	const struct metric *m = metric_table_get(s->metrics, metric);

	fprintf(t->f, "%s=", m->name);
	if (!s->present[at])
		fputs("absent ", t->f);
	else if (m->type == METRIC_TEXT)
		say_string(s, t, s->values[at].text);
	else if (m->type == METRIC_F64)
		fprintf(t->f, "%a ", isnan(s->values[at].f64) ? NAN : s->values[at].f64);
	else
		fprintf(t->f, "%llu ", (unsigned long long)s->values[at].u64);
}

static void say_frame(const struct session *s, struct text *t, const struct session_frame *f)
{
	fprintf(t->f, "%s %u+%llx :%u ", frame_kind_word(f->kind), f->module,
		(unsigned long long)f->offset, f->line);
	say_string(s, t, f->name);
	say_string(s, t, f->symbol);
	say_string(s, t, f->file);
}

static void say_hists(const struct session *s, struct text *t, uint32_t node)
{
	for (size_t i = 0; i < s->n_hists; i++) {
		const struct session_hist *h = &s->hists[i];

		if (h->node != node)
			continue;
		fprintf(t->f, "  hist device %u process %u:", h->device, h->process);
		for (unsigned i = 0; i < h->hist.n * HIST_WIDTH; i++) {
			const struct hist_octave *octave = &h->hist.v[i / HIST_WIDTH];
			unsigned b = i % HIST_WIDTH;

			if (octave->n[b])
				fprintf(t->f, " %u:%u", octave->octave * HIST_WIDTH + b,
					octave->n[b]);
		}
		fputc('\n', t->f);
	}
}

static void say_node(const struct session *s, struct text *t, uint32_t node, unsigned depth)
{
	fprintf(t->f, "node %u ", depth);
	say_frame(s, t, &s->frames[s->nodes[node].frame]);
	fputc('\n', t->f);
	for (uint32_t id = session_first_row(s, node); id != SESSION_NONE;
	     id = session_next_row(s, id)) {
		const struct session_row *r = &s->rows[id];

		fprintf(t->f, "  row lane %u epoch %u: ", r->lane, r->epoch);
		for (uint32_t k = 0; k < s->sets[r->set].n; k++)
			say_value(s, t, s->sets[r->set].metrics[k], r->values + k);
		fputc('\n', t->f);
	}
	say_hists(s, t, node);
	for (size_t i = 0; i < s->n_intervals; i++)
		if (s->intervals[i].node == node)
			fprintf(t->f, "  interval %llu %llu %u\n",
				(unsigned long long)s->intervals[i].start_ns,
				(unsigned long long)s->intervals[i].end_ns, s->intervals[i].lane);
	for (uint32_t c = s->nodes[node].first_child; c != SESSION_NONE;
	     c = s->nodes[c].next_sibling)
		say_node(s, t, c, depth + 1);
}

static void say_process(const struct session *s, struct text *t, const struct session_process *p)
{
	fprintf(t->f, "process %llx %u %u %d %llu %u ", (unsigned long long)p->instance, p->pid,
		p->ppid, p->rank, (unsigned long long)p->start_ns, p->end);
	say_string(s, t, p->exe);
	say_string(s, t, p->cmdline);
	say_string(s, t, p->host);
	for (unsigned i = 0; i < LOSS_N; i++)
		fprintf(t->f, "%llu ", (unsigned long long)p->losses[i]);
	fprintf(t->f, "%llu %llu %d %llu %llu %llu %llu %llu %d\n",
		(unsigned long long)p->n_launches, (unsigned long long)p->n_records,
		p->launches_counted, (unsigned long long)p->oldest_ns,
		(unsigned long long)p->last_ns, (unsigned long long)p->own_cpu_ns,
		(unsigned long long)p->own_bytes, (unsigned long long)p->buffer_bytes, p->paused);
}

static void say_device(const struct session *s, struct text *t, const struct session_device *d)
{
	const uint32_t strings[] = {d->type, d->name, d->arch, d->uuid, d->driver, d->host};

	fputs("device ", t->f);
	for (size_t i = 0; i < ARRAY_SIZE(strings); i++)
		say_string(s, t, strings[i]);
	fprintf(t->f, "%d %u %u %u %u %llu\n", d->index, d->num_sms, d->clock_khz,
		d->memory_clock_khz, d->bus_width_bits, (unsigned long long)d->memory_bytes);
}

static void say_metrics(const struct session *s, struct text *t)
{
	for (uint32_t i = 0; i < metric_table_count(s->metrics); i++) {
		const struct metric *m = metric_table_get(s->metrics, i);

		fprintf(t->f, "metric %s %s %u %u %u %u\n", m->name, m->unit, m->type, m->scope,
			m->add, m->weight);
	}
}

static void say_tables(const struct session *s, struct text *t)
{
	size_t i;

	for (i = 0; i < s->n_processes; i++)
		say_process(s, t, &s->processes[i]);
	for (i = 0; i < s->n_devices; i++)
		say_device(s, t, &s->devices[i]);
	for (i = 0; i < s->n_lanes; i++)
		fprintf(t->f, "lane %u %u %u %u %llu\n", s->lanes[i].process, s->lanes[i].device,
			s->lanes[i].context, s->lanes[i].stream,
			(unsigned long long)s->lanes[i].thread);
	for (i = 0; i < s->n_epochs; i++) {
		fprintf(t->f, "epoch %u %u ", s->epochs[i].index, s->epochs[i].phase);
		say_string(s, t, s->epochs[i].name);
		fputc('\n', t->f);
	}
	for (i = 0; i < s->n_modules; i++) {
		fprintf(t->f, "module %llx %llx ", (unsigned long long)s->modules[i].base,
			(unsigned long long)s->modules[i].size);
		say_string(s, t, s->modules[i].build_id);
		say_string(s, t, s->modules[i].path);
		fputc('\n', t->f);
	}
}

static void say_rest(const struct session *s, struct text *t)
{
	size_t i;

	for (i = 0; i < s->n_notes; i++) {
		fprintf(t->f, "note %u %u ", s->notes[i].process, s->notes[i].level);
		say_string(s, t, s->notes[i].text);
		fputc('\n', t->f);
	}
	for (i = 0; i < s->n_samples; i++)
		fprintf(t->f, "sample %llu %u %s %a %u\n",
			(unsigned long long)s->samples[i].time_ns, s->samples[i].device,
			metric_table_get(s->metrics, s->samples[i].metric)->name,
			s->samples[i].value, s->samples[i].process);
	for (i = 0; i < s->n_clocks; i++) {
		fprintf(t->f, "clock %u %llu %llu ", s->clocks[i].process,
			(unsigned long long)s->clocks[i].monotonic_ns,
			(unsigned long long)s->clocks[i].clock_ns);
		say_string(s, t, s->clocks[i].name);
		fputc('\n', t->f);
	}
	for (i = 0; i < s->n_configs; i++) {
		const struct session_config *c = &s->configs[i];

		fprintf(t->f, "config %s %u %u", session_node_name(s, c->node), c->device,
			c->process);
		for (size_t k = 0; k < LAUNCH_CONFIG_WORDS; k++)
			fprintf(t->f, " %u", ((const uint32_t *)&c->of)[k]);
		fprintf(t->f, " %llu %llu\n", (unsigned long long)c->count,
			(unsigned long long)c->time_ns);
	}
	for (i = 0; i < s->n_counters; i++) {
		const struct counted *c = &s->counters[i].of;

		fprintf(t->f, "counters %u %llu %llu %llu %u", s->counters[i].device,
			(unsigned long long)c->start_ns, (unsigned long long)c->end_ns,
			(unsigned long long)c->counted_ns, c->n);
		for (unsigned k = 0; k < COUNTED_N; k++)
			fprintf(t->f, " %a", c->v[k]);
		fputc('\n', t->f);
	}
	for (i = 0; i < LOSS_N; i++)
		fprintf(t->f, "loss %llu\n", (unsigned long long)s->losses[i]);
	fprintf(t->f, "run %llu %llu %d ", (unsigned long long)s->start_ns,
		(unsigned long long)s->end_ns, s->ended);
	say_string(s, t, s->source);
	fprintf(t->f, "\ncounts %zu %zu %zu\n", s->n_nodes, s->n_rows, s->n_intervals);
}

static void say_session(const struct session *s, struct text *t)
{
	t->f = open_memstream(&t->data, &t->len);
	if (!t->f)
		abort();
	say_metrics(s, t);
	say_tables(s, t);
	say_node(s, t, SESSION_ROOT, 0);
	say_rest(s, t);
	fclose(t->f);
}

const char *sample_difference(const struct session *a, const struct session *b)
{
	static char line[1024];
	struct text x = {0}, y = {0};
	size_t i = 0, start = 0;

	say_session(a, &x);
	say_session(b, &y);
	for (; i < x.len && i < y.len && x.data[i] == y.data[i]; i++)
		if (x.data[i] == '\n')
			start = i + 1;
	line[0] = '\0';
	if (x.len != y.len || i < x.len)
		snprintf(line, sizeof(line), "'%.400s' is not '%.400s'",
			 strtok(x.data + start, "\n"), strtok(y.data + start, "\n"));
	free(x.data);
	free(y.data);
	return line;
}

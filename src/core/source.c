/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "core/source.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/util.h"
#include "core/line_name.h"

/* A row of the session that has samples. Frames: 0: there is none. */
struct found {
	uint32_t function, line, instruction; /* frames */
	uint32_t node;                        /* of the picture */
	size_t row;
	uint64_t offset;
};

struct finding {
	struct found *v;
	size_t n, cap;
};

void source_done(struct source *s)
{
	free(s->functions);
	free(s->lines);
	free(s->instructions);
	*s = (struct source){0};
}

/* ---- rows ---- */

static uint8_t kind_of(const struct session *s, uint32_t node)
{
	return s->frames[s->nodes[node].frame].kind;
}

static const char *frame_name(const struct session *s, uint32_t frame)
{
	return session_text(s, s->frames[frame].name);
}

/* From an instruction upwards: its line, and the kernel that it is of. */
static struct found place_of(struct snapshot *snap, uint32_t node)
{
	const struct session *s = snapshot_session(snap);
	struct found f = {0};
	struct pc_instruction is;

	if (kind_of(s, node) == FRAME_INSTRUCTION) {
		f.instruction = s->nodes[node].frame;
		if (pc_instruction_parse(frame_name(s, f.instruction), &is))
			f.offset = is.offset;
		node = s->nodes[node].parent;
	}
	/* Triton's Proton has samples of lines, and none of instructions. The innermost one says where the code is; those
	 * above it called what was inlined there. */
	if (kind_of(s, node) == FRAME_LINE)
		f.line = s->nodes[node].frame;
	while (kind_of(s, node) == FRAME_LINE)
		node = s->nodes[node].parent;
	f.function = snapshot_function(snap, s->nodes[node].frame);
	return f;
}

/* They may be in several rows of a node, each with some of the metrics. */
static bool has_samples(const struct session *s, const struct session_row *row)
{
	const struct session_set *set = &s->sets[row->set];

	for (uint32_t i = 0; i < set->n; i++)
		if (set->metrics[i] >= METRIC_STALLED_LONG_SCOREBOARD &&
		    set->metrics[i] <= METRIC_STALLED_OTHER)
			return true;
	return false;
}

/* The context of the picture that a function's samples are below. */
static uint32_t function_node(struct snapshot *snap, size_t row)
{
	uint32_t node = snapshot_row_node(snap, row);
	const struct snap_node *n = snapshot_node(snap, node);

	for (; n->kind == FRAME_INSTRUCTION || n->kind == FRAME_LINE; n = snapshot_node(snap, node))
		node = n->parent;
	return node;
}

static int find(struct finding *all, struct numbers *numbers)
{
	struct snapshot *snap = numbers_snapshot(numbers);
	const struct session *s = snapshot_session(snap);

	for (size_t i = 0; i < s->n_rows; i++) {
		if (!has_samples(s, &s->rows[i]) || !numbers_row_counts(numbers, i))
			continue;
		if (ARRAY_ROOM(all->v, all->cap, all->n + 1) < 0)
			return -ENOMEM;
		all->v[all->n] = place_of(snap, s->rows[i].node);
		all->v[all->n].node = function_node(snap, i);
		all->v[all->n++].row = i;
	}
	return 0;
}

/* By function, file, line, and offset; what is not known stands last. */
static int by_place(const void *a, const void *b, void *ctx)
{
	const struct found *x = a, *y = b;
	const struct session *s = ctx;
	struct line_name x_at = {.line = 0}, y_at = {.line = 0};
	const char *x_name, *y_name;
	int by = COMPARE(x->function, y->function);

	by = by ? by : COMPARE(!x->line, !y->line);
	if (!by && x->line != y->line) {
		x_name = frame_name(s, x->line);
		y_name = frame_name(s, y->line);
		line_name_parse(x_name, strlen(x_name), &x_at);
		line_name_parse(y_name, strlen(y_name), &y_at);
		by = memcmp(x_name, y_name, MIN(x_at.file_len, y_at.file_len));
		by = by ? by : COMPARE(x_at.file_len, y_at.file_len);
		by = by ? by : COMPARE(x_at.line, y_at.line);
		by = by ? by : COMPARE(x->line, y->line);
	}
	by = by ? by : COMPARE(!x->instruction, !y->instruction);
	by = by ? by : COMPARE(x->offset, y->offset);
	by = by ? by : COMPARE(x->instruction, y->instruction);
	return by ? by : COMPARE(x->row, y->row);
}

/* ---- sums ---- */

static double number(const struct session *s, size_t row, uint32_t metric)
{
	double v = session_row_number(s, &s->rows[row], metric);

	return v > 0 ? v : 0;
}

static void take_row(struct source_mix *mix, const struct session *s, size_t row)
{
	for (uint32_t i = 0; i < PC_N_REASONS; i++) {
		double v = number(s, row, METRIC_STALLED_LONG_SCOREBOARD + i);

		mix->by[i] += v;
		mix->samples += v;
	}
}

static void add_mix(struct source_mix *sum, const struct source_mix *mix)
{
	sum->samples += mix->samples;
	for (int i = 0; i < PC_N_REASONS; i++)
		sum->by[i] += mix->by[i];
}

static int add_function(struct source *s, const struct found *f)
{
	if (ARRAY_ROOM(s->functions, s->cap_functions, s->n_functions + 1) < 0)
		return -ENOMEM;
	s->functions[s->n_functions++] =
		(struct source_function){.node = f->node, .first = s->n_lines};
	return 0;
}

static int add_line(struct source *s, const struct session *session, const struct found *f)
{
	struct source_line line = {.first = s->n_instructions};
	const char *name = f->line ? frame_name(session, f->line) : "";
	struct line_name at;

	if (ARRAY_ROOM(s->lines, s->cap_lines, s->n_lines + 1) < 0)
		return -ENOMEM;
	if (line_name_parse(name, strlen(name), &at)) {
		line.file = name;
		line.file_len = at.file_len;
		line.line = at.line;
	}
	s->lines[s->n_lines++] = line;
	s->functions[s->n_functions - 1].n++;
	return 0;
}

static int add_instruction(struct source *s, const struct session *session, const struct found *f)
{
	if (ARRAY_ROOM(s->instructions, s->cap_instructions, s->n_instructions + 1) < 0)
		return -ENOMEM;
	s->instructions[s->n_instructions++] = (struct source_instruction){
		.name = f->instruction ? frame_name(session, f->instruction) : NULL,
		.offset = f->offset};
	s->lines[s->n_lines - 1].n++;
	return 0;
}

/* What is new in a row that stands behind another one. */
static int add(struct source *s, const struct session *session, const struct found *f,
	       const struct found *before)
{
	bool new_function = !before || f->function != before->function;
	bool new_line = new_function || f->line != before->line;
	bool new_instruction = new_line || f->instruction != before->instruction;
	int r = new_function ? add_function(s, f) : 0;

	if (r == 0 && new_line)
		r = add_line(s, session, f);
	if (r == 0 && new_instruction)
		r = add_instruction(s, session, f);
	if (r == 0)
		take_row(&s->instructions[s->n_instructions - 1].mix, session, f->row);
	return r;
}

static void sum_up(struct source *s)
{
	for (size_t i = 0; i < s->n_functions; i++) {
		struct source_function *f = &s->functions[i];

		f->hottest = f->first;
		for (size_t k = f->first; k < f->first + f->n; k++) {
			struct source_line *line = &s->lines[k];

			for (size_t j = line->first; j < line->first + line->n; j++)
				add_mix(&line->mix, &s->instructions[j].mix);
			add_mix(&f->mix, &line->mix);
			if (source_stalled(&line->mix) > source_stalled(&s->lines[f->hottest].mix))
				f->hottest = k;
		}
		s->samples += f->mix.samples;
	}
}

static int by_samples(const void *a, const void *b)
{
	const struct source_function *x = a, *y = b;
	int by = -COMPARE(x->mix.samples, y->mix.samples);

	return by ? by : COMPARE(x->first, y->first);
}

int source_make(struct source *s, struct numbers *numbers)
{
	const struct session *session = snapshot_session(numbers_snapshot(numbers));
	struct finding all = {0};
	int r = find(&all, numbers);

	s->n_functions = s->n_lines = s->n_instructions = 0;
	s->samples = 0;
	if (r == 0 && all.n)
		qsort_r(all.v, all.n, sizeof(*all.v), by_place, (void *)session);
	for (size_t i = 0; i < all.n && r == 0; i++)
		r = add(s, session, &all.v[i], i ? &all.v[i - 1] : NULL);
	free(all.v);
	if (r < 0) {
		s->n_functions = s->n_lines = s->n_instructions = 0;
		return r;
	}
	sum_up(s);
	if (s->n_functions)
		qsort(s->functions, s->n_functions, sizeof(*s->functions), by_samples);
	return 0;
}

int source_picture_init(struct source_picture *p, const struct session *s)
{
	static const struct snapshot_spec spec = {.group = GROUP_NONE};

	*p = (struct source_picture){.snap = snapshot_new(s, &spec)};
	p->numbers = p->snap ? numbers_new(p->snap, NULL) : NULL;
	if (!p->numbers)
		return -ENOMEM;
	numbers_update(p->numbers, NULL);
	return source_make(&p->source, p->numbers);
}

void source_picture_done(struct source_picture *p)
{
	source_done(&p->source);
	numbers_free(p->numbers);
	snapshot_free(p->snap);
}

double source_stalled(const struct source_mix *mix)
{
	return mix->samples - mix->by[PC_SELECTED];
}

bool source_same_file(const struct source_line *a, const struct source_line *b)
{
	return a->file_len == b->file_len && !a->file == !b->file &&
	       (!a->file || !memcmp(a->file, b->file, a->file_len));
}

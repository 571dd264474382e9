/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include "base/human.h"
#include "core/source.h"
#include "findings/products.h"
#include "findings/rules.h"

enum { KERNELS_MAX = 3 };   /* of which something is said: those with the most samples */
#define LEAST_SAMPLES 100.0 /* of a kernel */
#define LEAST_RATIO   0.1   /* of a kernel's samples: a line that is worth a look */
#define TENSOR_RATIO  0.01  /* of these: it multiplies by warps that others feed */
#define PLACE_MAX     64

/* To issue is none; nor is another warp's turn, sleep that was asked for, or work of the pipe that the code is for. */
static bool is_loss(enum pc_reason reason)
{
	return reason != PC_SELECTED && reason != PC_NOT_SELECTED && reason != PC_SLEEPING &&
	       reason != PC_MATH_PIPE && reason != PC_GMMA;
}

static double lost(const struct source_mix *mix)
{
	double sum = 0;

	for (int i = 0; i < PC_N_REASONS; i++)
		sum += is_loss((enum pc_reason)i) ? mix->by[i] : 0;
	return sum;
}

static enum pc_reason largest(const struct source_mix *mix)
{
	int most = PC_OTHER;

	for (int i = 0; i < PC_N_REASONS; i++)
		if (is_loss((enum pc_reason)i) && mix->by[i] > mix->by[most])
			most = i;
	return (enum pc_reason)most;
}

/* Where most is lost: a line, or where lines are not known an instruction. */
struct place {
	const struct source_line *line; /* NULL: none */
	const struct source_mix *mix;
	uint64_t offset;
};

static struct place worst_place(const struct source *s, const struct source_function *f)
{
	struct place worst = {NULL, NULL, 0};

	for (size_t i = f->first; i < f->first + f->n; i++) {
		const struct source_line *line = &s->lines[i];

		if (line->file && (!worst.mix || lost(&line->mix) > lost(worst.mix)))
			worst = (struct place){line, &line->mix, 0};
		for (size_t k = line->first; !line->file && k < line->first + line->n; k++) {
			const struct source_instruction *is = &s->instructions[k];

			if (is->name && (!worst.mix || lost(&is->mix) > lost(worst.mix)))
				worst = (struct place){NULL, &is->mix, is->offset};
		}
	}
	return worst;
}

/* "kernel.cu:28", "instruction +0x1d0" */
static const char *place_text(const struct place *at, char out[PLACE_MAX])
{
	const char *file, *slash;
	size_t len;

	if (!at->line) {
		snprintf(out, PLACE_MAX, "instruction +0x%" PRIx64, at->offset);
		return out;
	}
	file = at->line->file;
	len = at->line->file_len;
	slash = memrchr(file, '/', len);
	if (slash) {
		len -= (size_t)(slash + 1 - file);
		file = slash + 1;
	}
	snprintf(out, PLACE_MAX, "%.*s:%u", (int)MIN(len, (size_t)40), file, at->line->line);
	return out;
}

/* All time of a kernel, in whatever contexts it ran, and those with the most of it. */
static double kernel_time(const struct evidence *e, const struct source_picture *p,
			  const struct source_function *f, struct most *most)
{
	const struct session *s = e->s;
	uint32_t node = snapshot_node(p->snap, f->node)->session_node;
	uint32_t function = node == SESSION_NONE ? SESSION_NONE
						 : snapshot_function(p->snap, s->nodes[node].frame);
	double ns = 0;

	for (size_t i = 0; i < e->n_own; i++) {
		const struct own *own = &e->own[i];

		if (own->kind != FRAME_KERNEL ||
		    snapshot_function(p->snap, s->nodes[own->node].frame) != function)
			continue;
		ns += own->sums.time_ns;
		most_insert(most, own->node, own->sums.time_ns);
	}
	return ns;
}

/* Do warps wait there while others work on purpose, as far as one can tell? Who has its source can. */
static bool is_meant(const struct evidence *e, const struct source_picture *p,
		     const struct source_function *f, const struct place *at)
{
	const struct snap_node *node = snapshot_node(p->snap, f->node);

	if (f->mix.by[PC_GMMA] + f->mix.by[PC_WARPGROUP] > TENSOR_RATIO * f->mix.samples)
		return true;
	return !at->line && node->session_node != SESSION_NONE &&
	       is_tuned(session_node_name(e->s, node->session_node));
}

static int tell(const struct evidence *e, const struct source_picture *p,
		const struct source_function *f, struct findings *ret)
{
	struct place at = worst_place(&p->source, f);
	char where[PLACE_MAX], share[HUMAN_MAX], samples[HUMAN_THINGS_MAX], of_these[HUMAN_MAX];
	struct most most = {.n = 0};
	struct finding *finding;
	enum pc_reason reason;
	double ratio, price_ns;

	if (!at.mix || f->mix.samples < LEAST_SAMPLES || is_meant(e, p, f, &at))
		return 0;
	ratio = lost(at.mix) / f->mix.samples;
	price_ns = ratio * kernel_time(e, p, f, &most);
	if (ratio < LEAST_RATIO || !evidence_matters(e, price_ns))
		return 0;
	finding = finding_add(ret, FINDING_HOT_LINES, FINDING_MAYBE, price_ns);
	if (!finding)
		return -ENOMEM;
	reason = largest(at.mix);
	finding->at_most = true;
	finding->advice = stall_meaning(reason);
	human_percent(share, ratio);
	human_things(samples, f->mix.samples, "sample");
	human_percent(of_these, at.mix->by[reason] / lost(at.mix));
	finding_say(finding, "%s: in %s %% of %s a warp waits there; in %s %% of these it %s (%s)",
		    place_text(&at, where), share, samples, of_these, stall_text(reason),
		    stall_word(reason));
	finding_name_most(finding, &most);
	return 0;
}

static int find(const struct evidence *e, struct findings *f)
{
	struct source_picture p = {.snap = NULL};
	unsigned n = 0;
	int r;

	if (!session_has_values(e->s, METRIC_PC_SAMPLES) &&
	    !session_has_values(e->s, METRIC_PC_STALLED_SAMPLES))
		return 0;
	r = source_picture_init(&p, e->s);
	for (size_t i = 0; r == 0 && i < p.source.n_functions && n < KERNELS_MAX; i++, n++)
		r = tell(e, &p, &p.source.functions[i], f);
	source_picture_done(&p);
	return r;
}

const struct rule rule_HOT_LINES = {
	.title = "warps wait at one line",
	.advice = "report --view source has the lines of a kernel with what they wait for.",
	.find = find,
};

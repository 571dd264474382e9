/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
/* Source and instructions of kernels, with the samples of each and what they waited for. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/buf.h"
#include "base/human.h"
#include "base/util.h"
#include "core/source.h"
#include "naming/listing.h"
#include "report/report_impl.h"
#include "report/table.h"
#include "report/words.h"

enum {
	FUNCTIONS_MAX = 10, /* where no number was asked for */
	WIDE = 120,         /* columns of a line that has room for several reasons */
};

struct table {
	struct report *r;
	struct listing l;
	struct buf text; /* of the row that is being put */
};

/* ---- cells ---- */

static const struct listing_row *row_of(const void *ctx, size_t row)
{
	return &((const struct table *)ctx)->l.v[row];
}

static void put_samples(const void *ctx, size_t row, char out[CELL_MAX])
{
	const struct source_mix *mix = row_of(ctx, row)->mix;

	*out = '\0';
	if (mix)
		human_count(out, mix->samples);
}

static void put_share(const void *ctx, size_t row, char out[CELL_MAX])
{
	const struct source_mix *mix = row_of(ctx, row)->mix;

	*out = '\0';
	if (mix)
		human_percent(out,
			      mix->samples / ((const struct table *)ctx)->l.function->mix.samples);
}

static void put_issued(const void *ctx, size_t row, char out[CELL_MAX])
{
	const struct source_mix *mix = row_of(ctx, row)->mix;

	*out = '\0';
	if (mix)
		human_percent(out, mix->by[PC_SELECTED] / mix->samples);
}

static void put_stalls(const void *ctx, size_t row, char out[CELL_MAX])
{
	const struct source_mix *mix = row_of(ctx, row)->mix;
	unsigned width = ((const struct table *)ctx)->r->o->width;

	*out = '\0';
	if (mix)
		source_top_text(mix, width && width < WIDE ? 1 : STALLS_TOP, out);
}

/* The hottest line is marked. */
static void put_place(const void *ctx, size_t row, char out[CELL_MAX])
{
	const struct listing *l = &((const struct table *)ctx)->l;
	const struct listing_row *is = row_of(ctx, row);
	char place[LISTING_PLACE_MAX];
	bool is_hottest = is->mix && is->line && is->of == &l->source->lines[l->function->hottest];

	snprintf(out, CELL_MAX, "%s%s", is_hottest ? "> " : "", listing_place(is, place));
}

static const char *row_text(const void *ctx, size_t row)
{
	struct table *t = (struct table *)ctx;

	buf_clear(&t->text);
	listing_text(&t->l, &t->l.v[row], &t->text);
	return buf_str(&t->text);
}

/* ---- functions ---- */

/* What to look at first, in words. */
static void put_hottest(struct report *r, const struct source *s, const struct source_function *f)
{
	const struct source_line *line = &s->lines[f->hottest];
	struct out *out = r->out;
	enum pc_reason top[STALLS_TOP];
	char share[HUMAN_MAX];

	if (!source_top(&line->mix, top))
		return;
	human_percent(share, line->mix.samples / f->mix.samples);
	out_puts(out, "hottest: ");
	if (line->file) {
		put_shown(out, line->file, line->file_len);
		out_printf(out, ":%u", line->line);
	} else {
		out_puts(out, "(no line is known)");
	}
	out_printf(out, ", %s %%: %s (%s)\n", share, stall_text(top[0]), stall_word(top[0]));
}

static void put_newer(struct report *r, const struct source *s, const struct source_function *f)
{
	const struct code_reader *code = r->o->code;
	const struct source_line *lines = s->lines + f->first;

	for (size_t i = 0; code && i < f->n; i++) {
		if (!lines[i].file || (i && source_same_file(&lines[i - 1], &lines[i])) ||
		    !code->is_newer(code->ctx, lines[i].file, lines[i].file_len))
			continue;
		put_shown(r->out, lines[i].file, lines[i].file_len);
		out_puts(r->out,
			 " was changed after the profile was made: its lines may have moved\n");
	}
}

static int put_function(struct report *r, const struct source *s, const struct source_function *f)
{
	static const struct word_column columns[] = {
		{"SAMPLES", false, put_samples, 0},
		{"%", false, put_share, 4},
		{"ISSUED%", false, put_issued, 5},
		{"STALLED BY %", true, put_stalls, 3},
		{"LINE", false, put_place, 0},
		{.title = "SOURCE", .left = true, .name = row_text},
	};
	struct table t = {
		.r = r,
		.l = {.source = s, .function = f, .code = r->o->code, .naming = r->o->naming}};
	char samples[HUMAN_THINGS_MAX], share[HUMAN_MAX], issued[HUMAN_MAX];
	int e;

	human_things(samples, f->mix.samples, "sample");
	human_percent(share, f->mix.samples / s->samples);
	human_percent(issued, f->mix.by[PC_SELECTED] / f->mix.samples);
	out_putc(r->out, '\n');
	put_name(r->out, report_name(r, f->node), 0, r->o->ascii);
	out_printf(r->out, "\n%s, %s %% of all; in %s %% the warp issued\n", samples, share,
		   issued);
	put_hottest(r, s, f);
	put_newer(r, s, f);
	e = listing_make(&t.l);
	if (e == 0)
		put_words(&(struct word_table){columns, ARRAY_SIZE(columns), t.l.n, &t}, r->o,
			  r->out);
	listing_done(&t.l);
	buf_done(&t.text);
	return e;
}

static void put_meaning(struct report *r, enum pc_reason reason)
{
	_cleanup_(buf_done) struct buf text = {0};

	buf_printf(&text, "%s: %s. %s", stall_word(reason), stall_text(reason),
		   stall_meaning(reason));
	if (r->o->width)
		put_wrapped(r->out, buf_str(&text), 0, r->o->width);
	else
		out_puts(r->out, buf_str(&text));
	out_putc(r->out, '\n');
}

/* What the reasons mean that are among the largest anywhere. */
static void put_meanings(struct report *r, const struct source *s, size_t n)
{
	bool is_told[PC_N_REASONS] = {false};
	enum pc_reason top[STALLS_TOP];

	for (size_t i = 0; i < n; i++)
		for (unsigned k = source_top(&s->functions[i].mix, top); k-- > 0;)
			is_told[top[k]] = true;
	out_putc(r->out, '\n');
	for (int i = 0; i < PC_N_REASONS; i++)
		if (is_told[i])
			put_meaning(r, (enum pc_reason)i);
}

static int put_text(struct report *r, const struct source *s)
{
	const struct code_reader *code = r->o->code;
	size_t n = MIN(r->o->rows ? r->o->rows : FUNCTIONS_MAX, s->n_functions);
	int e = 0;

	if (!n)
		out_puts(r->out, SOURCE_NONE "\n");
	for (size_t i = 0; i < n && e == 0; i++)
		e = put_function(r, s, &s->functions[i]);
	if (e == 0 && n)
		put_meanings(r, s, n);
	if (e == 0 && code && code->why(code->ctx))
		out_printf(r->out, "(instructions by their offset alone: %s)\n",
			   code->why(code->ctx));
	return e;
}

int view_source(struct report *r)
{
	struct source s = {0};
	int e = source_make(&s, r->numbers);

	if (e == 0 && r->o->json)
		source_json(r, &s, r->o->rows ? MIN(r->o->rows, s.n_functions) : s.n_functions);
	else if (e == 0)
		e = put_text(r, &s);
	source_done(&s);
	return e;
}

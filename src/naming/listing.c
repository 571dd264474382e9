/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "naming/listing.h"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/util.h"

enum {
	AROUND = 2, /* lines without samples that are shown beside one that has some */
	TAB = 8
};

/* ---- rows ---- */

static int add(struct listing *l, struct listing_row row)
{
	if (ARRAY_ROOM(l->v, l->cap, l->n + 1) < 0)
		return -ENOMEM;
	l->v[l->n++] = row;
	return 0;
}

/* Lines from `from` to before `to` that have a text. */
static int add_plain(struct listing *l, const struct source_line *of, uint32_t from, uint32_t to)
{
	const struct code_reader *code = l->code;
	int e = 0;

	for (uint32_t i = MAX(from, 1u); code && i < to && e == 0; i++)
		if (code->line(code->ctx, of->file, of->file_len, i).text)
			e = add(l, (struct listing_row){.of = of, .line = i});
	return e;
}

/* A line with samples, and what is around it; before, after: its neighbours with samples, or NULL. */
static int add_line(struct listing *l, const struct source_line *line,
		    const struct source_line *before, const struct source_line *after)
{
	bool is_first = !before || !source_same_file(before, line);
	bool is_last = !after || !source_same_file(after, line);
	uint32_t from = line->line > AROUND ? line->line - AROUND : 1;
	int e = is_first ? add(l, (struct listing_row){.of = line,
						       .mix = line->file ? NULL : &line->mix})
			 : 0;

	if (!is_first && before->line + AROUND + 1 > from)
		from = MIN(before->line + AROUND + 1, line->line);
	if (e == 0 && line->file) {
		e = add_plain(l, line, from, line->line);
		e = e ? e
		      : add(l, (struct listing_row){
				       .of = line, .line = line->line, .mix = &line->mix});
	}
	for (size_t i = line->first; i < line->first + line->n && e == 0; i++)
		if (l->source->instructions[i].name)
			e = add(l, (struct listing_row){.of = line,
							.instruction = &l->source->instructions[i],
							.mix = &l->source->instructions[i].mix});
	if (e == 0 && line->file)
		e = add_plain(l, line, line->line + 1,
			      is_last ? line->line + AROUND + 1
				      : MIN(line->line + AROUND + 1, after->line));
	return e;
}

int listing_make(struct listing *l)
{
	const struct source_line *lines = l->source->lines + l->function->first;
	int e = 0;

	for (size_t i = 0; i < l->function->n && e == 0; i++)
		e = add_line(l, &lines[i], i ? &lines[i - 1] : NULL,
			     i + 1 < l->function->n ? &lines[i + 1] : NULL);
	return e;
}

void listing_done(struct listing *l)
{
	free(l->v);
	l->v = NULL;
	l->n = l->cap = 0;
}

/* ---- texts ---- */

static void put_source(struct buf *out, struct source_text text)
{
	size_t column = 0;

	for (size_t i = 0; i < text.len; i++) {
		size_t n = text.text[i] == '\t' ? TAB - column % TAB : 1;

		if (text.text[i] == '\t')
			buf_printf(out, "%*s", (int)n, "");
		else
			buf_putc(out, text.text[i]);
		column += n;
	}
}

static void put_function_name(const struct listing *l, const char *raw, struct buf *out)
{
	_cleanup_(freep) char *name = raw ? l->naming->name(raw, FRAME_KERNEL, 0) : NULL;

	buf_puts(out, name ? name : raw ? raw : "?");
}

/* "  (weight, from line 11 of scaled, from line 19 of gather)": of what is not the function's own. */
static void put_inlined(const struct listing *l, const struct pc_instruction *is, struct buf *out)
{
	const struct code_reader *code = l->code;
	struct object_function at[NATIVE_INLINED_MAX];
	unsigned n = code->functions(code->ctx, is, at);

	if (n < 2)
		return;
	buf_puts(out, "  (");
	put_function_name(l, at[n - 1].name, out);
	while (--n > 0) {
		buf_printf(out, ", from line %u of ", at[n - 1].line);
		put_function_name(l, at[n - 1].name, out);
	}
	buf_puts(out, ")");
}

static void put_instruction(const struct listing *l, const struct source_instruction *instruction,
			    struct buf *out)
{
	const struct code_reader *code = l->code;
	struct pc_instruction is;
	const char *text;

	if (!code || !instruction->name || !pc_instruction_parse(instruction->name, &is))
		return;
	text = code->instruction(code->ctx, &is);
	buf_printf(out, "    %s", text ? text : "");
	put_inlined(l, &is, out);
}

/* Who has its source elsewhere can say where. */
static void put_file(const struct listing *l, const struct source_line *of, struct buf *out)
{
	const struct code_reader *code = l->code;

	buf_put(out, of->file, of->file_len);
	if (code && !code->line(code->ctx, of->file, of->file_len, of->line).text)
		buf_puts(out, "  (not found: view and report take --source-path FOLDER)");
}

void listing_text(const struct listing *l, const struct listing_row *row, struct buf *out)
{
	const struct code_reader *code = l->code;

	if (row->instruction)
		put_instruction(l, row->instruction, out);
	else if (!row->of->file)
		buf_puts(out, "(no line is known: compile with -lineinfo)");
	else if (!row->line)
		put_file(l, row->of, out);
	else if (code)
		put_source(out, code->line(code->ctx, row->of->file, row->of->file_len, row->line));
}

const char *listing_place(const struct listing_row *row, char out[LISTING_PLACE_MAX])
{
	*out = '\0';
	if (row->instruction && row->instruction->name)
		snprintf(out, LISTING_PLACE_MAX, "+0x%04" PRIx64, row->instruction->offset);
	else if (!row->instruction && row->line)
		snprintf(out, LISTING_PLACE_MAX, "%u", row->line);
	return out;
}

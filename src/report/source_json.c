/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
/* Source and instructions of kernels with their samples, for programs: docs/formats.md. */
#include <stdio.h>
#include <string.h>
#include "base/util.h"
#include "core/source.h"
#include "format/json_writer.h"
#include "naming/code.h"
#include "report/report_impl.h"

static const char *const reason_keys[PC_N_REASONS] = {
#define _(id, key, theirs) [PC_##id] = key,
	PC_REASONS(_)
#undef _
};

struct source_printer {
	struct json_writer w;
	const struct source *source;
	const struct code_reader *code; /* NULL: there are no texts */
};

/* A sum that is too large for a whole number, of a hostile file, is none. */
static void json_count(struct json_writer *w, const char *key, double n)
{
	jsonw_key(w, key);
	if (n < 0x1p53)
		jsonw_u64(w, (uint64_t)n);
	else
		jsonw_f64(w, n);
}

/* All that was sampled; of reasons those that occur, among them "selected", in which the warp issued. */
static void json_mix(struct json_writer *w, const struct source_mix *mix)
{
	json_count(w, "samples", mix->samples);
	jsonw_key(w, "reasons");
	jsonw_object_flat(w);
	for (int i = 0; i < PC_N_REASONS; i++)
		if (mix->by[i] > 0)
			json_count(w, reason_keys[i], mix->by[i]);
	jsonw_object_end(w);
}

static void json_text(struct json_writer *w, const char *key, const char *text, size_t len)
{
	jsonw_key(w, key);
	if (text)
		jsonw_string(w, text, len);
	else
		jsonw_null(w);
}

/* What it was inlined in, innermost first. */
static void json_inlined(struct source_printer *p, const struct pc_instruction *is)
{
	struct object_function at[NATIVE_INLINED_MAX];
	unsigned n = p->code ? p->code->functions(p->code->ctx, is, at) : 0;

	jsonw_key_array(&p->w, "inlined_in");
	while (n-- > 1) {
		jsonw_object_flat(&p->w);
		json_text(&p->w, "function", at[n - 1].name,
			  at[n - 1].name ? strlen(at[n - 1].name) : 0);
		jsonw_key_u64(&p->w, "line", at[n - 1].line);
		jsonw_object_end(&p->w);
	}
	jsonw_array_end(&p->w);
}

static void json_instruction(struct source_printer *p, const struct source_instruction *i)
{
	struct pc_instruction is;
	const char *text;
	char cubin[32];

	if (!i->name || !pc_instruction_parse(i->name, &is))
		return;
	text = p->code ? p->code->instruction(p->code->ctx, &is) : NULL;
	snprintf(cubin, sizeof(cubin), PC_CUBIN_NAME, is.cubin);
	jsonw_object(&p->w);
	jsonw_key_u64(&p->w, "offset", is.offset);
	json_text(&p->w, "function", is.function, is.function_len);
	jsonw_key_text(&p->w, "cubin", cubin);
	json_text(&p->w, "text", text, text ? strlen(text) : 0);
	json_inlined(p, &is);
	json_mix(&p->w, &i->mix);
	jsonw_object_end(&p->w);
}

static void json_line(struct source_printer *p, const struct source_line *line)
{
	const struct code_reader *code = p->code;
	struct source_text text = {0};

	if (code && line->file)
		text = code->line(code->ctx, line->file, line->file_len, line->line);
	jsonw_object(&p->w);
	json_text(&p->w, "file", line->file, line->file_len);
	jsonw_key(&p->w, "line");
	if (line->file)
		jsonw_u64(&p->w, line->line);
	else
		jsonw_null(&p->w);
	json_text(&p->w, "source", text.text, text.len);
	jsonw_key(&p->w, "is_newer");
	jsonw_bool(&p->w,
		   code && line->file && code->is_newer(code->ctx, line->file, line->file_len));
	json_mix(&p->w, &line->mix);
	jsonw_key_array(&p->w, "instructions");
	for (size_t i = 0; i < line->n; i++)
		json_instruction(p, &p->source->instructions[line->first + i]);
	jsonw_array_end(&p->w);
	jsonw_object_end(&p->w);
}

static void json_function(struct source_printer *p, struct report *r,
			  const struct source_function *f)
{
	uint32_t node = snapshot_node(r->snap, f->node)->session_node;

	jsonw_object(&p->w);
	jsonw_key_text(&p->w, "name", session_node_name(r->s, node));
	jsonw_key_text(&p->w, "short", report_name(r, f->node));
	json_mix(&p->w, &f->mix);
	jsonw_key_u64(&p->w, "hottest", f->hottest - f->first);
	jsonw_key_array(&p->w, "lines");
	for (size_t i = 0; i < f->n; i++)
		json_line(p, &p->source->lines[f->first + i]);
	jsonw_array_end(&p->w);
	jsonw_object_end(&p->w);
}

void source_json(struct report *r, const struct source *s, size_t n)
{
	struct source_printer p = {.source = s, .code = r->o->code};
	const char *why;

	jsonw_init(&p.w, r->out, false);
	jsonw_object(&p.w);
	jsonw_key_text(&p.w, "schema", "proton-source");
	jsonw_key_u64(&p.w, "version", 1);
	json_count(&p.w, "samples", s->samples);
	jsonw_key_array(&p.w, "functions");
	for (size_t i = 0; i < n; i++)
		json_function(&p, r, &s->functions[i]);
	jsonw_array_end(&p.w);
	why = p.code ? p.code->why(p.code->ctx) : NULL;
	json_text(&p.w, "no_instructions", why, why ? strlen(why) : 0);
	jsonw_object_end(&p.w);
	out_putc(r->out, '\n');
}

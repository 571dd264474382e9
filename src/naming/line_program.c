/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "naming/line_program.h"
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "base/buf.h"
#include "base/strtab.h"
#include "base/util.h"

/* More than the largest libraries have. What comes after them has no line. */
enum { ROWS_MAX = 4 << 20, FILES_MAX = 65536, TEXTS_MAX = 64 << 20 };

/* The standard opcodes, and extended ones. */
enum {
	LNS_COPY = 1,
	LNS_ADVANCE_PC = 2,
	LNS_ADVANCE_LINE = 3,
	LNS_SET_FILE = 4,
	LNS_CONST_ADD_PC = 8,
	LNS_FIXED_ADVANCE_PC = 9,
	LNE_END_SEQUENCE = 1,
	LNE_SET_ADDRESS = 2,
	LNE_DEFINE_FILE = 3,
	LNE_NVIDIA_INLINED_CALL =
		0x90, /* the row of the call, 0: none; the function's name in .debug_str */
	LNE_NVIDIA_FUNCTION_NAME = 0x91,
};

struct row {
	uint64_t address;
	uint32_t section, sequence; /* sequence: its first row */
	uint32_t file;              /* of the texts */
	uint32_t line;
	uint64_t
		function; /* in .debug_str, from 1 on; 0: not told. Where nothing is inlined it is that of a row before */
	uint32_t call; /* of the sequence, from 1 on; 0: not inlined */
	bool is_end;
};

struct line_program {
	struct row *rows; /* as they were told */
	uint32_t *order;  /* of them, by place */
	size_t n, cap;
	struct strtab *texts; /* names of files */
	const char *strings;
	size_t n_strings; /* up to the last one that ends */
};

/* ---- bytes ---- */

struct cursor {
	const uint8_t *at, *end;
	bool failed;
};

static size_t left(const struct cursor *c)
{
	return (size_t)(c->end - c->at);
}

static uint64_t take_number(struct cursor *c, size_t size)
{
	uint64_t v = 0;

	if (left(c) < size) {
		c->failed = true;
		c->at = c->end;
		return 0;
	}
	for (size_t i = 0; i < size; i++)
		v |= (uint64_t)c->at[i] << (8 * i);
	c->at += size;
	return v;
}

static uint64_t take_leb(struct cursor *c, unsigned *ret_bits)
{
	uint64_t v = 0;
	unsigned shift = 0;
	uint8_t byte;

	do {
		byte = (uint8_t)take_number(c, 1);
		if (shift < 64)
			v |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80);
	*ret_bits = (byte & 0x40) ? shift : 64;
	return v;
}

static uint64_t take_unsigned(struct cursor *c)
{
	unsigned bits;

	return take_leb(c, &bits);
}

static int64_t take_signed(struct cursor *c)
{
	unsigned bits;
	uint64_t v = take_leb(c, &bits);

	if (bits < 64)
		v |= UINT64_MAX << bits;
	return (int64_t)v;
}

static const char *take_text(struct cursor *c)
{
	const uint8_t *text = c->at, *end = left(c) ? memchr(text, 0, left(c)) : NULL;

	if (!end) {
		c->failed = true;
		c->at = c->end;
		return "";
	}
	c->at = end + 1;
	return (const char *)text;
}

/* The next so many bytes, by themselves. */
static struct cursor take_part(struct cursor *c, uint64_t size)
{
	struct cursor part = {c->at, c->at, false};

	if (size > left(c)) {
		c->failed = true;
		size = left(c);
	}
	part.end += size;
	c->at += size;
	return part;
}

/* ---- one table ---- */

struct files {
	uint32_t *texts;
	size_t n, cap;
};

struct table {
	struct line_program *p;
	const struct line_input *in;
	struct files folders, files;
	uint8_t instruction_min, line_range, opcode_base;
	int8_t line_base;
	uint8_t n_operands[256];
	struct row row; /* the machine's state */
};

static int add_text(struct table *t, struct files *f, const char *folder, const char *name)
{
	_cleanup_(buf_done) struct buf text = {0};

	if (f->n >= FILES_MAX || ARRAY_ROOM(f->texts, f->cap, f->n + 1) < 0)
		return -1;
	if (*folder && *name != '/')
		buf_printf(&text, "%s/", folder);
	buf_puts(&text, name);
	f->texts[f->n] = strtab_adds(t->p->texts, buf_str(&text));
	return f->texts[f->n++] == STRTAB_NONE ? -1 : 0;
}

/* A name, and its folder, when it was changed, how large it is. */
static int take_file(struct table *t, struct cursor *c, const char *name)
{
	uint64_t folder = take_unsigned(c);

	take_unsigned(c);
	take_unsigned(c);
	if (c->failed)
		return -1;
	return add_text(t, &t->files,
			folder && folder <= t->folders.n
				? strtab_str(t->p->texts, t->folders.texts[folder - 1])
				: "",
			name);
}

static int take_names(struct table *t, struct cursor *c)
{
	const char *name;

	while (*(name = take_text(c)))
		if (add_text(t, &t->folders, "", name) < 0)
			return -1;
	while (*(name = take_text(c)))
		if (take_file(t, c, name) < 0)
			return -1;
	return c->failed ? -1 : 0;
}

static int take_head(struct table *t, struct cursor *c, bool is_64)
{
	unsigned version = (unsigned)take_number(c, 2);
	struct cursor head;

	if (version < 2 || version > 4)
		return -1;
	head = take_part(c, take_number(c, is_64 ? 8 : 4));
	t->instruction_min = (uint8_t)take_number(&head, 1);
	if (version == 4)
		take_number(&head, 1);
	take_number(&head, 1);
	t->line_base = (int8_t)take_number(&head, 1);
	t->line_range = (uint8_t)take_number(&head, 1);
	t->opcode_base = (uint8_t)take_number(&head, 1);
	for (unsigned i = 1; i < t->opcode_base; i++)
		t->n_operands[i] = (uint8_t)take_number(&head, 1);
	if (head.failed || c->failed || !t->line_range || !t->opcode_base)
		return -1;
	return take_names(t, &head);
}

/* As at the beginning of a sequence. */
static void begin_sequence(struct table *t)
{
	t->row = (struct row){.line = 1, .sequence = (uint32_t)t->p->n};
	t->row.file = t->files.n ? t->files.texts[0] : 0;
}

static int put_row(struct table *t)
{
	struct line_program *p = t->p;

	if (p->n >= ROWS_MAX || ARRAY_ROOM(p->rows, p->cap, p->n + 1) < 0)
		return -1;
	p->rows[p->n++] = t->row;
	return 0;
}

static void advance(struct table *t, uint64_t operations)
{
	t->row.address += operations * t->instruction_min;
}

static void set_file(struct table *t, uint64_t number)
{
	t->row.file = number && number <= t->files.n ? t->files.texts[number - 1] : 0;
}

static int do_extended(struct table *t, struct cursor *c)
{
	struct cursor part = take_part(c, take_unsigned(c));
	uint64_t place, call;

	switch (take_number(&part, 1)) {
	case LNE_END_SEQUENCE:
		t->row.is_end = true;
		if (put_row(t) < 0)
			return -1;
		begin_sequence(t);
		return 0;
	case LNE_SET_ADDRESS:
		place = (uint64_t)(part.at - (const uint8_t *)t->in->lines);
		t->row.address = take_number(&part, MIN(left(&part), sizeof(uint64_t)));
		t->row.section = t->in->section(t->in->ctx, place, &t->row.address);
		return 0;
	case LNE_DEFINE_FILE:
		return take_file(t, &part, take_text(&part));
	case LNE_NVIDIA_INLINED_CALL:
		call = take_unsigned(&part);
		t->row.call = call < UINT32_MAX ? (uint32_t)call : 0;
		t->row.function = take_unsigned(&part) + 1;
		return 0;
	case LNE_NVIDIA_FUNCTION_NAME:
		t->row.function = take_unsigned(&part) + 1;
		return 0;
	default:
		return 0; /* its length says where the next one is */
	}
}

static int do_standard(struct table *t, struct cursor *c, uint8_t opcode)
{
	switch (opcode) {
	case LNS_COPY:
		return put_row(t);
	case LNS_ADVANCE_PC:
		advance(t, take_unsigned(c));
		return 0;
	case LNS_ADVANCE_LINE:
		t->row.line += (uint32_t)take_signed(c);
		return 0;
	case LNS_SET_FILE:
		set_file(t, take_unsigned(c));
		return 0;
	case LNS_CONST_ADD_PC:
		advance(t, (255u - t->opcode_base) / t->line_range);
		return 0;
	case LNS_FIXED_ADVANCE_PC:
		t->row.address += take_number(c, 2);
		return 0;
	default:
		for (unsigned i = 0; i < t->n_operands[opcode]; i++)
			take_unsigned(c);
		return 0;
	}
}

/* A line and an address at once. */
static int do_special(struct table *t, uint8_t opcode)
{
	unsigned step = (unsigned)opcode - t->opcode_base;

	advance(t, step / t->line_range);
	t->row.line += (uint32_t)(t->line_base + (int)(step % t->line_range));
	return put_row(t);
}

static int run(struct table *t, struct cursor *c)
{
	begin_sequence(t);
	while (left(c) && !c->failed) {
		uint8_t opcode = (uint8_t)take_number(c, 1);
		int r = opcode >= t->opcode_base ? do_special(t, opcode)
			: opcode                 ? do_standard(t, c, opcode)
						 : do_extended(t, c);

		if (r < 0)
			return r;
	}
	return 0;
}

/* ---- all tables ---- */

/* The next one: what is wrong with it ends it alone. */
static void take_table(struct line_program *p, const struct line_input *in, struct cursor *c)
{
	struct table t = {.p = p, .in = in};
	uint64_t size = take_number(c, 4);
	bool is_64 = size == UINT32_MAX;
	struct cursor body;

	if (is_64)
		size = take_number(c, 8);
	body = take_part(c, size);
	if (take_head(&t, &body, is_64) == 0)
		run(&t, &body);
	free(t.folders.texts);
	free(t.files.texts);
}

/* An end stands before what begins at its address; of rows at one, the later is further inside. */
static int by_place(const void *a, const void *b, void *ctx)
{
	const struct row *rows = ctx;
	uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
	const struct row *x = &rows[i], *y = &rows[k];

	if (x->section != y->section)
		return COMPARE(x->section, y->section);
	if (x->address != y->address)
		return COMPARE(x->address, y->address);
	return x->is_end != y->is_end ? y->is_end - x->is_end : COMPARE(i, k);
}

struct line_program *line_program_new(const struct line_input *in)
{
	struct line_program *p = calloc(1, sizeof(*p));
	struct cursor c = {in->lines, in->lines, false};
	const char *end;

	if (!p)
		return NULL;
	p->texts = strtab_new();
	if (!p->texts)
		return line_program_free(p);
	strtab_limit(p->texts, TEXTS_MAX);
	p->strings = in->strings;
	end = in->n_strings ? memrchr(in->strings, 0, in->n_strings) : NULL;
	p->n_strings = end ? (size_t)(end - p->strings) + 1 : 0;
	if (in->n_lines)
		c.end += in->n_lines;
	while (left(&c) && !c.failed)
		take_table(p, in, &c);
	p->order = malloc(MAX(p->n, (size_t)1) * sizeof(*p->order));
	if (!p->order)
		return line_program_free(p);
	for (uint32_t i = 0; i < p->n; i++)
		p->order[i] = i;
	qsort_r(p->order, p->n, sizeof(*p->order), by_place, p->rows);
	return p;
}

struct line_program *line_program_free(struct line_program *p)
{
	if (!p)
		return NULL;
	free(p->rows);
	free(p->order);
	strtab_free(p->texts);
	free(p);
	return NULL;
}

/* ---- looking ---- */

static bool is_up_to(const struct row *r, uint32_t section, uint64_t address)
{
	return r->section < section || (r->section == section && r->address <= address);
}

/* The innermost row of an address; NULL: it is in no sequence. */
static const struct row *find_row(const struct line_program *p, uint32_t section, uint64_t address)
{
	const struct row *r;
	size_t low = 0;

	BISECT(low, p->n, i, is_up_to(&p->rows[p->order[i]], section, address));
	if (!low)
		return NULL;
	r = &p->rows[p->order[low - 1]];
	return r->section == section && !r->is_end ? r : NULL;
}

/* The row of the call that a row was inlined at, of the same sequence. */
static const struct row *call_of(const struct line_program *p, const struct row *r)
{
	const struct row *call;

	if (!r->call || r->call > p->n - r->sequence)
		return NULL;
	call = &p->rows[r->sequence + r->call - 1];
	return call->sequence == r->sequence && !call->is_end ? call : NULL;
}

unsigned line_program_look(const struct line_program *p, uint32_t section, uint64_t address,
			   struct object_function ret[NATIVE_INLINED_MAX])
{
	const struct row *rows[NATIVE_INLINED_MAX];
	unsigned n = 0;

	for (const struct row *r = find_row(p, section, address); r && n < NATIVE_INLINED_MAX;
	     r = call_of(p, r))
		rows[n++] = r;
	for (unsigned i = 0; i < n; i++) {
		const struct row *r = rows[n - 1 - i];

		ret[i] = (struct object_function){
			.name = r->call && r->function && r->function <= p->n_strings
					? p->strings + r->function - 1
					: NULL,
			.file = r->file ? strtab_str(p->texts, r->file) : NULL,
			.line = r->line,
		};
	}
	return n;
}

size_t line_program_count(const struct line_program *p)
{
	return p->n;
}

static bool is_same_place(const struct row *a, const struct row *b)
{
	return a->section == b->section && a->address == b->address;
}

bool line_program_place(const struct line_program *p, size_t n, uint32_t *ret_section,
			uint64_t *ret_address)
{
	const struct row *r = &p->rows[p->order[n]];

	*ret_section = r->section;
	*ret_address = r->address;
	return !r->is_end && (n + 1 == p->n || !is_same_place(r, &p->rows[p->order[n + 1]]));
}

/* SPDX-License-Identifier: MIT */
#ifndef PROTON_PTX_TEXT_H
#define PROTON_PTX_TEXT_H
/* PTX as statements. Nothing is copied: what was read lives as long as the text.
 *
 *     .file 1 "matmul.py"          ── file
 *     .visible .entry matmul(…)    ── function: name, threads of a block
 *     {
 *         .reg .pred %p<4>;        ── directive
 *     $L__BB0_2:                   ── label
 *         .loc 1 57 3              ── place of what follows
 *         @%p1 bra $L__BB0_2;      ── instruction: guard, opcode, operands
 *         { … }                    ── open, close: names within are its own
 *     }
 *
 * The text is somebody else's, and may be anything.
 *   thread  one */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PTX_NONE UINT32_MAX

struct ptx_span {
	const char *at;
	size_t n;
};

enum ptx_kind { PTX_IS_LABEL, PTX_IS_INSTRUCTION, PTX_IS_DIRECTIVE, PTX_IS_OPEN, PTX_IS_CLOSE };

struct ptx_statement {
	enum ptx_kind kind;
	uint32_t row;   /* of the text, from 1 on */
	uint32_t scope; /* index of the innermost open brace around it; PTX_NONE: the function's */
	uint32_t place; /* index; PTX_NONE: not known */
	size_t begin, end;      /* offsets; end: behind its semicolon or colon */
	struct ptx_span guard;  /* "%p1" or "!%p1"; none: n is 0 */
	struct ptx_span opcode; /* of a label and of a directive, its name */
	struct ptx_span operands;
};

/* Of the source, and what it was inlined into there (in_line 0: nothing). Files by their numbers. */
struct ptx_source {
	uint32_t file, line, in_file, in_line;
};

struct ptx_file {
	uint32_t number;
	struct ptx_span name;
};

/* Of shared memory, declared for the module. */
struct ptx_shared {
	struct ptx_span name;
	uint64_t bytes; /* 0: as many as a launch says */
};

struct ptx_function {
	struct ptx_span name;
	bool is_entry;
	uint32_t n_threads; /* of a block, at most; 0: not known */
	size_t begin;       /* offset of its first word */
	size_t body, close; /* offsets: behind the opening brace, and of the closing one */
	uint32_t first, n;  /* statements */
};

struct ptx_text {
	const char *at;
	size_t n;
	struct ptx_statement *statement;
	size_t n_statements, cap_statements;
	struct ptx_function *function; /* those with a body */
	size_t n_functions, cap_functions;
	struct ptx_source *place;
	size_t n_places, cap_places;
	struct ptx_file *file;
	size_t n_files, cap_files;
	struct ptx_shared *shared;
	size_t n_shared, cap_shared;
	size_t body;      /* offset of the first declaration, behind the head */
	uint32_t chip;    /* of .target: 90 for sm_90a */
	uint32_t version; /* of the language, times ten: 80 */
	uint32_t address_bits;
};

/* 0, -ENOMEM or -EBADMSG: it is no PTX. Fills *ret, which ptx_text_done() frees whatever is returned. */
int ptx_text_read(const char *text, size_t n, struct ptx_text *ret);
void ptx_text_done(struct ptx_text *text);

/* The name of a file, by its number: n is 0 where it is not known. */
struct ptx_span ptx_text_file(const struct ptx_text *text, uint32_t number);
/* The variable of shared memory that is declared so. */
struct ptx_shared ptx_shared_read(struct ptx_span declaration);
bool ptx_span_is(struct ptx_span span, const char *word);
/* Does it begin so, and end there or go on with "."? "bar.sync.aligned" begins with "bar" and with "bar.sync". */
bool ptx_opcode_is(struct ptx_span opcode, const char *begin);

/* The offset behind the first time that it stands there as a word; 0: nowhere. */
size_t ptx_span_find(struct ptx_span in, const char *word, size_t n);

#endif

/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CORE_SOURCE_H
#define PROTON_CORE_SOURCE_H
/* Where in their code kernels were when the device was looked at (core/pc_samples.h), for views: instructions in
 * lines in functions, of all calling contexts that count.
 *
 *     gather()               900 samples, the first of functions
 *       k.cu:5                10
 *       k.cu:6               890   the line with the most: hottest
 *         +0x0d0             880
 *
 *   thread  one */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "core/numbers.h"
#include "core/pc_samples.h"

/* Samples of warps; by reason they make up all of them. */
struct source_mix {
	double samples;
	double by[PC_N_REASONS];
};

struct source_instruction {
	const char *name; /* its frame's; NULL: of the function, not known where in it */
	uint64_t offset;
	struct source_mix mix;
};

struct source_line {
	const char *file; /* not ended: file_len bytes; NULL: the line is not known */
	size_t file_len;
	uint32_t line;
	size_t first, n; /* its instructions, by offset */
	struct source_mix mix;
};

struct source_function {
	uint32_t node;   /* of the picture: a context of its kernel */
	size_t first, n; /* its lines, by place; what has none is the last */
	size_t hottest;  /* of these: the one with the most samples in which nothing was issued */
	struct source_mix mix;
};

/* Names are as long as the session. */
struct source {
	struct source_function *functions; /* those with the most samples first */
	struct source_line *lines;
	struct source_instruction *instructions;
	size_t n_functions, n_lines, n_instructions;
	size_t cap_functions, cap_lines, cap_instructions;
	double samples; /* of all of them */
};

/* Finds all anew. Zeroed at first. 0 or -ENOMEM (there are none then). */
int source_make(struct source *s, struct numbers *numbers);
void source_done(struct source *s);

/* All of a session, where nobody looks at a picture of it already. */
struct source_picture {
	struct snapshot *snap;
	struct numbers *numbers;
	struct source source;
};

/* 0 or -ENOMEM; source_picture_done() frees what there is either way. */
int source_picture_init(struct source_picture *p, const struct session *s);
void source_picture_done(struct source_picture *p);

/* Samples in which the warp was stalled: all but those in which it issued. */
double source_stalled(const struct source_mix *mix);

bool source_same_file(const struct source_line *a, const struct source_line *b);

/* ---- reasons ---- */

/* "waits for global or local memory"; CUPTI's word for it is not in it. */
const char *stall_text(enum pc_reason reason);
/* "long scoreboard" */
const char *stall_word(enum pc_reason reason);
/* "long sb": the same in up to STALL_BRIEF columns, each another. */
enum { STALL_BRIEF = 7 };
const char *stall_brief(enum pc_reason reason);
/* One sentence: what it means, and what to do about it. */
const char *stall_meaning(enum pc_reason reason);

enum { STALLS_TOP = 3 };
/* The largest reasons to wait, the largest first; how many there are, up to STALLS_TOP. */
unsigned source_top(const struct source_mix *mix, enum pc_reason ret[STALLS_TOP]);
#define STALLS_TEXT_MAX 128
/* "long scoreboard 80, wait 12": percent of the samples that were stalled, of up to `most` reasons; "-": none was.
 * Returns out. */
const char *source_top_text(const struct source_mix *mix, unsigned most, char out[STALLS_TEXT_MAX]);

#define SOURCE_TITLE "Source"
#define SOURCE_NONE  "no samples of where kernels were: run with --pc-sampling"

#endif

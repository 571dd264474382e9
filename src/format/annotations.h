/* SPDX-License-Identifier: MIT */
#ifndef PROTON_FORMAT_ANNOTATIONS_H
#define PROTON_FORMAT_ANNOTATIONS_H
/* What PyTorch says of nodes of CUDA graphs (torch.cuda.graph_annotations; ADR 54): the scope in which each was captured,
 * as calling context.
 *
 *   replay ─ <captured_at> ─ layers.0.attention ─ qkv ─ backward ─ gemm
 *                            module_fqn           name  autograd_phase
 *
 * PyTorch has merged the scopes around a node by then: of each key it keeps what the innermost one says. It stands in the
 * events of a trace, or in a file beside it, by the numbers that the nodes have in that process:
 *
 *   {"30064771072": [{"name": "qkv", "module_fqn": "layers.0.attention"}], …}
 *
 *   file ──> annotations_load() ──> struct annotations ──> a reader of traces, node by node ──> annotations_settle()
 *
 *   thread  one */
#include <stdint.h>
#include "base/util.h"
#include "core/session.h"
#include "format/reader.h"

struct trace;

/* What is read of it, outermost first. */
enum annotation_part { ANNOTATION_MODULE, ANNOTATION_NAME, ANNOTATION_PHASE, ANNOTATION_N_PARTS };

struct annotation {
	uint32_t texts[ANNOTATION_N_PARTS]; /* string ids; 0: it does not say */
};

/* What work of the trace, whose session has the strings, was captured in (trace_captured()); 0 when the annotation says
 * nothing. 0 or -ENOMEM. */
int annotation_captured(const struct annotation *a, struct trace *t, uint32_t *ret_captured);

/* Those of a file. They are joined with one trace. */
struct annotations;

/* 0, or a negative errno with *error set: it is no such file. Spellings that are not known say nothing. */
int annotations_read(struct reader_input *in, struct annotations **ret, struct format_error *error);
/* The same of a file by its path, which may say the rank of the process; "-" is standard input. */
int annotations_load(const char *path, struct annotations **ret, struct format_error *error);
struct annotations *annotations_free(struct annotations *a);
static inline void annotations_freep(struct annotations **a)
{
	*a = annotations_free(*a);
}

/* Something ran that has this number, and of which the trace itself says *said: if the file has it, what that says
 * replaces it. Strings go to `strings`, always the same. 0 or -ENOMEM. */
int annotations_take(struct annotations *a, uint64_t node, struct strtab *strings,
		     struct annotation *said);
/* All of the trace was read into s: a note says how much was named. 0, or a negative errno with *error set: the trace
 * has no numbers, or they cannot be those of the file. path: the trace's, which may say the rank. */
int annotations_settle(const struct annotations *a, struct session *s, const char *path,
		       struct format_error *error);

#endif

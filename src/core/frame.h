/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CORE_FRAME_H
#define PROTON_CORE_FRAME_H
/* What a calling context is made of.
 *
 * A frame is raw: (kind, string) or (kind, module, offset). Symbolised, demangled or shortened
 * names are views of it and never change its identity. The numbers are on the wire and in files:
 * never reused. */
#include <stdbool.h>
#include <stdint.h>

/*         name        number  word in files   */
/* clang-format off */
#define FRAME_KINDS(_)                                                                             \
	_(ROOT,       0,  "root")       /* the one node without a parent */                        \
	_(FUNCTION,   1,  "function")   /* from a file that does not say what it is */             \
	_(SCOPE,      2,  "scope")      /* proton_enter_scope() */                                 \
	_(STATE,      3,  "state")      /* at most one a thread, directly above the kernel */      \
	_(NVTX,       4,  "nvtx")       /* nvtxRangePush of any domain */                          \
	_(PYTHON,     5,  "python")     /* "file:line@function" */                                 \
	_(NATIVE,     6,  "native")     /* (module, offset), symbolised late */                    \
	_(KERNEL,     7,  "kernel")     /* mangled symbol */                                       \
	_(COPY,       8,  "copy")       /* one a direction and memory kind */                      \
	_(SET,        9,  "set")                                                                   \
	_(ALLOC,      10, "alloc")                                                                 \
	_(SYNC,       11, "sync")                                                                  \
	_(GRAPH,      12, "graph")      /* "<captured_at>", "<form 2>" */                          \
	_(LINE,       13, "line")       /* source line of a kernel */                              \
	_(INSTRUMENT, 14, "instrument") /* scope inside a kernel */                                \
	_(PROCESS,    15, "process")    /* made by grouping, or above ranges and marks */          \
	_(RANGE,      16, "range")      /* nvtxRangeStart/End: overlaps, no calling context */     \
	_(MARK,       17, "mark")                                                                  \
	_(OTHER,      18, "other")      /* "<other>": beyond a bound */                            \
	_(DEVICE,     19, "device")     /* made by grouping */                                     \
	_(STREAM,     20, "stream")     /* made by grouping */                                     \
	_(THREAD,     21, "thread")     /* made by grouping */                                     \
	_(MODULE,     22, "module")     /* of PyTorch: "encoder.layers.3" */                       \
	_(OPERATOR,   23, "operator")   /* of PyTorch: "aten::add" */                              \
	_(GRAPH_RUN,  24, "graph_run")  /* all of a graph: "<graph: 300 kernels>" */               \
	_(CALL,       25, "call")       /* of a function of the vendor's, which is no SYNC */          \
	_(PAGES,      26, "pages")      /* of unified memory, that moved or were missed (pages.h) */ \
	_(INSTRUCTION, 27, "instruction") /* of a kernel, where samples of it are (pc_samples.h) */
/* clang-format on */

enum frame_kind {
#define _(name, number, word) FRAME_##name = number,
	FRAME_KINDS(_)
#undef _
		FRAME_N_KINDS = 28
};

/* Memory that a context holds, and what happens to it: it calls nothing, and runs nowhere. */
static inline bool frame_is_memory(enum frame_kind kind)
{
	return kind == FRAME_ALLOC || kind == FRAME_PAGES;
}

/* What the name of a FRAME_GRAPH_RUN begins with. "<graph>" is one that is not known, made before anybody looked; as a
 * FRAME_GRAPH it stands above what ran in such ones. */
#define GRAPH_RUN_BEGIN "<graph"
/* Does such a graph hold copies, or is it not known what it holds? Of their bytes nothing is known. */
bool graph_run_may_copy(const char *name);
/* Between where a graph was launched and where what ran in it was captured stands this FRAME_GRAPH (ADR 32). */
#define CAPTURED_AT "<captured_at>"
/* What runs in graphs of another form than the first one that was captured in the same place stands below "<form 2>"
 * (a FRAME_GRAPH; ADR 47). */
#define FORM_BEGIN "<form"
/* A file of another program has no kinds. */
bool frame_is_form(enum frame_kind kind, const char *name);

/* The word of a kind ("kernel"), or "function" for a number from the future. */
const char *frame_kind_word(unsigned kind);
/* The kind of a word, or FRAME_FUNCTION. */
enum frame_kind frame_kind_parse(const char *word);

#endif

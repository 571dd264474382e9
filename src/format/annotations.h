/* SPDX-License-Identifier: MIT */
#ifndef PROTON_FORMAT_ANNOTATIONS_H
#define PROTON_FORMAT_ANNOTATIONS_H
/* What PyTorch says of nodes of CUDA graphs (torch.cuda.graph_annotations; ADR 54): the scope in which each was captured,
 * as calling context.
 *
 *   replay ─ <captured_at> ─ layers.0.attention ─ qkv ─ backward ─ gemm
 *                            module_fqn           name  autograd_phase
 *
 * PyTorch has merged the scopes around a node by then: of each key it keeps what the innermost one says.
 *   thread  one */
#include <stdint.h>

struct trace;

/* What is read of it, outermost first. */
enum annotation_part { ANNOTATION_MODULE, ANNOTATION_NAME, ANNOTATION_PHASE, ANNOTATION_N_PARTS };

struct annotation {
	uint32_t texts[ANNOTATION_N_PARTS]; /* string ids; 0: it does not say */
};

/* What work of the trace, whose session has the strings, was captured in (trace_captured()); 0 when the annotation says
 * nothing. 0 or -ENOMEM. */
int annotation_captured(const struct annotation *a, struct trace *t, uint32_t *ret_captured);

#endif

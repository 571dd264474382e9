/* SPDX-License-Identifier: MIT */
#ifndef PROTON_NAMING_SOURCE_NODES_H
#define PROTON_NAMING_SOURCE_NODES_H
/* What kernels of torch.compile were made from. The file that it generates and that launches them says so before each
 * launch:
 *
 *     # Topologically Sorted Source Nodes: [norm, add], Original ATen: [aten.linalg_vector_norm, aten.add]
 *     triton_red_fused_add_linalg_vector_norm_1.run(buf0, buf1, 1, 8192, stream=stream0)
 *
 *     "/tmp/…/cnx….py:172@call"  ──>  "[norm, add] aten.linalg_vector_norm, aten.add"
 *
 * A line for which it does not keeps its name. A file is read once, while the program runs or as it ends: later it
 * may be gone.
 *   thread  one */
#include "core/session.h"

struct source_nodes;

struct source_nodes *source_nodes_new(void); /* NULL: no memory */
struct source_nodes *source_nodes_free(struct source_nodes *n);
/* Frames that have come since the last call, of always the same session, recorded on this machine. 0 or -ENOMEM. */
int source_nodes_name(struct source_nodes *n, struct session *s);

#endif

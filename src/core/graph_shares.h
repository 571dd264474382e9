/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CORE_GRAPH_SHARES_H
#define PROTON_CORE_GRAPH_SHARES_H
/* Times of what is in CUDA graphs that were recorded whole, by a profile of the same program that has their nodes
 * (ADR 40).
 *
 *   by nodes  replay ─ <captured_at> ─ model ─┬ layer 0 ─ gemm  30us, 10 calls
 *                                             └ layer 1 ─ gemm  10us, 10 calls
 *   whole     replay ─ <captured_at> ─ model ─ <graph: 2 kernels>  20us, 5 calls
 *   joined    replay ─ <captured_at> ─ model ─ <graph: 2 kernels>  5 calls
 *                                                └ <estimated> ─┬ layer 0 ─ gemm  15us
 *                                                               └ layer 1 ─ gemm   5us
 *
 * Which graph it is there says its form (METRIC_GRAPH_FORM, ADR 47), and where that is not known what it holds.
 * A graph gives all of its time to what is in it, to the nanosecond; all else that it has stays its own. What it
 * gave is METRIC_ESTIMATED there, too, and how often that ran METRIC_ESTIMATED_RUNS.
 *   thread  one */
#include <stdbool.h>
#include "core/session.h"

/* What stands above all that is no measurement, so that a path says it in whatever file it is. */
#define ESTIMATED_FRAME "<estimated>"

struct graph_shares;

/* Of a profile by nodes, which is stolen where it returns 0, and kept until graph_shares_free(). file: how notes call
 * it. 0, -ENODATA (it has no times of nodes of a graph) or -ENOMEM. */
int graph_shares_new(struct session *by_nodes, const char *file, struct graph_shares **ret);
struct graph_shares *graph_shares_free(struct graph_shares *g);
/* What has come since the last call, of always the same session. 0 or -ENOMEM: what is not given yet stays its
 * graph's. Notes of the session say which graphs stay whole, and why. */
int graph_shares_apply(struct graph_shares *g, struct session *s);
/* No more will come: a note on how much was joined. 0 or -ENOMEM. */
int graph_shares_settle(struct graph_shares *g, struct session *s);

/* Does a node stand below ESTIMATED_FRAME, or is it that? */
bool graph_shares_is_estimated(const struct session *s, uint32_t node);

#endif

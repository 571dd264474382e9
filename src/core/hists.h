/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CORE_HISTS_H
#define PROTON_CORE_HISTS_H
/* Histograms of durations by nodes of a snapshot, so that those of a set of nodes, with what is
 * below them or without, are added up without a look at any other.
 *
 *     nodes in the order of a walk:  0 main  1 a  2 k  3 b  4 k      below a node is a range of it
 *     histograms by that order:      {2, h0} {4, h1}
 *
 * What was executed once on its lane has no histogram: its time is a sample beside them.
 *
 *   thread  one */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "core/snapshot.h"

struct hists;

struct hists *hists_new(struct snapshot *snap); /* NULL: out of memory */
struct hists *hists_free(struct hists *h);
/* A new picture, or others of its nodes count: those that are not 0 in kept (NULL: all).
 * 0 or -ENOMEM (there are none then). */
int hists_update(struct hists *h, const uint8_t *kept);
/* Instead of a share: the standard deviation, as far as histograms tell (to some percent). */
#define HISTS_DEVIATION (-1.0)
/* The duration below which a share (0..1) of the executions of a set lie, in ns; with `below`, none of
 * the set lies below another. NaN: there are none, or (at the end) more were counted than are known. */
double hists_share(struct hists *h, const uint32_t *nodes, uint32_t n, bool below, double share);
/* The same by node. */
void hists_quantiles(struct hists *h, double share, bool below, double *v);

#endif

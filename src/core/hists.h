/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CORE_HISTS_H
#define PROTON_CORE_HISTS_H
/* Histograms of durations, sorted by the nodes of a snapshot. Adding up those of some nodes, with
 * or without the nodes below, then touches no other histogram.
 *
 *     nodes in the order of a walk:  0 main  1 a  2 k  3 b  4 k      below a node is a range of it
 *     histograms by that order:      {2, h0} {4, h1}
 *
 * What was executed once on its lane has no histogram: its time is used as a sample.
 *
 *   thread  one */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "core/snapshot.h"

struct hists;

struct hists *hists_new(struct snapshot *snap); /* NULL: out of memory */
struct hists *hists_free(struct hists *h);
/* To be called after a new picture, and when other nodes count: those that are not 0 in kept (NULL:
 * all). 0 or -ENOMEM (there are no histograms then). */
int hists_update(struct hists *h, const uint8_t *kept);
/* Pass this as a share to get the standard deviation. It is right to some percent. */
#define HISTS_DEVIATION (-1.0)
/* The duration in ns that a share (0..1) of the executions of some nodes do not exceed. below:
 * count the nodes below as well; no node of the set may then lie below another. NaN: there are no
 * executions, or the session has ended and histograms of a tenth of them or more are missing. */
double hists_share(struct hists *h, const uint32_t *nodes, uint32_t n, bool below, double share);
/* The same for each node, into v. */
void hists_quantiles(struct hists *h, double share, bool below, double *v);

#endif

/* SPDX-License-Identifier: MIT */
#ifndef PROTON_FORMAT_HATCHET_HISTS_H
#define PROTON_FORMAT_HATCHET_HISTS_H
/* Histograms of durations, as the files have them that keep all we know: for Hatchet's and our JSON's
 * readers. */
#include <stddef.h>
#include <stdint.h>

struct hist;
struct hread;

/* The histogram of a node on the device and process that the map names; NULL: out of memory. */
struct hist *hread_hist(struct hread *r, uint32_t node, size_t map);
/* Count what a list says, [[ns, executions], …]; nothing where `list` is 0 or no array. 0 or -ENOMEM. */
int hread_bins(struct hread *r, struct hist *h, size_t list);
/* The same of files before these, whose buckets were coarser and have numbers. */
int hread_old_buckets(struct hread *r, struct hist *h, size_t list);

#endif

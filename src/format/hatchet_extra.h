/* SPDX-License-Identifier: MIT */
#ifndef PROTON_FORMAT_HATCHET_EXTRA_H
#define PROTON_FORMAT_HATCHET_EXTRA_H
#include "format/hatchet_writer.h"

/* The key "proton" of a node, and of the root, where there is something to say. */
void hwrite_node_extra(struct hwrite *w, const struct part *parts, uint32_t n);
void hwrite_root_extra(struct hwrite *w, const struct part *root);

#endif

/* SPDX-License-Identifier: MIT */
#ifndef PROTON_TUI_NAMES_H
#define PROTON_TUI_NAMES_H
/* What the screen calls the things of a profile. */
#include <stdbool.h>
#include <stdint.h>

struct buf;
struct snapshot;
struct tui;

/* The word of a name_mode ("short"), or NULL beyond the last. */
const char *tui_names_word(unsigned i);
/* The name of a node in the form that the view shows; lives as long as the snapshot. */
const char *tui_node_name(struct tui *t, uint32_t id);
/* Is a text in a name of the node, however names are shown? */
bool names_have(struct snapshot *snap, uint32_t id, const char *text, bool match_case);
/* The same, or in the word that stands for a node without a name. */
bool tui_node_has(struct tui *t, uint32_t id, const char *text, bool match_case);
/* Append the names from the root to a node. */
void tui_put_path(struct tui *t, uint32_t id, struct buf *out);
/* "GPU0 H200" */
void tui_put_device(struct tui *t, uint32_t device, struct buf *out);
/* "pid 7 rank 0 python train.py" */
void tui_put_process(struct tui *t, uint32_t process, struct buf *out);

#endif

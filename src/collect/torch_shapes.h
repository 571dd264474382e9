/* SPDX-License-Identifier: MIT */
#ifndef PROTON_COLLECT_TORCH_SHAPES_H
#define PROTON_COLLECT_TORCH_SHAPES_H
/* The shapes of an operator's inputs (--shapes):
 *
 *     record ─> inputs, one after the other ─> those that are tensors ─> "[[32,64],[128,64],[128]]"
 *
 * PyTorch hands inputs to observers that ask for them, while these are told that the operator begins, and not
 * later. Where records and tensors keep what is needed is found at run time, on a tensor of our own, by functions
 * that PyTorch has for C; nothing of a tensor that is the program's is called. */
#include <stdbool.h>
#include <stddef.h>

/* Find it in PyTorch's library. record_sequence: where a record keeps its sequence number (0: not known). By the
 * main thread, between two instructions of Python. False: it is not to be had in this version. */
bool torch_shapes_find(void *library, unsigned record_sequence);
/* The shapes of a record that begins, as text without a zero behind it; how many bytes, 0: it has no tensors. A
 * text for which there is no room ends in "…". */
size_t torch_shapes_put(const char *record, char *text, size_t room);

#endif

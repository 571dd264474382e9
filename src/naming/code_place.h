/* SPDX-License-Identifier: MIT */
#ifndef PROTON_NAMING_CODE_PLACE_H
#define PROTON_NAMING_CODE_PLACE_H
/* Places in source files, as frames of Python have them, in a column that is too narrow. Leading folders
 * go first, then the middle of the file's name. The line stands as long as the function does, and of
 * that the middle is the last to go.
 *
 *     /home/me/src/training/train_loop.py:12@train_step
 *     training/train_loop.py:12@train_step
 *     train_loop.py:12@train_step
 *     trai…op.py:12@train_step
 *     …:12@train_step
 *
 * Traces of PyTorch write them "train_loop.py(12): train_step".
 *   thread  any */
#include <stdbool.h>
#include <stddef.h>

struct buf;

struct code_place {
	const char *text;
	size_t file; /* where the file's name begins */
	size_t line; /* where ":12@" or "(12): " does */
	size_t function;
	size_t len;
};

bool code_place_parse(struct code_place *p, const char *text);
/* The place in so many columns: the text itself, its end, or a text in `scratch`. */
const char *code_place_fit(const struct code_place *p, size_t columns, const char *dots,
			   struct buf *scratch);
/* The same with the folder that has the character at `differs`, in which the place is unlike others: where
 * that is no folder, or there is no room for it, as code_place_fit(). */
const char *code_place_fit_with(const struct code_place *p, size_t columns, const char *dots,
				size_t differs, struct buf *scratch);

#endif

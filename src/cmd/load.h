/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CMD_LOAD_H
#define PROTON_CMD_LOAD_H
#include <stdbool.h>
#include "core/session.h"
#include "core/snapshot.h"

struct buf;
struct graph_shares;
struct merge_options;

/* How to read several files, and what happened. */
struct loading {
	bool keep_going;            /* name a file that cannot be read, and leave it out */
	bool fold_numbers;          /* names that only count up, as one (core/fold.h) */
	enum context_view contexts; /* what else is left out of the tree (core/context_view.h) */
	const char *
		graph_shares; /* a profile by nodes of CUDA graphs (core/graph_shares.h); NULL: none */
	/* What PyTorch says of nodes of CUDA graphs, beside the one file of load_files() (format/annotations.h);
	 * NULL: nothing. What that is compared with has other numbers. */
	const char *graph_annotations;
	/* Of each file that was merged, while it is in memory; NULL: nobody wants to know. */
	void (*merged)(void *ctx, const char *path, const struct session *s,
		       const struct merge_options *options);
	void *merged_ctx;
	int n_failed;      /* files that were left out */
	const char *first; /* the first file that was read; NULL: there was a single one */
};

/* A profile or a tape, told by its content; "-" is standard input. On failure a line on stderr and
 * NULL. */
struct session *load_file(const char *path, const struct loading *how);

/* One profile of several files: those of ranks, processes and phases become one, as `proton merge`
 * makes it. A single file is taken as it is. On failure a line on stderr and NULL. */
struct session *load_files(char *const *paths, int n, struct loading *how);
/* The same, but a single file is also treated as `proton merge` treats it. */
struct session *load_merged(char *const *paths, int n, struct loading *how);

/* The same as load_file(), but the sentence goes to `why`, and nothing is printed. */
struct session *load_quietly(const char *path, const struct loading *how, struct buf *why);

/* A profile by nodes of CUDA graphs. On failure a line on stderr and NULL. */
struct graph_shares *load_graph_shares(const char *path);

/* The profile of the files, and the one to compare it with, on one tree (core/pair.h). */
struct loaded {
	struct session *s, *before; /* before: NULL unless asked for */
};
/* before: a file to compare with, or NULL; group: how paths are grouped then. 0, or -errno and a
 * line on stderr. */
int loaded_open(struct loaded *l, char *const *paths, int n, const char *before, enum group group,
		struct loading *how);
void loaded_close(struct loaded *l);

#endif

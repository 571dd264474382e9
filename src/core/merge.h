/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CORE_MERGE_H
#define PROTON_CORE_MERGE_H
/* Several profiles in one: ranks, processes, phases.
 *
 *   rank 0:  ROOT ─ step ─ gemm  12ms        ROOT ─ step ─ gemm  12ms (rank 0), 15ms (rank 1)
 *   rank 1:  ROOT ─ step ─ gemm  15ms   ──>              └ relu   1ms (rank 1)
 *                        └ relu   1ms
 *
 * The same path, by kind and name of each frame, is one node; each process keeps its own rows, so
 * that whatever groups by process still can. Inputs may be freed as soon as they have been added:
 * memory grows with distinct paths and with rows, not with files.
 * A file without processes is taken as one process, whose rank and phase the caller may know.
 *   thread  one
 *   errors  -ENOMEM; the target then holds a part of the input and is good for freeing only */
#include <stdbool.h>
#include <stdint.h>
#include "core/session.h"
#include "core/snapshot.h"

struct merge_options {
	const char *name; /* of the input; identifies the process made for one without processes */
	int32_t rank;     /* of processes that have none; -1: unknown */
	int64_t phase;    /* of epochs that have none; -1: unknown */
};

/* Options from a file's name: ".part_3" is phase 3; "rank3", "rank_3", ".r3" is rank 3. The name
 * without its phase goes to `name`, cut to its size: the parts of one run are one process. */
void merge_guess(const char *path, char *name, size_t size, struct merge_options *ret);

struct merge;

/* Begin to add to `into` (borrowed), which may hold something already. NULL: out of memory. */
struct merge *merge_new(struct session *into);
/* -EEXIST: an earlier input had the same process with the same epoch. Values are cumulative, so
 * adding both would count them twice. No node and no value has been added then. */
int merge_add(struct merge *m, const struct session *from, const struct merge_options *options);
/* Add a session with the tree of one of its snapshots. The snapshot's groups become nodes;
 * group_name() is called once for each, in the order of their ids. Histograms and intervals are
 * left out: they cannot be divided among groups. 0, -EEXIST or -ENOMEM. */
typedef void group_name_fn(void *ctx, uint32_t id, char *out, size_t size);
int merge_add_view(struct merge *m, const struct snapshot *view, group_name_fn *group_name,
		   void *ctx);
/* Add the metrics and the paths of `from`, without values. 0 or -ENOMEM. */
int merge_add_tree(struct merge *m, const struct session *from);
/* From now on match paths by names alone and ignore the kinds of frames. Some files do not have the
 * kinds: readers guess them, and may guess differently from one run to the next. */
void merge_by_name(struct merge *m);
/* From now on an input is made anew: what has no process gets none, and nodes that are not 0 in folds, a
 * byte each, are called by the pattern of their names (core/alike.h). Borrowed. */
void merge_fold(struct merge *m, const uint8_t *folds);
/* From now on an input is made anew, too, and with a part of its nodes. to, by node: itself; the node above
 * it that gets what it has and that adds up; or SESSION_NONE, which all below it must be as well. Elapsed
 * time on the host is given to another one only where host is not 0. What a program says of all that is
 * below a node is dropped where parted is not 0 (core/parted.h); NULL: nowhere. Borrowed. */
void merge_keep(struct merge *m, const uint32_t *to, const uint8_t *host, const uint8_t *parted);
/* Of copy_lanes those whose byte is not 0; NULL: all. Borrowed. */
void merge_keep_copies(struct merge *m, const uint8_t *copy_lanes);
/* From now on an input is made anew, too, and its tree is arranged otherwise. to: as merge_keep() has it, where
 * all that adds up is given; above, by node that is itself: the node that it stands below, one with a smaller
 * number. Nodes that come to have one path are one. Borrowed. */
void merge_arrange(struct merge *m, const uint32_t *to, const uint32_t *above);
/* From now on an input is made anew with a part of its rows, those whose byte is not 0, and of its single
 * operations (NULL: with none). What cannot be told apart is left out: histograms, how long devices were busy,
 * samples and sensors. Borrowed. */
void merge_rows(struct merge *m, const uint8_t *rows, const uint8_t *intervals);
/* By node of the last input: the node of the target. Valid until the next one. */
const uint32_t *merge_nodes(const struct merge *m);
struct merge *merge_free(struct merge *m);
static inline void merge_freep(struct merge **m)
{
	*m = merge_free(*m);
}

#endif

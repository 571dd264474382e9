/* SPDX-License-Identifier: MIT */
/* What the program says of a launch before it makes it: the name that its kernels have, and values.
 *
 *     begin("matmul 64x64")   metric flops ─┐       launch ── where it comes from is known: values go to
 *                             metric bytes ─┴ kept ──┘        the kernel of that name below it
 *     end()
 */
#include "config.h" // IWYU pragma: keep
#include <string.h>
#include "collect/internal.h"

void launch_place(struct thread_state *t, uint32_t node)
{
	struct launch_info *l = &t->launch;

	l->placed = true;
	l->node = l->name ? node_intern(node, frame_intern(FRAME_KERNEL, l->name)) : node;
	for (uint32_t i = 0; i < l->n; i++)
		if (!l->values[i].computed) /* which is a graph's, when it is captured */
			metric_put_at(t, l->node, &l->values[i]);
	l->n_placed = l->n;
	l->n = 0;
}

void launch_flush(struct thread_state *t)
{
	if (t->launch.on && !t->launch.placed && t->launch.n)
		launch_place(t, t->node);
}

int collect_launch_begin(const char *name, size_t len)
{
	struct thread_state *t;

	if (!collect_on)
		return -1;
	t = thread_state();
	if (!t->tid)
		return -1;
	if (t->launch.on)
		collect_launch_end();
	if (!atomic_load_explicit(&collector->many_contexts, memory_order_relaxed)) {
		backends_attribute();
		sender_start();
	}
	t->launch.name = len ? string_intern(name, len) : 0;
	t->launch.placed = false;
	t->launch.n = t->launch.n_placed = 0;
	t->launch.on = true;
	t->context = 0;
	return 0;
}

int collect_launch_end(void)
{
	struct thread_state *t;

	if (!collect_on)
		return -1;
	t = thread_state();
	if (!t->launch.on) {
		lose(LOSS_SCOPE_MISMATCH, 1);
		return -1;
	}
	launch_flush(t);
	t->launch.on = false;
	t->context = 0;
	return 0;
}

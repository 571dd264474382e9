/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "collect/torch_again.h"
#include <dlfcn.h>
#include <stdatomic.h>
#include <string.h>
#include "base/util.h"

/* torch::autograd::Node of 1.13 to 2.15: its table of functions, a weak pointer to itself, then these. They are
 * believed once the records of a few nodes have said the same. */
enum { NODE_SEQUENCE = 24, NODE_THREAD = 48, AGREE = 8 };

/* A shared pointer, as it is returned: counted in the second word of what follows it. */
struct node_ref {
	const char *node;
	struct {
		const void *functions;
		_Atomic int n;
	} * owner;
};

static struct {
	struct node_ref *(*current)(struct node_ref *ret);
	uint64_t (*sequence)(void);
	_Atomic unsigned n_agreed;
	_Atomic bool differs;
} autograd;

bool torch_again_find(void *library)
{
	void *current = dlsym(library, "_ZN5torch8autograd16get_current_nodeEv"),
	     *sequence = dlsym(library, "_ZN2at15sequence_number4peekEv");

	memcpy(&autograd.current, &current, sizeof(current));
	memcpy(&autograd.sequence, &sequence, sizeof(sequence));
	return current && sequence;
}

/* ---- nodes of autograd's graph ---- */

/* The engine holds it as long as it is at it: ours is never the last. */
static bool find_node(struct torch_again *a)
{
	struct node_ref ref = {NULL, NULL};

	autograd.current(&ref);
	if (ref.node) {
		memcpy(&a->class, ref.node, sizeof(a->class));
		memcpy(&a->link.sequence, ref.node + NODE_SEQUENCE, sizeof(a->link.sequence));
		memcpy(&a->link.thread, ref.node + NODE_THREAD, sizeof(a->link.thread));
	}
	if (ref.owner)
		atomic_fetch_sub(&ref.owner->n, 1);
	return ref.node;
}

void torch_again_check(struct torch_again *a, const struct torch_link *link)
{
	if (a->link.sequence != link->sequence || a->link.thread != link->thread)
		atomic_store_explicit(&autograd.differs, true, memory_order_relaxed);
	else if (atomic_load_explicit(&autograd.n_agreed, memory_order_relaxed) < AGREE)
		atomic_fetch_add(&autograd.n_agreed, 1);
}

bool torch_again_link(const struct torch_again *a, struct torch_link *ret)
{
	*ret = a->link;
	return a->class &&
	       atomic_load_explicit(&autograd.n_agreed, memory_order_relaxed) >= AGREE &&
	       !atomic_load_explicit(&autograd.differs, memory_order_relaxed);
}

void torch_again_look(struct torch_again *a)
{
	if (!a->looked)
		a->at_node = find_node(a);
	a->looked = true;
}

/* A node is made before its operator's work is launched, and has the number before the next one's. The first
 * launch after that counts: later ones may be of operators without a node. Another line is another place, whatever
 * node it is at. */
void torch_again_glance(struct torch_again *a, uint64_t lines)
{
	uint64_t next = autograd.sequence(), line;

	a->made = next != a->next;
	a->next = next;
	a->looked = false;
	if (!lines || lines == a->lines)
		torch_again_look(a);
	a->lines = lines;
	line = lines ^ a->link.sequence;
	a->n_of_line = a->line == line ? MIN(a->n_of_line + 1, TORCH_AGAIN_LAUNCHES) : 0;
	a->line = line;
}

/* ---- places ---- */

uint32_t torch_again_get(const struct torch_again *a, uint64_t place)
{
	uint64_t v = atomic_load_explicit(&a->nodes[place % TORCH_AGAIN_MAX], memory_order_relaxed);

	return v >> 32 == place >> 32 ? (uint32_t)v : 0;
}

void torch_again_put(struct torch_again *a, uint64_t place, uint32_t node)
{
	atomic_store_explicit(&a->nodes[place % TORCH_AGAIN_MAX], place >> 32 << 32 | node,
			      memory_order_relaxed);
}

/* SPDX-License-Identifier: MIT */
/* Calling contexts of PyTorch: modules, and the operators within them.
 *
 *     scopes ── encoder ── encoder.layers.3 ── aten::linear ── aten::addmm ──> kernel
 *
 * PyTorch tells observers when an operator begins and ends (at::RecordFunction). Ours keeps the addresses of
 * the thread's open records and no more; what they are called is asked at a launch. Modules are among the
 * frames of Python (python.c).
 *
 * Backward operators run on threads of PyTorch's, without Python. Their records carry the thread and the
 * sequence number of the forward operator that made them: they stand below its modules (torch_join.h).
 *
 * It is looked for, and our observer is added, by the main thread between two instructions of Python. */
#include "config.h" // IWYU pragma: keep
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include "backends/pages.h"
#include "base/hash.h"
#include "base/ticks.h"
#include "base/util.h"
#include "collect/context_budget.h"
#include "collect/contexts.h"
#include "collect/internal.h"
#include "collect/python.h"
#include "collect/scope_names.h"
#include "collect/torch_again.h"
#include "collect/torch_join.h"
#include "collect/torch_library.h"
#include "collect/torch_shapes.h"
#include "collect/torch_turns.h"
#include "core/generated.h"
#include "wire/wire.h"

enum {
	DEPTH_MAX = 64,  /* records of a thread that are kept */
	NAMES_MAX = 512, /* names that a thread remembers */
	MANY = 4096,     /* records of a thread */
};

static struct {
	bool is_there, is_unknown; /* unknown: it is there, and has not what is needed */
	_Atomic bool is_asked;
} found;

/* An open record. PyTorch holds it as the context of our callback, and destroys it: by functions of ours
 * that do nothing, for it stays where it is. */
struct slot {
	const void *functions;
	_Atomic(const char *) record; /* NULL: it has ended, on another thread maybe */
	uint8_t scope;
	bool has_link; /* a backward operator ran within: what is done for it afterwards is its own */
	struct torch_link link;
	/* Of the program's scopes: they may end on another thread at any time, with their names. And of
	 * operators with the shapes of their inputs, which are there as they begin. */
	char name[SCOPE_PATTERN_MAX];
	uint32_t len;          /* 0: it is not here, but in the frame */
	uint32_t frame;        /* of a longer one; WIRE_NONE: there is none */
	uint32_t parent, node; /* what it is below this one; WIRE_NONE: not known yet */
	uint64_t place;        /* 0: not known yet */
};

/* What a thread remembers. */
struct torch_stack {
	uint32_t n; /* slots in use */
	uint32_t tid;
	struct slot slots[DEPTH_MAX];
	struct {
		const char *name; /* PyTorch's */
		const char *text; /* ours, of the frame */
		uint32_t frame;
	} known[NAMES_MAX];
	uint64_t thread_id; /* as PyTorch numbers threads */
	struct torch_turn turn;
	struct torch_again again;
};

/* ---- records ---- */

/* Around each backward operator stands a record that says the same once more: it is not shown beside it. */
#define TOLD_TWICE "autograd::engine::evaluate_function: "

static bool begins_with(const char *name, const char *start)
{
	return !strncmp(name, start, strlen(start));
}

static void leave_alone(void *context)
{
	(void)context;
}

static const void *const functions[] = {(const void *)leave_alone, (const void *)leave_alone};

static struct torch_stack *stack_of(struct thread_state *t)
{
	if (_unlikely_(!t->torch)) {
		struct torch_stack *s = pages_reserve(sizeof(*s));

		if (!s) {
			lose(LOSS_NO_MEMORY, 1);
			return NULL;
		}
		__atomic_store_n(&t->torch, s, __ATOMIC_RELEASE);
	}
	if (_unlikely_(t->torch->tid != t->tid)) { /* of a thread that was here before */
		t->torch->tid = t->tid;
		t->torch->n = 0;
		t->torch->thread_id = torch.thread_id();
	}
	return t->torch;
}

/* Those that ended elsewhere go when they come to lie on top. */
static void trim(struct torch_stack *s)
{
	while (s->n && !atomic_load_explicit(&s->slots[s->n - 1].record, memory_order_relaxed))
		s->n--;
}

static struct slot *push(const char *record, uint8_t scope)
{
	struct torch_stack *s =
		collect_on && !torch_turns_measured() ? stack_of(thread_state()) : NULL;
	struct slot *slot;

	if (!s)
		return NULL;
	count(&s->turn.n, 1);
	/* A program that launches nothing has no sender yet, and is not to be told of for ever either. */
	if (_unlikely_(atomic_load_explicit(&s->turn.n, memory_order_relaxed) % MANY == 0) &&
	    torch_turns_used())
		sender_prepare();
	trim(s);
	if (s->n == DEPTH_MAX)
		return NULL; /* deeper ones are not told apart */
	slot = &s->slots[s->n];
	slot->functions = functions;
	slot->scope = scope;
	slot->has_link = false;
	slot->len = 0;
	slot->frame = slot->node = WIRE_NONE;
	slot->place = 0;
	atomic_store_explicit(&slot->record, record, memory_order_relaxed);
	atomic_signal_fence(memory_order_release);
	s->n++;
	return slot;
}

static void **begin_function(void **ret_context, const char *record)
{
	*ret_context = push(record, TORCH_FUNCTION);
	return ret_context;
}

/* Without tensors it is as without --shapes. */
static void **begin_shaped(void **ret_context, const char *record)
{
	uint64_t began = ticks();
	struct slot *slot = push(record, TORCH_FUNCTION);
	const char *name = slot ? torch.name(record) : NULL;
	size_t len = name && !begins_with(name, TOLD_TWICE) ? strlen(name) : 0, n;

	*ret_context = slot;
	if (!len || len > sizeof(slot->name) / 2)
		return ret_context;
	memcpy(slot->name, name, len);
	slot->name[len++] = ' ';
	n = torch_shapes_put(record, slot->name + len, sizeof(slot->name) - len);
	atomic_signal_fence(memory_order_release);
	slot->len = n ? (uint32_t)(len + n) : 0;
	count(&thread_self->torch->turn.spent, ticks() - began);
	return ret_context;
}

static void **begin_backward(void **ret_context, const char *record)
{
	*ret_context = push(record, TORCH_BACKWARD);
	return ret_context;
}

static void keep_name(struct slot *slot, const char *name, size_t len)
{
	if (len >= sizeof(slot->name)) {
		slot->frame = frame_intern(FRAME_OPERATOR, string_intern(name, len));
		return;
	}
	memcpy(slot->name, name, len);
	atomic_signal_fence(memory_order_release);
	slot->len = (uint32_t)len;
}

/* It takes nothing of the tables until something is launched within. */
static void **begin_user(void **ret_context, const char *record)
{
	struct slot *slot = push(record, TORCH_USER);
	const char *name = slot ? torch.name(record) : "";

	if (slot)
		keep_name(slot, name, strlen(name));
	*ret_context = slot;
	return ret_context;
}

/* What made it, or what it makes: a thread's number and a sequence number. */
static bool link_of(const struct torch_stack *s, const struct slot *slot, const char *record,
		    struct torch_link *ret)
{
	int64_t sequence;

	memcpy(&sequence, record + torch.sequence, sizeof(sequence));
	if (sequence < 0)
		return false;
	ret->sequence = (uint64_t)sequence;
	ret->thread = s->thread_id;
	if (slot->scope == TORCH_BACKWARD)
		memcpy(&ret->thread, record + torch.forward_thread, sizeof(ret->thread));
	return true;
}

/* A backward operator's gradients are added up after it has ended, within the record around it. */
static void keep_link(struct torch_stack *s, uint32_t i, const char *record)
{
	struct slot *around = &s->slots[i - 1];

	around->has_link = around->scope == TORCH_FUNCTION && torch_has_link() &&
			   link_of(s, &s->slots[i], record, &around->link);
}

/* What is still open above it is not within it: a collective ends when its device is done. */
static void pop(struct torch_stack *s, uint32_t i, const char *record)
{
	if (i && s->slots[i].scope == TORCH_BACKWARD)
		keep_link(s, i, record);
	s->n = i;
	trim(s);
}

static void end(const char *record, void **context)
{
	struct slot *slot = (struct slot *)context;
	struct torch_stack *s = thread_self ? thread_self->torch : NULL;

	/* Meanwhile the slot may be another's. */
	if (!slot || atomic_load_explicit(&slot->record, memory_order_relaxed) != record)
		return;
	atomic_store_explicit(&slot->record, NULL, memory_order_relaxed);
	if (s && slot >= s->slots && slot < s->slots + s->n)
		pop(s, (uint32_t)(slot - s->slots), record);
}

/* ---- names ---- */

/* The frame of a record; WIRE_NONE: it has none of its own. Names are PyTorch's own, at one address as a
 * rule, but not those of the program's scopes. */
static uint32_t frame_of(struct torch_stack *s, const struct slot *slot, const char *record)
{
	const char *name = torch.name(record);
	unsigned i = hash_u64((uintptr_t)name) % NAMES_MAX;
	uint32_t string;

	if (!name || !*name || (begins_with(name, TOLD_TWICE) && !slot->has_link))
		return WIRE_NONE;
	if (slot->has_link && begins_with(name, TOLD_TWICE))
		name += strlen(TOLD_TWICE);
	if (s->known[i].name == name && !strcmp(s->known[i].text, name))
		return s->known[i].frame;
	string = string_intern(name, strlen(name));
	s->known[i].frame = frame_intern(FRAME_OPERATOR, string);
	s->known[i].name = name;
	s->known[i].text = collector->string[string].s;
	return s->known[i].frame;
}

/* The node of one whose name is kept: it may count up. */
static uint32_t named_node(struct thread_state *t, struct slot *slot, uint32_t parent)
{
	uint32_t frame;

	if (!slot->len)
		return slot->frame == WIRE_NONE ? parent : node_intern(parent, slot->frame);
	if (slot->node == WIRE_NONE || slot->parent != parent) {
		slot->node = WIRE_NONE;
		slot->parent = parent;
		slot->node = scope_node(t, FRAME_OPERATOR, slot->name, slot->len, parent, &frame);
	}
	return slot->node;
}

/* ---- forward and backward ---- */

/* Below the modules of the forward operator, if this is a backward one. */
static uint32_t join(struct torch_stack *s, const struct slot *slot, const char *record,
		     uint32_t node)
{
	struct torch_link link = slot->link;

	if (!slot->has_link && (slot->scope != TORCH_BACKWARD || !torch_has_link() ||
				!link_of(s, slot, record, &link)))
		return node;
	return torch_join_below(&link, node);
}

/* So that the backward operators find it. */
static void keep(struct torch_stack *s, uint32_t modules)
{
	struct torch_link link;
	uint64_t last = UINT64_MAX;

	for (uint32_t i = 0; torch_has_link() && i < s->n; i++) {
		const char *record =
			atomic_load_explicit(&s->slots[i].record, memory_order_relaxed);

		if (record && s->slots[i].scope == TORCH_FUNCTION &&
		    link_of(s, &s->slots[i], record, &link) && link.sequence != last) {
			torch_join_keep(&link, modules);
			last = link.sequence;
		}
	}
}

/* ---- is it there? ---- */

static uint64_t observe(uint8_t scope, void **(*start)(void **, const char *), bool with_inputs)
{
	struct torch_callback callback = {start, end, 1.0, {0}, with_inputs, 0, 0};

	callback.scopes[scope] = 1;
	return torch.add_callback(callback);
}

/* ---- turns ---- */

static struct torch_turn *turn_of(const struct thread_state *t)
{
	struct torch_stack *s = __atomic_load_n(&t->torch, __ATOMIC_ACQUIRE);

	return s ? &s->turn : NULL;
}

/* Within a budget, by turns; but for the program's own scopes, which are few. */
static void take_turns(void *library, const uint64_t handles[2])
{
	if (budget_is_limited() && torch_again_find(library) &&
	    torch_turns_begin(library, handles, 2, turn_of))
		contexts_poll_by(torch_turns_look);
}

static bool with_shapes(void *library)
{
	if (!collector->control->wanted.shapes)
		return false;
	if (torch_shapes_find(library, torch.sequence))
		return true;
	collect_note(NOTE_WARNING, "PyTorch: the shapes of inputs are not known in this version");
	return false;
}

/* By the main thread, with the interpreter's lock, between two instructions. */
static void look_now(void)
{
	const char *name;
	uint64_t handles[2];
	void *library;
	bool shaped;

	if (found.is_there || found.is_unknown)
		return;
	name = torch_library_path();
	if (!name)
		return;
	library = dlopen(name, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
	found.is_unknown = !library || !torch_library_find(library);
	if (found.is_unknown)
		return;
	found.is_there = true;
	torch_library_measure();
	if (!torch_has_link())
		collect_note(
			NOTE_WARNING,
			"PyTorch: the forward operators of backward ones are not known in this "
			"version: backward work stands below the main thread's scopes");
	torch_join_init();
	shaped = with_shapes(library);
	handles[0] = observe(TORCH_FUNCTION, shaped ? begin_shaped : begin_function, shaped);
	handles[1] = observe(TORCH_BACKWARD, begin_backward, false);
	observe(TORCH_USER, begin_user, false);
	take_turns(library, handles);
	contexts_set(CONTEXT_TORCH, true);
}

static int look_pending(void *arg)
{
	(void)arg;
	if (collector_is_ours())
		look_now();
	atomic_store(&found.is_asked, false);
	return 0;
}

#if defined(__x86_64__)
#define IS_OBSERVABLE true
#else
#define IS_OBSERVABLE false
#endif

static void torch_look(void)
{
	bool asked = false;

	if (IS_OBSERVABLE && !found.is_there && python_can_be_read() &&
	    atomic_compare_exchange_strong(&found.is_asked, &asked, true) &&
	    !python_ask(look_pending))
		atomic_store(&found.is_asked, false);
}

/* It may be imported at any time: then the next launch is to find that it is due. */
static void torch_look_again(void)
{
	torch_look();
	if (!found.is_there && python_is_there())
		sender_prepare();
}

/* What it launched, if anything, has neither modules nor operators. */
static void torch_end(void)
{
	if (!IS_OBSERVABLE || found.is_there || !python_can_be_read() || !launches_of_all() ||
	    !torch_library_path())
		return;
	collect_note(NOTE_WARNING,
		     found.is_unknown
			     ? "PyTorch: modules and operators are not known in this version"
			     : "PyTorch: modules and operators are not known: it was loaded after "
			       "the last look for it");
}

/* ---- places ---- */

static uint64_t named_place(struct slot *slot)
{
	if (!slot->len)
		return slot->frame;
	if (!slot->place)
		slot->place = scope_place(slot->name, slot->len);
	return slot->place;
}

/* What a node leaves to be done when it is left is its own, on a thread that has no more to do. */
static uint64_t at_node(const struct torch_again *a, uint64_t lines)
{
	struct torch_link link;

	if (!a->at_node && lines)
		return lines;
	lines = hash_u64(lines ^ (uintptr_t)a->class);
	return torch_again_link(a, &link) ? hash_u64(lines ^ torch_join_find(&link)) : lines;
}

/* Where a launch comes from, as far as it can be seen without being told of operators: the same in every turn. */
static uint64_t again_place(struct thread_state *t, struct torch_stack *s, uint64_t lines)
{
	struct torch_again *a = &s->again;
	uint64_t hash;

	torch_again_look(a);
	hash = at_node(a, lines);
	for (uint32_t i = 0; i < s->n; i++)
		if (s->slots[i].scope == TORCH_USER && atomic_load(&s->slots[i].record))
			hash = hash_u64(hash ^ named_place(&s->slots[i]));
	return hash_u64(hash ^ (uintptr_t)t->launching ^ (uint64_t)a->n_of_line << 56);
}

/* Its name, at one address as a rule, and of a backward operator also whose it is. */
static uint64_t place_of(const struct torch_stack *s, struct slot *slot, const char *record)
{
	struct torch_link link;
	uint64_t made_by = 0;

	if (slot->scope == TORCH_USER || slot->len)
		return named_place(slot);
	if (slot->scope == TORCH_BACKWARD && torch_has_link() && link_of(s, slot, record, &link))
		made_by = torch_join_find(&link);
	return (uintptr_t)torch.name(record) ^ made_by << 48;
}

/* Of those that are open, from the i-th on. */
static uint64_t operators(struct thread_state *t, uint32_t i)
{
	struct torch_stack *s = t->torch;
	uint64_t hash = 0;

	for (uint32_t n = s && t == thread_self ? s->n : 0; i < n; i++) {
		const char *record =
			atomic_load_explicit(&s->slots[i].record, memory_order_relaxed);

		if (record)
			hash = hash_u64(hash ^ place_of(s, &s->slots[i], record));
	}
	return hash;
}

/* The node that it is at is seen at a glance where the lines are those of the launch before. */
static uint64_t torch_glance(struct thread_state *t)
{
	uint64_t lines = python_glance(t);
	struct torch_stack *s = t->torch;

	if (!torch_turns_used())
		return lines ^ operators(t, s && s->n ? s->n - 1 : 0);
	if (t != thread_self || !(s = stack_of(t)))
		return lines;
	torch_again_glance(&s->again, lines);
	return s->again.looked ? at_node(&s->again, lines) : lines;
}

/* After torch_glance(). */
static uint64_t torch_at(struct thread_state *t)
{
	uint64_t lines = python_innermost_place(t);
	struct torch_stack *s;

	if (!torch_turns_used())
		return hash_u64(lines ^ operators(t, 0));
	if (t != thread_self || !(s = stack_of(t)))
		return lines;
	return s->again.place = again_place(t, s, lines);
}

static enum context_telling torch_telling(void)
{
	if (!torch_turns_used())
		return CONTEXT_SEES;
	return torch_turns_seen() ? CONTEXT_IS_TOLD : CONTEXT_IS_ALONE;
}

/* ---- for the collector ---- */

/* Launches of no operator (a kernel of the program's own) have their lines at least. */
static uint32_t modules_of(struct thread_state *t, uint32_t node, bool with_lines)
{
	if (contexts_on & CONTEXT_BIT(CONTEXT_PYTHON))
		return node;
	return python_context(t, node, PYTHON_MODULES | (with_lines ? PYTHON_LINES : 0));
}

/* Do the node that the thread is at and its record say the same? */
static void check_node(struct torch_stack *s)
{
	struct torch_link link;
	const char *record;

	for (uint32_t i = s->n; i-- > 0;) {
		record = atomic_load_explicit(&s->slots[i].record, memory_order_relaxed);
		if (!record || s->slots[i].scope != TORCH_BACKWARD)
			continue;
		if (torch_has_link() && link_of(s, &s->slots[i], record, &link) && s->again.at_node)
			torch_again_check(&s->again, &link);
		return;
	}
}

/* What was read is what a launch of the same place has that cannot be read. */
static void remember(struct thread_state *t, struct torch_stack *s, uint32_t above, uint32_t node)
{
	check_node(s);
	torch_again_put(&s->again, hash_pair(above, s->again.place), node);
}

/* What the records from one to another, which is left out, are below a node. */
static uint32_t operator_nodes(struct thread_state *t, struct torch_stack *s, uint32_t from,
			       uint32_t to, uint32_t node)
{
	uint32_t frame;

	for (uint32_t i = from; i < to; i++) {
		struct slot *slot = &s->slots[i];
		const char *record = atomic_load_explicit(&slot->record, memory_order_relaxed);

		if (!record)
			continue;
		if (slot->scope == TORCH_USER || slot->len) {
			node = named_node(t, slot, node);
			continue;
		}
		node = join(s, slot, record, node);
		frame = frame_of(s, slot, record);
		if (frame != WIRE_NONE)
			node = node_intern(node, frame);
	}
	return node;
}

/* Is it one that stands around generated code, and not within? */
static bool is_around_generated(const struct slot *slot)
{
	static const char *const names[] = {"Torch-Compiled Region", "CompiledFunction",
					    TOLD_TWICE "CompiledFunction", "## Call CompiledFx"};
	const char *record = atomic_load_explicit(&slot->record, memory_order_relaxed);
	const char *name = !record ? "" : slot->len ? slot->name : torch.name(record);

	for (unsigned i = 0; name && i < ARRAY_SIZE(names); i++)
		if (begins_with(name, names[i]))
			return true;
	return false;
}

/* Generated code stands below the region that was compiled, and above the operators that it calls. */
static uint32_t nodes_with_generated(struct thread_state *t, struct torch_stack *s, uint32_t n,
				     uint32_t node)
{
	uint32_t around = n;

	while (around && !is_around_generated(&s->slots[around - 1]))
		around--;
	node = python_generated(t, operator_nodes(t, s, 0, around, node));
	return operator_nodes(t, s, around, n, node);
}

static uint32_t node_told(struct thread_state *t, struct torch_stack *s, uint32_t n,
			  uint32_t scopes)
{
	uint32_t modules = modules_of(t, scopes, !n), node;

	node = n && python_has_generated(t) ? nodes_with_generated(t, s, n, modules)
					    : operator_nodes(t, s, 0, n, modules);
	if (n)
		keep(s, modules);
	if (!torch_turns_used() || !budget_is_limited())
		return node;
	if (n)
		remember(t, s, modules, node);
	else if (t == thread_self && (s = stack_of(t)))
		remember(t, s, scopes, node);
	return node;
}

/* Backward operators are to find below which modules this launch was. */
static void keep_made(const struct torch_stack *s, uint32_t modules)
{
	const struct torch_link link = {s->thread_id, s->again.next - 1};

	torch_join_keep(&link, modules);
}

/* While nobody is told of operators: as it was when somebody was. Else as far as it can be seen. */
static uint32_t node_again(struct thread_state *t, struct torch_stack *s, uint32_t scopes)
{
	uint64_t place = s->again.place;
	uint32_t modules = modules_of(t, scopes, false), node;
	struct torch_link link;

	if (s->again.made)
		keep_made(s, modules);
	t->context_taken_over = true;
	node = torch_again_get(&s->again, hash_pair(modules, place));
	if (!node)
		node = torch_again_get(&s->again, hash_pair(scopes, place));
	if (node)
		return node;
	count(&s->turn.n_unknown, 1);
	node = modules;
	for (uint32_t i = 0; i < s->n; i++)
		if (s->slots[i].scope == TORCH_USER && atomic_load(&s->slots[i].record))
			node = named_node(t, &s->slots[i], node);
	if (python_has_generated(t))
		node = python_generated(t, node);
	return s->again.at_node && torch_again_link(&s->again, &link)
		       ? torch_join_below(&link, node)
		       : node;
}

static uint32_t torch_node(struct thread_state *t, uint32_t node)
{
	struct torch_stack *s = t->torch;

	bool told = t->reads_exactly ? torch_turns_told() : torch_turns_seen();

	if (_unlikely_(!told) && t == thread_self && (s = stack_of(t)))
		return node_again(t, s, node);
	return node_told(t, s, s && t == thread_self ? s->n : 0, node);
}

static bool is_generated(const struct frame_entry *f)
{
	size_t len;
	uint32_t line;

	return f->kind == FRAME_PYTHON &&
	       generated_parse(collector->string[f->string].s, &len, &line);
}

/* Operators and lines of generated code stand below them. */
static uint32_t modules_above(uint32_t node)
{
	const struct frame_entry *f = &collector->frame[collector->node[node].frame];

	while (node && (f->kind == FRAME_OPERATOR || is_generated(f))) {
		node = collector->node[node].parent;
		f = &collector->frame[collector->node[node].frame];
	}
	return node;
}

/* It has the modules of the launch that it was taken over from. */
static void torch_taken(struct thread_state *t, uint32_t node)
{
	struct torch_stack *s = t->torch;

	if (!torch_turns_used() || !s || !s->again.made)
		return;
	keep_made(s, modules_above(node));
}

/* Where nobody has looked yet it is found by the next instructions of the main thread, before anything is launched. */
static void torch_capture_begins(void)
{
	if (!found.is_there)
		torch_look();
	else
		torch_turns_capture_begins();
}

const struct context_source context_torch = {
	.look = torch_look,
	.look_again = torch_look_again,
	.end = torch_end,
	.node = torch_node,
	.innermost = torch_at,
	.glance = torch_glance,
	.telling = torch_telling,
	.taken = torch_taken,
	.capture_begins = torch_capture_begins,
	.fork_begins = torch_turns_fork_begins,
	.forked = torch_turns_forked,
};

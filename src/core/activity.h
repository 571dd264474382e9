/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CORE_ACTIVITY_H
#define PROTON_CORE_ACTIVITY_H
/* What a backend delivers: our activity record, whatever the vendor.
 *
 *   vendor record ── one translate function a kind ──> struct activity ──> activity_sink
 *
 * A record is borrowed for the length of the call. Times are nanoseconds of the backend's clock
 * (struct backend says which). */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "core/launch_config.h"
#include "core/pc_samples.h"
#include "core/loss.h"

enum activity_kind {
	ACTIVITY_KERNEL = 0,
	ACTIVITY_COPY = 1,
	ACTIVITY_SET = 2,
	ACTIVITY_SYNC =
		3, /* the host waits for a device: no device, and its launch is not counted */
	ACTIVITY_GRAPH = 4, /* all of a graph that was launched, where its nodes are not told of */
	ACTIVITY_CALL =
		5, /* the host is in a function of the vendor's, which is no wait: as SYNC */
	ACTIVITY_N_KINDS
};

enum copy_direction { /* also the value of the text metric "direction" */
		      COPY_UNKNOWN = 0,
		      COPY_HOST_TO_DEVICE,
		      COPY_DEVICE_TO_HOST,
		      COPY_DEVICE_TO_DEVICE,
		      COPY_HOST_TO_HOST,
		      COPY_PEER_TO_PEER,
		      COPY_N_DIRECTIONS
};

/* What is special about a copy: each counts as a metric of its own. */
enum copy_pattern {
	COPY_AGAIN = 1,    /* same size, between the same addresses, as before */
	COPY_COMPARED = 2, /* what it copies again was compared with that before */
	COPY_SAME = 4,     /* and is the same, as far as was looked at */
	COPY_BACK = 8,     /* the other way, after one between the same addresses */
};

/* Of the hardware channel through which a copy went. */
enum channel_kind {
	CHANNEL_UNKNOWN = 0,
	CHANNEL_COMPUTE, /* as a kernel */
	CHANNEL_COPY,    /* of a copy engine */
	CHANNEL_DECOMPRESS,
	CHANNEL_N_KINDS
};

enum memory_kind {
	MEMORY_UNKNOWN = 0,
	MEMORY_PAGEABLE,
	MEMORY_PINNED,
	MEMORY_DEVICE,
	MEMORY_ARRAY,
	MEMORY_MANAGED,
	MEMORY_SVM,     /* OpenCL's, that host and devices share */
	MEMORY_TENSORS, /* of a framework, within what its allocator has of a device */
	MEMORY_N_KINDS
};

struct activity {
	enum activity_kind kind;
	uint32_t launch;  /* launch context id from sink->ops->launch(); 0 = unknown */
	int32_t device;   /* index within the backend's devices */
	uint32_t context; /* vendor's context id */
	uint32_t stream;  /* vendor's stream or queue id */
	uint64_t start_ns, end_ns;
	uint64_t launched_ns; /* when the call began that launched it; 0: not known */
	const char *name;     /* kernels: symbol, mangled; waits, calls: function; else NULL */
	uint64_t bytes;       /* copies and sets */
	uint64_t n_besides;   /* of a copy: others of the same call that ran with it, as one */
	uint8_t direction;    /* enum copy_direction */
	uint8_t src_kind;     /* enum memory_kind; of a set: its memory */
	uint8_t dst_kind;     /* enum memory_kind */
	uint8_t pattern;      /* of a copy: bits of enum copy_pattern */
	uint8_t channel_kind; /* of a copy: enum channel_kind */
	uint32_t channel;     /* … its number, where the kind is known */
	uint32_t src_device, dst_device; /* of one between devices; the same: not known */
	bool async;                      /* the call did not wait for it */
	bool uncounted; /* its launch was not counted by ops->launch(): a graph's node, a
				  * launch before callbacks came on */
	bool by_kernel; /* no call launched it: it is in the body of a conditional node */
	uint32_t graph; /* graph the record belongs to, 0 = none */
	struct launch_config config; /* of kernels */
	uint64_t graph_node;         /* of kernels: the node of its graph; 0: none, or not known */
	uint64_t number;             /* of kernels: of its launch, in its context; 0: not known */
	uint32_t correlation; /* … the vendor's, of the call that launched it; 0: not known */
};

/* Memory is allocated, or released, or is gone with the context that it is of; or a pool of it has grown, shrunk or
 * ended; or pages of it that host and devices share have moved, or were missed. It is no work: nothing waits for it, and
 * it ends no launch. */
enum memory_operation {
	MEMORY_ALLOCATED,
	MEMORY_RELEASED,
	MEMORY_GONE,
	MEMORY_POOL,
	MEMORY_UNIFIED,
	MEMORY_SCOPE,  /* a scope ends in which something may have been allocated */
	MEMORY_GROWN,  /* an allocation made a pool grow that is told of otherwise */
	MEMORY_UNSEEN, /* nobody saw what happened before: how full pools were is not known */
};

enum unified_what {
	UNIFIED_TO_DEVICE, /* bytes have moved … */
	UNIFIED_TO_HOST,
	UNIFIED_TO_PEER,
	UNIFIED_CPU_FAULT, /* a processor missed a page … */
	UNIFIED_GPU_FAULT, /* … so many times at once */
	UNIFIED_THRASH,    /* pages go to and fro */
	UNIFIED_THROTTLE,  /* … and one side is made to wait */
	UNIFIED_REMOTE,    /* … or reaches them where they are */
};
/* Why pages have moved, where it is said. */
enum unified_cause { UNIFIED_FOR_ACCESS, UNIFIED_AS_ASKED, UNIFIED_EVICTED };

struct memory_event {
	uint8_t operation; /* enum memory_operation */
	uint8_t kind;      /* enum memory_kind */
	uint8_t what;      /* of MEMORY_UNIFIED: enum unified_what */
	uint8_t cause;     /* … enum unified_cause */
	uint32_t launch;   /* as that of an activity */
	int32_t device;    /* DEVICE_HOST: of the host, of unified memory */
	uint32_t context,
		stream;       /* MEMORY_GONE: this context's; MEMORY_SCOPE: its node and thread */
	uint32_t correlation; /* the vendor's, of the call */
	bool async;           /* in the order of the stream */
	bool is_static;       /* a variable of a module that was loaded */
	uint64_t at_ns;       /* CLOCK_REALTIME */
	uint64_t address, bytes;
	uint64_t pool; /* which one; 0: none */
	uint64_t n,
		took_ns; /* of MEMORY_UNIFIED: so many; it moved, or waited; of MEMORY_GROWN n: 1: enough was free */
	uint64_t pool_bytes,
		pool_used; /* reserved, and in use; both 0: not known, or nothing left */
};
/* A note of a backend that tells of none, and could have, begins so. */
#define NO_MEMORY_EVENTS  "allocations of memory are not recorded"
#define NO_UNIFIED_EVENTS "unified memory is not recorded"
#define DEVICE_HOST       (-1)
#define STREAM_NONE       UINT32_MAX /* of a lane of what is in no stream */
/* Names of what allocates: "alloc device", with the pool, and the file whose code asked for it; of variables that come
 * with a module, which nobody asked for, "alloc device variables". */
#define ALLOC_WORD    "alloc "
#define ALLOC_FROM    " from "
#define ALLOC_TENSORS ALLOC_WORD "tensors"
#define ALLOC_STATIC  " variables"
#define TORCH_POOL    "PyTorch's allocator"

/* "HostToDevice" … and the short form for node names, "HtoD". */
const char *copy_direction_word(unsigned direction);
const char *copy_direction_short(unsigned direction);
const char *memory_kind_word(unsigned kind);
/* What the name of a node says of it, ours or that of another tool. */
unsigned copy_direction_of(const char *name);
/* Name of the node of a copy or set: "memcpy HtoD pinned", "memset device"; between devices, as the program counts them:
 * "memcpy PtoP 0 to 1". Size of out ≥ 48. */
void activity_transfer_name(const struct activity *a, char *out, size_t size);

/* How a kernel was launched, as it stands behind its name: "<<<128x4,256>>>"; dimensions of 1 at the end
 * are left out, and what is not known is "?". "" where nothing is. */
#define ACTIVITY_SHAPE_MAX 80
void activity_shape(const struct launch_shape *shape, char out[ACTIVITY_SHAPE_MAX]);
/* The length of a name without a shape at its end. */
size_t activity_bare_len(const char *name, size_t len);

/* A device, once known. Strings may be NULL; numbers 0 = unknown. */
struct device_info {
	const char *type; /* "CUDA", "HIP", "OpenCL", "OpenMP": key of the file's device table */
	int32_t index;
	const char *name, *arch, *uuid, *driver;
	uint32_t num_sms;
	uint32_t clock_khz, memory_clock_khz, bus_width_bits;
	uint64_t memory_bytes;
};

/* A node of a graph, for those who are told of whole graphs. */
enum graph_part { GRAPH_KERNEL, GRAPH_COPY, GRAPH_SET, GRAPH_GRAPH, GRAPH_OTHER, GRAPH_N_PARTS };
struct graph_member {
	uint64_t node;   /* vendor's id, which no other node has in the process; 0: not known */
	uint32_t graph;  /* … of its graph, as records name it; 0: its nodes are told of */
	uint32_t number; /* of its graph in any case; 0: not known */
	enum graph_part part;
	uint64_t
		what; /* of a kernel that was captured: the same for the same name and grid, in each
			* run of the program; 0: not known */
};

/* What the program changes of a graph that is made already. */
enum graph_change {
	GRAPH_NODE_CHANGED,    /* a node of what executable graphs are made of from then on */
	GRAPH_KERNELS_CHANGED, /* an executable graph: what its nodes run; there are as many */
	GRAPH_NODES_CHANGED,   /* … how many of its nodes run */
};

/* Samples of an instruction, since the last time (core/pc_samples.h). */
struct pc_sampled {
	uint64_t cubin, offset; /* the vendor's checksum of it; in the function */
	const char *function;   /* mangled */
	int32_t device;
	uint32_t launch; /* the context of its kernel's; 0: of any kernel of the device */
	uint64_t n_not_issued;
	uint64_t n[PC_N_REASONS]; /* by reason */
};

/* Where the values of a range belong. */
struct range_place {
	uint32_t slot;
	uint32_t use;    /* of its epoch, whose number another one may have since (epochs.h) */
	uint32_t thread; /* whose scopes it is in; 0: not known */
};

struct activity_sink;
struct ranges_wanted;

/* The functions that a backend calls to deliver. Each may be called from any thread. */
/* A module that is about to be loaded. */
struct module_load {
	const void *image; /* as the driver takes it */
	size_t size;       /* … bytes; 0: that is not told */
	const char *file;  /* of which it is all; NULL: none is named */
	uint32_t chip;     /* that it is for: 90 for sm_90 */
};

/* … and what is loaded in its place: pages, which the backend unmaps. */
struct module_instead {
	void *image;
	size_t size;
};

struct activity_sink_ops {
	/* Launch path, on the launching thread: count a launch and return its launch context id
	 * (never 0). what: is the same where the same is launched, such as a kernel's function; NULL: not
	 * known. No malloc, no lock, no system call. */
	uint32_t (*launch)(struct activity_sink *sink, const void *what);
	/* Right after launch(), where a graph is launched: all that runs in it has the context, which is read exactly. */
	uint32_t (*graph_launch)(struct activity_sink *sink);
	/* As launch(), of a call that allocates memory: where it is made, and by whose code. It is no launch, and not counted.
	 * It may look at the stack. */
	uint32_t (*allocating)(struct activity_sink *sink);
	/* A finished operation. */
	void (*record)(struct activity_sink *sink, const struct activity *a);
	/* n launches that launch() counted have failed: no record will come for them. */
	void (*unlaunch)(struct activity_sink *sink, uint64_t n);
	/* cumulative loss: adds n. */
	void (*lose)(struct activity_sink *sink, enum loss loss, uint64_t n);
	void (*device)(struct activity_sink *sink, const struct device_info *info);
	/* One sentence for the user ("CUPTI is held by 'Nsight Systems': ..."), sent once each. */
	void (*note)(struct activity_sink *sink, const char *text);
	/* There is something to deliver from now on: starts the sender thread when none runs. */
	void (*connect)(struct activity_sink *sink);
	/* The calling thread enters a scope of the vendor's, so named, and leaves the newest of
	 * them: what it launches in between belongs there. On a thread without scopes it stands
	 * where such a thread's work does. Each enter has its leave, on the same thread. No malloc,
	 * no lock, no system call. */
	void (*enter)(struct activity_sink *sink, const char *name, size_t len);
	void (*leave)(struct activity_sink *sink);
	/* The launch in progress on this thread has become a node of a graph, which has this id; one has been
	 * made by this thread without a launch; one has been made after another. Records name it (graph_node). */
	void (*captured)(struct activity_sink *sink, const struct graph_member *node);
	void (*built)(struct activity_sink *sink, const struct graph_member *node);
	void (*cloned)(struct activity_sink *sink, uint64_t from, const struct graph_member *node);
	/* This thread begins to capture a stream, or ends what it or another one began: what the program says meanwhile
	 * is said of each time that the graph runs. */
	void (*capturing)(struct activity_sink *sink, const void *stream, bool on);
	/* The program wants a profiler to record from here on, or no longer (cuProfilerStart). */
	void (*profiler)(struct activity_sink *sink, bool on);
	/* A node goes away, alone or with its graph. Records of launches before may still come. */
	void (*removed)(struct activity_sink *sink, const struct graph_member *node);
	/* A graph goes away whose nodes are not told of. */
	void (*gone)(struct activity_sink *sink, uint32_t graph);
	/* A node of an executable graph runs what another node is from now on. is_first: of those of one call. */
	void (*updated)(struct activity_sink *sink, uint64_t from, const struct graph_member *m,
			bool is_first);
	/* Is what is known of an executable graph, by its number, the same as of this graph? */
	bool (*is_like)(struct activity_sink *sink, uint32_t graph, uint32_t like);
	/* A graph, or a node, is changed. like: the number of a graph that it has become like; 0: not known. */
	void (*changed)(struct activity_sink *sink, enum graph_change what,
			const struct graph_member *m, uint32_t like);
	/* In any order: those of several threads come thread by thread. */
	void (*memory)(struct activity_sink *sink, const struct memory_event *e);
	/* Those of this backend up to this time are all there. Who has said so once goes on to. */
	void (*memory_until)(struct activity_sink *sink, uint64_t until_ns);
	/* All operations that began before this time were delivered. Who never says so, not even that it is true of
	 * the beginning of time, before anything is, has no gaps between them. */
	void (*settled)(struct activity_sink *sink, uint64_t until_ns);
	/* The backend records nothing, for another profiler has what it works with, since this time (CLOCK_MONOTONIC; 0:
	 * since the process began), or it does again. May be NULL. */
	void (*aside)(struct activity_sink *sink, bool on, uint64_t since_ns);
	/* Which hardware metrics are measured of kernels; NULL: none. It stays. */
	const struct ranges_wanted *(*ranges)(struct activity_sink *sink);
	/* Where a range around what is launched now belongs (enum ranges_of); false: in none. On the launching thread. */
	bool (*range_at)(struct activity_sink *sink, uint32_t launch, struct range_place *ret);
	/* Where those of the kernel of a record belong, before that is delivered: its phases may be over then. False: nowhere. */
	bool (*measured_at)(struct activity_sink *sink, const struct activity *a,
			    struct range_place *ret);
	/* … and the values of a kernel or a range, in their order; it took time_ns. One thread at a time. */
	void (*measured)(struct activity_sink *sink, const struct range_place *at, uint64_t time_ns,
			 const double *values);
	/* The code of a device has been sampled; from one thread at a time, as is the next. May be NULL. */
	void (*sampled)(struct activity_sink *sink, const struct pc_sampled *s);
	/* All samples that were taken until now are there, and so are the kernels that have ended. last: no more come. */
	void (*sampled_all)(struct activity_sink *sink, bool last);
	/* A module was loaded, of this code. */
	void (*cubin)(struct activity_sink *sink, uint64_t cubin, const void *data, size_t size);
	/* … with a kernel of this name, a thread of which has so many bytes of local memory; where records say it not. May be NULL. */
	void (*local_memory)(struct activity_sink *sink, const char *kernel, uint32_t bytes);
	/* A module was loaded whose kernels have a scope within that they call by this number. NULL: nobody wants to know. */
	void (*kernel_scope)(struct activity_sink *sink, uint32_t scope, const char *name,
			     size_t len);
	/* What is to be loaded in place of a module, with scopes within its kernels; false: it is loaded as it is, and why is
	 * told. It may take seconds. */
	bool (*rewrite)(struct activity_sink *sink, const struct module_load *load,
			struct module_instead *ret);
	/* There is much that warps have left on a device, to be read soon; now: before this returns, as it goes away. Where
	 * kernel_scope is. */
	void (*slices_due)(struct activity_sink *sink, bool now);
};

struct activity_sink {
	const struct activity_sink_ops *ops;
	uint8_t source; /* index of the backend that owns this sink: separates device indices */
};

#endif

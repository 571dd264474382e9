/* SPDX-License-Identifier: MIT */
/* Queues: profiling is switched on behind the program's back, and what the program can ask about
 * its queues and events stays as if it were not. */
#include "config.h" // IWYU pragma: keep
#include "backends/opencl_queue.h"
#include <pthread.h>
#include <string.h>
#include "base/util.h"

#define MAX_QUEUES   256
#define MAX_CONTEXTS 256

struct opencl opencl;

/* Places are filled in order and read without a lock: first the entry, then its handle. */
static struct {
	pthread_mutex_t lock; /* writers; never held while calling OpenCL or the sink */
	uint32_t n_queues, n_devices, n_contexts;
	cl_command_queue handles[MAX_QUEUES];
	struct opencl_queue queues[MAX_QUEUES];
	cl_device_id devices[OPENCL_MAX_DEVICES];
	cl_context contexts[MAX_CONTEXTS];
} known = {.lock = PTHREAD_MUTEX_INITIALIZER};

void opencl_queue_forked(void)
{
	pthread_mutex_init(&known.lock, NULL); /* its owner may have stayed in the parent */
}

void opencl_connect(struct activity_sink *sink)
{
	if (!__atomic_load_n(&opencl.connected, __ATOMIC_RELAXED) &&
	    !__atomic_exchange_n(&opencl.connected, true, __ATOMIC_RELAXED))
		sink->ops->connect(sink);
}

/* --- devices and contexts --------------------------------------------------------------------- */

/* Of AMD's devices: its management library knows them by nothing else (sensors/amdsmi.c). Their driver
 * tells it in a form of its own, whose last bytes are bus, device and function. */
static bool device_address(cl_device_id device, char out[40])
{
	opencl_clGetDeviceInfo *get = OPENCL_NEXT(clGetDeviceInfo);
	uint32_t vendor = 0, at[4];
	uint8_t topology[24] = {0};

	get(device, OPENCL_DEVICE_VENDOR_ID, sizeof(vendor), &vendor, NULL);
	if (vendor != OPENCL_VENDOR_AMD)
		return false;
	if (get(device, OPENCL_DEVICE_PCI_BUS_INFO, sizeof(at), at, NULL) != OPENCL_SUCCESS) {
		if (get(device, OPENCL_DEVICE_TOPOLOGY_AMD, sizeof(topology), topology, NULL) !=
		    OPENCL_SUCCESS)
			return false;
		for (unsigned i = 0; i < 4; i++)
			at[i] = i ? topology[20 + i] : 0;
	}
	snprintf(out, 40, "pci-%04x:%02x:%02x.%x", at[0], at[1], at[2], at[3]);
	return true;
}

static bool device_uuid(cl_device_id device, char out[40])
{
	opencl_clGetDeviceInfo *get = OPENCL_NEXT(clGetDeviceInfo);
	uint8_t u[16];

	if (get(device, OPENCL_DEVICE_UUID, sizeof(u), u, NULL) != OPENCL_SUCCESS)
		return false;
	snprintf(out, 40, "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x",
		 u[0], u[1], u[2], u[3], u[4], u[5], u[6], u[7], u[8], u[9], u[10], u[11], u[12],
		 u[13], u[14], u[15]);
	return true;
}

static void device_announce(cl_device_id device, int32_t index)
{
	struct activity_sink *sink = opencl_sink();
	struct device_info info = {.type = "OpenCL", .index = index};
	opencl_clGetDeviceInfo *get = OPENCL_NEXT(clGetDeviceInfo);
	char name[256] = "", driver[128] = "", uuid[40];
	uint32_t mhz = 0;

	get(device, OPENCL_DEVICE_NAME, sizeof(name) - 1, name, NULL);
	get(device, OPENCL_DRIVER_VERSION, sizeof(driver) - 1, driver, NULL);
	get(device, OPENCL_DEVICE_MAX_COMPUTE_UNITS, sizeof(info.num_sms), &info.num_sms, NULL);
	get(device, OPENCL_DEVICE_MAX_CLOCK_FREQUENCY, sizeof(mhz), &mhz, NULL);
	get(device, OPENCL_DEVICE_GLOBAL_MEM_SIZE, sizeof(info.memory_bytes), &info.memory_bytes,
	    NULL);
	if (device_address(device, uuid) || device_uuid(device, uuid))
		info.uuid = uuid;
	info.name = *name ? name : NULL;
	info.driver = *driver ? driver : NULL;
	info.clock_khz = mhz * 1000;
	if (sink)
		sink->ops->device(sink, &info);
}

/* Devices beyond the bound share the last number. */
int32_t opencl_device_index(cl_device_id device)
{
	uint32_t i;
	bool fresh = false;

	pthread_mutex_lock(&known.lock);
	for (i = 0; i < known.n_devices && known.devices[i] != device; i++)
		;
	if (i == known.n_devices && i < OPENCL_MAX_DEVICES) {
		known.devices[known.n_devices++] = device;
		fresh = true;
	}
	pthread_mutex_unlock(&known.lock);
	if (fresh)
		device_announce(device, (int32_t)i);
	return (int32_t)MIN(i, OPENCL_MAX_DEVICES - 1);
}

uint32_t opencl_context_id(cl_context context)
{
	uint32_t i;

	pthread_mutex_lock(&known.lock);
	for (i = 0; i < known.n_contexts && known.contexts[i] != context; i++)
		;
	if (i == known.n_contexts && i < MAX_CONTEXTS)
		known.contexts[known.n_contexts++] = context;
	pthread_mutex_unlock(&known.lock);
	return MIN(i, MAX_CONTEXTS - 1) + 1;
}

/* --- the table of queues ---------------------------------------------------------------------- */

static struct opencl_queue *queue_find(cl_command_queue handle)
{
	uint32_t n = __atomic_load_n(&known.n_queues, __ATOMIC_ACQUIRE);

	for (uint32_t i = 0; i < n; i++)
		if (__atomic_load_n(&known.handles[i], __ATOMIC_ACQUIRE) == handle)
			return &known.queues[i];
	return NULL;
}

static bool queue_is_live(const struct opencl_queue *q)
{
	return __atomic_load_n(&q->refs, __ATOMIC_RELAXED) > 0;
}

/* The place for a queue: its own of old (an address comes again), else the first that is free. */
static uint32_t queue_place(cl_command_queue handle)
{
	uint32_t i;

	for (i = 0; i < known.n_queues; i++)
		if (known.handles[i] == handle)
			return i;
	for (i = 0; i < known.n_queues; i++)
		if (!queue_is_live(&known.queues[i]))
			return i;
	return i;
}

static bool queue_has_room(void)
{
	bool room;

	pthread_mutex_lock(&known.lock);
	room = queue_place(NULL) < MAX_QUEUES;
	pthread_mutex_unlock(&known.lock);
	return room;
}

static const struct opencl_queue *queue_add(cl_command_queue handle, struct opencl_queue *q)
{
	uint32_t i;

	pthread_mutex_lock(&known.lock);
	i = queue_place(handle);
	if (i < MAX_QUEUES) {
		q->refs = 1;
		q->stream = i + 1;
		__atomic_store_n(&known.handles[i], NULL, __ATOMIC_RELEASE);
		known.queues[i] = *q;
		__atomic_store_n(&known.handles[i], handle, __ATOMIC_RELEASE);
		if (i == known.n_queues)
			__atomic_store_n(&known.n_queues, i + 1, __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&known.lock);
	return i < MAX_QUEUES ? &known.queues[i] : NULL;
}

/* The program has a new queue: from now on there may be something to deliver. */
static const struct opencl_queue *queue_made(cl_command_queue handle, cl_context context,
					     cl_device_id device, struct opencl_queue *q)
{
	struct activity_sink *sink = opencl_sink();
	const struct opencl_queue *added;

	q->context = opencl_context_id(context);
	q->device = opencl_device_index(device);
	added = queue_add(handle, q);
	if (!sink)
		return added;
	if (!added)
		sink->ops->lose(sink, LOSS_LANES_FULL, 1);
	opencl_connect(sink);
	return added;
}

/* Made by a function that we do not see (an extension's): as it is, nothing is hidden. */
static const struct opencl_queue *queue_learn(cl_command_queue handle)
{
	opencl_clGetCommandQueueInfo *get = OPENCL_NEXT(clGetCommandQueueInfo);
	struct opencl_queue q = {0};
	cl_context context = NULL;
	cl_device_id device = NULL;

	if (!handle ||
	    get(handle, OPENCL_QUEUE_CONTEXT, sizeof(context), &context, NULL) != OPENCL_SUCCESS ||
	    get(handle, OPENCL_QUEUE_DEVICE, sizeof(device), &device, NULL) != OPENCL_SUCCESS)
		return NULL;
	return queue_made(handle, context, device, &q);
}

const struct opencl_queue *opencl_queue_get(cl_command_queue handle)
{
	const struct opencl_queue *q = queue_find(handle);

	return _likely_(q && queue_is_live(q)) ? q : queue_learn(handle);
}

/* --- hooks ------------------------------------------------------------------------------------ */

cl_command_queue opencl_hook_clCreateCommandQueue(cl_context context, cl_device_id device,
						  uint64_t properties, int32_t *ret_error)
{
	opencl_clCreateCommandQueue *next = OPENCL_NEXT(clCreateCommandQueue);
	struct opencl_queue q = {0};
	cl_command_queue made = NULL;

	if (!opencl_sink() || !queue_has_room())
		return next(context, device, properties, ret_error);
	q.hidden = !(properties & OPENCL_QUEUE_PROFILING_ENABLE);
	if (q.hidden)
		made = next(context, device, properties | OPENCL_QUEUE_PROFILING_ENABLE, ret_error);
	if (!made) { /* as the program would have it: also its error */
		q.hidden = false;
		made = next(context, device, properties, ret_error);
	}
	if (made)
		queue_made(made, context, device, &q);
	return made;
}

/* Words of a zero-terminated list of (key, value), with the terminator; 0: longer than max. */
static uint32_t list_words(const uint64_t *list, uint32_t max)
{
	for (uint32_t i = 0; i < max; i += 2)
		if (!list[i])
			return i + 1;
	return 0;
}

/* The list with profiling on. false: it cannot be, or it is on already. */
static bool list_rewrite(const uint64_t *list, struct opencl_queue *q, uint64_t *ret_list)
{
	uint32_t n = list ? list_words(list, OPENCL_LIST_MAX) : 1, i;

	if (!n)
		return false;
	if (list) {
		q->n_list = (uint8_t)n;
		memcpy(q->list, list, n * sizeof(*list));
		memcpy(ret_list, list, n * sizeof(*list));
	}
	for (i = 0; i + 1 < n && ret_list[i] != OPENCL_QUEUE_PROPERTIES; i += 2)
		;
	if (i + 1 == n) {
		ret_list[i + 1] = 0;
		ret_list[i + 2] = 0;
	}
	ret_list[i] = OPENCL_QUEUE_PROPERTIES;
	if (ret_list[i + 1] & (OPENCL_QUEUE_PROFILING_ENABLE | OPENCL_QUEUE_ON_DEVICE))
		return false;
	ret_list[i + 1] |= OPENCL_QUEUE_PROFILING_ENABLE;
	return true;
}

cl_command_queue opencl_hook_clCreateCommandQueueWithProperties(cl_context context,
								cl_device_id device,
								const uint64_t *properties,
								int32_t *ret_error)
{
	opencl_clCreateCommandQueueWithProperties *next =
		OPENCL_NEXT(clCreateCommandQueueWithProperties);
	uint64_t list[OPENCL_LIST_MAX + 2] = {0};
	struct opencl_queue q = {.with_list = true};
	cl_command_queue made = NULL;

	if (!opencl_sink() || !queue_has_room())
		return next(context, device, properties, ret_error);
	q.hidden = list_rewrite(properties, &q, list);
	if (q.hidden)
		made = next(context, device, list, ret_error);
	if (!made) {
		q.hidden = false;
		made = next(context, device, properties, ret_error);
	}
	if (made)
		queue_made(made, context, device, &q);
	return made;
}

int32_t opencl_hook_clRetainCommandQueue(cl_command_queue queue)
{
	int32_t r = OPENCL_NEXT(clRetainCommandQueue)(queue);
	struct opencl_queue *q = r == OPENCL_SUCCESS ? queue_find(queue) : NULL;

	if (q && queue_is_live(q))
		__atomic_fetch_add(&q->refs, 1, __ATOMIC_RELAXED);
	return r;
}

/* Counted before it happens: afterwards the address may be another thread's new queue. */
int32_t opencl_hook_clReleaseCommandQueue(cl_command_queue queue)
{
	struct opencl_queue *q = queue ? queue_find(queue) : NULL;

	if (q && queue_is_live(q))
		__atomic_fetch_sub(&q->refs, 1, __ATOMIC_RELAXED);
	return OPENCL_NEXT(clReleaseCommandQueue)(queue);
}

/* The list as the program gave it. */
static int32_t queue_list(const struct opencl_queue *q, size_t size, void *value, size_t *ret_size)
{
	size_t bytes = q->n_list * sizeof(q->list[0]);

	if (value && size < bytes)
		return OPENCL_INVALID_VALUE;
	if (value)
		memcpy(value, q->list, bytes);
	if (ret_size)
		*ret_size = bytes;
	return OPENCL_SUCCESS;
}

int32_t opencl_hook_clGetCommandQueueInfo(cl_command_queue queue, uint32_t what, size_t size,
					  void *value, size_t *ret_size)
{
	int32_t r = OPENCL_NEXT(clGetCommandQueueInfo)(queue, what, size, value, ret_size);
	const struct opencl_queue *q = queue ? queue_find(queue) : NULL;
	uint64_t properties;

	if (!q || !q->hidden)
		return r;
	if (what == OPENCL_QUEUE_PROPERTIES && r == OPENCL_SUCCESS && value) {
		memcpy(&properties, value, sizeof(properties));
		properties &= ~(uint64_t)OPENCL_QUEUE_PROFILING_ENABLE;
		memcpy(value, &properties, sizeof(properties));
	}
	/* Ours may be longer than what the program has room for: r says nothing about its call.
	 * But drivers before 3.0 do not know the question. */
	if (what == OPENCL_QUEUE_PROPERTIES_ARRAY && q->with_list &&
	    OPENCL_NEXT(clGetCommandQueueInfo)(queue, what, 0, NULL, NULL) == OPENCL_SUCCESS)
		return queue_list(q, size, value, ret_size);
	return r;
}

int32_t opencl_hook_clGetEventProfilingInfo(cl_event event, uint32_t what, size_t size, void *value,
					    size_t *ret_size)
{
	const struct opencl_queue *q = NULL;
	cl_command_queue queue = NULL;
	int32_t r;

	r = OPENCL_NEXT(clGetEventInfo)(event, OPENCL_EVENT_COMMAND_QUEUE, sizeof(queue), &queue,
					NULL);
	if (r == OPENCL_SUCCESS && queue)
		q = queue_find(queue);
	if (q && q->hidden)
		return OPENCL_PROFILING_INFO_NOT_AVAILABLE;
	return OPENCL_NEXT(clGetEventProfilingInfo)(event, what, size, value, ret_size);
}

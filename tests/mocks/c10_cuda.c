/* SPDX-License-Identifier: MIT */
/* Stands in for PyTorch's libc10_cuda.so: an allocator that takes blocks of 2 MiB from CUDA and gives out parts of
 * them, and tells of each (as that of 2.11 does, by libc10.so). */
#include "config.h" // IWYU pragma: keep
#include <pthread.h>
#include <semaphore.h>
#include <stddef.h>
#include <stdint.h>

struct device {
	int8_t type, index;
};

extern void report(void *p, int64_t more, size_t allocated, size_t reserved,
		   struct device device) __asm__("_ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_"
						 "6DeviceE");

#define PUBLIC __attribute__((visibility("default")))
#define BLOCK  ((size_t)2 << 20)

uint64_t tensor_new(uint32_t (*alloc)(uint64_t *, size_t), size_t bytes, int8_t type);
void tensor_delete(uint64_t p, size_t bytes);
void tensor_report(int64_t more, size_t all, size_t of_device, int8_t device);
void tensor_in_constructor(void);
void tensor_meanwhile(void);

static uint64_t block, used; /* of a block: the part that was given out, for ever */
static size_t allocated, reserved;

PUBLIC uint64_t tensor_new(uint32_t (*alloc)(uint64_t *, size_t), size_t bytes, int8_t type)
{
	uint64_t p;

	if ((!block || used + bytes > BLOCK) && alloc(&block, BLOCK) == 0) {
		reserved += BLOCK;
		used = 0;
	}
	p = block + used;
	used += bytes;
	allocated += bytes;
	report((void *)(uintptr_t)p, (int64_t)bytes, allocated, reserved, (struct device){type, 0});
	return p;
}

/* ---- a constructor that allocates, while another thread does ---- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* as PyTorch's allocator has one */
static sem_t constructing, locked;

__attribute__((constructor)) static void init(void)
{
	sem_init(&constructing, 0, 0);
	sem_init(&locked, 0, 0);
}

static void report_locked(void)
{
	report((void *)4096, 1024, 1024, BLOCK, (struct device){1, 0});
	pthread_mutex_unlock(&lock);
}

/* dlopen() runs it, and holds the loader's lock; another thread has the allocator's by then. */
PUBLIC void tensor_in_constructor(void)
{
	sem_post(&constructing);
	sem_wait(&locked);
	pthread_mutex_lock(&lock);
	report_locked();
}

/* It has the lock while the constructor wants it. */
PUBLIC void tensor_meanwhile(void)
{
	sem_wait(&constructing);
	pthread_mutex_lock(&lock);
	sem_post(&locked);
	report_locked();
}

/* As another allocator would have it. */
PUBLIC void tensor_report(int64_t more, size_t all, size_t of_device, int8_t device)
{
	report(&block, more, all, of_device, (struct device){1, device});
}

PUBLIC void tensor_delete(uint64_t p, size_t bytes)
{
	allocated -= bytes;
	report((void *)(uintptr_t)p, -(int64_t)bytes, allocated, reserved, (struct device){1, 0});
}

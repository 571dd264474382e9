/* SPDX-License-Identifier: MIT */
/* What proton calls of PyTorch to leave its observers out, and to measure them: counted, and on request whoever makes a
 * tensor stays in there until somebody lets it go. */
#include "config.h" // IWYU pragma: keep
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#define EXPORT __attribute__((visibility("default")))

EXPORT _Atomic unsigned torch_observers_called; /* functions that have begun */
EXPORT _Atomic bool torch_observers_held;

EXPORT void _ZN2at15disableCallbackEm(uint64_t handle);
EXPORT void _ZN2at16reenableCallbackEm(uint64_t handle);
EXPORT int aoti_torch_create_tensor_from_blob(void *data, int64_t n, const int64_t *sizes,
					      const int64_t *strides, int64_t offset, int32_t type,
					      int32_t device_type, int32_t device, void **ret);
EXPORT int aoti_torch_delete_tensor_object(void *tensor);
EXPORT bool _ZN2at4_ops10is_complex4callERKNS_6TensorE(const void *tensor);

void _ZN2at15disableCallbackEm(uint64_t handle)
{
	atomic_fetch_add(&torch_observers_called, 1);
}

void _ZN2at16reenableCallbackEm(uint64_t handle)
{
	atomic_fetch_add(&torch_observers_called, 1);
}

int aoti_torch_create_tensor_from_blob(void *data, int64_t n, const int64_t *sizes,
				       const int64_t *strides, int64_t offset, int32_t type,
				       int32_t device_type, int32_t device, void **ret)
{
	const struct timespec nap = {0, 1000000};

	atomic_fetch_add(&torch_observers_called, 1);
	while (atomic_load(&torch_observers_held))
		nanosleep(&nap, NULL);
	*ret = data;
	return 0;
}

int aoti_torch_delete_tensor_object(void *tensor)
{
	return 0;
}

bool _ZN2at4_ops10is_complex4callERKNS_6TensorE(const void *tensor)
{
	return false;
}

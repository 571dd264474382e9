/* SPDX-License-Identifier: MIT */
/* NVTX annotations, as libraries and frameworks make them; `proton` needs no other change.
 *
 *	proton record -o run.hatchet ./nvtx && proton view run.hatchet
 *
 * Push and pop nest and become calling contexts. Ranges between start and end may overlap and cross
 * threads, so they are shown beside the tree, with marks. */
#include <nvtx3/nvToolsExt.h>
#include <stdio.h>
#include <stdlib.h>

/* Something to see: a little arithmetic that is not optimised away. */
static double spin(int n)
{
	volatile double x = 1;

	for (int i = 0; i < n * 1000; i++)
		x = x * 0.999 + 0.5;
	return x;
}

static void step(nvtxDomainHandle_t domain, nvtxStringHandle_t name)
{
	nvtxEventAttributes_t a = {0};

	a.version = NVTX_VERSION;
	a.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
	a.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
	a.message.registered = name;
	nvtxRangePushA("step");
	nvtxRangePushA("forward");
	spin(200);
	nvtxDomainRangePushEx(domain, &a); /* another library's domain, inside ours */
	spin(50);
	nvtxDomainRangePop(domain);
	nvtxRangePop();
	nvtxRangePushA("backward");
	spin(400);
	nvtxRangePop();
	nvtxRangePop();
}

int main(int argc, char **argv)
{
	int steps = argc > 1 ? atoi(argv[1]) : 50;
	nvtxDomainHandle_t domain = nvtxDomainCreateA("library");
	nvtxStringHandle_t name = nvtxDomainRegisterStringA(domain, "all-reduce");
	nvtxRangeId_t loading = nvtxRangeStartA("loading"), epoch = 0;

	spin(500);
	for (int i = 0; i < steps; i++) {
		if (i % 10 == 0) {
			if (epoch)
				nvtxRangeEnd(epoch);
			epoch = nvtxRangeStartA("epoch");
		}
		if (i == 5)
			nvtxRangeEnd(loading); /* overlaps the first epoch */
		step(domain, name);
	}
	nvtxRangeEnd(epoch);
	nvtxMarkA("done");
	nvtxDomainDestroy(domain);
	printf("%d steps\n", steps);
	return 0;
}

/* SPDX-License-Identifier: MIT */
/* nvtx_abi.h against NVIDIA's headers, and their loader with our injection. */
#include "config.h" // IWYU pragma: keep
#include <stdio.h>

#if defined(__has_include)
#if __has_include(<nvtx3/nvToolsExt.h>)
#define HAVE_NVTX 1
#endif
#endif

#ifndef HAVE_NVTX
int main(void)
{
	printf("skipped: nvtx3/nvToolsExt.h is not installed\n");
	return 77;
}
#else

#include <check.h>
#include <dlfcn.h>
#include <stddef.h>
#include <stdlib.h>
#include <nvtx3/nvToolsExt.h>
#if __has_include(<nvtx3/nvToolsExtPayload.h>)
#include <nvtx3/nvToolsExtPayload.h>
#define HAVE_PAYLOAD 1
#endif
#include "check_main.h"
#include "collect/nvtx_abi.h"
#include "mocks/test_api_stub.h"

#define SAME(ours, theirs) _Static_assert((int)(ours) == (int)(theirs), #ours)
#define SAME_FIELD(ours, theirs)                                                                   \
	_Static_assert(offsetof(struct nvtx_attributes, ours) ==                                   \
			       offsetof(nvtxEventAttributes_t, theirs),                            \
		       #ours)

SAME(NVTX_EXPORT_CALLBACKS, NVTX_ETID_CALLBACKS);
SAME(NVTX_EXPORT_VERSION, NVTX_ETID_VERSIONINFO);
SAME(NVTX_MODULE_CORE, NVTX_CB_MODULE_CORE);
SAME(NVTX_MODULE_CORE2, NVTX_CB_MODULE_CORE2);
SAME(NVTX_CORE_MARK_EX, NVTX_CBID_CORE_MarkEx);
SAME(NVTX_CORE_MARK_A, NVTX_CBID_CORE_MarkA);
SAME(NVTX_CORE_MARK_W, NVTX_CBID_CORE_MarkW);
SAME(NVTX_CORE_RANGE_START_EX, NVTX_CBID_CORE_RangeStartEx);
SAME(NVTX_CORE_RANGE_START_A, NVTX_CBID_CORE_RangeStartA);
SAME(NVTX_CORE_RANGE_START_W, NVTX_CBID_CORE_RangeStartW);
SAME(NVTX_CORE_RANGE_END, NVTX_CBID_CORE_RangeEnd);
SAME(NVTX_CORE_RANGE_PUSH_EX, NVTX_CBID_CORE_RangePushEx);
SAME(NVTX_CORE_RANGE_PUSH_A, NVTX_CBID_CORE_RangePushA);
SAME(NVTX_CORE_RANGE_PUSH_W, NVTX_CBID_CORE_RangePushW);
SAME(NVTX_CORE_RANGE_POP, NVTX_CBID_CORE_RangePop);
SAME(NVTX_CORE2_MARK_EX, NVTX_CBID_CORE2_DomainMarkEx);
SAME(NVTX_CORE2_RANGE_START_EX, NVTX_CBID_CORE2_DomainRangeStartEx);
SAME(NVTX_CORE2_RANGE_END, NVTX_CBID_CORE2_DomainRangeEnd);
SAME(NVTX_CORE2_RANGE_PUSH_EX, NVTX_CBID_CORE2_DomainRangePushEx);
SAME(NVTX_CORE2_RANGE_POP, NVTX_CBID_CORE2_DomainRangePop);
SAME(NVTX_CORE2_REGISTER_STRING_A, NVTX_CBID_CORE2_DomainRegisterStringA);
SAME(NVTX_CORE2_REGISTER_STRING_W, NVTX_CBID_CORE2_DomainRegisterStringW);
SAME(NVTX_CORE2_CREATE_A, NVTX_CBID_CORE2_DomainCreateA);
SAME(NVTX_CORE2_CREATE_W, NVTX_CBID_CORE2_DomainCreateW);
SAME(NVTX_CORE2_DESTROY, NVTX_CBID_CORE2_DomainDestroy);
#ifdef HAVE_PAYLOAD
#define SAME_INFO(ours, theirs)                                                                    \
	_Static_assert(offsetof(struct nvtx_extension_info, ours) ==                               \
			       offsetof(nvtxExtModuleInfo_t, theirs),                              \
		       #ours)
SAME(NVTX_EXTENSION_PAYLOAD, NVTX_EXT_PAYLOAD_MODULEID);
SAME(NVTX_PAYLOAD_MARK, NVTX3EXT_CBID_nvtxMarkPayload);
SAME(NVTX_PAYLOAD_RANGE_PUSH, NVTX3EXT_CBID_nvtxRangePushPayload);
SAME(NVTX_PAYLOAD_RANGE_POP, NVTX3EXT_CBID_nvtxRangePopPayload);
SAME(NVTX_PAYLOAD_RANGE_START, NVTX3EXT_CBID_nvtxRangeStartPayload);
SAME(NVTX_PAYLOAD_RANGE_END, NVTX3EXT_CBID_nvtxRangeEndPayload);
SAME(NVTX_PAYLOAD_IS_ENABLED, NVTX3EXT_CBID_nvtxDomainIsEnabled);
SAME_INFO(module, moduleId);
SAME_INFO(n_segments, segmentsCount);
SAME_INFO(segments, segments);
SAME(sizeof(struct nvtx_extension_info), sizeof(nvtxExtModuleInfo_t));
SAME(sizeof(struct nvtx_segment), sizeof(nvtxExtModuleSegment_t));
SAME(offsetof(struct nvtx_segment, slots), offsetof(nvtxExtModuleSegment_t, functionSlots));
#endif
SAME(NVTX_MESSAGE_NONE, NVTX_MESSAGE_UNKNOWN);
SAME(NVTX_MESSAGE_A, NVTX_MESSAGE_TYPE_ASCII);
SAME(NVTX_MESSAGE_W, NVTX_MESSAGE_TYPE_UNICODE);
SAME(NVTX_MESSAGE_REGISTERED, NVTX_MESSAGE_TYPE_REGISTERED);
SAME(sizeof(struct nvtx_attributes), sizeof(nvtxEventAttributes_t));
SAME(sizeof(struct nvtx_export_callbacks), sizeof(NvtxExportTableCallbacks));
SAME(sizeof(nvtxRangeId_t), sizeof(uint64_t));
SAME_FIELD(version, version);
SAME_FIELD(size, size);
SAME_FIELD(category, category);
SAME_FIELD(payload_type, payloadType);
SAME_FIELD(payload, payload);
SAME_FIELD(message_type, messageType);
SAME_FIELD(message, message);
_Static_assert(offsetof(struct nvtx_export_callbacks, get_table) ==
		       offsetof(NvtxExportTableCallbacks, GetModuleFunctionTable),
	       "get_table");

static struct stub *stub_of(void)
{
	void *handle = dlopen(STUB_LIBRARY, RTLD_NOW);
	stub_get_fn *get;

	ck_assert_msg(handle != NULL, "%s", dlerror());
	*(void **)&get = dlsym(handle, "stub_get");
	return get();
}

/* A program with the real header, our library in the variable. */
START_TEST(test_real_loader)
{
	nvtxEventAttributes_t a = {.version = NVTX_VERSION, .size = NVTX_EVENT_ATTRIB_STRUCT_SIZE};
	nvtxDomainHandle_t domain;
	nvtxRangeId_t id;

	setenv("NVTX_INJECTION64_PATH", STUB_LIBRARY, 1);
	ck_assert_int_eq(nvtxRangePushA("outer"), 0);
	domain = nvtxDomainCreateA("domain");
	a.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
	a.message.registered = nvtxDomainRegisterStringW(domain, L"registered");
	ck_assert_int_eq(nvtxDomainRangePushEx(domain, &a), 0);
	ck_assert_int_eq(nvtxDomainRangePop(domain), 0);
	ck_assert_int_eq(nvtxRangePop(), 0);
	id = nvtxDomainRangeStartEx(domain, &a);
	nvtxDomainRangeEnd(domain, id);
	nvtxMarkW(L"mark");
	nvtxDomainDestroy(domain);
	nvtxNameCategoryA(1, "not hooked");
	ck_assert_str_eq(stub_of()->log,
			 "start NVTX\npush 4 outer\npush 4 registered\npop 1\npop 0\n"
			 "range 16 registered timed\nrange 17 mark 0\n");
}
END_TEST

#ifdef HAVE_PAYLOAD
/* A range may be opened by one interface and closed by the other, as NCCL does. */
START_TEST(test_payload_closes)
{
	nvtxDomainHandle_t domain;

	setenv("NVTX_INJECTION64_PATH", STUB_LIBRARY, 1);
	domain = nvtxDomainCreateA("NCCL");
	nvtxRangePushA("outer");
	nvtxDomainRangePushEx(domain,
			      &(nvtxEventAttributes_t){.version = NVTX_VERSION,
						       .size = NVTX_EVENT_ATTRIB_STRUCT_SIZE,
						       .messageType = NVTX_MESSAGE_TYPE_ASCII,
						       .message.ascii = "init"});
	ck_assert_int_eq(nvtxRangePopPayload(domain, NULL, 0), 0);
	ck_assert_int_eq(nvtxDomainIsEnabled(domain), 1);
	ck_assert_int_eq(nvtxRangePop(), 0);
	ck_assert_str_eq(stub_of()->log,
			 "start NVTX\npush 4 outer\npush 4 init\nstart NVTX\npop 1\npop 0\n");
}
END_TEST
#endif

/* The collector stays off: the program's calls are as without a tool. */
START_TEST(test_real_loader_refused)
{
	setenv("PROTON_STUB_REFUSE", "1", 1);
	setenv("NVTX_INJECTION64_PATH", STUB_LIBRARY, 1);
	ck_assert_int_eq(nvtxRangePushA("outer"), NVTX_NO_PUSH_POP_TRACKING);
	ck_assert_str_eq(stub_of()->log, "");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("nvtx_abi");
	TCase *tc = tcase_create("nvtx_abi");
	SRunner *sr = srunner_create(s);

	tcase_add_test(tc, test_real_loader);
	tcase_add_test(tc, test_real_loader_refused);
#ifdef HAVE_PAYLOAD
	tcase_add_test(tc, test_payload_closes);
#endif
	suite_add_tcase(s, tc);
	srunner_set_fork_status(sr, CK_FORK); /* the loader looks once a process */
	return check_end(sr);
}
#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Commands for memory regions, memory windows, device memory and DMA handles.
 *
 * Covers: libibverbs/cmd/cmd_mr.c, libibverbs/cmd/cmd_mw.c, libibverbs/cmd/cmd_dm.c
 */
#include "fake_kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static char log_path[] = "/tmp/cmd_mr.XXXXXX";
static const char *status_text; /* of /proc/self/status; NULL: it cannot be opened */

FILE *__real_fopen(const char *path, const char *mode);
FILE *__wrap_fopen(const char *path, const char *mode) __attribute__((visibility("default")));
FILE *__real_fopen64(const char *path, const char *mode);
FILE *__wrap_fopen64(const char *path, const char *mode) __attribute__((visibility("default")));

static FILE *status_open(void)
{
	return status_text ? fmemopen((void *)(uintptr_t)status_text, strlen(status_text), "r")
			   : NULL;
}

FILE *__wrap_fopen(const char *path, const char *mode)
{
	return strcmp(path, "/proc/self/status") ? __real_fopen(path, mode) : status_open();
}

FILE *__wrap_fopen64(const char *path, const char *mode)
{
	return strcmp(path, "/proc/self/status") ? __real_fopen64(path, mode) : status_open();
}

/* Returns whether the log of a refused registration of TWO pages has the text. */
static bool refusal_says(struct ibv_pd *pd, const char *text)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct verbs_mr vmr = {};
	char log[4096];
	ssize_t len;
	int fd;

	assert_int_equal(truncate(log_path, 0), 0);
	expect(NULL, NULL);
	kernel.err = ENOMEM;
	assert_int_equal(verbs_cmd_reg_mr(pd, (void *)(page + 1), page, page + 1, 0, &vmr, NULL),
			 ENOMEM);
	fd = open(log_path, O_RDONLY | O_CLOEXEC);
	len = read(fd, log, sizeof(log) - 1);
	close(fd);
	assert_true(len > 0);
	log[len] = '\0';
	return strstr(log, text);
}

/* The two pages pass the limit of 4 together with 3 that are pinned, but not with 2. */
static void a_limit_of_pinned_memory_is_explained(void **state)
{
	static const char not_it[] = "RLIMIT_MEMLOCK is not the reason";
	struct ibv_pd pd = { .context = context_of(state), .handle = 0x21 };
	const unsigned long page = (unsigned long)sysconf(_SC_PAGESIZE);
	struct rlimit before, limit;
	char text[128], said[128];

	assert_int_equal(getrlimit(RLIMIT_MEMLOCK, &before), 0);
	limit = (struct rlimit){ 4 * page, before.rlim_max };
	if (setrlimit(RLIMIT_MEMLOCK, &limit))
		skip();
	status_text = text;
	snprintf(text, sizeof(text), "Name:\tx\nVmPin:\t %lu kB\nCapEff:\t0\n", 3 * page / 1024);
	snprintf(said, sizeof(said), "%lu bytes are pinned already and %lu more would pass",
		 3 * page, 2 * page);
	assert_true(refusal_says(&pd, said));
	snprintf(text, sizeof(text), "VmPin:\t %lu kB\nCapEff:\t0\n", 2 * page / 1024);
	assert_true(refusal_says(&pd, not_it));
	snprintf(text, sizeof(text), "VmPin:\t %lu kB\nCapEff:\t4000\n", 3 * page / 1024);
	/* the program has CAP_IPC_LOCK, so the limit is not the reason */
	assert_true(refusal_says(&pd, not_it));
	limit.rlim_cur = page;
	assert_int_equal(setrlimit(RLIMIT_MEMLOCK, &limit), 0);
	status_text = NULL;
	assert_true(refusal_says(&pd, ": 0 bytes are pinned already"));
	assert_int_equal(setrlimit(RLIMIT_MEMLOCK, &before), 0);
}

static void alloc_mw_carries_pd_and_type(void **state)
{
	struct ibv_pd pd = { .context = context_of(state), .handle = 0x21 };
	struct ibv_mw mw = {};

	expect(IDS(UVERBS_ATTR_CORE_OUT), NULL);
	kernel.fill = 0x15;
	assert_int_equal(verbs_cmd_alloc_mw(&pd, IBV_MW_TYPE_2, &mw, NULL), 0);
	assert_string_equal(kernel.text, "0/0 000<00000000000000002100000002000000 001>8 002=8:e");
	assert_int_equal(mw.rkey, 0x15151515);
	assert_int_equal(mw.type, IBV_MW_TYPE_2);
	expect(NULL, NULL);
	assert_int_equal(verbs_cmd_dealloc_mw(&mw), 0);
	assert_string_equal(kernel.text, "8/0 000=15151515");
	assert_int_equal(verbs_cmd_alloc_mw(&pd, 3, &mw, NULL), EINVAL);
}

static void rereg_mr_sends_only_what_changes(void **state)
{
	struct ibv_pd pd = { .context = context_of(state), .handle = 0x21 };
	struct verbs_mr vmr = { .mr = { .context = context_of(state), .handle = 9 },
				.access = IBV_ACCESS_REMOTE_READ };

	expect(IDS(UVERBS_ATTR_CORE_OUT), NULL);
	kernel.fill = 0x16;
	assert_int_equal(verbs_cmd_rereg_mr(&vmr, IBV_REREG_MR_CHANGE_PD, &pd, (void *)0x1000,
					    0x2000, 0x3000, IBV_ACCESS_LOCAL_WRITE, NULL),
			 0);
	assert_string_equal(kernel.text, "0/0 000<00000000000000000900000002000000"
					 "000000000000000000000000000000000000000000000000"
					 "2100000000000000 001>8 002=8:b");
	assert_int_equal(vmr.mr.lkey, 0x16161616);
	assert_int_equal(vmr.mr.rkey, 0x16161616);
	assert_int_equal(vmr.access, IBV_ACCESS_REMOTE_READ);
	expect(IDS(UVERBS_ATTR_CORE_OUT), NULL);
	assert_int_equal(verbs_cmd_rereg_mr(
				 &vmr, IBV_REREG_MR_CHANGE_TRANSLATION | IBV_REREG_MR_CHANGE_ACCESS,
				 &pd, (void *)0x1000, 0x2000, 0x3000, IBV_ACCESS_LOCAL_WRITE, NULL),
			 0);
	assert_string_equal(kernel.text, "0/0 000<00000000000000000900000005000000"
					 "001000000000000000200000000000000030000000000000"
					 "0000000001000000 001>8 002=8:b");
	assert_int_equal(vmr.access, IBV_ACCESS_LOCAL_WRITE);
	expect(NULL, NULL);
	kernel.err = EINVAL;
	assert_int_equal(verbs_cmd_rereg_mr(&vmr, IBV_REREG_MR_CHANGE_ACCESS, &pd, NULL, 0, 0,
					    IBV_ACCESS_REMOTE_READ, NULL),
			 EINVAL);
	assert_int_equal(vmr.access, IBV_ACCESS_LOCAL_WRITE);
}

static void reg_dmabuf_mr_has_the_descriptor_as_a_number(void **state)
{
	struct ibv_pd pd = { .context = context_of(state), .handle = 0x21 };
	struct verbs_mr vmr = {};

	expect(IDS(UVERBS_ATTR_REG_DMABUF_MR_RESP_LKEY, UVERBS_ATTR_REG_DMABUF_MR_RESP_RKEY),
	       IDS(UVERBS_ATTR_REG_DMABUF_MR_HANDLE));
	assert_int_equal(verbs_cmd_reg_dmabuf_mr(&pd, 0x1000, 0x2000, 0x3000, 7,
						 IBV_ACCESS_LOCAL_WRITE, &vmr, NULL),
			 0);
	assert_string_equal(
		kernel.text,
		"7/4 000=new 001=21 002=8:1000 003=8:2000 004=8:3000 005=4:7 006=4:1 007>4 008>4");
	assert_int_equal(vmr.kind, VERBS_MR_DMABUF);
	assert_ptr_equal(vmr.mr.addr, (void *)0x1000);
	assert_int_equal(vmr.mr.length, 0x2000);
}

static void reg_mr_ex_has_an_address_or_a_descriptor(void **state)
{
	struct ibv_pd pd = { .context = context_of(state), .handle = 0x21 };
	struct verbs_dmah vdmah = { .handle = 0x91 };
	struct ibv_mr_init_attr attr = {
		.length = 0x2000,
		.access = IBV_ACCESS_LOCAL_WRITE,
		.comp_mask = IBV_REG_MR_MASK_ADDR | IBV_REG_MR_MASK_DMAH,
		.iova = 0x3000,
		.addr = (void *)0x1000,
		.fd = 7,
		.fd_offset = 0x4000,
		.dmah = &vdmah.dmah,
	};
	struct verbs_mr vmr = {};

	expect(IDS(UVERBS_ATTR_REG_MR_RESP_LKEY, UVERBS_ATTR_REG_MR_RESP_RKEY),
	       IDS(UVERBS_ATTR_REG_MR_HANDLE));
	assert_int_equal(verbs_cmd_reg_mr_ex(&pd, &attr, &vmr, NULL), 0);
	assert_string_equal(
		kernel.text,
		"7/5 000=new 001=21 002=91 003=8:3000 004=8:1000 005=8:2000 006=4:1 009>4 00a>4");
	expect(IDS(UVERBS_ATTR_REG_MR_RESP_LKEY, UVERBS_ATTR_REG_MR_RESP_RKEY),
	       IDS(UVERBS_ATTR_REG_MR_HANDLE));
	attr.comp_mask = IBV_REG_MR_MASK_FD | IBV_REG_MR_MASK_FD_OFFSET | IBV_REG_MR_MASK_DMAH;
	assert_int_equal(verbs_cmd_reg_mr_ex(&pd, &attr, &vmr, NULL), 0);
	assert_string_equal(kernel.text,
			    "7/5 000=new 001=21 002=91 003=8:3000 005=8:2000 006=4:1 007=7 "
			    "008=8:4000 009>4 00a>4");
}

static void reg_dm_mr_names_memory_and_offset(void **state)
{
	struct ibv_pd pd = { .context = context_of(state), .handle = 0x21 };
	struct ibv_dm dm = { .context = context_of(state), .handle = 0x81 };
	struct verbs_mr vmr = {};

	expect(IDS(UVERBS_ATTR_REG_DM_MR_RESP_LKEY, UVERBS_ATTR_REG_DM_MR_RESP_RKEY),
	       IDS(UVERBS_ATTR_REG_DM_MR_HANDLE));
	assert_int_equal(verbs_cmd_reg_dm_mr(&pd, &dm, 16, 64, IBV_ACCESS_ZERO_BASED, &vmr, NULL),
			 0);
	assert_string_equal(kernel.text,
			    "7/0 000=new 001=8:10 002=8:40 003=21 004=4:20 005=81 006>4 007>4");
	assert_int_equal(vmr.kind, VERBS_MR_DM);
}

static void query_mr_fills_an_imported_region(void **state)
{
	struct ibv_pd pd = { .context = context_of(state), .handle = 0x21 };
	struct verbs_mr vmr = {};

	expect(IDS(UVERBS_ATTR_QUERY_MR_RESP_LKEY, UVERBS_ATTR_QUERY_MR_RESP_RKEY,
		   UVERBS_ATTR_QUERY_MR_RESP_LENGTH, UVERBS_ATTR_QUERY_MR_RESP_IOVA),
	       NULL);
	kernel.fill = 0x17;
	assert_int_equal(verbs_cmd_query_mr(&pd, 0x99, &vmr), 0);
	assert_string_equal(kernel.text, "7/3 000=99 001>4 002>4 003>8 ?004>8");
	assert_int_equal(vmr.mr.handle, 0x99);
	assert_int_equal(vmr.mr.lkey, 0x17171717);
	assert_true(vmr.mr.length == (size_t)0x1717171717171717);
	assert_int_equal(vmr.kind, VERBS_MR_IMPORTED);
	assert_int_equal(vmr.access, 0); /* nobody tells */
}

static void advise_mr_passes_the_list_on(void **state)
{
	struct ibv_pd pd = { .context = context_of(state), .handle = 0x21 };
	struct ibv_sge sge = { .addr = 0x1000, .length = 5, .lkey = 6 };

	expect(NULL, NULL);
	assert_int_equal(ibv_advise_mr(&pd, IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE,
				       IBV_ADVISE_MR_FLAG_FLUSH, &sge, 1),
			 0);
	assert_string_equal(kernel.text,
			    "7/2 000=21 001=8:1 002=4:1 003<00100000000000000500000006000000");
	assert_int_equal(ibv_advise_mr(&pd, IBV_ADVISE_MR_ADVICE_PREFETCH, 0, &sge, 4096), EINVAL);
	/* a driver that lacks the method */
	expect(NULL, NULL);
	kernel.err = EPROTONOSUPPORT;
	errno = 0;
	assert_int_equal(ibv_advise_mr(&pd, IBV_ADVISE_MR_ADVICE_PREFETCH, 0, &sge, 1), EOPNOTSUPP);
	assert_int_equal(errno, EOPNOTSUPP);
}

static void alloc_dm_sets_context_and_handle(void **state)
{
	const struct ibv_alloc_dm_attr attr = { .length = 0x100, .log_align_req = 6 };
	struct ibv_dm dm = {};
	int fd = -1;

	expect(NULL, IDS(UVERBS_ATTR_ALLOC_DM_HANDLE));
	assert_int_equal(verbs_cmd_alloc_dm(context_of(state), &attr, &dm, NULL, 0), 0);
	assert_string_equal(kernel.text, "e/0 000=new 001=8:100 002=4:6");
	assert_int_equal(dm.handle, 0x51);
	assert_int_equal(dm.comp_mask, IBV_DM_MASK_HANDLE);
	expect(NULL, NULL);
	assert_int_equal(verbs_cmd_free_dm(&dm), 0);
	assert_string_equal(kernel.text, "e/1 000=51");
	expect(NULL, IDS(UVERBS_ATTR_ALLOC_DMABUF_HANDLE));
	assert_int_equal(verbs_cmd_alloc_dmabuf(context_of(state), 0x1234, &fd), 0);
	assert_string_equal(kernel.text, "12/0 000=new 001=8:1234");
	assert_int_equal(fd, 0x51);
}

static void a_dma_handle_has_the_hints_that_its_mask_names(void **state)
{
	struct ibv_dmah_init_attr attr = {
		.comp_mask = IBV_DMAH_INIT_ATTR_MASK_CPU_ID | IBV_DMAH_INIT_ATTR_MASK_PH,
		.cpu_id = 3,
		.ph = 2,
		.tph_mem_type = IBV_TPH_MEM_TYPE_PM,
	};
	struct ibv_dmah *dmah;

	expect(NULL, IDS(UVERBS_ATTR_ALLOC_DMAH_HANDLE));
	dmah = ibv_alloc_dmah(context_of(state), &attr);
	assert_non_null(dmah);
	assert_string_equal(kernel.text, "11/0 000=new 001=4:3 003=1:2");
	expect(NULL, NULL);
	assert_int_equal(ibv_dealloc_dmah(dmah), 0);
	assert_string_equal(kernel.text, "11/1 000=51");
	expect(NULL, IDS(UVERBS_ATTR_ALLOC_DMAH_HANDLE));
	attr.comp_mask = IBV_DMAH_INIT_ATTR_MASK_TPH_MEM_TYPE;
	dmah = ibv_alloc_dmah(context_of(state), &attr);
	assert_non_null(dmah);
	assert_string_equal(kernel.text, "11/0 000=new 002/1=0");
	assert_int_equal(ibv_dealloc_dmah(dmah), 0);
	attr.comp_mask = 8;
	assert_null(ibv_alloc_dmah(context_of(state), &attr));
	assert_int_equal(errno, EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		COMMAND_TEST(a_limit_of_pinned_memory_is_explained),
		COMMAND_TEST(alloc_mw_carries_pd_and_type),
		COMMAND_TEST(rereg_mr_sends_only_what_changes),
		COMMAND_TEST(reg_dmabuf_mr_has_the_descriptor_as_a_number),
		COMMAND_TEST(reg_mr_ex_has_an_address_or_a_descriptor),
		COMMAND_TEST(reg_dm_mr_names_memory_and_offset),
		COMMAND_TEST(query_mr_fills_an_imported_region),
		COMMAND_TEST(advise_mr_passes_the_list_on),
		COMMAND_TEST(alloc_dm_sets_context_and_handle),
		COMMAND_TEST(a_dma_handle_has_the_hints_that_its_mask_names),
	};
	int failed;

	close(mkstemp(log_path));
	setenv("VERBS_LOG", "warn", 1);
	setenv("VERBS_LOG_FILE", log_path, 1);
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(log_path);
	return failed;
}

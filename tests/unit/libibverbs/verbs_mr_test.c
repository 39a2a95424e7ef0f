/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Memory region calls: the provider's operation for each form of ibv_reg_mr_ex(), refusals before
 * it, and results of ibv_rereg_mr() about the old and the new region.
 *
 * Covers: libibverbs/verbs_mr.c, libibverbs/verbs_dmah.c
 */
#include "unit.h"

#include "fake_device.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/bits.h"

static char called[128];
static int answer;
static struct verbs_mr *last;

static int make_mr(struct ibv_pd *pd, void *addr, size_t length, struct verbs_mr **vmr)
{
	if (answer)
		return answer;
	*vmr = last = calloc(1, sizeof(**vmr));
	(*vmr)->mr =
		(struct ibv_mr){ .context = pd->context, .pd = pd, .addr = addr, .length = length };
	return 0;
}

static int fake_reg(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova,
		    unsigned int access, struct verbs_mr **vmr)
{
	snprintf(called, sizeof(called), "reg %p %zu 0x%llx 0x%x", addr, length,
		 (unsigned long long)iova, access);
	return make_mr(pd, addr, length, vmr);
}

static int fake_reg_dmabuf(struct ibv_pd *pd, uint64_t offset, size_t length, uint64_t iova, int fd,
			   unsigned int access, struct verbs_mr **vmr)
{
	snprintf(called, sizeof(called), "dmabuf 0x%llx %zu 0x%llx %d 0x%x",
		 (unsigned long long)offset, length, (unsigned long long)iova, fd, access);
	return make_mr(pd, NULL, length, vmr);
}

static int fake_reg_ex(struct ibv_pd *pd, const struct ibv_mr_init_attr *attr,
		       struct verbs_mr **vmr)
{
	snprintf(called, sizeof(called), "ex 0x%llx %p %zu 0x%llx",
		 (unsigned long long)attr->comp_mask, attr->addr, attr->length,
		 (unsigned long long)attr->iova);
	return make_mr(pd, attr->addr, attr->length, vmr);
}

static int fake_rereg(struct verbs_mr *vmr, int flags, struct ibv_pd *pd, void *addr, size_t length,
		      unsigned int access)
{
	(void)vmr;
	(void)pd;
	snprintf(called, sizeof(called), "rereg 0x%x %p %zu 0x%x", flags, addr, length, access);
	return answer;
}

static int fake_dereg(struct verbs_mr *vmr)
{
	free(vmr);
	return 0;
}

static int open_rig(void **state)
{
	const struct verbs_ops ops = {
		.reg_mr = fake_reg,
		.reg_dmabuf_mr = fake_reg_dmabuf,
		.reg_mr_ex = fake_reg_ex,
		.rereg_mr = fake_rereg,
		.dereg_mr = fake_dereg,
	};
	struct fake_context *fake = fake_open();

	verbs_set_ops(&fake->vctx, &ops);
	answer = 0;
	called[0] = '\0';
	*state = fake;
	return 0;
}

static int close_rig(void **state)
{
	fake_close(*state);
	return 0;
}

static struct ibv_pd pd_of(void **state)
{
	return (struct ibv_pd){ .context = &((struct fake_context *)*state)->vctx.context };
}

static const char *reg_ex(struct ibv_pd *pd, struct ibv_mr_init_attr attr)
{
	struct ibv_mr *mr;

	called[0] = '\0';
	errno = 0;
	mr = ibv_reg_mr_ex(pd, &attr);
	if (!mr)
		return errno == EINVAL ? "EINVAL" : errno == EOPNOTSUPP ? "EOPNOTSUPP" : "?";
	ibv_dereg_mr(mr);
	return called;
}

static void the_fields_choose_the_operation(void **state)
{
	struct ibv_pd pd = pd_of(state);
	struct ibv_dmah dmah = {};
	struct ibv_mr_init_attr attr = {
		.length = 64,
		.access = IBV_ACCESS_LOCAL_WRITE,
		.comp_mask = IBV_REG_MR_MASK_ADDR,
		.iova = 0x3000,
		.addr = (void *)0x1000,
		.fd = 7,
		.fd_offset = 0x4000,
		.dmah = &dmah,
	};

	assert_string_equal(reg_ex(&pd, attr), "reg 0x1000 64 0x1000 0x1");
	attr.comp_mask |= IBV_REG_MR_MASK_IOVA;
	assert_string_equal(reg_ex(&pd, attr), "reg 0x1000 64 0x3000 0x1");
	attr.comp_mask |= IBV_REG_MR_MASK_DMAH;
	assert_string_equal(reg_ex(&pd, attr), "ex 0x13 0x1000 64 0x3000");
	attr.comp_mask = IBV_REG_MR_MASK_FD | IBV_REG_MR_MASK_FD_OFFSET | IBV_REG_MR_MASK_IOVA;
	assert_string_equal(reg_ex(&pd, attr), "dmabuf 0x4000 64 0x3000 7 0x1");
	attr.comp_mask |= IBV_REG_MR_MASK_DMAH;
	assert_string_equal(reg_ex(&pd, attr), "ex 0x1d 0x1000 64 0x3000");
	attr.comp_mask = IBV_REG_MR_MASK_ADDR | IBV_REG_MR_MASK_DMAH;
	attr.access = IBV_ACCESS_ON_DEMAND;
	assert_string_equal(reg_ex(&pd, attr), "ex 0x12 0x1000 64 0x1000");
}

static void a_refused_registration_says_why(void **state)
{
	struct ibv_pd pd = pd_of(state);
	struct ibv_dmah dmah = {};
	struct ibv_mr_init_attr attr = { .length = 64, .addr = (void *)0x1000, .dmah = &dmah };
	const uint64_t masks[] = {
		IBV_REG_MR_MASK_ADDR,
		IBV_REG_MR_MASK_ADDR | IBV_REG_MR_MASK_DMAH,
		IBV_REG_MR_MASK_FD | IBV_REG_MR_MASK_FD_OFFSET | IBV_REG_MR_MASK_IOVA,
		IBV_REG_MR_MASK_FD | IBV_REG_MR_MASK_FD_OFFSET | IBV_REG_MR_MASK_IOVA |
			IBV_REG_MR_MASK_DMAH,
	};

	answer = EINVAL;
	for (size_t i = 0; i < ARRAY_SIZE(masks); i++) {
		attr.comp_mask = masks[i];
		assert_string_equal(reg_ex(&pd, attr), "EINVAL");
		assert_string_not_equal(called, "");
	}
}

static void contradictions_are_refused(void **state)
{
	const uint64_t wrong[] = {
		0,
		IBV_REG_MR_MASK_IOVA,
		IBV_REG_MR_MASK_ADDR | IBV_REG_MR_MASK_FD,
		IBV_REG_MR_MASK_FD,
		IBV_REG_MR_MASK_FD | IBV_REG_MR_MASK_FD_OFFSET,
		IBV_REG_MR_MASK_ADDR | IBV_REG_MR_MASK_FD_OFFSET,
		IBV_REG_MR_MASK_BUF,
		IBV_REG_MR_MASK_BUF | IBV_REG_MR_MASK_ADDR | IBV_REG_MR_MASK_FD,
	};
	struct ibv_pd pd = pd_of(state);
	struct ibv_mr_init_attr attr = { .length = 64 };

	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		attr.comp_mask = wrong[i];
		assert_string_equal(reg_ex(&pd, attr), "EINVAL");
	}
	attr.comp_mask = IBV_REG_MR_MASK_ADDR | IBV_REG_MR_MASK_BUF << 1;
	assert_string_equal(reg_ex(&pd, attr), "EOPNOTSUPP");
}

static void a_buffer_is_registered_within_its_bounds_and_pd(void **state)
{
	struct ibv_pd pd = pd_of(state), other = pd_of(state);
	struct ibv_buf *buf;
	struct ibv_mr *mr;
	char *addr = ibv_alloc_buf(&pd, 10000, &buf);

	assert_non_null(addr);
	memset(addr, 1, 10000);
	mr = ibv_reg_buf_mr(&pd, buf, addr + 100, 9900, 0);
	assert_non_null(mr);
	assert_int_equal(ibv_dereg_mr(mr), 0);
	errno = 0;
	assert_null(ibv_reg_buf_mr(&pd, buf, addr + 100, 9901, 0));
	assert_int_equal(errno, EINVAL);
	assert_null(ibv_reg_buf_mr(&pd, buf, addr - 1, 1, 0));
	assert_null(ibv_reg_buf_mr(&pd, buf, addr, SIZE_MAX, 0));
	assert_null(ibv_reg_buf_mr(&other, buf, addr, 1, 0));
	assert_int_equal(ibv_export_buf_dmabuf_fd(buf), -1);
	assert_int_equal(errno, ENODATA);
	ibv_free_buf(buf);
	assert_null(ibv_alloc_buf(&pd, 0, &buf));
	assert_int_equal(errno, EINVAL);
}

static void rereg_changes_what_its_flags_name(void **state)
{
	struct ibv_pd pd = pd_of(state), other = pd_of(state);
	char page[64];
	struct ibv_mr *mr = (ibv_reg_mr)(&pd, page, 8, 0);

	assert_non_null(mr);
	assert_int_equal(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_PD, &other, NULL, 0, 0), 0);
	assert_ptr_equal(mr->pd, &other);
	assert_int_equal(mr->length, 8);
	assert_int_equal(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_TRANSLATION, NULL, page + 8, 16, 0),
			 0);
	assert_ptr_equal(mr->addr, page + 8);
	assert_int_equal(mr->length, 16);
	assert_ptr_equal(mr->pd, &other);
	assert_int_equal(ibv_dereg_mr(mr), 0);
}

static void a_refused_rereg_says_whether_the_region_lives(void **state)
{
	struct ibv_pd pd = pd_of(state);
	char page[64];
	struct ibv_mr *mr = (ibv_reg_mr)(&pd, page, 8, 0);

	assert_non_null(mr);
	called[0] = '\0';
	assert_int_equal(ibv_rereg_mr(mr, 8, NULL, NULL, 0, 0), IBV_REREG_MR_ERR_INPUT);
	assert_int_equal(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_TRANSLATION, NULL, NULL, 8, 0),
			 IBV_REREG_MR_ERR_INPUT);
	assert_int_equal(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_PD, NULL, NULL, 0, 0),
			 IBV_REREG_MR_ERR_INPUT);
	assert_string_equal(called, "");
	answer = ENOMEM;
	errno = 0;
	assert_int_equal(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_TRANSLATION, NULL, page, 16, 0),
			 IBV_REREG_MR_ERR_CMD);
	assert_int_equal(errno, ENOMEM);
	assert_int_equal(mr->length, 8);
	assert_int_equal(ibv_dereg_mr(mr), 0);
}

#define REGION_TEST(fn) cmocka_unit_test_setup_teardown(fn, open_rig, close_rig)

int main(void)
{
	const struct CMUnitTest tests[] = {
		REGION_TEST(the_fields_choose_the_operation),
		REGION_TEST(a_refused_registration_says_why),
		REGION_TEST(contradictions_are_refused),
		REGION_TEST(a_buffer_is_registered_within_its_bounds_and_pd),
		REGION_TEST(rereg_changes_what_its_flags_name),
		REGION_TEST(a_refused_rereg_says_whether_the_region_lives),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

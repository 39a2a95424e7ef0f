/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * dmah_test.c - DMA handles: the hints that are accepted, and regions of memory or of a file that
 * use one.
 */
#include <errno.h>
#include <string.h>

#include "attrs.h"
#include "softhca/front/process/uverbs/dmah.c"

enum { START = 0x7000, OFFSET = 0x300, LENGTH = 0x2000, IOVA = 0x9000, ACCESS = 5, REFUSED = EDOM };

static struct uverbs_pd pd;
static struct uverbs_mr region;

static struct {
	struct mr_request req;
	unsigned int of_memory, of_file, returned;
	int error;
} it;

static int mr_make(struct uverbs_call *uc, const struct uverbs_pd *in, const struct mr_request *req,
		   struct uverbs_mr **mr)
{
	assert_ptr_equal(uc, &rig.call);
	assert_ptr_equal(in, &pd);
	it.req = *req;
	*mr = &region;
	return it.error;
}

int mr_of_memory(struct uverbs_call *uc, struct uverbs_pd *in, const struct mr_request *req,
		 struct uverbs_mr **mr)
{
	it.of_memory++;
	return mr_make(uc, in, req, mr);
}

int mr_of_file(struct uverbs_call *uc, struct uverbs_pd *in, const struct mr_request *req,
	       struct uverbs_mr **mr)
{
	it.of_file++;
	return mr_make(uc, in, req, mr);
}

int mr_return(struct uverbs_call *uc, struct uverbs_mr *mr, uint16_t handle, uint16_t lkey,
	      uint16_t rkey)
{
	assert_ptr_equal(uc, &rig.call);
	assert_ptr_equal(mr, &region);
	assert_int_equal(handle, UVERBS_ATTR_REG_MR_HANDLE);
	assert_int_equal(lkey, UVERBS_ATTR_REG_MR_RESP_LKEY);
	assert_int_equal(rkey, UVERBS_ATTR_REG_MR_RESP_RKEY);
	it.returned++;
	return 0;
}

static int dmah_begin(void **state)
{
	rig_begin(state);
	memset(&it, 0, sizeof(it));
	memset(&region, 0, sizeof(region));
	return 0;
}

static int hint_alloc(uint8_t ph)
{
	rig_in(UVERBS_ATTR_ALLOC_DMAH_PH, &ph, sizeof(ph));
	return dmah_alloc(&rig.call);
}

static void a_processing_hint_is_enough(void **state)
{
	uint32_t handle;

	(void)state;
	for (uint8_t ph = 0; ph < 4; ph++)
		assert_int_equal(hint_alloc(ph), 0);
	assert_int_equal(hint_alloc(4), EINVAL);
	assert_int_equal(rig.made, 4);
	handle = *(const uint32_t *)rig_out(UVERBS_ATTR_ALLOC_DMAH_HANDLE, sizeof(handle));
	rig_in_object(UVERBS_ATTR_FREE_DMA_HANDLE, rig.objects[handle]);
	assert_int_equal(dmah_free(&rig.call), 0);
	assert_int_equal(rig.freed, 1);
}

static void a_steering_tag_is_not_supported(void **state)
{
	const uint32_t cpu = 1;

	(void)state;
	assert_int_equal(dmah_alloc(&rig.call), EINVAL);
	rig_in(UVERBS_ATTR_ALLOC_DMAH_CPU_ID, &cpu, sizeof(cpu));
	assert_int_equal(hint_alloc(0), EINVAL);
	rig_in(UVERBS_ATTR_ALLOC_DMAH_TPH_MEM_TYPE, NULL, 0);
	assert_int_equal(hint_alloc(0), EOPNOTSUPP);
	assert_int_equal(hint_alloc(4), EINVAL);
	rig_without(UVERBS_ATTR_ALLOC_DMAH_CPU_ID);
	assert_int_equal(hint_alloc(0), EINVAL);
	rig.in_refused = UVERBS_ATTR_ALLOC_DMAH_PH;
	assert_int_equal(hint_alloc(0), EFAULT);
	assert_int_equal(rig.made, 0);
}

static void number_in(uint16_t id, uint64_t number)
{
	rig_in(id, &number, sizeof(number));
}

static int reg(void)
{
	number_in(UVERBS_ATTR_REG_MR_IOVA, IOVA);
	number_in(UVERBS_ATTR_REG_MR_LENGTH, LENGTH);
	number_in(UVERBS_ATTR_REG_MR_ACCESS_FLAGS, ACCESS);
	rig_in_object(UVERBS_ATTR_REG_MR_PD_HANDLE, &pd.base);
	return mr_reg_any(&rig.call);
}

static void check_region(uint64_t start, int32_t fd)
{
	assert_int_equal(it.req.start, start);
	assert_int_equal(it.req.length, LENGTH);
	assert_int_equal(it.req.iova, IOVA);
	assert_int_equal(it.req.access, ACCESS);
	assert_int_equal(it.req.fd, fd);
}

static void memory_or_a_file_is_registered(void **state)
{
	(void)state;
	assert_int_equal(reg(), EINVAL);
	number_in(UVERBS_ATTR_REG_MR_ADDR, START);
	assert_int_equal(reg(), 0);
	check_region(START, -1);
	assert_int_equal(it.of_memory, 1);
	number_in(UVERBS_ATTR_REG_MR_FD, 9);
	assert_int_equal(reg(), EINVAL);
	number_in(UVERBS_ATTR_REG_MR_FD_OFFSET, OFFSET);
	assert_int_equal(reg(), EINVAL);
	rig_without(UVERBS_ATTR_REG_MR_FD);
	assert_int_equal(reg(), EINVAL);
	rig_without(UVERBS_ATTR_REG_MR_ADDR);
	assert_int_equal(reg(), EINVAL);
	number_in(UVERBS_ATTR_REG_MR_FD, 9);
	assert_int_equal(reg(), 0);
	check_region(OFFSET, 9);
	assert_int_equal(it.of_file, 1);
	assert_int_equal(it.returned, 2);
	rig_without(UVERBS_ATTR_REG_MR_FD_OFFSET);
	assert_int_equal(reg(), EINVAL);
}

static void attributes_are_read(void **state)
{
	static const uint16_t ids[] = { UVERBS_ATTR_REG_MR_IOVA, UVERBS_ATTR_REG_MR_LENGTH,
					UVERBS_ATTR_REG_MR_ACCESS_FLAGS, UVERBS_ATTR_REG_MR_ADDR };

	(void)state;
	number_in(UVERBS_ATTR_REG_MR_ADDR, START);
	for (unsigned int i = 0; i < 4; i++) {
		rig.in_refused = ids[i];
		assert_int_equal(reg(), EFAULT);
	}
	assert_int_equal(it.of_memory, 0);
}

static void a_region_uses_its_handle(void **state)
{
	struct uverbs_dmah dmah = { 0 };

	(void)state;
	number_in(UVERBS_ATTR_REG_MR_ADDR, START);
	assert_int_equal(reg(), 0);
	assert_null(region.dmah);
	rig_in_object(UVERBS_ATTR_REG_MR_DMA_HANDLE, &dmah.base);
	it.error = REFUSED;
	assert_int_equal(reg(), REFUSED);
	assert_int_equal(dmah.base.users, 0);
	assert_int_equal(it.returned, 1);
	it.error = 0;
	assert_int_equal(reg(), 0);
	assert_ptr_equal(region.dmah, &dmah);
	assert_int_equal(dmah.base.users, 1);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, dmah_begin, rig_end)
	const struct CMUnitTest tests[] = {
		CASE(a_processing_hint_is_enough),    CASE(a_steering_tag_is_not_supported),
		CASE(memory_or_a_file_is_registered), CASE(attributes_are_read),
		CASE(a_region_uses_its_handle),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

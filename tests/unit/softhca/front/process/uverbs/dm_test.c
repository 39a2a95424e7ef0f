/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * dm_test.c - device memory of programs: pages of the file that it gets, what the program is told
 * of it, failures, and its regions.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rig.h"
#include "softhca/front/process/uverbs/dm.c"
#include "util/bits.h"

enum { LENGTH = 0x100, OFFSET = 0x340, REFUSED = EDOM, PAGES = UVERBS_FILE_MEMORY_PAGES };

#define ADDR     (0x7000ull * PAGE + OFFSET)
#define ICM_ADDR UINT64_C(0x4000100000)

static struct {
	uint64_t addr, asked;
	uint32_t log_align;
	int alloc_error;
	unsigned int allocated, placed;
	void *page_at; /* of the address ADDR */
	uint32_t revoked;
	unsigned int lacks; /* a right that the program lacks */
	struct sw_icm icm;
	enum sw_icm_area area;
} it;

static uint8_t memory[PAGES][UAR_PAGE_SIZE];

int device_memory_alloc(struct adapter *adapter, uint64_t length, uint32_t log_align,
			uint64_t *addr, uint64_t *size)
{
	assert_ptr_equal(adapter, &rig.adapter);
	it.asked = length;
	it.log_align = log_align;
	if (it.alloc_error)
		return it.alloc_error;
	it.allocated++;
	*addr = it.addr;
	*size = length;
	return 0;
}

int device_memory_free(struct adapter *adapter, uint64_t addr, uint64_t size)
{
	assert_ptr_equal(adapter, &rig.adapter);
	assert_true(addr == it.addr);
	assert_true(size == it.asked);
	it.allocated -= !rig.command_error;
	return rig.command_error;
}

bool client_may(pid_t tid, unsigned int capability)
{
	(void)tid;
	return capability != it.lacks;
}

int sw_icm_alloc(struct adapter *adapter, enum sw_icm_area area, uint64_t length,
		 uint32_t log_align, struct sw_icm **block)
{
	assert_ptr_equal(adapter, &rig.adapter);
	it.asked = length;
	it.log_align = log_align;
	it.area = area;
	if (it.alloc_error)
		return it.alloc_error;
	it.allocated++;
	it.icm = (struct sw_icm){ .addr = ICM_ADDR, .size = length };
	*block = &it.icm;
	return 0;
}

void sw_icm_release(struct adapter *adapter, struct sw_icm *block)
{
	assert_ptr_equal(adapter, &rig.adapter);
	assert_ptr_equal(block, &it.icm);
	it.allocated--;
}

void hca_place_memic(struct hca *hca, uint64_t addr, void *page)
{
	(void)hca;
	assert_int_equal(addr % PAGE, 0);
	it.placed += page ? 1 : -1U;
	if (addr == it.addr - it.addr % PAGE)
		it.page_at = page;
}

void *uverbs_file_memory(const struct uverbs_file *file, uint32_t index)
{
	assert_ptr_equal(file, &rig.file);
	assert_true(index < PAGES);
	return memory[index];
}

uint32_t uverbs_file_memory_page(uint32_t index)
{
	return 1000 + index;
}

void dmabuf_revoke(const struct uverbs_file *file, uint32_t page)
{
	assert_ptr_equal(file, &rig.file);
	it.revoked = page;
}

int mr_check_access(const struct uverbs_call *uc, uint64_t access)
{
	(void)uc;
	return access & IB_UVERBS_ACCESS_REMOTE_WRITE && !(access & IB_UVERBS_ACCESS_LOCAL_WRITE)
		       ? EINVAL
		       : 0;
}

void region_put_access(uint8_t *mkc, uint32_t access)
{
	(void)mkc;
	(void)access;
}

int mr_new(struct uverbs_call *uc, struct uverbs_mr **mr)
{
	(void)uc;
	(void)mr;
	return ENOMEM;
}

int mr_publish(struct uverbs_call *uc, struct uverbs_mr *mr, struct uverbs_pd *pd)
{
	(void)uc;
	(void)mr;
	(void)pd;
	return ENOMEM;
}

int mr_return(struct uverbs_call *uc, struct uverbs_mr *mr, uint16_t handle, uint16_t lkey,
	      uint16_t rkey)
{
	(void)uc;
	(void)mr;
	(void)handle;
	(void)lkey;
	(void)rkey;
	return ENOMEM;
}

void mr_free(struct uverbs_mr *mr)
{
	(void)mr;
}

static int dm_begin(void **state)
{
	memset(&it, 0, sizeof(it));
	it.addr = ADDR;
	return rig_begin(state);
}

static int dm_end(void **state)
{
	int ret = rig_end(state);

	assert_int_equal(it.allocated, 0);
	assert_int_equal(it.placed, 0);
	for (unsigned int i = 0; i < PAGES; i++)
		assert_false(rig.file.memory_page_used[i]);
	return ret;
}

static int dm_new_of(uint64_t type, uint64_t length, struct uverbs_dm **dm)
{
	const uint32_t log_align = 6;
	uint32_t handle;
	int ret;

	rig_in(UVERBS_ATTR_ALLOC_DM_LENGTH, &length, sizeof(length));
	rig_in(UVERBS_ATTR_ALLOC_DM_ALIGNMENT, &log_align, sizeof(log_align));
	rig_in(MLX5_IB_ATTR_ALLOC_DM_REQ_TYPE, &type, sizeof(type));
	ret = dm_alloc(&rig.call);
	if (ret)
		return ret;
	memcpy(&handle, rig_out(UVERBS_ATTR_ALLOC_DM_HANDLE, sizeof(handle)), sizeof(handle));
	*dm = (struct uverbs_dm *)rig.objects[handle];
	return 0;
}

static int dm_new(uint64_t length, struct uverbs_dm **dm)
{
	return dm_new_of(MLX5_IB_UAPI_DM_TYPE_MEMIC, length, dm);
}

static void check_place(uint16_t page_id, uint16_t offset_id, uint16_t page, uint64_t offset)
{
	assert_memory_equal(rig_out(page_id, sizeof(page)), &page, sizeof(page));
	assert_memory_equal(rig_out(offset_id, sizeof(offset)), &offset, sizeof(offset));
}

static void a_program_is_told_page_and_offset(void **state)
{
	struct uverbs_dm *dm = NULL;
	uint64_t length = LENGTH;

	(void)state;
	memset(memory[0], 0xee, PAGE);
	assert_int_equal(dm_new(LENGTH, &dm), 0);
	assert_true(it.asked == LENGTH);
	assert_int_equal(it.log_align, 6);
	check_place(MLX5_IB_ATTR_ALLOC_DM_RESP_PAGE_INDEX, MLX5_IB_ATTR_ALLOC_DM_RESP_START_OFFSET,
		    0, OFFSET);
	assert_ptr_equal(it.page_at, memory[0]);
	assert_int_equal(memory[0][0], 0); /* another program's bytes are gone */
	assert_int_equal(memory[0][PAGE - 1], 0);
	rig_in_object(MLX5_IB_ATTR_QUERY_DM_REQ_HANDLE, &dm->base);
	assert_int_equal(dm_query(&rig.call), 0);
	check_place(MLX5_IB_ATTR_QUERY_DM_RESP_PAGE_INDEX, MLX5_IB_ATTR_QUERY_DM_RESP_START_OFFSET,
		    0, OFFSET);
	assert_memory_equal(rig_out(MLX5_IB_ATTR_QUERY_DM_RESP_LENGTH, sizeof(length)), &length,
			    sizeof(length));
	rig_in_object(UVERBS_ATTR_FREE_DM_HANDLE, &dm->base);
	assert_int_equal(dm_free(&rig.call), 0);
	assert_int_equal(it.revoked, 1000);
	assert_null(it.page_at);
}

static void each_memory_has_pages_of_its_own(void **state)
{
	struct uverbs_dm *dm[3] = { NULL };

	(void)state;
	assert_int_equal(dm_new(PAGE, &dm[0]), 0); /* with the offset: two pages */
	assert_int_equal(dm[0]->pages, 2);
	assert_int_equal(dm_new(PAGE - OFFSET, &dm[1]), 0);
	assert_int_equal(dm[1]->pages, 1);
	assert_int_equal(dm[1]->first_page, 2);
	assert_int_equal(dm_new(PAGE - OFFSET + 1, &dm[2]), 0);
	assert_int_equal(dm[2]->first_page, 3);
	assert_int_equal(dm[2]->pages, 2);
	it.asked = PAGE - OFFSET;
	assert_int_equal(object_destroy(&dm[1]->base, 0), 0);
	it.asked = PAGE;
	assert_int_equal(object_destroy(&dm[0]->base, 0), 0);
	assert_int_equal(dm_new(3ull * PAGE - OFFSET, &dm[0]), 0); /* fits where both were */
	assert_int_equal(dm[0]->first_page, 0);
	assert_int_equal(object_destroy(&dm[0]->base, 0), 0);
	it.asked = PAGE - OFFSET + 1;
}

static void a_file_has_so_many_pages(void **state)
{
	struct uverbs_dm *dm = NULL;

	(void)state;
	it.addr = ADDR - OFFSET;
	assert_int_equal(dm_new((uint64_t)PAGES * PAGE + 1, &dm), ENOMEM);
	assert_int_equal(it.allocated, 0);
	assert_int_equal(dm_new((uint64_t)PAGES * PAGE, &dm), 0);
	assert_int_equal(it.placed, PAGES);
}

static void a_program_that_cannot_be_told_has_none(void **state)
{
	static const uint16_t attrs[] = { MLX5_IB_ATTR_ALLOC_DM_RESP_PAGE_INDEX,
					  MLX5_IB_ATTR_ALLOC_DM_RESP_START_OFFSET };
	struct uverbs_dm *dm = NULL;

	(void)state;
	for (unsigned int i = 0; i < sizeof(attrs) / sizeof(attrs[0]); i++) {
		rig.out_refused = attrs[i];
		assert_int_equal(dm_new(LENGTH, &dm), EFAULT);
		assert_int_equal(rig.made, rig.freed);
		assert_int_equal(it.allocated, 0);
	}
}

static void what_the_device_refuses_is_left_alone(void **state)
{
	struct uverbs_dm *dm = NULL;

	(void)state;
	it.alloc_error = REFUSED;
	assert_int_equal(dm_new(LENGTH, &dm), REFUSED);
	it.alloc_error = 0;
	assert_int_equal(dm_new(LENGTH, &dm), 0);
	assert_true(dm->base.scarce);
	rig.command_error = REFUSED;
	rig_in_object(UVERBS_ATTR_FREE_DM_HANDLE, &dm->base);
	assert_int_equal(dm_free(&rig.call), REFUSED);
	assert_true(rig.file.memory_page_used[0]);
	rig.command_error = 0;
}

static void memory_for_steering_is_an_address_of_the_adapter(void **state)
{
	static const struct {
		uint64_t type;
		enum sw_icm_area area;
	} kinds[] = {
		{ MLX5_IB_UAPI_DM_TYPE_STEERING_SW_ICM, SW_ICM_ENTRIES },
		{ MLX5_IB_UAPI_DM_TYPE_HEADER_MODIFY_SW_ICM, SW_ICM_CHANGES },
		{ MLX5_IB_UAPI_DM_TYPE_HEADER_MODIFY_PATTERN_SW_ICM, SW_ICM_PATTERNS },
	};
	const uint64_t addr = ICM_ADDR;
	struct uverbs_dm *dm = NULL;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		assert_int_equal(dm_new_of(kinds[i].type, 1 << 20, &dm), 0);
		assert_true(it.asked == 1 << 20);
		assert_int_equal(it.log_align, 6);
		assert_int_equal(it.area, kinds[i].area);
		assert_false(dm->base.scarce); /* no key may use it when it goes */
		assert_memory_equal(rig_out(MLX5_IB_ATTR_ALLOC_DM_RESP_START_OFFSET, sizeof(addr)),
				    &addr, sizeof(addr));
		assert_int_equal(it.placed, 0);
		rig_in_object(MLX5_IB_ATTR_QUERY_DM_REQ_HANDLE, &dm->base);
		assert_int_equal(dm_query(&rig.call), EOPNOTSUPP);
		assert_int_equal(object_destroy(&dm->base, 0), 0);
		assert_int_equal(it.allocated, 0);
	}
}

static void memory_for_steering_takes_rights(void **state)
{
	static const unsigned int rights[] = { CLIENT_CAP_NET_RAW, CLIENT_CAP_SYS_RAWIO };
	struct uverbs_dm *dm = NULL;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rights); i++) {
		it.lacks = rights[i];
		assert_int_equal(dm_new_of(MLX5_IB_UAPI_DM_TYPE_STEERING_SW_ICM, 1 << 20, &dm),
				 EPERM);
	}
	it.lacks = 0;
	it.alloc_error = EOPNOTSUPP;
	assert_int_equal(dm_new_of(MLX5_IB_UAPI_DM_TYPE_STEERING_SW_ICM, 1 << 20, &dm), EOPNOTSUPP);
	assert_int_equal(dm_new_of(MLX5_IB_UAPI_DM_TYPE_ENCAP_SW_ICM, 1 << 20, &dm), EOPNOTSUPP);
	assert_int_equal(it.allocated, 0);
}

static void operations_are_refused_as_known_or_not(void **state)
{
	static const struct {
		uint8_t operation;
		int error;
	} rows[] = { { 0, EINVAL },
		     { 1, EOPNOTSUPP },
		     { 31, EINVAL },
		     { 32, EOPNOTSUPP },
		     { 255, EOPNOTSUPP } };
	struct uverbs_dm *dm = NULL;

	(void)state;
	assert_int_equal(dm_new(LENGTH, &dm), 0);
	rig_in_object(MLX5_IB_ATTR_DM_MAP_OP_ADDR_REQ_HANDLE, &dm->base);
	fld_set(rig.adapter.memory_caps, MEM_CAP_MEMIC_OPERATIONS, 1u << 31 | 1u);
	for (unsigned int i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		rig_in(MLX5_IB_ATTR_DM_MAP_OP_ADDR_REQ_OP, &rows[i].operation, 1);
		assert_int_equal(dm_map_operation(&rig.call), rows[i].error);
	}
}

static void regions_lie_inside(void **state)
{
	const uint64_t zero = IB_UVERBS_ACCESS_ZERO_BASED;
	const struct {
		uint64_t access, offset, length;
		int error;
	} rows[] = {
		{ zero, 0, LENGTH, 0 },
		{ zero, LENGTH, 0, 0 },
		{ zero, 1, LENGTH, EINVAL },
		{ zero, LENGTH + 1, 0, EINVAL },
		{ zero, UINT64_MAX, 2, EINVAL },
		{ 0, 0, LENGTH, EINVAL },
		{ zero | ALLOWED_ACCESS, 0, LENGTH, 0 },
		{ zero | IB_UVERBS_ACCESS_MW_BIND, 0, LENGTH, EINVAL },
		{ zero | IB_UVERBS_ACCESS_REMOTE_WRITE, 0, LENGTH, EINVAL },
	};
	const struct uverbs_dm dm = { .length = LENGTH };

	(void)state;
	for (unsigned int i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(check_region(&rig.call, &dm, rows[i].access, rows[i].offset,
					      rows[i].length),
				 rows[i].error);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, dm_begin, dm_end)
	const struct CMUnitTest tests[] = {
		CASE(a_program_is_told_page_and_offset),
		CASE(each_memory_has_pages_of_its_own),
		CASE(a_file_has_so_many_pages),
		CASE(a_program_that_cannot_be_told_has_none),
		CASE(what_the_device_refuses_is_left_alone),
		CASE(memory_for_steering_is_an_address_of_the_adapter),
		CASE(memory_for_steering_takes_rights),
		CASE(operations_are_refused_as_known_or_not),
		CASE(regions_lie_inside),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * var_test.c - doorbell pages for emulated virtio devices (VAR): the page that a program gets, the
 * returned attributes, and failures.
 */
#include <sys/mman.h>

#include "softhca/front/process/uverbs/var.c"
#include "tests/unit/softhca/front/process/uverbs/rig.h"

enum { LOG_PAGES = 2, PAGES = 1 << LOG_PAGES, LOG_STRIDE = 7 };

static const size_t file_bytes = (size_t)(UVERBS_FILE_EMULATION + PAGES) * UAR_PAGE_SIZE;

static int var_begin(void **state)
{
	rig_begin(state);
	rig.file.pages = mmap(NULL, file_bytes, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	fld_set(rig.adapter.emulation_caps, VDPA_CAP_LOG_DOORBELL_BAR_SIZE, LOG_PAGES);
	fld_set(rig.adapter.emulation_caps, VDPA_CAP_LOG_DOORBELL_STRIDE, LOG_STRIDE);
	return rig.file.pages == MAP_FAILED ? -1 : 0;
}

static int var_end(void **state)
{
	munmap(rig.file.pages, file_bytes);
	return rig_end(state);
}

static uint8_t *emulation_page(uint32_t page)
{
	return rig.file.pages + (size_t)(UVERBS_FILE_EMULATION + page) * UAR_PAGE_SIZE;
}

static uint64_t out_of(uint16_t id, size_t len)
{
	const void *bytes = rig_out(id, len);

	return len == sizeof(uint64_t) ? *(const uint64_t *)bytes : *(const uint32_t *)bytes;
}

static struct object *var_get(uint32_t page)
{
	struct object *var;

	assert_int_equal(var_alloc(&rig.call), 0);
	var = rig.objects[out_of(MLX5_IB_ATTR_VAR_OBJ_ALLOC_HANDLE, 4)];
	assert_non_null(var);
	assert_int_equal(out_of(MLX5_IB_ATTR_VAR_OBJ_ALLOC_PAGE_ID, 4), page);
	assert_int_equal(out_of(MLX5_IB_ATTR_VAR_OBJ_ALLOC_MMAP_OFFSET, 8),
			 (uint64_t)(UVERBS_FILE_EMULATION + page) * UAR_PAGE_SIZE);
	assert_int_equal(out_of(MLX5_IB_ATTR_VAR_OBJ_ALLOC_MMAP_LENGTH, 4), 1 << LOG_STRIDE);
	assert_true(rig.adapter.emulation_page_used[page]);
	return var;
}

static void var_drop(struct object *var)
{
	rig_in_object(MLX5_IB_ATTR_VAR_OBJ_DESTROY_HANDLE, var);
	assert_int_equal(var_free(&rig.call), 0);
}

static void each_gets_the_lowest_page_that_is_free(void **state)
{
	struct object *made[PAGES];

	(void)state;
	for (uint32_t i = 0; i < PAGES; i++)
		made[i] = var_get(i);
	assert_int_equal(var_alloc(&rig.call), ENOSPC);
	var_drop(made[2]);
	assert_false(rig.adapter.emulation_page_used[2]);
	var_drop(made[1]);
	made[1] = var_get(1);
	made[2] = var_get(2);
	assert_int_equal(var_alloc(&rig.call), ENOSPC);
	for (uint32_t i = 0; i < PAGES; i++)
		var_drop(made[i]);
	for (uint32_t i = 0; i < PAGES; i++)
		assert_false(rig.adapter.emulation_page_used[i]);
}

static void a_page_is_zeroed_and_its_neighbours_are_not(void **state)
{
	(void)state;
	memset(emulation_page(0), 0xee, (size_t)2 * UAR_PAGE_SIZE);
	memset(emulation_page(0) - UAR_PAGE_SIZE, 0xee, UAR_PAGE_SIZE);
	var_drop(var_get(0));
	assert_int_equal(emulation_page(0)[-1], 0xee);
	assert_int_equal(emulation_page(0)[0], 0);
	assert_int_equal(emulation_page(0)[UAR_PAGE_SIZE - 1], 0);
	assert_int_equal(emulation_page(1)[0], 0xee);
}

static int alloc_with(uint64_t flags)
{
	rig_in(MLX5_IB_ATTR_VAR_OBJ_ALLOC_FLAGS, &flags, sizeof(flags));
	return var_alloc(&rig.call);
}

static void flags_are_refused(void **state)
{
	(void)state;
	assert_int_equal(alloc_with(MLX5_IB_UAPI_VAR_ALLOC_FLAG_TLP), EOPNOTSUPP);
	assert_int_equal(alloc_with(MLX5_IB_UAPI_VAR_ALLOC_FLAG_TLP | 1ull << 40), EINVAL);
	rig.in_refused = MLX5_IB_ATTR_VAR_OBJ_ALLOC_FLAGS;
	assert_int_equal(alloc_with(0), EFAULT);
	assert_false(rig.adapter.emulation_page_used[0]);
}

static void without_room_for_an_answer_nothing_is_left(void **state)
{
	const uint16_t attrs[] = { MLX5_IB_ATTR_VAR_OBJ_ALLOC_MMAP_OFFSET,
				   MLX5_IB_ATTR_VAR_OBJ_ALLOC_PAGE_ID,
				   MLX5_IB_ATTR_VAR_OBJ_ALLOC_MMAP_LENGTH };

	(void)state;
	for (size_t i = 0; i < sizeof(attrs) / sizeof(attrs[0]); i++) {
		rig.out_refused = attrs[i];
		assert_int_equal(var_alloc(&rig.call), EFAULT);
		assert_false(rig.adapter.emulation_page_used[0]);
	}
}

static void an_adapter_without_emulation_has_no_such_method(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < var_methods.count; i++)
		assert_false(var_methods.method[i].exists(&rig.adapter));
	fld_set(rig.adapter.caps, HCA_CAP_GENERAL_OBJ_TYPES, 1u << PRM_OBJ_TYPE_VIRTIO_NET_Q);
	for (unsigned int i = 0; i < var_methods.count; i++)
		assert_true(var_methods.method[i].exists(&rig.adapter));
	assert_int_equal(var_methods.count, 2);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, var_begin, var_end)
	const struct CMUnitTest tests[] = {
		CASE(each_gets_the_lowest_page_that_is_free),
		CASE(a_page_is_zeroed_and_its_neighbours_are_not),
		CASE(flags_are_refused),
		CASE(without_room_for_an_answer_nothing_is_left),
		CASE(an_adapter_without_emulation_has_no_such_method),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

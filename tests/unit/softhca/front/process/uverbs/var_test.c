/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * var_test.c - doorbell pages for emulated virtio devices (VAR): the page that a program gets, the
 * returned attributes, and failures. Attributes and handles are stand-ins.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <cmocka.h>

#include "softhca/front/process/uverbs/var.c"

enum { LOG_PAGES = 2, PAGES = 1 << LOG_PAGES, LOG_STRIDE = 7 };

static struct {
	struct adapter *adapter;
	struct uverbs_file *file;
	size_t file_bytes;
	struct uverbs_call call;
	uint64_t flags;
	int in_error, publish_error;
	uint16_t out_refused; /* attribute whose buffer the program omits */
	uint64_t offset;
	uint32_t page_id, length;
	struct object *object; /* object of the next call */
} world;

int uc_in(struct uverbs_call *uc, uint16_t id, void *buf, size_t len)
{
	assert_ptr_equal(uc, &world.call);
	assert_int_equal(id, MLX5_IB_ATTR_VAR_OBJ_ALLOC_FLAGS);
	assert_int_equal(len, sizeof(world.flags));
	memcpy(buf, &world.flags, len);
	return world.in_error;
}

int uc_out(struct uverbs_call *uc, uint16_t id, const void *data, size_t len)
{
	assert_ptr_equal(uc, &world.call);
	if (id == world.out_refused)
		return EFAULT;
	if (id == MLX5_IB_ATTR_VAR_OBJ_ALLOC_MMAP_OFFSET && len == sizeof(world.offset))
		memcpy(&world.offset, data, len);
	else if (id == MLX5_IB_ATTR_VAR_OBJ_ALLOC_PAGE_ID && len == sizeof(world.page_id))
		memcpy(&world.page_id, data, len);
	else if (id == MLX5_IB_ATTR_VAR_OBJ_ALLOC_MMAP_LENGTH && len == sizeof(world.length))
		memcpy(&world.length, data, len);
	else
		fail();
	return 0;
}

int object_new(size_t size, struct uverbs_file *file, uint16_t type,
	       int (*destroy)(struct object *object, pid_t tid), void *object)
{
	struct object *made = calloc(1, size);

	assert_int_equal(type, MLX5_IB_OBJECT_VAR);
	assert_non_null(made);
	made->file = file;
	made->destroy = destroy;
	*(struct object **)object = made;
	return 0;
}

int object_destroy(struct object *object, pid_t tid)
{
	int ret = object->destroy(object, tid);

	if (!ret)
		free(object);
	return ret;
}

void *uc_object(struct uverbs_call *uc, uint16_t id)
{
	assert_ptr_equal(uc, &world.call);
	assert_int_equal(id, MLX5_IB_ATTR_VAR_OBJ_DESTROY_HANDLE);
	return world.object;
}

int uc_return_made(struct uverbs_call *uc, int ret, uint16_t id, struct object *object)
{
	assert_ptr_equal(uc, &world.call);
	assert_int_equal(id, MLX5_IB_ATTR_VAR_OBJ_ALLOC_HANDLE);
	if (ret)
		free(object);
	else
		world.object = object;
	return ret;
}

int uc_answered(struct uverbs_call *uc, int ret, struct object *object)
{
	assert_ptr_equal(uc, &world.call);
	return ret ? object_destroy(object, 0), ret : 0;
}

static int world_begin(void **state)
{
	(void)state;
	memset(&world, 0, sizeof(world));
	world.out_refused = UINT16_MAX;
	world.adapter = calloc(1, sizeof(*world.adapter));
	world.file = calloc(1, sizeof(*world.file));
	world.file_bytes = (size_t)(UVERBS_FILE_EMULATION + PAGES) * UAR_PAGE_SIZE;
	if (!world.adapter || !world.file)
		return -1;
	world.file->adapter = world.adapter;
	world.file->pages = mmap(NULL, world.file_bytes, PROT_READ | PROT_WRITE,
				 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	world.call.adapter = world.adapter;
	world.call.file = world.file;
	fld_set(world.adapter->emulation_caps, VDPA_CAP_LOG_DOORBELL_BAR_SIZE, LOG_PAGES);
	fld_set(world.adapter->emulation_caps, VDPA_CAP_LOG_DOORBELL_STRIDE, LOG_STRIDE);
	return world.file->pages == MAP_FAILED ? -1 : 0;
}

static int world_end(void **state)
{
	(void)state;
	munmap(world.file->pages, world.file_bytes);
	free(world.file);
	free(world.adapter);
	return 0;
}

static uint8_t *emulation_page(uint32_t page)
{
	return world.file->pages + (size_t)(UVERBS_FILE_EMULATION + page) * UAR_PAGE_SIZE;
}

static struct object *var_get(uint32_t page)
{
	world.object = NULL;
	assert_int_equal(var_alloc(&world.call), 0);
	assert_non_null(world.object);
	assert_int_equal(world.page_id, page);
	assert_int_equal(world.offset, (uint64_t)(UVERBS_FILE_EMULATION + page) * UAR_PAGE_SIZE);
	assert_int_equal(world.length, 1 << LOG_STRIDE);
	assert_true(world.adapter->emulation_page_used[page]);
	return world.object;
}

static void var_drop(struct object *object)
{
	world.object = object;
	assert_int_equal(var_free(&world.call), 0);
}

static void each_gets_the_lowest_page_that_is_free(void **state)
{
	struct object *made[PAGES];

	(void)state;
	for (uint32_t i = 0; i < PAGES; i++)
		made[i] = var_get(i);
	assert_int_equal(var_alloc(&world.call), ENOSPC);
	var_drop(made[2]);
	assert_false(world.adapter->emulation_page_used[2]);
	var_drop(made[1]);
	made[1] = var_get(1);
	made[2] = var_get(2);
	assert_int_equal(var_alloc(&world.call), ENOSPC);
	for (uint32_t i = 0; i < PAGES; i++)
		var_drop(made[i]);
	for (uint32_t i = 0; i < PAGES; i++)
		assert_false(world.adapter->emulation_page_used[i]);
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

static void flags_are_refused(void **state)
{
	(void)state;
	world.flags = MLX5_IB_UAPI_VAR_ALLOC_FLAG_TLP;
	assert_int_equal(var_alloc(&world.call), EOPNOTSUPP);
	world.flags |= 1ull << 40;
	assert_int_equal(var_alloc(&world.call), EINVAL);
	world.in_error = EFAULT;
	world.flags = 0;
	assert_int_equal(var_alloc(&world.call), EFAULT);
	assert_false(world.adapter->emulation_page_used[0]);
}

static void without_room_for_an_answer_nothing_is_left(void **state)
{
	const uint16_t attrs[] = { MLX5_IB_ATTR_VAR_OBJ_ALLOC_MMAP_OFFSET,
				   MLX5_IB_ATTR_VAR_OBJ_ALLOC_PAGE_ID,
				   MLX5_IB_ATTR_VAR_OBJ_ALLOC_MMAP_LENGTH };

	(void)state;
	for (size_t i = 0; i < sizeof(attrs) / sizeof(attrs[0]); i++) {
		world.out_refused = attrs[i];
		assert_int_equal(var_alloc(&world.call), EFAULT);
		assert_false(world.adapter->emulation_page_used[0]);
	}
}

static void an_adapter_without_emulation_has_no_such_method(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < var_methods.count; i++)
		assert_false(var_methods.method[i].exists(world.adapter));
	fld_set(world.adapter->caps, HCA_CAP_GENERAL_OBJ_TYPES, 1u << PRM_OBJ_TYPE_VIRTIO_NET_Q);
	for (unsigned int i = 0; i < var_methods.count; i++)
		assert_true(var_methods.method[i].exists(world.adapter));
	assert_int_equal(var_methods.count, 2);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, world_begin, world_end)
	const struct CMUnitTest tests[] = {
		CASE(each_gets_the_lowest_page_that_is_free),
		CASE(a_page_is_zeroed_and_its_neighbours_are_not),
		CASE(flags_are_refused),
		CASE(without_room_for_an_answer_nothing_is_left),
		CASE(an_adapter_without_emulation_has_no_such_method),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

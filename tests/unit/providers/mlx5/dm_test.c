/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * dm_test.c - device memory: where it is mapped, copies to and from it, what is registered or
 * refused, and what is given back after a failure. A file in memory stands for the device's; the
 * kernel's commands are the test's.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "providers/mlx5/context.h"
#include "providers/mlx5/device.h"
#include "providers/mlx5/dm.h"

#include <rdma/mlx5_user_ioctl_cmds.h>

enum { START = 0x140, LENGTH = 0x200, INDEX = 0x102, HANDLE = 7, REFUSED = EDOM, MOST = 0x1000 };

static struct {
	struct mlx5_context *ctx;
	struct ibv_pd pd;
	size_t page;
	int allocated, exported, registered;
	int alloc_error, free_error, run_error, reg_error, dmabuf_error;
	uint64_t type, length, dmabuf_offset;
	uint16_t method;
	struct {
		uint64_t offset;
		size_t length;
		unsigned int access;
	} region;
} it;

int __wrap_verbs_cmd_alloc_dm(struct ibv_context *context, const struct ibv_alloc_dm_attr *attr,
			      struct ibv_dm *dm, const struct verbs_attr *more, unsigned int nmore);
int __wrap_verbs_cmd_free_dm(struct ibv_dm *dm);
int __wrap_verbs_cmd_run(struct ibv_context *context, uint16_t object, uint16_t method,
			 const struct verbs_attr *attrs, unsigned int nattrs);
int __wrap_verbs_cmd_reg_dm_mr(struct ibv_pd *pd, struct ibv_dm *dm, uint64_t offset, size_t length,
			       unsigned int access, struct verbs_mr *vmr,
			       const struct verbs_udata *udata);
int __wrap_verbs_cmd_alloc_dmabuf(struct ibv_context *context, uint64_t offset, int *fd);
int __wrap_mlx5_device_query_ex(struct ibv_context *context,
				const struct ibv_query_device_ex_input *input,
				struct ibv_device_attr_ex *attr, size_t size);

static void out_put(const struct verbs_attr *attrs, unsigned int count, uint16_t id, uint64_t value)
{
	for (unsigned int i = 0; i < count; i++) {
		uint16_t half = (uint16_t)value;

		if (attrs[i].id != id)
			continue;
		memcpy((void *)(uintptr_t)attrs[i].value,
		       attrs[i].len == sizeof(half) ? (void *)&half : (void *)&value, attrs[i].len);
	}
}

int __wrap_verbs_cmd_alloc_dm(struct ibv_context *context, const struct ibv_alloc_dm_attr *attr,
			      struct ibv_dm *dm, const struct verbs_attr *more, unsigned int nmore)
{
	assert_ptr_equal(context, &it.ctx->vctx.context);
	(void)attr;
	if (it.alloc_error)
		return it.alloc_error;
	it.allocated++;
	dm->handle = HANDLE;
	it.type = MLX5_IB_UAPI_DM_TYPE_MEMIC;
	for (unsigned int i = 0; i < nmore; i++) {
		if (more[i].id == MLX5_IB_ATTR_ALLOC_DM_REQ_TYPE)
			it.type = more[i].value;
	}
	out_put(more, nmore, MLX5_IB_ATTR_ALLOC_DM_RESP_START_OFFSET, START);
	out_put(more, nmore, MLX5_IB_ATTR_ALLOC_DM_RESP_PAGE_INDEX, INDEX);
	return 0;
}

int __wrap_verbs_cmd_free_dm(struct ibv_dm *dm)
{
	(void)dm;
	it.allocated -= !it.free_error;
	return it.free_error;
}

int __wrap_verbs_cmd_run(struct ibv_context *context, uint16_t object, uint16_t method,
			 const struct verbs_attr *attrs, unsigned int nattrs)
{
	assert_ptr_equal(context, &it.ctx->vctx.context);
	assert_int_equal(object, UVERBS_OBJECT_DM);
	it.method = method;
	assert_int_equal(attrs[0].value, HANDLE);
	if (it.run_error)
		return it.run_error;
	if (method == MLX5_IB_METHOD_DM_QUERY) {
		out_put(attrs, nattrs, MLX5_IB_ATTR_QUERY_DM_RESP_START_OFFSET, START);
		out_put(attrs, nattrs, MLX5_IB_ATTR_QUERY_DM_RESP_PAGE_INDEX, INDEX);
		out_put(attrs, nattrs, MLX5_IB_ATTR_QUERY_DM_RESP_LENGTH, LENGTH);
	} else {
		assert_int_equal(method, MLX5_IB_METHOD_DM_MAP_OP_ADDR);
		out_put(attrs, nattrs, MLX5_IB_ATTR_DM_MAP_OP_ADDR_RESP_START_OFFSET, START);
		out_put(attrs, nattrs, MLX5_IB_ATTR_DM_MAP_OP_ADDR_RESP_PAGE_INDEX, INDEX);
	}
	return 0;
}

int __wrap_verbs_cmd_reg_dm_mr(struct ibv_pd *pd, struct ibv_dm *dm, uint64_t offset, size_t length,
			       unsigned int access, struct verbs_mr *vmr,
			       const struct verbs_udata *udata)
{
	assert_ptr_equal(pd, &it.pd);
	assert_null(udata);
	assert_non_null(vmr);
	(void)dm;
	it.registered++;
	it.region.offset = offset;
	it.region.length = length;
	it.region.access = access;
	return it.reg_error;
}

int __wrap_verbs_cmd_alloc_dmabuf(struct ibv_context *context, uint64_t offset, int *fd)
{
	assert_ptr_equal(context, &it.ctx->vctx.context);
	it.dmabuf_offset = offset;
	*fd = 99;
	return it.dmabuf_error;
}

int __wrap_mlx5_device_query_ex(struct ibv_context *context,
				const struct ibv_query_device_ex_input *input,
				struct ibv_device_attr_ex *attr, size_t size)
{
	assert_ptr_equal(context, &it.ctx->vctx.context);
	assert_null(input);
	memset(attr, 0, size);
	attr->max_dm_size = MOST;
	return 0;
}

/* Returns the place of the memory in the file: command 3, with the index around it. */
static uint64_t file_offset(void)
{
	const uint64_t page_number =
		(INDEX >> 8) << 16 | MLX5_IB_MMAP_DEVICE_MEM << 8 | (INDEX & 0xff);

	return page_number * it.page;
}

static int dm_begin(void **state)
{
	int fd = memfd_create("dm", MFD_CLOEXEC);

	(void)state;
	memset(&it, 0, sizeof(it));
	it.page = (size_t)sysconf(_SC_PAGESIZE);
	it.ctx = calloc(1, sizeof(*it.ctx));
	if (fd < 0 || !it.ctx || ftruncate(fd, (off_t)(file_offset() + it.page)))
		return -1;
	it.ctx->vctx.context.cmd_fd = fd;
	it.ctx->common.queue_bufs.page = it.page;
	it.pd.context = &it.ctx->vctx.context;
	return 0;
}

static int dm_end(void **state)
{
	(void)state;
	close(it.ctx->vctx.context.cmd_fd);
	provider_cells_destroy(&it.ctx->common.cells);
	free(it.ctx);
	return 0;
}

static struct ibv_dm *dm_new(size_t length)
{
	struct ibv_alloc_dm_attr attr = { .length = length };

	errno = 0;
	return mlx5_dm_alloc(&it.ctx->vctx.context, &attr);
}

static void file_read(uint64_t at, void *buf, size_t len)
{
	assert_int_equal(pread(it.ctx->vctx.context.cmd_fd, buf, len, (off_t)at), len);
}

static void memory_is_mapped_where_the_kernel_has_it(void **state)
{
	struct ibv_dm *dm = dm_new(LENGTH);
	uint8_t there[8], back[8];

	(void)state;
	assert_non_null(dm);
	assert_int_equal(it.type, MLX5_IB_UAPI_DM_TYPE_MEMIC);
	assert_int_equal(dm->memcpy_to_dm(dm, 16, "abcdefgh", 8), 0);
	file_read(file_offset() + START + 16, there, sizeof(there));
	assert_memory_equal(there, "abcdefgh", 8);
	assert_int_equal(dm->memcpy_from_dm(back, dm, 16, 8), 0);
	assert_memory_equal(back, "abcdefgh", 8);
	assert_int_equal(mlx5_dm_free(dm), 0);
	assert_int_equal(it.allocated, 0);
}

static void copies_stay_inside_and_are_of_words(void **state)
{
	static const struct {
		uint64_t offset;
		size_t length;
		int error;
	} rows[] = {
		{ 0, LENGTH, 0 },          { LENGTH, 0, 0 },          { LENGTH - 4, 4, 0 },
		{ LENGTH - 4, 8, EFAULT }, { LENGTH + 4, 0, EFAULT }, { UINT64_MAX - 3, 8, EFAULT },
		{ 2, 4, EINVAL },          { 4, 2, EINVAL },
	};
	struct ibv_dm *dm = dm_new(LENGTH);
	uint8_t bytes[LENGTH] = { 0 };

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(rows); i++) {
		assert_int_equal(dm->memcpy_to_dm(dm, rows[i].offset, bytes, rows[i].length),
				 rows[i].error);
		assert_int_equal(dm->memcpy_from_dm(bytes, dm, rows[i].offset, rows[i].length),
				 rows[i].error);
	}
	assert_int_equal(mlx5_dm_free(dm), 0);
}

static void regions_lie_inside_and_have_access_that_exists(void **state)
{
	static const struct {
		uint64_t offset;
		size_t length;
		unsigned int access;
		int error;
	} rows[] = {
		{ 0, LENGTH, IBV_ACCESS_ZERO_BASED, 0 },
		{ 4, LENGTH - 4, IBV_ACCESS_ZERO_BASED | IBV_ACCESS_LOCAL_WRITE, 0 },
		{ LENGTH, 0, IBV_ACCESS_ZERO_BASED | IBV_ACCESS_REMOTE_READ, 0 },
		{ 0, 4, IBV_ACCESS_ZERO_BASED | IBV_ACCESS_REMOTE_ATOMIC, 0 },
		{ 0, 4, IBV_ACCESS_ZERO_BASED | IBV_ACCESS_RELAXED_ORDERING, 0 },
		{ 0, LENGTH + 1, IBV_ACCESS_ZERO_BASED, EINVAL },
		{ LENGTH + 1, 0, IBV_ACCESS_ZERO_BASED, EINVAL },
		{ UINT64_MAX, 2, IBV_ACCESS_ZERO_BASED, EINVAL },
		{ 0, 4, IBV_ACCESS_ZERO_BASED | IBV_ACCESS_ON_DEMAND, EINVAL },
		{ 0, 4, IBV_ACCESS_ZERO_BASED | IBV_ACCESS_MW_BIND, EINVAL },
		{ 0, 4, IBV_ACCESS_ZERO_BASED | IBV_ACCESS_HUGETLB, EINVAL },
	};
	struct ibv_dm *dm = dm_new(LENGTH);
	int registered = 0;

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(rows); i++) {
		struct ibv_mr *mr =
			mlx5_dm_reg_mr(&it.pd, dm, rows[i].offset, rows[i].length, rows[i].access);

		assert_int_equal(!mr, !!rows[i].error);
		if (rows[i].error) {
			assert_int_equal(errno, rows[i].error);
		} else {
			registered++;
			assert_true(it.region.offset == rows[i].offset);
			assert_int_equal(it.region.length, rows[i].length);
			assert_int_equal(it.region.access, rows[i].access);
			free(container_of(mr, struct verbs_mr, mr));
		}
		assert_int_equal(it.registered, registered);
	}
	it.reg_error = REFUSED;
	assert_null(mlx5_dm_reg_mr(&it.pd, dm, 0, 4, IBV_ACCESS_ZERO_BASED));
	assert_int_equal(errno, REFUSED);
	assert_int_equal(mlx5_dm_free(dm), 0);
}

static void memory_that_cannot_be_allocated_says_why(void **state)
{
	struct ibv_alloc_dm_attr attr = { .length = 4, .comp_mask = 1 };

	(void)state;
	assert_null(mlx5_dm_alloc(&it.ctx->vctx.context, &attr));
	assert_int_equal(errno, EINVAL);
	it.alloc_error = ENOMEM; /* too much now, or more than there can be */
	assert_null(dm_new(MOST));
	assert_int_equal(errno, ENOMEM);
	assert_null(dm_new(MOST + 1));
	assert_int_equal(errno, EINVAL);
	it.alloc_error = REFUSED;
	assert_null(dm_new(MOST + 1));
	assert_int_equal(errno, REFUSED);
	it.alloc_error = 0;
	close(it.ctx->vctx.context.cmd_fd);
	assert_null(dm_new(4)); /* cannot be mapped, as the file is closed */
	assert_int_equal(errno, EBADF);
	assert_int_equal(it.allocated, 0);
}

static void memory_for_steering_is_not_mapped(void **state)
{
	struct ibv_alloc_dm_attr attr = { .length = LENGTH };
	const uint32_t type = MLX5_IB_UAPI_DM_TYPE_STEERING_SW_ICM;
	struct ibv_dm *dm = mlx5_dm_alloc_of_type(&it.ctx->vctx.context, &attr, type);
	struct mlx5dv_dm seen = { .comp_mask = MLX5DV_DM_MASK_REMOTE_VA };
	uint32_t word = 0;

	(void)state;
	assert_non_null(dm);
	assert_int_equal(it.type, type);
	assert_int_equal(dm->memcpy_to_dm(dm, 0, &word, 4), EOPNOTSUPP);
	assert_int_equal(dm->memcpy_from_dm(&word, dm, 0, 4), EOPNOTSUPP);
	assert_int_equal(mlx5_dm_export_dmabuf(dm), -1);
	assert_int_equal(errno, EOPNOTSUPP);
	mlx5_dm_describe(dm, &seen);
	assert_null(seen.buf);
	assert_true(seen.length == LENGTH && seen.remote_va == START);
	assert_int_equal(seen.comp_mask, MLX5DV_DM_MASK_REMOTE_VA);
	assert_int_equal(mlx5_dm_free(dm), 0);
}

static void what_the_kernel_keeps_stays(void **state)
{
	struct ibv_dm *dm = dm_new(LENGTH);
	uint32_t word = 5;

	(void)state;
	it.free_error = EBUSY;
	assert_int_equal(mlx5_dm_free(dm), EBUSY);
	assert_int_equal(dm->memcpy_to_dm(dm, 0, &word, 4), 0); /* still mapped */
	it.free_error = 0;
	assert_int_equal(mlx5_dm_free(dm), 0);
}

static void imported_memory_is_the_same(void **state)
{
	struct ibv_dm *dm = NULL;
	struct mlx5dv_dm seen = { .comp_mask = 0 };

	(void)state;
	it.run_error = REFUSED;
	assert_int_equal(mlx5_dm_import(&it.ctx->vctx.context, HANDLE, &dm), REFUSED);
	assert_null(dm);
	it.run_error = 0;
	assert_int_equal(mlx5_dm_import(&it.ctx->vctx.context, HANDLE, &dm), 0);
	assert_int_equal(dm->handle, HANDLE);
	assert_int_equal(dm->comp_mask, IBV_DM_MASK_HANDLE);
	mlx5_dm_describe(dm, &seen);
	assert_true(seen.length == LENGTH);
	assert_int_equal((uintptr_t)seen.buf & (it.page - 1), START);
	assert_int_equal(seen.comp_mask, 0);
	assert_int_equal(dm->memcpy_to_dm(dm, LENGTH - 4, "last", 4), 0);
	mlx5_dm_unimport(dm);
	/* still one: unimport has not freed the kernel's memory, as the exporter may use it */
	assert_int_equal(it.allocated, 0);
}

static void a_dma_buf_is_of_the_mapped_pages(void **state)
{
	struct ibv_dm *dm = dm_new(LENGTH);

	(void)state;
	assert_int_equal(mlx5_dm_export_dmabuf(dm), 99);
	assert_true(it.dmabuf_offset == file_offset());
	it.dmabuf_error = REFUSED;
	assert_int_equal(mlx5_dm_export_dmabuf(dm), -1);
	assert_int_equal(errno, REFUSED);
	assert_int_equal(mlx5_dm_free(dm), 0);
}

static void an_operation_has_a_page_of_its_own(void **state)
{
	struct ibv_dm *dm = dm_new(LENGTH);
	uint8_t there[4];
	void *addr = NULL;

	(void)state;
	assert_int_equal(mlx5_dm_map_operation(dm, 0, &addr), 0);
	assert_int_equal(it.method, MLX5_IB_METHOD_DM_MAP_OP_ADDR);
	assert_int_equal((uintptr_t)addr & (it.page - 1), START);
	memcpy(addr, "oper", 4);
	file_read(file_offset() + START, there, sizeof(there));
	assert_memory_equal(there, "oper", 4);
	munmap((void *)((uintptr_t)addr & ~(it.page - 1)), it.page);
	it.run_error = REFUSED;
	assert_int_equal(mlx5_dm_map_operation(dm, 0, &addr), REFUSED);
	it.run_error = 0;
	assert_int_equal(mlx5_dm_free(dm), 0);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, dm_begin, dm_end)
	const struct CMUnitTest tests[] = {
		CASE(memory_is_mapped_where_the_kernel_has_it),
		CASE(copies_stay_inside_and_are_of_words),
		CASE(regions_lie_inside_and_have_access_that_exists),
		CASE(memory_that_cannot_be_allocated_says_why),
		CASE(memory_for_steering_is_not_mapped),
		CASE(what_the_kernel_keeps_stays),
		CASE(imported_memory_is_the_same),
		CASE(a_dma_buf_is_of_the_mapped_pages),
		CASE(an_operation_has_a_page_of_its_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

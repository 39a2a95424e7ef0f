/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * new_release.c - calls on memory that are newer than the distribution's headers, on our libraries:
 * regions by ibv_reg_mr_ex(), buffers of the library, DMA handles, completion counters.
 *
 * Exit code 0, or 1 if a check failed.
 *
 * Covers: libibverbs/verbs_mr.c, libibverbs/verbs_buf.c, libibverbs/verbs_dmah.c,
 * libibverbs/verbs_comp_cntr.c, softhca/front/process/uverbs/dmah.c, providers/mlx5/dv/export.c
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <infiniband/mlx5dv.h>

#include "tests/lib/say.h"
#include "tests/lib/topics.h"
#include "util/bits.h"

#define PAGE 4096

static void expect_refused(const void *object, int err, const char *what)
{
	say_check(!object && errno == err, "%s", what);
}

static void buffers_are_registered(struct ibv_pd *pd, struct ibv_pd *other)
{
	struct ibv_buf *buf;
	char *addr = ibv_alloc_buf(pd, 3 * PAGE, &buf);
	struct ibv_mr *mr =
		addr ? ibv_reg_buf_mr(pd, buf, addr + 10, 100, IBV_ACCESS_LOCAL_WRITE) : NULL;

	say_check(mr && mr->addr == addr + 10 && mr->length == 100, "a part of a buffer");
	errno = 0;
	expect_refused(ibv_reg_buf_mr(pd, buf, addr + 3 * PAGE, 1, 0), EINVAL, "beyond its end");
	errno = 0;
	expect_refused(ibv_reg_buf_mr(other, buf, addr, 1, 0), EINVAL, "in another PD");
	say_check(mr && !ibv_dereg_mr(mr), "deregistered");
	ibv_free_buf(buf);
}

static void hints_are_checked(struct ibv_context *ctx)
{
	static const struct {
		struct ibv_dmah_init_attr attr;
		int err;
		const char *what;
	} cases[] = {
		{ { IBV_DMAH_INIT_ATTR_MASK_PH, 0, 4, 0 }, EINVAL, "hint of more than 2 bits" },
		{ { 0, 0, 0, 0 }, EINVAL, "no hint" },
		{ { IBV_DMAH_INIT_ATTR_MASK_PH | IBV_DMAH_INIT_ATTR_MASK_CPU_ID, 0, 1, 0 },
		  EINVAL,
		  "half a steering tag" },
		{ { IBV_DMAH_INIT_ATTR_MASK_PH | IBV_DMAH_INIT_ATTR_MASK_CPU_ID |
			    IBV_DMAH_INIT_ATTR_MASK_TPH_MEM_TYPE,
		    0, 1, 0 },
		  EOPNOTSUPP,
		  "steering tags, which the platform has not" },
		{ { 1 << 3, 0, 0, 0 }, EINVAL, "unknown bit" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct ibv_dmah_init_attr attr = cases[i].attr;

		errno = 0;
		expect_refused(ibv_alloc_dmah(ctx, &attr), cases[i].err, cases[i].what);
	}
}

static void regions_take_hints(struct ibv_pd *pd, char *memory)
{
	struct ibv_dmah_init_attr hint = { .comp_mask = IBV_DMAH_INIT_ATTR_MASK_PH, .ph = 1 };
	struct ibv_dmah *dmah = ibv_alloc_dmah(pd->context, &hint);
	struct ibv_mr_init_attr attr = {
		.length = PAGE,
		.access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ,
		.comp_mask = IBV_REG_MR_MASK_ADDR | IBV_REG_MR_MASK_DMAH,
		.addr = memory,
		.dmah = dmah,
	};
	struct ibv_mr *mr = dmah ? ibv_reg_mr_ex(pd, &attr) : NULL;

	say_check(mr && mr->addr == memory && mr->lkey == mr->rkey, "a region with a hint");
	say_check(dmah && ibv_dealloc_dmah(dmah) == EBUSY, "its handle is in use");
	say_check(mr && !ibv_dereg_mr(mr), "deregistered");
	attr.access = IBV_ACCESS_REMOTE_WRITE;
	errno = 0;
	expect_refused(ibv_reg_mr_ex(pd, &attr), EINVAL, "rights that cannot be");
	say_check(dmah && !ibv_dealloc_dmah(dmah), "the handle is free again");
}

static void regions_of_files(struct ibv_pd *pd)
{
	int fd = memfd_create("buffer", MFD_CLOEXEC);
	struct ibv_mr_init_attr attr = {
		.length = PAGE,
		.access = IBV_ACCESS_LOCAL_WRITE,
		.comp_mask = IBV_REG_MR_MASK_FD | IBV_REG_MR_MASK_FD_OFFSET | IBV_REG_MR_MASK_IOVA,
		.fd = fd,
		.fd_offset = PAGE,
	};
	struct ibv_mr *mr;

	say_check(fd >= 0 && !ftruncate(fd, 2 * PAGE), "a file of two pages");
	mr = ibv_reg_mr_ex(pd, &attr);
	say_check(mr && !ibv_dereg_mr(mr), "its second page");
	attr.length++;
	errno = 0;
	expect_refused(ibv_reg_mr_ex(pd, &attr), EINVAL, "more than there is");
	close(fd);
}

static void open_with(struct ibv_device *device, int fd, uint32_t count, int err, const char *what)
{
	int numbers[] = { fd, fd };
	struct ibv_fd_arr fds = { numbers, count };
	struct mlx5dv_context_attr attr = { .comp_mask = MLX5DV_CONTEXT_ATTR_MASK_FD_ARRAY,
					    .fds = &fds };

	errno = 0;
	expect_refused(mlx5dv_open_device(device, &attr), err, what);
}

/* A descriptor of a driver's device grants a right. softhca has no such device, so the call
 * fails. */
static void descriptors_give_rights(struct ibv_device *device)
{
	struct mlx5dv_context_attr attr = { .comp_mask = MLX5DV_CONTEXT_ATTR_MASK_FD_ARRAY };
	int fd = open("/dev/null", O_RDONLY);

	open_with(device, fd, 1, EINVAL, "a descriptor that is no right");
	open_with(device, fd, 2, EINVAL, "two");
	open_with(device, fd, 0, EINVAL, "none");
	open_with(device, 9999, 1, EBADF, "a number that is no descriptor");
	open_with(device, fd, UINT32_MAX, EINVAL, "more than an attribute holds");
	errno = 0;
	expect_refused(mlx5dv_open_device(device, &attr), EINVAL, "no array");
	attr.comp_mask <<= 1;
	errno = 0;
	expect_refused(mlx5dv_open_device(device, &attr), EINVAL, "an unknown bit");
	close(fd);
}

/* It is the path of a second PCI device, which softhca has not, so the call fails. */
static void no_data_direct(struct ibv_pd *pd)
{
	int fd = memfd_create("dma-buf", MFD_CLOEXEC);
	struct ibv_mr *mr;
	char path[64];

	say_check(mlx5dv_get_data_direct_sysfs_path(pd->context, path, sizeof(path)) == ENODEV,
		  "no second device");
	say_check(fd >= 0 && !ftruncate(fd, 2 * PAGE), "a dma-buf of two pages");
	mr = mlx5dv_reg_dmabuf_mr(pd, PAGE, PAGE, PAGE, fd, IBV_ACCESS_LOCAL_WRITE, 0);
	say_check(mr && mr->length == PAGE && !ibv_dereg_mr(mr), "its second page");
	errno = 0;
	expect_refused(
		mlx5dv_reg_dmabuf_mr(pd, 0, PAGE, 0, fd, 0, MLX5DV_REG_DMABUF_ACCESS_DATA_DIRECT),
		EINVAL, "by a second device");
	errno = 0;
	expect_refused(mlx5dv_reg_dmabuf_mr(pd, 0, PAGE, 0, fd, 0, 1 << 5), EINVAL,
		       "an unknown right");
	close(fd);
}

/* What is written to it by a device is a doorbell, so that queues can be driven by one. */
static void doorbells_for_others(struct ibv_pd *pd)
{
	struct mlx5dv_devx_uar *uar =
		mlx5dv_devx_alloc_uar(pd->context, MLX5DV_UAR_ALLOC_TYPE_NC_DEDICATED);
	int fd = uar ? mlx5dv_devx_uar_export_dmabuf_fd(uar) : -1;
	struct ibv_mr *mr;

	say_check(fd >= 0, "a page of doorbells is a dma-buf");
	mr = ibv_reg_dmabuf_mr(pd, 0, PAGE, 0, fd, IBV_ACCESS_LOCAL_WRITE);
	say_check(mr && !ibv_dereg_mr(mr), "and a region");
	close(fd);
	if (uar)
		mlx5dv_devx_free_uar(uar);
}

static void no_event_queues(void)
{
	say_check(mlx5dv_devx_destroy_eq(NULL) == EINVAL, "no event queue to destroy");
	say_check(mlx5dv_devx_free_msi_vector(NULL) == EINVAL, "no interrupt to give back");
}

/* No ConnectX has any, so the calls fail. */
static void counters_of_completions(struct ibv_context *ctx)
{
	struct ibv_comp_cntr_caps caps;
	struct ibv_comp_cntr_init_attr attr = { 0 };

	say_check(ibv_query_comp_cntr_caps(ctx, &caps) == EOPNOTSUPP, "no completion counters");
	errno = 0;
	expect_refused(ibv_create_comp_cntr(ctx, &attr), EOPNOTSUPP, "not one");
}

/* Returns the bytes that the call writes; their number must be the one it returns. */
static void *exported(uint32_t size, int (*export)(void *object, void *attrs), void *object)
{
	void *attrs = malloc(size);

	if (!attrs || export(object, attrs))
		exit(1);
	return attrs;
}

static int export_var(void *object, void *attrs)
{
	return mlx5dv_var_export(object, attrs);
}
static int export_umem(void *object, void *attrs)
{
	return mlx5dv_devx_umem_export(object, attrs);
}
static int export_obj(void *object, void *attrs)
{
	return mlx5dv_devx_obj_export(object, attrs);
}

static void page_is_handed_on(struct ibv_context *ctx, struct ibv_context *other, uint32_t size)
{
	struct mlx5dv_var *var = mlx5dv_alloc_var(ctx, 0), *its;
	void *attrs = var ? exported(size, export_var, var) : NULL, *mapped;

	its = attrs ? mlx5dv_var_import(other, attrs) : NULL;
	say_check(its && its->page_id == var->page_id && its->length == var->length,
		  "a VAR is handed on");
	if (!its)
		return;
	mapped = mmap(NULL, its->length, PROT_WRITE, MAP_SHARED, other->cmd_fd, its->mmap_off);
	say_check(mapped != MAP_FAILED && !munmap(mapped, its->length), "and mapped there");
	mlx5dv_var_unimport(its);
	mlx5dv_free_var(var);
	free(attrs);
}

static void memory_is_handed_on(struct ibv_context *ctx, struct ibv_context *other, void *memory,
				uint32_t size)
{
	struct mlx5dv_devx_umem *umem = mlx5dv_devx_umem_reg(ctx, memory, PAGE, 0), *its;
	void *attrs = umem ? exported(size, export_umem, umem) : NULL;

	its = attrs ? mlx5dv_devx_umem_import(other, attrs) : NULL;
	say_check(its && its->umem_id == umem->umem_id, "a umem is handed on");
	if (!its)
		return;
	mlx5dv_devx_umem_unimport(its);
	its = mlx5dv_devx_umem_import(other, attrs);
	say_check(its && !mlx5dv_devx_umem_dereg(its), "and deregistered there");
	say_check(mlx5dv_devx_umem_dereg(umem) != 0, "it is gone here, too");
	mlx5dv_devx_umem_unimport(umem); /* frees the library's object */
	free(attrs);
}

/* Release 65.0 exports 32 bytes: the handle, the kind of object (2: a flow counter), the device's
 * number NUMBER_BE of it, and zeros. */
static bool names_a_counter(const void *attrs, const uint8_t *number_be)
{
	static const uint32_t zeros[5];
	uint32_t words[8], number;

	memcpy(words, attrs, sizeof(words));
	memcpy(&number, number_be, sizeof(number));
	return words[1] == 2 && words[2] == be32toh(number) &&
	       !memcmp(words + 3, zeros, sizeof(zeros));
}

/* An imported flow counter can be queried. Offsets are those of mlx5_ifc.h: alloc_flow_counter_out,
 * query_flow_counter_in. */
static void object_is_handed_on(struct ibv_context *ctx, struct ibv_context *other, uint32_t size)
{
	uint8_t in[32] = { 0x09, 0x39 }, out[32] = { 0 };
	struct mlx5dv_devx_obj *obj = mlx5dv_devx_obj_create(ctx, in, 16, out, 16), *its;
	void *attrs = obj ? exported(size, export_obj, obj) : NULL;

	say_check(attrs && names_a_counter(attrs, out + 8), "handle, type, number, and nothing");
	its = attrs ? mlx5dv_devx_obj_import(other, attrs) : NULL;
	in[1] = 0x3b;
	memcpy(in + 28, out + 8, 4);
	say_check(its && !mlx5dv_devx_obj_query(its, in, sizeof(in), out, sizeof(out)),
		  "an object is handed on, and asked there");
	if (!its)
		return;
	mlx5dv_devx_obj_unimport(its);
	say_check(!mlx5dv_devx_obj_destroy(obj), "and destroyed here");
	free(attrs);
}

static void objects_are_handed_on(struct ibv_context *ctx, void *memory)
{
	struct ibv_context *other = ibv_import_device(dup(ctx->cmd_fd));
	struct mlx5dv_export_sizes sizes;

	mlx5dv_get_export_sizes(&sizes);
	say_check(other != NULL, "another context of the same descriptor");
	if (!other)
		return;
	page_is_handed_on(ctx, other, sizes.var_attrs_size);
	memory_is_handed_on(ctx, other, memory, sizes.devx_umem_attrs_size);
	object_is_handed_on(ctx, other, sizes.devx_obj_attrs_size);
	say_check(!ibv_close_device(other), "the other context is closed");
}

static void all_that_is_new(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *ctx = list && list[0] ? ibv_open_device(list[0]) : NULL;
	char *memory = aligned_alloc(PAGE, PAGE);
	struct ibv_pd *pd, *other;

	MUST(ctx && memory);
	pd = ibv_alloc_pd(ctx);
	other = ibv_alloc_pd(ctx);
	MUST(pd && other);
	buffers_are_registered(pd, other);
	hints_are_checked(ctx);
	regions_take_hints(pd, memory);
	regions_of_files(pd);
	counters_of_completions(ctx);
	no_data_direct(pd);
	doorbells_for_others(pd);
	no_event_queues();
	objects_are_handed_on(ctx, memory);
	descriptors_give_rights(list[0]);
	say_check(!ibv_dealloc_pd(pd) && !ibv_dealloc_pd(other), "nothing is left behind");
	say_check(!ibv_close_device(ctx), "closed");
	ibv_free_device_list(list);
	free(memory);
}

int main(int argc, char **argv)
{
	static const struct topic topics[] = { { "new", all_that_is_new } };

	return topics_main(topics, 1, argc, argv);
}

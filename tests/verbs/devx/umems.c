/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * umems.c - memory for queues and keys: valid and invalid registrations, page sizes, and dma-bufs.
 *
 * Covers: providers/mlx5/dv/devx_umem.c, softhca/front/process/uverbs/devx/umem.c,
 * softhca/front/process/uverbs/dmabuf.c
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "dx.h"
#include "prm/mlx5/mkc.h"
#include "tests/lib/say.h"

enum { SIZE = 16 * DX_PAGE, WRITE = IBV_ACCESS_LOCAL_WRITE };

static void reg(struct ibv_context *ctx, void *addr, size_t size, uint32_t access, const char *what)
{
	struct mlx5dv_devx_umem *umem =
		SAY_PTR(mlx5dv_devx_umem_reg(ctx, addr, size, access), "%s", what);

	if (umem)
		MUST(!mlx5dv_devx_umem_dereg(umem));
}

static void reg_ex(struct ibv_context *ctx, struct mlx5dv_devx_umem_in in, const char *what)
{
	struct mlx5dv_devx_umem *umem = SAY_PTR(mlx5dv_devx_umem_reg_ex(ctx, &in), "%s", what);

	if (umem)
		MUST(!mlx5dv_devx_umem_dereg(umem));
}

static void refuse_memory(struct ibv_context *ctx, uint8_t *memory)
{
	void *gone = mmap(NULL, DX_PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	reg(ctx, memory, SIZE, WRITE, "memory");
	reg(ctx, memory + 8, 8, WRITE, "eight bytes");
	reg(ctx, memory, SIZE, 0, "memory to read");
	reg(ctx, memory, SIZE, IBV_ACCESS_REMOTE_WRITE, "remote but no local writes");
	reg(ctx, memory, SIZE, WRITE | IBV_ACCESS_REMOTE_ATOMIC, "atomics");
	reg(ctx, memory, SIZE, WRITE | IBV_ACCESS_ON_DEMAND, "on demand");
	reg(ctx, memory, SIZE, 1 << 30, "an unknown access");
	reg(ctx, memory, 0, WRITE, "nothing");
	reg(ctx, (void *)(uintptr_t)-16, 64, WRITE, "beyond the last address");
	reg(ctx, gone, DX_PAGE, WRITE, "read-only memory to write");
	munmap(gone, DX_PAGE);
	reg(ctx, gone, DX_PAGE, WRITE, "memory that is not there");
}

static void refuse_pages(struct ibv_context *ctx, uint8_t *memory)
{
	struct mlx5dv_devx_umem_in in = { .addr = memory, .size = SIZE, .access = WRITE };

	in.pgsz_bitmap = 0;
	reg_ex(ctx, in, "no page size");
	in.pgsz_bitmap = 1ull << 12;
	reg_ex(ctx, in, "4 KiB");
	in.pgsz_bitmap = 1ull << 11;
	reg_ex(ctx, in, "2 KiB");
	in.pgsz_bitmap = 1ull << 30;
	reg_ex(ctx, in, "1 GiB");
	in.pgsz_bitmap = UINT64_MAX;
	reg_ex(ctx, in, "any");
	in.comp_mask = 1ull << 5;
	reg_ex(ctx, in, "an unknown field");
}

static void refuse_files(struct ibv_context *ctx)
{
	struct mlx5dv_devx_umem_in in = { .size = SIZE,
					  .access = WRITE,
					  .pgsz_bitmap = 1ull << 12,
					  .comp_mask = MLX5DV_UMEM_MASK_DMABUF };
	int fd = memfd_create("pages", MFD_CLOEXEC);

	MUST(fd >= 0 && !ftruncate(fd, SIZE));
	in.dmabuf_fd = fd;
	reg_ex(ctx, in, "a file");
	in.addr = (void *)DX_PAGE;
	reg_ex(ctx, in, "a file that is too short");
	in.dmabuf_fd = -1;
	reg_ex(ctx, in, "no descriptor");
	in.dmabuf_fd = 0;
	reg_ex(ctx, in, "another file");
	close(fd);
}

/* The requested page size determines where a key may begin. Pages larger than the host's exist only
 * where its memory happens to be contiguous. */
static void place_key(const struct dx_device *device, uint8_t *memory, unsigned int shift)
{
	struct mlx5dv_devx_umem_in in = {
		.addr = memory, .size = SIZE, .access = WRITE, .pgsz_bitmap = 1ull << shift
	};
	struct dx_memory half = { memory + SIZE / 2, SIZE / 2, NULL, 0 };
	struct mlx5dv_devx_obj *obj;
	struct dx_command cmd;

	half.umem = mlx5dv_devx_umem_reg_ex(device->ctx, &in);
	if (!half.umem) {
		say("no pages of 2^%u bytes", shift);
		return;
	}
	dx_key_command(device, &half, &cmd);
	fld_set(cmd.in, CREATE_MKEY_IN_MKEY_UMEM_OFFSET, SIZE / 2);
	obj = dx_create(device->ctx, &cmd);
	dx_say(obj ? 0 : errno, &cmd, "a key of the memory's second half");
	if (obj)
		MUST(!mlx5dv_devx_obj_destroy(obj));
	MUST(!mlx5dv_devx_umem_dereg(half.umem));
}

void dx_umems(void)
{
	uint8_t *memory = aligned_alloc(SIZE, SIZE);
	struct dx_device device;

	MUST(memory);
	memset(memory, 0, SIZE);
	dx_device_open(&device);
	refuse_memory(device.ctx, memory);
	refuse_pages(device.ctx, memory);
	refuse_files(device.ctx);
	place_key(&device, memory, 12);
	place_key(&device, memory, 16);
	dx_device_close(&device);
	free(memory);
}

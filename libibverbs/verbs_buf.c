/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * verbs_buf.c - memory that the library allocates for use in a PD (ibv_alloc_buf).
 *
 * A buffer is ordinary memory of the process, which every supported device can access. A guest with
 * encrypted memory would need shared pages instead, which no provider offers; so no buffer has a
 * dma-buf.
 */
#include "libibverbs/private.h"

#include <stdlib.h>
#include <sys/mman.h>

VERBS_EXPORT void *ibv_alloc_buf(struct ibv_pd *pd, size_t size, struct ibv_buf **buf)
{
	struct ibv_buf *made;
	void *addr;

	if (!size) {
		verbs_warn("ibv_alloc_buf: size 0");
		return fail_null(EINVAL);
	}
	made = malloc(sizeof(*made));
	if (!made)
		return fail_null(ENOMEM);
	addr = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (addr == MAP_FAILED) {
		verbs_warn("ibv_alloc_buf: size %zu: no memory", size);
		free(made);
		return fail_null(ENOMEM);
	}
	*made = (struct ibv_buf){ addr, size, pd, -1 };
	*buf = made;
	return addr;
}

VERBS_EXPORT void ibv_free_buf(struct ibv_buf *buf)
{
	munmap(buf->addr, buf->size);
	free(buf);
}

int verbs_buf_check_range(struct ibv_pd *pd, const struct ibv_buf *buf, const void *addr,
			  size_t length)
{
	const size_t offset = (uintptr_t)addr - (uintptr_t)buf->addr;

	if (buf->pd != pd) {
		verbs_warn("ibv_reg_buf_mr: the buffer was allocated for another PD");
		return EINVAL;
	}
	if (offset > buf->size || length > buf->size - offset) {
		verbs_warn("ibv_reg_buf_mr: addr %p length %zu: the buffer is %zu bytes at %p",
			   addr, length, buf->size, (void *)buf->addr);
		return EINVAL;
	}
	return 0;
}

VERBS_EXPORT struct ibv_mr *ibv_reg_buf_mr(struct ibv_pd *pd, struct ibv_buf *buf, void *addr,
					   size_t length, int access)
{
	struct ibv_mr_init_attr attr = {
		.length = length,
		.access = access,
		.comp_mask = IBV_REG_MR_MASK_BUF | IBV_REG_MR_MASK_ADDR,
		.addr = addr,
		.buf = buf,
	};

	return ibv_reg_mr_ex(pd, &attr);
}

VERBS_EXPORT int ibv_export_buf_dmabuf_fd(struct ibv_buf *buf)
{
	verbs_warn("ibv_export_buf_dmabuf_fd: the %zu bytes at %p are ordinary memory, no dma-buf",
		   buf->size, (void *)buf->addr);
	return fail_fd(ENODATA);
}

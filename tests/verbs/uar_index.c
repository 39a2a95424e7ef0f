/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * uar_index.c - CQs that name their doorbell page by its attribute, and softhca's errors for
 * invalid page numbers. The program makes the ioctls itself.
 *
 * Covers: softhca/front/process/uverbs/cq.c, softhca/front/process/uverbs/uar.c
 */
#include <errno.h>
#include <stdlib.h>

#include <infiniband/verbs.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/mlx5-abi.h>
#include <rdma/mlx5_user_ioctl_cmds.h>
#include <rdma/mlx5_user_ioctl_verbs.h>

#include "tests/lib/say.h"
#include "tests/lib/rig.h"
#include "tests/lib/kernel/uverbs_request.h"
#include "util/bits.h"

enum { RING = 4096, MLX5_DRIVER = 1, FLAG = MLX5_IB_CREATE_CQ_FLAGS_UAR_PAGE_INDEX };

static struct ibv_context *ctx;
static uint8_t memory[2 * RING] __attribute__((aligned(RING))); /* a ring, and a doorbell record */

/* Returns the errno of the command; its attributes are as they come back. */
static int command_run(uint16_t object, uint16_t method, struct ib_uverbs_attr *attrs, uint16_t n)
{
	const struct uverbs_request_header command = { .object_id = object,
						       .method_id = method,
						       .driver_id = MLX5_DRIVER };

	return uverbs_request_run(ctx->cmd_fd, &command, attrs, n);
}

static uint32_t alloc_uar(void)
{
	const uint64_t type = MLX5_IB_UAPI_UAR_ALLOC_TYPE_NC;
	uint32_t length, page_id;
	uint64_t offset;
	struct ib_uverbs_attr attrs[] = {
		uverbs_attr_in(MLX5_IB_ATTR_UAR_OBJ_ALLOC_HANDLE, 0, NULL),
		uverbs_attr_in(MLX5_IB_ATTR_UAR_OBJ_ALLOC_TYPE, sizeof(type), &type),
		uverbs_attr_out(MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_OFFSET, sizeof(offset), &offset),
		uverbs_attr_out(MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_LENGTH, sizeof(length), &length),
		uverbs_attr_out(MLX5_IB_ATTR_UAR_OBJ_ALLOC_PAGE_ID, sizeof(page_id), &page_id),
	};

	MUST(!command_run(MLX5_IB_OBJECT_UAR, MLX5_IB_METHOD_UAR_OBJ_ALLOC, attrs,
			  ARRAY_SIZE(attrs)));
	return page_id;
}

static void destroy_cq(uint32_t handle)
{
	struct ib_uverbs_destroy_cq_resp resp;
	struct ib_uverbs_attr attrs[] = {
		uverbs_attr_in(UVERBS_ATTR_DESTROY_CQ_HANDLE, 0, NULL),
		uverbs_attr_out(UVERBS_ATTR_DESTROY_CQ_RESP, sizeof(resp), &resp),
	};

	attrs[0].data = handle;
	MUST(!command_run(UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_DESTROY, attrs, ARRAY_SIZE(attrs)));
}

/* Creates and destroys a CQ. Returns the errno of creating. LEN is the attribute's size in bytes;
 * 0: no attribute. */
static int try_cq(uint16_t flags, uint32_t in_driver, uint16_t len, uint32_t in_attribute)
{
	const struct mlx5_ib_create_cq driver = { .buf_addr = (uintptr_t)memory,
						  .db_addr = (uintptr_t)memory + RING,
						  .cqe_size = 64,
						  .flags = flags,
						  .uar_page_index = (uint16_t)in_driver };
	const uint64_t user = 0, index = in_attribute;
	const uint32_t cqe = 15, vector = 0;
	struct mlx5_ib_create_cq_resp resp;
	uint32_t got;
	struct ib_uverbs_attr attrs[] = {
		uverbs_attr_in(UVERBS_ATTR_CREATE_CQ_HANDLE, 0, NULL),
		uverbs_attr_in(UVERBS_ATTR_CREATE_CQ_CQE, sizeof(cqe), &cqe),
		uverbs_attr_in(UVERBS_ATTR_CREATE_CQ_USER_HANDLE, sizeof(user), &user),
		uverbs_attr_in(UVERBS_ATTR_CREATE_CQ_COMP_VECTOR, sizeof(vector), &vector),
		uverbs_attr_out(UVERBS_ATTR_CREATE_CQ_RESP_CQE, sizeof(got), &got),
		uverbs_attr_in(UVERBS_ATTR_UHW_IN, sizeof(driver), &driver),
		uverbs_attr_out(UVERBS_ATTR_UHW_OUT, sizeof(resp), &resp),
		uverbs_attr_in(MLX5_IB_ATTR_CREATE_CQ_UAR_INDEX, len, &index),
	};
	int ret = command_run(UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_CREATE, attrs,
			      (uint16_t)(ARRAY_SIZE(attrs) - !len));

	if (!ret)
		destroy_cq((uint32_t)attrs[0].data);
	return ret;
}

static void pages_are_named(struct rig *rig)
{
	uint32_t page;

	ctx = rig->ctx;
	page = alloc_uar();
	say("the page has number %u", page);
	say_check(!try_cq(0, 0, 4, page), "the attribute names it");
	say_check(!try_cq(FLAG, 0xffff, 4, page), "the attribute wins");
	say_check(try_cq(0, page, 0, 0) == EINVAL, "without the flag, 16 bits name nothing");
	say_check(try_cq(FLAG, 0xffff, 0, 0) == EINVAL, "16 bits of no page");
	say_check(try_cq(FLAG, page, 0, 0) == (page > UINT16_MAX ? EINVAL : 0),
		  "16 bits name a page of a smaller number alone");
	say_check(try_cq(0, 0, 4, page + 1000) == EINVAL, "1000 more");
	say_check(try_cq(0, 0, 4, page | 1u << 24) == EINVAL, "a number of 25 bits");
	say_check(try_cq(0, 0, 4, UINT32_MAX) == EINVAL, "the largest number");
	say_check(try_cq(0, 0, 2, page) == EINVAL, "an attribute of 2 bytes");
	say_check(try_cq(0, 0, 8, page) == EINVAL, "an attribute of 8 bytes");
}

int main(int argc, char **argv)
{
	static const struct rig_topic topics[] = { { "pages", pages_are_named } };

	return rig_main(topics, ARRAY_SIZE(topics), argc, argv);
}

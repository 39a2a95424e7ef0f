/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * uar_page.h - pages of doorbell registers (UARs): from the kernel, mapped into the process.
 *
 * Since Linux 5.8 a page is an object. Before, the kernel had one page ready for each context, and
 * made others when a program mapped them by the next number. Both are the same to those who ring.
 */
#ifndef PROVIDERS_MLX5_UAR_PAGE_H
#define PROVIDERS_MLX5_UAR_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "prm/mlx5/uar.h"
#include "providers/common/lock.h"

struct mlx5_context;
struct mlx5_uar;

/* A register has two halves, which pushes want by turns, whoever pushes. */
enum bfreg_use {
	/* One queue has it, and knows the half that is next. Or nobody pushes through it: any
	 * number of queues may ring such a one at the same time. */
	BFREG_OWN,
	/* Queues of one thread have it: the register knows the half, and nobody takes a lock. */
	BFREG_DOMAIN,
	/* Any queues push through it: the register knows the half, and has a lock. Whoever does not
	 * get that at once, or has nothing to push, rings the neighbour, which is for rings only,
	 * so nobody waits. */
	BFREG_SHARED,
};

struct mlx5_bfreg {
	uint8_t *half; /* that is next. Guarded as bfreg_use says; while a queue knows it, as the
			  queue before that has left it */
	struct qlock lock;

	struct mlx5_bfreg *next;
	struct mlx5_uar *uar;
	uint8_t *reg; /* that is rung: itself or, of a shared one, its neighbour */
	enum bfreg_use use;
	bool pushes;    /* BlueFlame */
	uint32_t index; /* what create_qp is told */
	unsigned int users;
} __attribute__((aligned(64))); /* threads that use different ones are not in each other's way */

struct mlx5_uar {
	struct mlx5_uar *next;
	bool is_object;
	uint32_t handle;      /* of an object */
	uint32_t page_id;     /* of an object: what the adapter calls it */
	uint32_t qp_flag;     /* MLX5_QP_FLAG_*: in create_qp, what bfreg_index means; 0: nothing */
	uint32_t bfreg_index; /* in create_qp: of the first register */
	uint32_t count;   /* UARs whose registers are for us; without objects it may be several */
	uint32_t cq_flag; /* MLX5_IB_CREATE_CQ_FLAGS_*: in create_cq, whether page_id counts */
	uint32_t length;
	uint64_t mmap_offset;
	uint8_t *page;
	struct mlx5_bfreg *bfregs; /* those that are dealt out, which uar.c made; they go with it */
	struct mlx5_bfreg of_one_uar[PRM_UAR_SQS]; /* where they are, if they are no more */
};

/* TYPE is a MLX5_IB_UAPI_UAR_ALLOC_TYPE_*. Without objects there is one plain page, and EOPNOTSUPP
 * for the second. The caller holds ctx->uar_lock. */
int mlx5_uar_page_alloc(struct mlx5_context *ctx, uint32_t type, struct mlx5_uar **uar);
/* Asks what the adapter calls the UAR of register NUMBER of those that were made by number; that
 * needs DevX. */
int mlx5_uar_page_ask_id(struct mlx5_context *ctx, uint32_t number, uint32_t *page_id);
void mlx5_uar_page_free(struct mlx5_context *ctx, struct mlx5_uar *uar);

#endif

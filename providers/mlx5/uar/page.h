/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * page.h - pages of doorbell registers (UARs), allocated by the kernel and mapped into the
 * process.
 *
 * Since Linux 5.8 a page is a kernel object. Older kernels allocate one page with each context, and
 * another whenever a program maps the next page number. Struct mlx5_uar hides the difference.
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

/* How queues share a register. All queues that push through the register must use its two halves in
 * turn. */
enum bfreg_use {
	/* One queue uses the register, and stores which half is next. Or nothing is pushed through
	 * the register: then any number of queues may ring it at the same time. */
	BFREG_OWN,
	/* The queues of one thread domain use the register, which stores the next half. It needs no
	 * lock, as the program promises that one thread posts at a time. */
	BFREG_DOMAIN,
	/* Any queue may use the register, which stores the next half, under a lock. If the lock is
	 * taken or a queue has nothing to push, the queue rings the neighbouring register, so no
	 * thread waits. The library never pushes through the neighbour. A program that got the
	 * neighbour from mlx5dv_init_obj() may push through it, and the library's rings do not wait
	 * for that. */
	BFREG_SHARED,
};

struct mlx5_bfreg {
	/* half to use next; guarded as enum bfreg_use says. With BFREG_OWN, only the half that the
	 * last queue would have used next */
	uint8_t *half;
	struct qlock lock;

	struct mlx5_bfreg *next;
	struct mlx5_uar *uar;
	uint8_t *reg; /* register to ring: this one, or the neighbour of a shared one */
	enum bfreg_use use;
	bool pushes;    /* BlueFlame is allowed */
	uint32_t index; /* number for create_qp */
	unsigned int users;
} __attribute__((aligned(64))); /* avoids false sharing between threads */

struct mlx5_uar {
	struct mlx5_uar *next;
	bool is_object;
	uint32_t handle;      /* kernel handle, if an object */
	uint32_t page_id;     /* adapter's number of the page, if an object */
	uint32_t qp_flag;     /* MLX5_QP_FLAG_*: how create_qp reads bfreg_index; 0: not at all */
	uint32_t bfreg_index; /* number of the first register, for create_qp */
	uint32_t count;       /* UARs of the page; more than 1 only without objects */
	uint32_t cq_flag;     /* MLX5_IB_CREATE_CQ_FLAGS_*: whether create_cq reads page_id */
	uint32_t length;
	uint64_t mmap_offset;
	uint8_t *page;
	struct mlx5_bfreg *bfregs; /* registers in use by uar.c, freed with the page */
	struct mlx5_bfreg of_one_uar[PRM_UAR_SQS]; /* storage of bfregs when two are enough */
};

/* Allocates a page; TYPE is a MLX5_IB_UAPI_UAR_ALLOC_TYPE_*. Without UAR objects, a second plain
 * page fails with EOPNOTSUPP. The caller holds ctx->uar_lock. */
int mlx5_uar_page_alloc(struct mlx5_context *ctx, uint32_t type, struct mlx5_uar **uar);
/* Queries the adapter's page number of register NUMBER, for pages that are no UAR objects. Needs
 * DevX. */
int mlx5_uar_page_ask_id(struct mlx5_context *ctx, uint32_t number, uint32_t *page_id);
void mlx5_uar_page_free(struct mlx5_context *ctx, struct mlx5_uar *uar);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * raw_wqe.h - builds a WQE segment by segment, and posts it by mlx5dv_wr_raw_wqe().
 *
 * <infiniband/mlx5dv.h> of the distribution has the segments; the caller must know which ones an
 * opcode needs on a transport.
 */
#ifndef TESTS_LIB_RAW_WQE_H
#define TESTS_LIB_RAW_WQE_H

#include <infiniband/mlx5dv.h>
#include <stdint.h>

enum { RAW_WQE_UNITS = 63 }; /* of 16 bytes: limit of a WQE's size field */

struct raw_wqe {
	struct mlx5_wqe_data_seg unit[RAW_WQE_UNITS];
	unsigned int units;
};

/* Begins a WQE with a control segment that requests a completion and has immediate data. */
void raw_wqe_begin(struct raw_wqe *wqe, uint8_t opcode, uint32_t qpn);
void *raw_wqe_take(struct raw_wqe *wqe, unsigned int units);

void raw_wqe_data(struct raw_wqe *wqe, const void *from, uint32_t len, uint32_t lkey);
void raw_wqe_inline(struct raw_wqe *wqe, const void *from, uint32_t len);
void raw_wqe_remote(struct raw_wqe *wqe, const void *to, uint32_t rkey);
void raw_wqe_atomic(struct raw_wqe *wqe, uint64_t swap_add, uint64_t compare);
/* Adds an address with the number of a QP or of a DC target. The caller sets the key, as a Q_Key
 * and an access key of DC have different places. */
struct mlx5_wqe_av *raw_wqe_address(struct raw_wqe *wqe, struct ibv_ah *ah, uint32_t number);
/* Shortens the address to 16 bytes, without the part for other subnets. It must be the last segment
 * so far. */
void raw_wqe_make_compact(struct raw_wqe *wqe, struct mlx5_wqe_av *av);
void raw_wqe_srq(struct raw_wqe *wqe, uint32_t srqn);

/* Sets the WQE's size, and adds it to the batch of QPX. */
void raw_wqe_put(struct raw_wqe *wqe, struct ibv_qp_ex *qpx);
int raw_wqe_post(struct raw_wqe *wqe, struct ibv_qp_ex *qpx, uint64_t wr_id, int times);

struct ibv_qp *raw_wqe_qp(struct ibv_context *ctx, struct ibv_qp_init_attr_ex *attr,
			  struct mlx5dv_qp_init_attr *mlx5);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * variant.h - the names of the data path, which is compiled twice.
 *
 * Once for every x86-64 and, with MLX5_DATA_V3 defined, once for those that have what x86-64-v3 asks
 * for (2013 and later): loads and stores that swap bytes, shifts by any register, instructions with
 * three operands. datapath.c chooses between the two. Everything that the files in question export
 * is in this list; each header that declares some of it includes this one first.
 */
#ifndef PROVIDERS_MLX5_DATA_VARIANT_H
#define PROVIDERS_MLX5_DATA_VARIANT_H

#ifdef MLX5_DATA_V3
#define batch_begin_exception batch_begin_exception_v3
#define batch_fail_full       batch_fail_full_v3
#define batch_fill_datagram   batch_fill_datagram_v3
#define batch_fill_raw        batch_fill_raw_v3
#define batch_fill_umr        batch_fill_umr_v3
#define batch_fill_xrc        batch_fill_xrc_v3
#define batch_pass_gate       batch_pass_gate_v3
#define cq_ex_fill            cq_ex_fill_v3
#define cq_ex_read_tags       cq_ex_read_tags_v3
#define cq_poll_any           cq_poll_any_v3
#define datapath_here         datapath_v3
#define mlx5_poll_cq          mlx5_poll_cq_v3
#define mlx5_post_recv        mlx5_post_recv_v3
#define mlx5_post_send        mlx5_post_send_v3
#define mlx5_post_srq_recv    mlx5_post_srq_recv_v3
#define post_recv_routine     post_recv_routine_v3
#define post_send_routine     post_send_routine_v3
#define post_srq_routine      post_srq_routine_v3
#define send_wr_fill          send_wr_fill_v3
#define srq_ring_init         srq_ring_init_v3
#else
#define datapath_here datapath_plain
#endif

#endif

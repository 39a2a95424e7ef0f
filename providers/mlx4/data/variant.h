/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * variant.h - names of the data path's functions, which are compiled twice: for every x86-64, and,
 * with MLX4_DATA_V3 defined, for x86-64-v3. datapath.c chooses one. This list renames every
 * exported name of the files that are compiled twice (CMakeLists.txt lists them).
 */
#ifndef PROVIDERS_MLX4_DATA_VARIANT_H
#define PROVIDERS_MLX4_DATA_VARIANT_H

#ifdef MLX4_DATA_V3
#define mlx4_bind_mw           mlx4_bind_mw_v3
#define mlx4_bind_mw_routine   mlx4_bind_mw_routine_v3
#define mlx4_cq_ex_fill        mlx4_cq_ex_fill_v3
#define mlx4_cq_poll_any       mlx4_cq_poll_any_v3
#define mlx4_datapath_here     mlx4_datapath_v3
#define mlx4_poll_cq           mlx4_poll_cq_v3
#define mlx4_post_recv         mlx4_post_recv_v3
#define mlx4_post_recv_routine mlx4_post_recv_routine_v3
#define mlx4_post_send         mlx4_post_send_v3
#define mlx4_post_send_routine mlx4_post_send_routine_v3
#define mlx4_post_srq_recv     mlx4_post_srq_recv_v3
#define mlx4_post_srq_routine  mlx4_post_srq_routine_v3
#define mlx4_send_wr_fill      mlx4_send_wr_fill_v3
#else
#define mlx4_datapath_here mlx4_datapath_plain
#endif

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * variant.h - names of the data path's functions, which are compiled twice.
 *
 * One copy runs on every x86-64. The other, with MLX5_DATA_V3 defined, needs x86-64-v3 (2013 and
 * later): byte-swapping loads and stores, shifts by any register, three-operand instructions.
 * datapath.c chooses one. This list renames every exported name of the files that are compiled
 * twice (CMakeLists.txt lists them). Each header that declares one of them includes this file
 * first.
 */
#ifndef PROVIDERS_MLX5_DATA_VARIANT_H
#define PROVIDERS_MLX5_DATA_VARIANT_H

#ifdef MLX5_DATA_V3
#define mlx5_batch_begin_exception      mlx5_batch_begin_exception_v3
#define mlx5_batch_begin_rdma_exception mlx5_batch_begin_rdma_exception_v3
#define mlx5_batch_fail_full            mlx5_batch_fail_full_v3
#define mlx5_batch_fill_datagram        mlx5_batch_fill_datagram_v3
#define mlx5_batch_fill_dc              mlx5_batch_fill_dc_v3
#define mlx5_batch_fill_raw             mlx5_batch_fill_raw_v3
#define mlx5_batch_fill_umr             mlx5_batch_fill_umr_v3
#define mlx5_batch_fill_xrc             mlx5_batch_fill_xrc_v3
#define mlx5_batch_pass_gate            mlx5_batch_pass_gate_v3
#define mlx5_batch_set_sge              mlx5_batch_set_sge_v3
#define mlx5_bind_mw                    mlx5_bind_mw_v3
#define mlx5_bind_mw_any                mlx5_bind_mw_any_v3
#define mlx5_bind_mw_routine            mlx5_bind_mw_routine_v3
#define mlx5_cq_ex_fill                 mlx5_cq_ex_fill_v3
#define mlx5_cq_ex_read_tags            mlx5_cq_ex_read_tags_v3
#define mlx5_cq_poll_any                mlx5_cq_poll_any_v3
#define mlx5_datapath_here              mlx5_datapath_v3
#define mlx5_mkey_access_fits           mlx5_mkey_access_fits_v3
#define mlx5_mkey_blocks                mlx5_mkey_blocks_v3
#define mlx5_mkey_fail                  mlx5_mkey_fail_v3
#define mlx5_mkey_fill_at_once          mlx5_mkey_fill_at_once_v3
#define mlx5_mkey_fill_ends             mlx5_mkey_fill_ends_v3
#define mlx5_mkey_finish                mlx5_mkey_finish_v3
#define mlx5_mkey_finish_computing      mlx5_mkey_finish_computing_v3
#define mlx5_mkey_layout_fits           mlx5_mkey_layout_fits_v3
#define mlx5_mkey_look_anew             mlx5_mkey_look_anew_v3
#define mlx5_mkey_may_begin             mlx5_mkey_may_begin_v3
#define mlx5_mkey_pattern_fits          mlx5_mkey_pattern_fits_v3
#define mlx5_mkey_pieces_fit            mlx5_mkey_pieces_fit_v3
#define mlx5_mkey_take_crypt            mlx5_mkey_take_crypt_v3
#define mlx5_mkey_take_sig              mlx5_mkey_take_sig_v3
#define mlx5_poll_cq                    mlx5_poll_cq_v3
#define mlx5_post_recv                  mlx5_post_recv_v3
#define mlx5_post_recv_routine          mlx5_post_recv_routine_v3
#define mlx5_post_recv_signed           mlx5_post_recv_signed_v3
#define mlx5_post_send                  mlx5_post_send_v3
#define mlx5_post_send_routine          mlx5_post_send_routine_v3
#define mlx5_post_send_signed           mlx5_post_send_signed_v3
#define mlx5_post_srq_recv              mlx5_post_srq_recv_v3
#define mlx5_post_srq_routine           mlx5_post_srq_routine_v3
#define mlx5_send_wr_fill               mlx5_send_wr_fill_v3
#define mlx5_send_wr_fill_long          mlx5_send_wr_fill_long_v3
#define mlx5_send_wr_fill_mkeys         mlx5_send_wr_fill_mkeys_v3
#define mlx5_srq_put_back               mlx5_srq_put_back_v3
#else
#define mlx5_datapath_here mlx5_datapath_plain
#endif

#endif

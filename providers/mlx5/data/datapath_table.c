/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * datapath_table.c - the table of one variant of the data path (datapath.h), compiled with each.
 */
#include "providers/mlx5/data/datapath.h"
#include "providers/mlx5/data/cq/poll.h"
#include "providers/mlx5/data/post_srq.h"

const struct datapath mlx5_datapath_here = {
	.ops = {
		.poll_cq = mlx5_poll_cq,
		.post_send = mlx5_post_send,
		.bind_mw = mlx5_bind_mw,
		.post_recv = mlx5_post_recv,
		.post_srq_recv = mlx5_post_srq_recv,
	},
	.post_send_routine = mlx5_post_send_routine,
	.bind_mw_routine = mlx5_bind_mw_routine,
	.post_recv_routine = mlx5_post_recv_routine,
	.post_send_signed = mlx5_post_send_signed,
	.bind_mw_any = mlx5_bind_mw_any,
	.post_recv_signed = mlx5_post_recv_signed,
	.post_srq_routine = mlx5_post_srq_routine,
	.send_wr_fill = mlx5_send_wr_fill,
	.send_wr_fill_mkeys = mlx5_send_wr_fill_mkeys,
	.cq_ex_fill = mlx5_cq_ex_fill,
	.cq_ex_read_tags = mlx5_cq_ex_read_tags,
};

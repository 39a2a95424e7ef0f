/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* datapath_table.c - the table of one variant of the data path, compiled with each, so that its
 * entries are the names of that variant. */
#include "providers/mlx4/data/datapath.h"

const struct datapath mlx4_datapath_here = {
	.ops = {
		.post_send = mlx4_post_send,
		.bind_mw = mlx4_bind_mw,
		.post_recv = mlx4_post_recv,
		.post_srq_recv = mlx4_post_srq_recv,
		.poll_cq = mlx4_poll_cq,
	},
	.post_send_routine = mlx4_post_send_routine,
	.bind_mw_routine = mlx4_bind_mw_routine,
	.post_recv_routine = mlx4_post_recv_routine,
	.post_srq_routine = mlx4_post_srq_routine,
	.send_wr_fill = mlx4_send_wr_fill,
	.cq_poll_any = mlx4_cq_poll_any,
	.cq_ex_fill = mlx4_cq_ex_fill,
};

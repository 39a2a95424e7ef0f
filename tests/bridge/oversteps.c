/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * oversteps.c - posts a receive of two buffers with a list of one: the provider reads behind the
 * list's end. Nothing comes of it that a program could see.
 */
#include <stdio.h>
#include <stdlib.h>

#include "tests/lib/rig.h"
#include "tests/lib/say.h"

int main(void)
{
	struct ibv_srq_init_attr init = { .attr = { .max_wr = 1, .max_sge = 2 } };
	struct ibv_sge *list = calloc(1, sizeof(*list));
	struct ibv_recv_wr wr = { .sg_list = list, .num_sge = 2 }, *bad;
	struct ibv_srq *srq;
	struct ibv_pd *pd;
	struct rig rig;

	rig_open(&rig);
	pd = ibv_alloc_pd(rig.ctx);
	MUST(pd);
	srq = ibv_create_srq(pd, &init);
	MUST(srq);
	MUST(!ibv_post_srq_recv(srq, &wr, &bad));
	printf("posted\n");
	ibv_destroy_srq(srq);
	ibv_dealloc_pd(pd);
	rig_close(&rig);
	free(list);
	return 0;
}

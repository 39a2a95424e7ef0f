/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * program.c - a program linked with the archives: RDMA_STATIC_PROVIDERS names the providers to
 * link. run-static builds and runs it; the tree's build does not.
 *
 * Covers: libibverbs/discovery/static_all.c, libibverbs/discovery/static_none.c,
 * libibverbs/discovery/static_default.c
 */
#include <stdio.h>
#include <infiniband/verbs.h>

int main(void)
{
	int num = 0;
	struct ibv_device **list = ibv_get_device_list(&num);
	struct ibv_context *ctx = num ? ibv_open_device(list[0]) : NULL;
	struct ibv_pd *pd = ctx ? ibv_alloc_pd(ctx) : NULL;

	printf("%d devices, %s\n", num, pd ? "a PD" : "no PD");
	return pd && !ibv_dealloc_pd(pd) && !ibv_close_device(ctx) ? 0 : 1;
}

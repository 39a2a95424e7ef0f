/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * hello.c - the smallest program of both libraries: it greets by the name of the first adapter that
 * direct verbs work on. tests/layouts/run builds it in each way that programs are built.
 */
#include <infiniband/mlx5dv.h>
#include <infiniband/verbs.h>
#include <stdio.h>

int main(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *ctx;
	struct ibv_pd *pd;

	if (!list || !list[0] || !mlx5dv_is_supported(list[0])) {
		puts("nobody is here");
		return 1;
	}
	ctx = ibv_open_device(list[0]);
	pd = ctx ? ibv_alloc_pd(ctx) : NULL;
	printf("hello, %s%s\n", ibv_get_device_name(list[0]), pd ? "" : ", who cannot be opened");
	if (!pd || ibv_dealloc_pd(pd) || ibv_close_device(ctx))
		return 1;
	ibv_free_device_list(list);
	return 0;
}

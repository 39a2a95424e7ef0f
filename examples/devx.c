/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * devx.c - DevX: commands in the adapter's own format (Adapters Programmer's Reference Manual), for
 * what verbs have no call for. It asks what the adapter can do, and makes an object by a command.
 *
 * It needs a provider with DevX, libmlx5, and rights: CAP_NET_RAW for some commands, on some
 * kernels.
 */
#include <endian.h>
#include <err.h>
#include <errno.h>
#include <infiniband/mlx5dv.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	QUERY_HCA_CAP = 0x100,
	ALLOC_TRANSPORT_DOMAIN = 0x816,
};

enum { HEADER = 16, CAPABILITIES = 4096 };

static uint32_t word_of(const void *command, size_t offset)
{
	uint32_t word;

	memcpy(&word, (const char *)command + offset, sizeof(word));
	return be32toh(word);
}

/* Words are big-endian. Byte 0 of a command has its operation, byte 4 its modifier. */
static void put_word(void *command, size_t offset, uint32_t value)
{
	value = htobe32(value);
	memcpy((char *)command + offset, &value, sizeof(value));
}

/* A command that the adapter refused has a status and a syndrome in its answer. */
static void command_fail(const char *what, const void *answer)
{
	err(1, "%s: status 0x%x, syndrome 0x%x", what, word_of(answer, 0) >> 24,
	    word_of(answer, 4));
}

static struct ibv_context *open_device(void)
{
	struct mlx5dv_context_attr attr = { .flags = MLX5DV_CONTEXT_FLAGS_DEVX };
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *ctx = NULL;

	for (int i = 0; list && list[i] && !ctx; i++)
		if (mlx5dv_is_supported(list[i]))
			ctx = mlx5dv_open_device(list[i], &attr);
	if (list)
		ibv_free_device_list(list);
	if (!ctx)
		errx(1, "no device that has DevX");
	return ctx;
}

/* A command that makes no object */
static void query_capabilities(struct ibv_context *ctx)
{
	static uint8_t in[HEADER], out[HEADER + CAPABILITIES];

	put_word(in, 0, QUERY_HCA_CAP << 16);
	put_word(in, 4, 1); /* the general ones, as they are now */
	if (mlx5dv_devx_general_cmd(ctx, in, sizeof(in), out, sizeof(out)))
		command_fail("QUERY_HCA_CAP", out);
	/* PRM, General Device Capabilities: log_max_qp is in bits 4:0 of the word at 10h */
	printf("queue pairs: 2^%u\n", word_of(out, HEADER + 0x10) & 0x1f);
}

/* A command that makes an object: libmlx5 and the kernel know how it is destroyed. */
static void make_object(struct ibv_context *ctx)
{
	uint8_t in[HEADER] = { 0 }, out[HEADER] = { 0 };
	struct mlx5dv_devx_obj *object;

	put_word(in, 0, ALLOC_TRANSPORT_DOMAIN << 16);
	object = mlx5dv_devx_obj_create(ctx, in, sizeof(in), out, sizeof(out));
	if (!object)
		command_fail("ALLOC_TRANSPORT_DOMAIN", out);
	printf("transport domain: made\n"); /* its number: word_of(out, 8) & 0xffffff */
	if (mlx5dv_devx_obj_destroy(object))
		err(1, "mlx5dv_devx_obj_destroy");
}

/* Memory for commands, which name it by its number */
static void register_memory(struct ibv_context *ctx)
{
	void *memory = aligned_alloc(4096, 4096);
	struct mlx5dv_devx_umem *umem =
		memory ? mlx5dv_devx_umem_reg(ctx, memory, 4096, IBV_ACCESS_LOCAL_WRITE) : NULL;

	if (!umem)
		err(1, "mlx5dv_devx_umem_reg");
	printf("memory: registered\n"); /* umem->umem_id goes into commands */
	mlx5dv_devx_umem_dereg(umem);
	free(memory);
}

int main(void)
{
	struct ibv_context *ctx = open_device();

	query_capabilities(ctx);
	make_object(ctx);
	register_memory(ctx);
	ibv_close_device(ctx);
	return 0;
}

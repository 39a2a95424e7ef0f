/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * hostile.c - ioctl calls that no library makes: wrong handles, short structs, wrong lengths,
 * invalid pointers, duplicate attributes, on every object and method. It has a context with a few
 * real objects, so that some handles are valid.
 *
 * hostile SEED CALLS. Deterministic. Any answer is right; each call must return, and the adapter
 * must survive: see run-hostile.
 *
 * Covers: softhca/front/process/uverbs/
 */
#include <endian.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include <infiniband/verbs.h>

#include <rdma/rdma_user_ioctl_cmds.h>

#include "tests/lib/kernel/uverbs_request.h"
#include "util/bits.h"

enum {
	MAX_ATTRS = 16,
	MLX5_DRIVER = 1,
	MLX4_DRIVER = 2,
	DRIVER_NAMESPACE = 1 << 12,
	OBJECTS = 20,
	DRIVER_OBJECTS = 12,
	METHODS = 10,
	COMMANDS = 64,
	EXTENDED = 0x80000000,
	ROOM = 1 << 16,
	INVOKE_WRITE = 0,
	ATTR_CORE_IN = 0,
	ATTR_CORE_OUT = 1,
	ATTR_COMMAND = 2,
	UHW_IN = DRIVER_NAMESPACE,
	UHW_OUT = DRIVER_NAMESPACE + 1,
};

struct request {
	struct uverbs_request_header hdr;
	struct ib_uverbs_attr attr[MAX_ATTRS];
};

static uint64_t state;
static uint32_t driver;

static uint32_t pick_below(uint32_t below)
{
	state = state * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(state >> 33) % below;
}

static uint8_t *room; /* with nothing mapped behind it */

/* Returns numbers that mean something somewhere, or nothing anywhere. */
static uint32_t random_word(void)
{
	static const uint32_t special[] = { 0, 1, 2, 4, 8, 0xff, 0xffff, 0x10000, 0x7fffffff, ~0u };

	switch (pick_below(3)) {
	case 0:
		return special[pick_below(ARRAY_SIZE(special))];
	case 1:
		return pick_below(16); /* a handle */
	default:
		return pick_below(1u << 31) << pick_below(2);
	}
}

static uint64_t pointer(void)
{
	switch (pick_below(6)) {
	case 0:
		return random_word();
	case 1:
		return (uintptr_t)room + ROOM - pick_below(64); /* the end is near */
	default:
		return (uintptr_t)room + pick_below(ROOM / 2);
	}
}

static uint16_t length(void)
{
	static const uint16_t usual[] = {
		0, 1, 4, 8, 12, 16, 24, 32, 40, 48, 56, 64, 72, 128, 256
	};

	return pick_below(8) ? usual[pick_below(ARRAY_SIZE(usual))] : pick_below(1 << 16);
}

static void fill_room(void)
{
	uint32_t *at = (uint32_t *)room;

	for (unsigned int i = 0; i < 256; i++)
		at[pick_below(ROOM / 4)] = pick_below(4) ? random_word() : (uint32_t)pointer();
	for (unsigned int i = 0; i < 16; i++)
		((uint64_t *)room)[pick_below(ROOM / 16)] = pointer();
}

static void fill_attr(struct ib_uverbs_attr *attr, unsigned int id)
{
	attr->attr_id = id;
	attr->flags = pick_below(4) ? 1 : pick_below(1 << 16); /* mandatory */
	attr->len = length();
	attr->data = pick_below(2) ? pointer() : random_word();
	if (!pick_below(16))
		attr->attr_data.reserved = pick_below(1 << 16);
}

static unsigned int native(struct request *request)
{
	unsigned int count = pick_below(MAX_ATTRS);
	bool is_driver = !pick_below(4);

	request->hdr.object_id =
		is_driver ? DRIVER_NAMESPACE + pick_below(DRIVER_OBJECTS) : pick_below(OBJECTS);
	request->hdr.method_id = is_driver || !pick_below(8)
					 ? DRIVER_NAMESPACE + pick_below(METHODS)
					 : pick_below(METHODS);
	for (unsigned int i = 0; i < count; i++) {
		unsigned int id = pick_below(8) ? i : pick_below(24);

		fill_attr(&request->attr[i],
			  is_driver || !pick_below(6) ? DRIVER_NAMESPACE + id : id);
	}
	return count;
}

enum { HANDLE = 0, CONST = 8 }; /* instead of a length */

static const struct shape {
	uint16_t object, method;
	struct {
		uint16_t id, len;
	} attr[15];
} shapes[] = {
	{ 3,
	  0,
	  { { 0, HANDLE },
	    { 1, 4 },
	    { 2, 8 },
	    { 3, HANDLE },
	    { 4, 4 },
	    { 5, 4 },
	    { 6, 4 },
	    { UHW_IN, 32 },
	    { UHW_OUT, 8 } } }, /* CQ */
	{ 4,
	  0,
	  { { 0, HANDLE },
	    { 2, HANDLE },
	    { 3, HANDLE },
	    { 4, HANDLE },
	    { 5, HANDLE },
	    { 7, 8 },
	    { 8, 20 },
	    { 9, CONST },
	    { 10, 4 },
	    { 13, 20 },
	    { 14, 4 },
	    { UHW_IN, 56 },
	    { UHW_OUT, 40 } } }, /* QP */
	{ 5,
	  0,
	  { { 0, HANDLE },
	    { 1, HANDLE },
	    { 2, CONST },
	    { 3, 8 },
	    { 4, 4 },
	    { 5, 4 },
	    { 6, 4 },
	    { 7, HANDLE },
	    { 8, HANDLE },
	    { 11, 4 },
	    { 12, 4 },
	    { 13, 4 },
	    { UHW_IN, 32 },
	    { UHW_OUT, 8 } } }, /* SRQ */
	{ 12,
	  0,
	  { { 0, HANDLE },
	    { 1, HANDLE },
	    { 2, HANDLE },
	    { 3, 8 },
	    { 4, CONST },
	    { 6, 4 },
	    { 7, 4 },
	    { 8, 4 },
	    { 9, 4 },
	    { 10, 4 },
	    { 11, 4 },
	    { UHW_IN, 48 },
	    { UHW_OUT, 8 } } }, /* WQ */
	{ 1, 0, { { 0, HANDLE } } },
	{ 3, 1, { { 0, HANDLE }, { 1, 8 } } },
	{ 4, 1, { { 0, HANDLE }, { 1, 4 } } },
	{ 5, 1, { { 0, HANDLE }, { 1, 4 } } },
	{ 7, 1, { { 0, HANDLE } } },
	{ 7, 3, { { 0, HANDLE }, { 1, 4 }, { 2, 4 }, { 3, 8 }, { 4, 8 } } },
	{ 0, 2, { { 0, CONST }, { 1, 48 } } },
	{ 0, 1, { { 0, CONST }, { 1, 4 }, { 2, 64 } } },
	{ 0, 5, { { 0, CONST }, { 1, 4 }, { 2, 4096 }, { 3, 8 } } },
	{ DRIVER_NAMESPACE + 8,
	  DRIVER_NAMESPACE,
	  { { UHW_IN, HANDLE },
	    { UHW_IN + 1, CONST },
	    { UHW_IN + 2, 8 },
	    { UHW_IN + 3, 4 },
	    { UHW_IN + 4, 4 } } },
};

static unsigned int request_shaped(struct request *request)
{
	const struct shape *shape = &shapes[pick_below(ARRAY_SIZE(shapes))];
	unsigned int count = 0;

	request->hdr.object_id = shape->object;
	request->hdr.method_id = shape->method;
	for (unsigned int i = 0; i < 15; i++) {
		struct ib_uverbs_attr *attr = &request->attr[count];

		if (i && !shape->attr[i].id && !shape->attr[i].len)
			break;
		if (!pick_below(24))
			continue; /* left out */
		*attr = (struct ib_uverbs_attr){ .attr_id = shape->attr[i].id,
						 .len = pick_below(40) ? shape->attr[i].len
								       : length(),
						 .flags = 1 };
		attr->data =
			attr->len > 8 || (attr->len && pick_below(2)) ? pointer() : pick_below(12);
		count++;
	}
	return count;
}

/* Most handles are numbers of attributes without a length. */
static void make_handles(struct request *request, unsigned int count)
{
	for (unsigned int i = 0; i < count; i++) {
		if (pick_below(3))
			continue;
		request->attr[i].len = 0;
		request->attr[i].data = pick_below(16);
	}
}

static unsigned int written(struct request *request)
{
	static const uint16_t ids[] = { ATTR_CORE_IN, ATTR_CORE_OUT, UHW_IN, UHW_OUT };
	unsigned int count = 1 + pick_below(5);

	request->hdr.object_id = 0;
	request->hdr.method_id = INVOKE_WRITE;
	request->attr[0] = (struct ib_uverbs_attr){ .attr_id = ATTR_COMMAND, .len = 8, .flags = 1 };
	request->attr[0].data = pick_below(COMMANDS) | (pick_below(2) ? EXTENDED : 0);
	for (unsigned int i = 1; i < count; i++) {
		fill_attr(&request->attr[i], ids[i - 1]);
		if (pick_below(4))
			request->attr[i].data = (uintptr_t)room + pick_below(ROOM / 2) / 8 * 8;
		if (pick_below(4))
			request->attr[i].len = 8 * pick_below(64);
	}
	return count;
}

/* This is RDMA_VERBS_IOCTL. */
#define CALL _IOWR(0x1b, 1, struct ib_uverbs_ioctl_hdr)

static int random_call(int fd)
{
	struct request request = { 0 };
	unsigned int kind = pick_below(3), count;

	count = kind == 0   ? native(&request)
		: kind == 1 ? written(&request)
			    : request_shaped(&request);
	if (kind == 0)
		make_handles(&request, count);
	request.hdr.num_attrs = pick_below(64) ? count : pick_below(1 << 16);
	request.hdr.length = sizeof(request.hdr) + count * sizeof(request.attr[0]);
	if (!pick_below(64))
		request.hdr.length = pick_below(1 << 16);
	request.hdr.driver_id = pick_below(32) ? driver : pick_below(32);
	if (!pick_below(64))
		request.hdr.reserved1 = random_word();
	if (!(count & 3))
		fill_room();
	return ioctl(fd, CALL, &request) ? errno : 0;
}

static struct ibv_context *open_device(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);

	return list && *list ? ibv_open_device(*list) : NULL;
}

static void make_objects(struct ibv_context *ctx)
{
	struct ibv_pd *pd = ibv_alloc_pd(ctx);
	struct ibv_comp_channel *channel = ibv_create_comp_channel(ctx);
	struct ibv_cq *cq = ibv_create_cq(ctx, 16, NULL, channel, 0);
	struct ibv_srq_init_attr srq_attr = { .attr = { .max_wr = 8, .max_sge = 1 } };
	struct ibv_qp_init_attr qp_attr = { .send_cq = cq, .recv_cq = cq };

	qp_attr.cap = (struct ibv_qp_cap){ 8, 8, 1, 1, 0 };
	ibv_reg_mr(pd, room, ROOM, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	ibv_create_srq(pd, &srq_attr);
	for (qp_attr.qp_type = IBV_QPT_RC; qp_attr.qp_type <= IBV_QPT_UD; qp_attr.qp_type++)
		ibv_create_qp(pd, &qp_attr);
}

static int open_room(void)
{
	uint8_t *map =
		mmap(NULL, ROOM + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (map == MAP_FAILED || munmap(map + ROOM, 4096))
		return errno;
	room = map;
	return 0;
}

int main(int argc, char **argv)
{
	unsigned int calls = argc > 2 ? atoi(argv[2]) : 1000, refused = 0;
	struct ibv_context *ctx = open_device();

	state = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;
	if (!ctx || open_room()) {
		fprintf(stderr, "hostile: no device, or no memory\n");
		return 1;
	}
	driver = strncmp(ibv_get_device_name(ctx->device), "mlx4", 4) ? MLX5_DRIVER : MLX4_DRIVER;
	make_objects(ctx);
	for (unsigned int i = 0; i < calls; i++)
		refused += !!random_call(ctx->cmd_fd);
	printf("seed %s: %u calls, %u refused\n", argc > 1 ? argv[1] : "1", calls, refused);
	fflush(stdout);
	_Exit(0); /* _Exit(), as the adapter cleans up the rest */
}

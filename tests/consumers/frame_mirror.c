/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * frame_mirror.c - frame-mirror DEVICE OWN-MAC OTHER-MAC COUNT: sends frames of all lengths, in
 * batches, from DEVICE to a program that sends each back with its addresses swapped, and checks
 * each byte of what comes. A frame that is lost is sent again.
 *
 * Exit code 0: each came back as it was; 1: not so.
 */
#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
	SLOTS = 64,
	WINDOW = 32, /* frames under way */
	ROOM = 2048,
	SHORTEST = 64,
	LONGEST = 1514,
	HEADER = 14,
	TYPE = 0x88b5, /* for experiments */
	PATIENCE_MS = 500,
	TRIES = 60,
};

struct mirror {
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_cq *sent, *received;
	struct ibv_qp *qp;
	struct ibv_flow *flow;
	struct ibv_mr *mr;
	uint8_t own[6], other[6];
	unsigned int count, back, wrong;
	bool *is_back;
	uint8_t buf[2 * SLOTS][ROOM];
};

static void require(bool holds, const char *what)
{
	if (holds)
		return;
	perror(what);
	exit(1);
}

static void mac_parse(const char *text, uint8_t mac[6])
{
	unsigned int byte[6];

	require(sscanf(text, "%x:%x:%x:%x:%x:%x", &byte[0], &byte[1], &byte[2], &byte[3], &byte[4],
		       &byte[5]) == 6,
		text);
	for (int i = 0; i < 6; i++)
		mac[i] = (uint8_t)byte[i];
}

static void device_open(struct mirror *mirror, const char *name)
{
	struct ibv_device **list = ibv_get_device_list(NULL);

	require(list != NULL, "ibv_get_device_list");
	for (struct ibv_device **device = list; *device; device++)
		if (!strcmp(ibv_get_device_name(*device), name))
			mirror->ctx = ibv_open_device(*device);
	require(mirror->ctx != NULL, name);
	ibv_free_device_list(list);
}

static void qp_open(struct mirror *mirror)
{
	struct ibv_qp_init_attr init = { .cap = { SLOTS, SLOTS, 1, 1, 0 },
					 .qp_type = IBV_QPT_RAW_PACKET };
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1 };

	init.send_cq = mirror->sent = ibv_create_cq(mirror->ctx, SLOTS, NULL, NULL, 0);
	init.recv_cq = mirror->received = ibv_create_cq(mirror->ctx, SLOTS, NULL, NULL, 0);
	require(init.send_cq && init.recv_cq, "ibv_create_cq");
	mirror->qp = ibv_create_qp(mirror->pd, &init);
	require(mirror->qp != NULL, "ibv_create_qp");
	require(!ibv_modify_qp(mirror->qp, &attr, IBV_QP_STATE | IBV_QP_PORT), "to INIT");
	attr.qp_state = IBV_QPS_RTR;
	require(!ibv_modify_qp(mirror->qp, &attr, IBV_QP_STATE), "to RTR");
	attr.qp_state = IBV_QPS_RTS;
	require(!ibv_modify_qp(mirror->qp, &attr, IBV_QP_STATE), "to RTS");
}

static void flow_open(struct mirror *mirror)
{
	struct {
		struct ibv_flow_attr attr;
		struct ibv_flow_spec_eth eth;
	} rule = {
		.attr = { .type = IBV_FLOW_ATTR_NORMAL,
			  .size = sizeof(rule),
			  .num_of_specs = 1,
			  .port = 1 },
		.eth = { .type = IBV_FLOW_SPEC_ETH, .size = sizeof(rule.eth) },
	};

	memcpy(rule.eth.val.dst_mac, mirror->own, 6);
	memset(rule.eth.mask.dst_mac, 0xff, 6);
	mirror->flow = ibv_create_flow(mirror->qp, &rule.attr);
	require(mirror->flow != NULL, "ibv_create_flow");
}

static void mirror_open(struct mirror *mirror, char **argv)
{
	device_open(mirror, argv[1]);
	mac_parse(argv[2], mirror->own);
	mac_parse(argv[3], mirror->other);
	mirror->count = (unsigned int)atoi(argv[4]);
	mirror->is_back = calloc(mirror->count, sizeof(*mirror->is_back));
	mirror->pd = ibv_alloc_pd(mirror->ctx);
	require(mirror->is_back && mirror->pd, "ibv_alloc_pd");
	mirror->mr =
		ibv_reg_mr(mirror->pd, mirror->buf, sizeof(mirror->buf), IBV_ACCESS_LOCAL_WRITE);
	require(mirror->mr != NULL, "ibv_reg_mr");
	qp_open(mirror);
	flow_open(mirror);
}

static void mirror_close(struct mirror *mirror)
{
	require(!ibv_destroy_flow(mirror->flow) && !ibv_destroy_qp(mirror->qp), "destroy");
	require(!ibv_destroy_cq(mirror->sent) && !ibv_destroy_cq(mirror->received), "destroy");
	require(!ibv_dereg_mr(mirror->mr) && !ibv_dealloc_pd(mirror->pd), "destroy");
	require(!ibv_close_device(mirror->ctx), "close");
	free(mirror->is_back);
}

static uint32_t frame_length(unsigned int n)
{
	return SHORTEST + n * 97 % (LONGEST - SHORTEST + 1);
}

static void frame_make(uint8_t *frame, unsigned int n, const uint8_t *to, const uint8_t *from)
{
	uint32_t len = frame_length(n);

	memcpy(frame, to, 6);
	memcpy(frame + 6, from, 6);
	frame[12] = TYPE >> 8;
	frame[13] = TYPE & 0xff;
	memcpy(frame + HEADER, &n, sizeof(n));
	for (uint32_t i = HEADER + sizeof(n); i < len; i++)
		frame[i] = (uint8_t)(n * 31 + i * 7 + i / 256);
}

/* Sends the frames of a window that are not back yet, with one doorbell. */
static void frames_post(struct mirror *mirror, unsigned int first, unsigned int last)
{
	struct ibv_send_wr wr[WINDOW], *bad;
	struct ibv_sge sge[WINDOW];
	unsigned int count = 0;
	struct ibv_wc wc;

	for (unsigned int n = first; n < last; n++) {
		uint8_t *frame = mirror->buf[n % SLOTS];

		if (mirror->is_back[n])
			continue;
		frame_make(frame, n, mirror->other, mirror->own);
		sge[count] =
			(struct ibv_sge){ (uintptr_t)frame, frame_length(n), mirror->mr->lkey };
		wr[count] = (struct ibv_send_wr){ .sg_list = &sge[count],
						  .num_sge = 1,
						  .opcode = IBV_WR_SEND,
						  .send_flags = IBV_SEND_SIGNALED };
		if (count)
			wr[count - 1].next = &wr[count];
		count++;
	}
	require(!ibv_post_send(mirror->qp, wr, &bad), "ibv_post_send");
	while (count) {
		int got = ibv_poll_cq(mirror->sent, 1, &wc);

		require(!got || (got == 1 && !wc.status), "a frame was not sent");
		count -= (unsigned int)got;
	}
}

static void receive_post(struct mirror *mirror, uint64_t slot)
{
	struct ibv_sge sge = { (uintptr_t)mirror->buf[SLOTS + slot], ROOM, mirror->mr->lkey };
	struct ibv_recv_wr wr = { .wr_id = slot, .sg_list = &sge, .num_sge = 1 }, *bad;

	require(!ibv_post_recv(mirror->qp, &wr, &bad), "ibv_post_recv");
}

static void frame_judge(struct mirror *mirror, const uint8_t *got, uint32_t len)
{
	static uint8_t expected[ROOM];
	unsigned int n;

	memcpy(&n, got + HEADER, sizeof(n));
	if (n >= mirror->count || len != frame_length(n)) {
		mirror->wrong++;
		return;
	}
	frame_make(expected, n, mirror->own, mirror->other);
	if (memcmp(expected, got, len))
		mirror->wrong++;
	else if (!mirror->is_back[n])
		mirror->back++;
	mirror->is_back[n] = true;
}

/* Waits until COUNT frames are back, or it was too long. */
static void frames_await(struct mirror *mirror, unsigned int count)
{
	struct timespec now, begin;
	struct ibv_wc wc;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	now = begin;
	while (mirror->back < count && !mirror->wrong &&
	       (now.tv_sec - begin.tv_sec) * 1000 + (now.tv_nsec - begin.tv_nsec) / 1000000 <
		       PATIENCE_MS) {
		clock_gettime(CLOCK_MONOTONIC, &now);
		if (!ibv_poll_cq(mirror->received, 1, &wc))
			continue;
		require(!wc.status, "a receive has failed");
		frame_judge(mirror, mirror->buf[SLOTS + wc.wr_id], wc.byte_len);
		receive_post(mirror, wc.wr_id);
	}
}

/* The other side may not be there yet, so a window is tried for a while. */
static void window_exchange(struct mirror *mirror, unsigned int first)
{
	unsigned int last = first + WINDOW < mirror->count ? first + WINDOW : mirror->count;

	for (int i = 0; i < TRIES && mirror->back < last && !mirror->wrong; i++) {
		frames_post(mirror, first, last);
		frames_await(mirror, last);
	}
}

int main(int argc, char **argv)
{
	static struct mirror mirror;
	bool right;

	if (argc != 5)
		return 1;
	mirror_open(&mirror, argv);
	for (uint64_t slot = 0; slot < SLOTS; slot++)
		receive_post(&mirror, slot);
	for (unsigned int first = 0; first < mirror.count && mirror.back == first; first += WINDOW)
		window_exchange(&mirror, first);
	printf("%u of %u frames came back as they were, %u were wrong\n", mirror.back, mirror.count,
	       mirror.wrong);
	right = mirror.back == mirror.count && !mirror.wrong;
	mirror_close(&mirror);
	return !right;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * requests.c - topics of a link of any transport: each kind of request, valid and invalid.
 *
 * Covers: providers/mlx5/data/send_wr_dv.c
 */
#include <endian.h>

#include "tests/verbs/raw/raw.h"
#include "util/bits.h"

enum { ROUNDS = 40, WR_ID = 7, DATAGRAM_MAX = 1000 };

struct request {
	const char *name;
	uint8_t opcode;
	bool receives, is_inline;
	uint32_t lens[2];
};

static const struct request requests[] = {
	{ "SEND", MLX5_OPCODE_SEND, true, false, { 100, 0 } },
	{ "SEND", MLX5_OPCODE_SEND, true, false, { 400, 500 } },
	{ "SEND inline", MLX5_OPCODE_SEND, true, true, { 33, 0 } },
	{ "SEND inline", MLX5_OPCODE_SEND, true, true, { 12, 0 } },
	{ "SEND_IMM", MLX5_OPCODE_SEND_IMM, true, false, { 8, 0 } },
	{ "SEND", MLX5_OPCODE_SEND, true, false, { 1500, 1501 } },
	{ "WRITE", MLX5_OPCODE_RDMA_WRITE, false, false, { 3000, 0 } },
	{ "WRITE inline", MLX5_OPCODE_RDMA_WRITE, false, true, { 20, 0 } },
	{ "WRITE_IMM", MLX5_OPCODE_RDMA_WRITE_IMM, true, false, { 7, 8 } },
	{ "READ", MLX5_OPCODE_RDMA_READ, false, false, { 600, 700 } },
};

static uint32_t request_length(const struct request *request)
{
	return request->lens[0] + request->lens[1];
}

static bool is_send(uint8_t opcode)
{
	return opcode == MLX5_OPCODE_SEND || opcode == MLX5_OPCODE_SEND_IMM;
}

static bool link_has(const struct raw_link *link, const struct request *request)
{
	return !link->only_sends ||
	       (is_send(request->opcode) && request_length(request) <= DATAGRAM_MAX);
}

static void request_build(const struct raw_link *link, const struct request *request,
			  struct raw_wqe *wqe)
{
	const uint8_t *from = link->from;

	raw_wqe_begin(wqe, request->opcode, link->qp->qp_num);
	link->put_target(link, wqe);
	if (!is_send(request->opcode))
		raw_wqe_remote(wqe, link->to, link->mr->rkey);
	if (request->is_inline) {
		raw_wqe_inline(wqe, from, request->lens[0]);
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(request->lens) && request->lens[i]; i++) {
		raw_wqe_data(wqe, from, request->lens[i], link->mr->lkey);
		from += request->lens[i];
	}
}

/* The two ends' memory differs in each bit, so that any byte that arrives shows. */
enum { HERE = 0, THERE = 0xff };

static uint8_t byte_of(unsigned int i, unsigned int seed, unsigned int end)
{
	return (uint8_t)((i * 3 + seed) ^ end);
}

static void memory_fill(const struct raw_link *link, unsigned int seed)
{
	for (unsigned int i = 0; i < RAW_ROOM; i++) {
		link->from[i] = byte_of(i, seed, HERE);
		link->to[i] = byte_of(i, seed, THERE);
	}
}

static bool bytes_are(const uint8_t *bytes, unsigned int first, unsigned int end, unsigned int seed,
		      unsigned int of)
{
	while (first < end && bytes[first] == byte_of(first, seed, of))
		first++;
	return first >= end;
}

static bool memory_is_untouched(const struct raw_link *link, unsigned int seed)
{
	return bytes_are(link->from, 0, RAW_ROOM, seed, HERE) &&
	       bytes_are(link->to, 0, RAW_ROOM, seed, THERE);
}

/* Returns whether the requested bytes have arrived at their end and nothing else has changed there.
 * Ignores the header of a datagram. */
static bool memory_is_right(const struct raw_link *link, const struct request *request,
			    unsigned int seed)
{
	uint32_t header = is_send(request->opcode) ? link->header : 0;
	uint32_t len = request_length(request);

	if (request->opcode == MLX5_OPCODE_RDMA_READ)
		return bytes_are(link->from, 0, len, seed, THERE) &&
		       bytes_are(link->from, len, RAW_ROOM, seed, HERE) &&
		       bytes_are(link->to, 0, RAW_ROOM, seed, THERE);
	return bytes_are(link->from, 0, RAW_ROOM, seed, HERE) &&
	       bytes_are(link->to + header, 0, len, seed, HERE) &&
	       bytes_are(link->to, header + len, RAW_ROOM, seed, THERE);
}

/* Prints all valid fields of a send completion. */
static void say_sent(const char *name, const struct ibv_wc *wc)
{
	say("%s: wr_id %llu %s vendor_err %#x opcode %d", name, (unsigned long long)wc->wr_id,
	    ibv_wc_status_str(wc->status), wc->status ? wc->vendor_err : 0,
	    wc->status ? 0 : (int)wc->opcode);
}

static bool request_came(const struct raw_link *link, const struct request *request, bool aloud)
{
	struct ibv_wc wc;

	if (!request->receives)
		return true;
	if (rig_poll(link->received, 1, &wc) != 1)
		return false;
	if (aloud)
		say_wc(link->name, &wc, link->qp->qp_num);
	return !wc.status && wc.byte_len == request_length(request) +
						    (is_send(request->opcode) ? link->header : 0);
}

/* Returns whether the request had its effect. */
static bool request_works(const struct raw_link *link, const struct request *request,
			  unsigned int seed, bool aloud)
{
	struct raw_wqe wqe;
	struct ibv_wc wc;

	memory_fill(link, seed);
	request_build(link, request, &wqe);
	if (raw_wqe_post(&wqe, ibv_qp_to_qp_ex(link->qp), WR_ID, 1) ||
	    rig_poll(link->sent, 1, &wc) != 1)
		return false;
	if (aloud)
		say_sent(request->name, &wc);
	return !wc.status && wc.wr_id == WR_ID && (int)wc.opcode == MLX5DV_WC_RAW_WQE &&
	       request_came(link, request, aloud) && memory_is_right(link, request, seed);
}

void raw_requests(const struct raw_link *link)
{
	for (unsigned int round = 0; round < ROUNDS; round++)
		for (size_t i = 0; i < ARRAY_SIZE(requests); i++) {
			if (!link_has(link, &requests[i]))
				continue;
			if (requests[i].receives)
				link->receive(link);
			say_check(request_works(link, &requests[i], round, !round), "%s %s %u",
				  link->name, requests[i].name, request_length(&requests[i]));
		}
}

static const struct request *request_of(uint8_t opcode)
{
	size_t i = 0;

	while (requests[i].opcode != opcode)
		i++;
	return &requests[i];
}

static void fault_run(const struct raw_link *link, const struct raw_fault *fault)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;
	struct raw_wqe wqe;
	struct ibv_wc wc;

	memory_fill(link, 1);
	request_build(link, request_of(fault->opcode), &wqe);
	fault->spoil(&wqe);
	SAY_RET(raw_wqe_post(&wqe, ibv_qp_to_qp_ex(link->qp), WR_ID, 1), "%s %s", link->name,
		fault->what);
	MUST(rig_poll(link->sent, 1, &wc) == 1);
	say_sent(fault->what, &wc);
	say_check(wc.status == fault->status, "%s %s: %s", link->name, fault->what,
		  ibv_wc_status_str(fault->status));
	say_check(!rig_drain(link->received) && memory_is_untouched(link, 1), "nothing came");
	MUST(!ibv_query_qp(link->qp, &attr, IBV_QP_STATE, &init));
	say("the QP is in state %d", (int)attr.qp_state);
	if (attr.qp_state != IBV_QPS_RTS)
		link->mend(link);
}

void raw_faults(const struct raw_link *link, const struct raw_fault *faults, size_t count)
{
	link->receive(link);
	for (size_t i = 0; i < count; i++)
		fault_run(link, &faults[i]);
	say_check(request_works(link, &requests[0], 2, true), "%s: the receive is still there",
		  link->name);
}

static struct mlx5_wqe_av *wqe_address(struct raw_wqe *wqe)
{
	return (struct mlx5_wqe_av *)&wqe->unit[1];
}

void raw_spoil_lkey(struct raw_wqe *wqe)
{
	wqe->unit[wqe->units - 1].lkey = htobe32(0xbad000);
}

/* The remote memory is the segment before the last one, as the data are one piece. */
void raw_spoil_rkey(struct raw_wqe *wqe)
{
	struct mlx5_wqe_raddr_seg *seg = (struct mlx5_wqe_raddr_seg *)&wqe->unit[wqe->units - 2];

	seg->rkey = htobe32(0xbad000);
}

void raw_spoil_key(struct raw_wqe *wqe)
{
	uint8_t *key = (uint8_t *)&wqe_address(wqe)->key;

	key[0] ^= 1;
}

void raw_spoil_number(struct raw_wqe *wqe)
{
	struct mlx5_wqe_av *av = wqe_address(wqe);

	av->dqp_dct = htobe32(be32toh(av->dqp_dct) + 77);
}

/* Makes the address claim 48 bytes, so that the WQE ends within it. */
void raw_spoil_size(struct raw_wqe *wqe)
{
	wqe->units = 3;
}

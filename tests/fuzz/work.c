/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * work.c - work requests in memory: send and receive WQEs of all shapes, doorbells of all
 * registers, and random damage to memory.
 */
#include <endian.h>
#include <string.h>

#include "prm/mlx5/mkc.h"
#include "prm/mlx5/qpc.h"
#include "prm/mlx5/uar.h"
#include "tests/fuzz/world.h"

enum { BB = 64, SEG = 16, MAX_WQE = 1024, SQ_DOORBELL = 0x800, CQ_DOORBELL = 0x20 };

struct wqe {
	uint8_t bytes[MAX_WQE];
	size_t len;
};

static void put_bytes(struct wqe *wqe, uint64_t value, int bytes)
{
	while (bytes-- && wqe->len < MAX_WQE)
		wqe->bytes[wqe->len++] = bytes < 8 ? value >> (8 * bytes) : 0;
}

static void put_random(struct world *world, struct wqe *wqe, int bytes)
{
	while (bytes--)
		put_bytes(wqe, take8(&world->source), 1);
}

static uint32_t some_key(struct world *world, unsigned int hca, uint64_t *addr, uint32_t *len)
{
	const struct object *mkey = world_object(world, hca, KIND_MKEY);

	*addr = world_page(world);
	*len = pick(&world->source, 2 * WORLD_PAGE);
	if (!mkey || once_in(&world->source, 32))
		return take_edge(&world->source);
	*addr = mkey->start + pick(&world->source, mkey->len ? mkey->len : 1);
	return mkey->n << 8;
}

static void put_data(struct world *world, unsigned int hca, struct wqe *wqe)
{
	uint64_t addr;
	uint32_t len, key = some_key(world, hca, &addr, &len);

	put_bytes(wqe, once_in(&world->source, 32) ? take_edge(&world->source) : len, 4);
	put_bytes(wqe, key, 4);
	put_bytes(wqe, addr, 8);
}

/* Puts the headers of a message with a tag, and perhaps the address from which the rest is to be
 * read. */
static void put_headers(struct world *world, struct wqe *wqe)
{
	put_bytes(wqe, (uint64_t)pick(&world->source, 4) << 24, 4);
	put_bytes(wqe, 0, 4);
	put_bytes(wqe, pick(&world->source, 4), 8);
	put_bytes(wqe, world_page(world), 8);
	put_bytes(wqe, world_number(world, pick(&world->source, 2), KIND_MKEY) << 8, 4);
	put_bytes(wqe, pick(&world->source, 8192), 4);
}

static void put_inline(struct world *world, struct wqe *wqe)
{
	enum { HEADERS = 32 };
	uint32_t len = pick(&world->source, once_in(&world->source, 8) ? 1024 : 64);

	put_bytes(wqe, 0x80000000u | len, 4);
	if (len >= HEADERS && once_in(&world->source, 2)) {
		put_headers(world, wqe);
		len -= HEADERS;
	}
	while (len-- && wqe->len < MAX_WQE)
		put_bytes(wqe, len, 1);
	while (wqe->len % SEG)
		put_bytes(wqe, 0, 1);
}

static void put_remote(struct world *world, unsigned int hca, struct wqe *wqe)
{
	uint64_t addr;
	uint32_t len, key = some_key(world, !hca, &addr, &len);

	put_bytes(wqe, addr, 8);
	put_bytes(wqe, key, 4);
	put_bytes(wqe, 0, 4);
}

/* An address vector has Q_Key, destination and route. */
static void put_vector(struct world *world, unsigned int hca, struct wqe *wqe)
{
	put_bytes(wqe, pick(&world->source, 3), 4);
	put_bytes(wqe, 0, 4);
	put_bytes(wqe, 0x80000000u | world_number(world, !hca, KIND_QP), 4);
	put_bytes(wqe, pick(&world->source, 4), 4);
	put_bytes(wqe, 0, 8);
	put_bytes(wqe, take8(&world->source), 4);
	put_bytes(wqe, pick(&world->source, 2) << 30, 4);
	put_bytes(wqe, once_in(&world->source, 4) ? 0xff : 0x20 + !hca, 1);
	put_random(world, wqe, 15);
}

/* Puts the segments of a UMR: control, the new context, and the translations. Most bits of the mask
 * are known ones, as others are refused at once. */
static void put_umr(struct world *world, unsigned int hca, struct wqe *wqe)
{
	static const uint8_t bits[] = { 0, 1, 6, 7, 8, 13, 14, 17, 18, 19, 20, 21, 29 };
	struct source *source = &world->source;
	unsigned int count = pick(source, 6);
	uint8_t mkc[64] = { 0 };
	uint64_t mask = once_in(source, 32) ? take32(source) : 0;

	for (unsigned int i = 0; i < sizeof(bits); i++)
		mask |= (uint64_t)pick(source, 2) << bits[i];
	put_bytes(wqe, take8(source) & 0xf0, 4);
	wqe->bytes[wqe->len - 4] = take8(source) & 0xf0;
	put_bytes(wqe, once_in(source, 16) ? take32(source) : count & ~3u, 2);
	put_bytes(wqe, pick(source, 8), 2);
	put_bytes(wqe, mask, 8);
	put_bytes(wqe, 0, 32);
	fld_set(mkc, MKC_FREE, once_in(source, 4));
	fld_set(mkc, MKC_UMR_EN, 1);
	fld_set(mkc, MKC_LR, 1);
	fld_set(mkc, MKC_LW, 1);
	fld_set(mkc, MKC_RR, 1);
	fld_set(mkc, MKC_RW, 1);
	fld_set(mkc, MKC_QPN, pick(source, 4) ? 0xffffff : world_number(world, hca, KIND_QP));
	fld_set(mkc, MKC_PD, world_number(world, hca, KIND_PD));
	fld_set(mkc, MKC_START_ADDR, world_page(world) + pick(source, 4) * 1024);
	fld_set(mkc, MKC_LEN,
		once_in(source, 16) ? take_edge(source) : pick(source, 4 * WORLD_PAGE));
	fld_set(mkc, MKC_LOG_PAGE_SIZE, once_in(source, 8) ? pick(source, 64) : 12);
	for (unsigned int i = 0; i < sizeof(mkc); i++)
		put_bytes(wqe, mkc[i], 1);
	for (unsigned int i = 0; i < count; i++)
		put_data(world, hca, wqe);
}

/* An operation on a matching list; its buffer is a data segment. */
static void put_tag(struct world *world, struct wqe *wqe)
{
	put_bytes(wqe, pick(&world->source, 4) << 4, 1);
	put_bytes(wqe, pick(&world->source, 4) << 6, 1);
	put_bytes(wqe, pick(&world->source, 9), 2);
	put_bytes(wqe, pick(&world->source, 4), 4);
	put_bytes(wqe, 0, 8);
	put_bytes(wqe, pick(&world->source, 4), 8);
	put_bytes(wqe, pick(&world->source, 2) ? ~0ull : pick(&world->source, 4), 8);
}

static void put_segments(struct world *world, unsigned int hca, struct wqe *wqe, bool with_inline)
{
	unsigned int count = pick(&world->source, once_in(&world->source, 8) ? 64 : 4);

	for (unsigned int i = 0; i < count && wqe->len < MAX_WQE; i++)
		if (with_inline && once_in(&world->source, 4))
			put_inline(world, wqe);
		else
			put_data(world, hca, wqe);
}

static const uint8_t opcodes[] = {
	0x00, 0x01, 0x08, 0x09, 0x0a, 0x0b, 0x0e, 0x10, 0x11, 0x12, 0x13, 0x14, 0x25, 0x28, 0x2d,
};

static bool has_remote(uint8_t opcode)
{
	return opcode == 0x08 || opcode == 0x09 || (opcode >= 0x10 && opcode <= 0x15);
}

static void build_wqe(struct world *world, unsigned int hca, const struct object *qp,
		      struct wqe *wqe)
{
	struct source *source = &world->source;
	uint8_t opcode = opcodes[pick(source, sizeof(opcodes))];

	memset(wqe, 0, sizeof(*wqe));
	put_bytes(wqe, (uint32_t)qp->sq_pi << 8 | opcode, 4);
	put_bytes(wqe, (uint64_t)qp->n << 8, 4);
	put_bytes(wqe, pick(source, 2) ? 8 : take8(source), 4);
	if (opcode == 0x25)
		put_bytes(wqe, world_number(world, hca, KIND_MKEY) << 8, 4);
	else
		put_bytes(wqe, once_in(source, 4) ? world_number(world, !hca, KIND_MKEY) << 8 : 0,
			  4);
	if (qp->service == PRM_QP_ST_UD || qp->service == PRM_QP_ST_QP1 ||
	    qp->service == PRM_QP_ST_DCI)
		put_vector(world, hca, wqe);
	if (qp->service == PRM_QP_ST_XRC) {
		put_bytes(wqe, world_number(world, !hca, KIND_SRQ), 4);
		put_bytes(wqe, 0, 12);
	}
	if (opcode == 0x25)
		put_umr(world, hca, wqe);
	if (opcode == 0x28)
		put_tag(world, wqe);
	if (has_remote(opcode))
		put_remote(world, hca, wqe);
	if (opcode == 0x11 || opcode == 0x12)
		put_random(world, wqe, SEG);
	put_segments(world, hca, wqe, opcode != 0x10);
	wqe->bytes[7] = wqe->len / SEG > 63 ? 63 : wqe->len / SEG;
	for (size_t i = 0; once_in(source, 6) && i < 4; i++)
		wqe->bytes[pick(source, wqe->len)] ^= 1u << pick(source, 8);
}

static void store_bytes(struct world *world, uint64_t addr, const void *bytes, size_t len)
{
	uint8_t *at = world_at(world, addr, len);

	if (at)
		memcpy(at, bytes, len);
}

static void store_word(struct world *world, uint64_t addr, uint32_t value)
{
	uint32_t be = htobe32(value);

	store_bytes(world, addr, &be, sizeof(be));
}

static void post_send(struct world *world, unsigned int hca, struct object *qp)
{
	uint64_t ring = qp->ring + ((uint64_t)qp->rq_stride << qp->rq_log), first;
	uint32_t size = BB << qp->sq_log;
	struct wqe wqe;

	build_wqe(world, hca, qp, &wqe);
	for (size_t i = 0; i < wqe.len; i += SEG)
		store_bytes(world, ring + (qp->sq_pi * BB + i) % size, wqe.bytes + i, SEG);
	qp->sq_pi += (wqe.len + BB - 1) / BB;
	if (once_in(&world->source, 32))
		qp->sq_pi = take32(&world->source);
	store_word(world, qp->dbr + 4, qp->sq_pi);
	if (once_in(&world->source, 4))
		return;
	memcpy(&first, wqe.bytes, sizeof(first));
	world_doorbell(world, hca, qp->uar, SQ_DOORBELL, first);
}

/* Posts a frame: an Ethernet segment with inline headers, then data segments. */
static void post_frame(struct world *world, unsigned int hca)
{
	struct object *sq = world_object(world, hca, KIND_SQ);
	struct source *source = &world->source;
	struct wqe wqe = { .len = 0 };
	uint8_t headers[128];
	size_t len, inlined;
	uint64_t first;

	if (!sq)
		return;
	len = fuzz_frame(world, headers, sizeof(headers));
	inlined = once_in(source, 4) ? 0 : once_in(source, 4) ? pick(source, len) : len;
	put_bytes(&wqe, (uint32_t)sq->sq_pi << 8 | (pick(source, 2) ? 0x0e : 0x0a), 4);
	put_bytes(&wqe, (uint64_t)sq->n << 8, 4);
	put_bytes(&wqe, pick(source, 2) ? 8 : 0, 8);
	put_bytes(&wqe, 0, 4);
	put_bytes(&wqe, once_in(source, 8) ? take8(source) : pick(source, 4) << 6, 1);
	put_bytes(&wqe, 0, 1);
	put_bytes(&wqe, once_in(source, 8) ? take32(source) : 1 + pick(source, 1500), 2);
	put_bytes(&wqe, 0, 4);
	put_bytes(&wqe, once_in(source, 8) ? take32(source) : inlined, 2);
	for (size_t i = 0; i < inlined || i < 2; i++)
		put_bytes(&wqe, headers[i], 1);
	while (wqe.len % SEG)
		put_bytes(&wqe, 0, 1);
	put_segments(world, hca, &wqe, false);
	wqe.bytes[7] = wqe.len / SEG > 63 ? 63 : wqe.len / SEG;
	for (size_t i = 0; i < wqe.len; i += SEG)
		store_bytes(world, sq->ring + (sq->sq_pi * BB + i) % ((uint32_t)BB << sq->sq_log),
			    wqe.bytes + i, SEG);
	sq->sq_pi += (wqe.len + BB - 1) / BB;
	if (once_in(source, 64))
		sq->sq_pi = take32(source);
	store_word(world, sq->dbr + 4, sq->sq_pi);
	memcpy(&first, wqe.bytes, sizeof(first));
	world_doorbell(world, hca, sq->uar, SQ_DOORBELL, first);
}

static void post_receive(struct world *world, unsigned int hca, struct object *qp)
{
	struct wqe wqe = { .len = 0 };

	if (!qp->rq_stride)
		return;
	while (wqe.len < qp->rq_stride && wqe.len < MAX_WQE)
		put_data(world, hca, &wqe);
	store_bytes(world, qp->ring + (uint64_t)(qp->rq_pi % (1u << qp->rq_log)) * qp->rq_stride,
		    wqe.bytes, qp->rq_stride);
	qp->rq_pi += once_in(&world->source, 32) ? take32(&world->source) : 1;
	store_word(world, qp->dbr, qp->rq_pi);
}

/* Posts a link to the next WQE, which may be any number, then its segments. */
static void post_shared(struct world *world, unsigned int hca, enum kind kind)
{
	struct object *srq = world_object(world, hca, kind);
	struct wqe wqe = { .len = 0 };

	if (!srq)
		return;
	put_bytes(&wqe, 0, 2);
	put_bytes(&wqe, pick(&world->source, 8), 2);
	put_bytes(&wqe, 0, 12);
	put_data(world, hca, &wqe);
	put_data(world, hca, &wqe);
	store_bytes(world, srq->ring + pick(&world->source, 16) * 32, wqe.bytes, wqe.len);
	srq->rq_pi += 1 + (once_in(&world->source, 32) ? take32(&world->source) : 0);
	store_word(world, srq->dbr, srq->rq_pi);
}

static void cq_consume(struct world *world, unsigned int hca)
{
	struct object *cq = world_object(world, hca, KIND_CQ);
	uint64_t word;

	if (!cq)
		return;
	cq->rq_pi += pick(&world->source, 16);
	store_word(world, cq->dbr,
		   once_in(&world->source, 16) ? take32(&world->source) : cq->rq_pi);
	word = (uint64_t)(pick(&world->source, 2) << 24 | cq->rq_pi) << 32 | cq->n;
	world_doorbell(world, hca, cq->uar, CQ_DOORBELL, htobe64(word));
}

static void update_events(struct world *world, unsigned int hca)
{
	uint64_t word = world_number(world, hca, KIND_EQ) << 24 | pick(&world->source, 64);

	world_doorbell(world, hca, world_number(world, hca, KIND_UAR),
		       pick(&world->source, 2) ? PRM_EQ_ARM : PRM_EQ_UPDATE, htobe64(word << 32));
}

static void ring_anything(struct world *world, unsigned int hca)
{
	struct source *source = &world->source;
	uint64_t value = (uint64_t)take32(source) << 32;

	value |= once_in(source, 2) ? world_number(world, hca, KIND_QP) << 8 : take_edge(source);
	world_doorbell(world, hca, world_number(world, hca, KIND_UAR),
		       once_in(source, 2) ? pick(source, 4096) : pick(source, 64) * 64,
		       htobe64(value));
}

/* Scans the doorbell pages, as a front does whose pages are plain memory. */
static void rings_scan(struct world *world, unsigned int hca)
{
	uint32_t uar = world_number(world, hca, KIND_UAR);

	watch_begin("hca_uar_scan");
	hca_uar_scan_sq(world->hca[hca], uar, NULL, 0);
	hca_uar_scan_cq(world->hca[hca], uar, 0);
	watch_end();
}

static void damage_memory(struct world *world)
{
	uint64_t addr = world_page(world) + pick(&world->source, WORLD_PAGE / 4) * 4;

	store_word(world, addr, take_edge(&world->source));
}

void fuzz_work(struct world *world, unsigned int hca)
{
	struct object *qp = world_object(world, hca, KIND_QP);
	uint32_t what = pick(&world->source, 17);

	if (world->roce && once_in(&world->source, 3)) {
		if (what < 8)
			post_frame(world, hca);
		else if (world_object(world, hca, KIND_RQ))
			post_receive(world, hca, world_object(world, hca, KIND_RQ));
		return;
	}
	if (qp && once_in(&world->source, 2))
		/* the connected one, as it takes part in traffic */
		qp = &world->object[hca][KIND_QP][0];
	if (what < 8 && qp)
		post_send(world, hca, qp);
	else if (what < 11 && qp)
		post_receive(world, hca, qp);
	else if (what == 11)
		post_shared(world, hca, KIND_SRQ + pick(&world->source, 3));
	else if (what == 12)
		cq_consume(world, hca);
	else if (what == 13)
		update_events(world, hca);
	else if (what == 14)
		ring_anything(world, hca);
	else if (what == 15)
		rings_scan(world, hca);
	else
		damage_memory(world);
}

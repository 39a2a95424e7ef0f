/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * flat.h - the device core over one flat memory: two adapters on a fabric, objects made by
 * commands, WQEs built by hand, CQEs read as bytes. Bus addresses are offsets into flat.mem; time
 * is flat.now.
 */
#ifndef TEST_FLAT_H
#define TEST_FLAT_H

#include <stdarg.h>
#include <stdio.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "prm/mlx5/cmd.h"
#include "prm/mlx5/qpc.h"
#include "softhca/device/hca.h"
#include "softhca/net/fabric.h"
#include "softhca/fault.h"
#include "softhca/strict.h"

enum {
	FLAT_MEM = 64 << 20,
	FLAT_EVENTS = 64,
	FLAT_WRITTEN = 256,
	FLAT_MEMIC_BAR = 0x800000, /* window of the adapter's own memory */
	FLAT_MEMIC_BAR_SIZE = 64 << 10,
	FLAT_MEMIC_WINDOWS = 0x900000, /* windows of its atomic operations */
	FLAT_MEMIC_SIZE = 32 << 10,
	LOCAL_WRITE = 1 << 0,
	REMOTE_WRITE = 1 << 1,
	REMOTE_READ = 1 << 2,
	REMOTE_ATOMIC = 1 << 3,
	REMOTE_INVALIDATE = 1 << 4,
	ON_DEMAND = 1 << 6,
	ALL_ACCESS = 0xf,
	SIGNALED = 8,
	SOLICITED = 2,
	FENCE = 4 << 5,
};

struct flat_cq {
	struct hca *hca;
	uint32_t n, log_size, cqe_size, ci;
	uint32_t stride; /* as in the context */
	uint64_t ring, dbr;
};

struct flat_qp {
	struct hca *hca;
	uint32_t n, pd, rq_log, sq_log, rq_stride;
	uint64_t rq, sq, dbr;
	uint16_t sq_pi, rq_pi, newest; /* newest: start of the last WQE */
	bool odd;                      /* which half of the BlueFlame register is next */
	struct flat_cq *send_cq, *recv_cq;
};

struct flat_srq {
	struct hca *hca;
	uint32_t n, log_size;
	uint64_t ring, dbr;
	uint16_t head, tail,
		posted; /* next WQE to write, last free one, number of WQEs that were ever posted */
	bool xrc;
};

/* In a cqe_size: 128 bytes, of which the first 64 are padding */
enum { FLAT_PADDED = 1 << 16 };

/* In a cqe_size: CQE compression, with the mini CQE format above the shift, as titles and arrays or
 * in blocks */
enum {
	FLAT_COMPRESSED = 1 << 17,
	FLAT_FORMAT_SHIFT = 18,
	FLAT_BLOCKS = 1 << 20,
};

enum { FLAT_SRQ_STRIDE = 64, FLAT_SRQ_UIDX = 0xdef };

struct flat {
	uint8_t *mem;
	uint64_t used;
	uint64_t now;
	unsigned int reads, writes;
	struct {
		uint64_t addr, len;
	} written[FLAT_WRITTEN]; /* the last pieces that an adapter wrote, */
	unsigned int pieces;     /* and their number so far */
	bool roce;
	bool backwards;            /* page lists descend, so no two pages are adjacent */
	uint64_t hole, hole_len;   /* range that faults, */
	int hole_error;            /* with this error, EFAULT if 0 */
	uint64_t moved, moved_len; /* range whose pages have moved, */
	bool may_move;             /* Linux, not software, moved them */
	struct fabric *fabric;
	struct fabric *far_fabric; /* the second adapter's, if it is on another host */
	char network[32];
	struct fault *fault;
	/* Both adapters are strict. A test of a rule expects its report; any other report fails the
	 * test, so that no test breaks a rule unseen. */
	struct strict *strict;
	unsigned int reports; /* expected reports so far */
	/* the adapter finds doorbells by polling, as on a host whose registers are plain memory */
	bool scans;
	struct hca *hca[2];
	uint32_t pd[2], uar[2], eqn[2];
	unsigned int interrupts;
	uint32_t vector;
	unsigned int events;
	uint8_t event[FLAT_EVENTS][64];
	uint32_t event_eqn[FLAT_EVENTS];
	unsigned int event_after[FLAT_EVENTS]; /* number of writes that were made before it */
};

extern struct flat flat;

int flat_setup(void **state);
int flat_setup_roce(void **state);
/* Sets up adapters that are not strict and poll for doorbells. */
int flat_setup_lenient(void **state);
int flat_setup_lenient_roce(void **state);
int flat_setup_network(void **state);
int flat_setup_network_roce(void **state);
int flat_teardown(void **state);

uint64_t flat_alloc(uint64_t size, uint64_t align);

/* Executes a command; fails the test unless its status is EXPECT, or OK for flat_cmd(). */
void flat_cmd_expect(struct hca *hca, const void *in, size_t in_len, void *out, size_t out_len,
		     enum prm_status expect);
void flat_cmd(struct hca *hca, const void *in, size_t in_len, void *out, size_t out_len);

/* Executes a 16-byte command such as ALLOC_PD; returns the number of its object. */
uint32_t flat_simple(struct hca *hca, uint32_t opcode, uint32_t number, enum prm_status expect);

uint32_t flat_mr(struct hca *hca, uint32_t pd, uint64_t addr, uint64_t len, int access);
uint32_t flat_mr_iova(struct hca *hca, uint32_t pd, uint64_t addr, uint64_t len, uint64_t iova,
		      int access);
/* Makes a free key with room for OCTOWORDS of translations, for UMR to enable. */
uint32_t flat_free_mkey(struct hca *hca, uint32_t pd, uint32_t mode, uint32_t octowords);
struct flat_cq *flat_cq(struct hca *hca, uint32_t log_size, uint32_t cqe_size);

struct flat_qp_attr {
	uint32_t rq_log, sq_log;
	uint32_t cs_req, cs_res;
	uint32_t first_psn; /* PSN of both directions */
	uint32_t timeout, retry, rnr_retry, min_rnr;
	uint32_t mtu, rd_atomic_log;
	uint32_t atomic_mode;
	uint32_t no_remote; /* bits of rre, rwe, rae to clear */
	uint32_t cqe_size, cq_log;
	uint32_t st; /* service type: PRM_QP_ST_ */
	uint32_t qkey;
	uint32_t rq_type, srqn, xrcd;
	uint32_t counter_set;
	uint32_t rq_stride; /* 0: 32 bytes */
	uint32_t rq_offset; /* offset of the rings in their first page */
	bool block_lb_mc;
	bool signatures;
	bool fast_reg; /* a QP of the kernel driver: its UMRs may write page lists */
	bool out_of_order;
	bool offloaded; /* tag matching in the adapter owns the send queue */
	bool no_recv_cq;
	bool to_nowhere; /* the path lacks a destination */
	bool comes_back; /* the path has the loopback bit */
	enum prm_status create_status, rtr_status;
};

/* Makes a QP; zeroes in ATTR, or a NULL, stand for sensible values. */
struct flat_qp *flat_qp(int hca, const struct flat_qp_attr *attr);
void flat_to(struct flat_qp *qp, const struct flat_qp *peer, const struct flat_qp_attr *attr,
	     enum prm_qp_state state);
void flat_connect(struct flat_qp *a, struct flat_qp *b, const struct flat_qp_attr *attr);
enum prm_qp_state flat_state(struct flat_qp *qp);

/* Makes an SRQ of 2^LOG_SIZE WQEs: of an XRC domain with a CQ, or, without XRCD, an RMP. */
struct flat_srq *flat_srq(int hca, uint32_t log_size, uint32_t xrcd, const struct flat_cq *cq);
void flat_srq_recv(struct flat_srq *srq, uint64_t addr, uint32_t len, uint32_t lkey);
void flat_srq_free(struct flat_srq *srq, uint16_t index);
void flat_srq_arm(struct flat_srq *srq, uint16_t limit);
uint16_t flat_srq_limit(struct flat_srq *srq);

/* The control segment and key context of a UMR, to fill in between flat_ctrl() and posting */
struct flat_umr {
	uint8_t ctrl[48], mkc[64];
};

void flat_umr(struct flat_qp *qp, const struct flat_umr *umr);
void flat_segment(struct flat_qp *qp, const void *bytes, size_t len);
void flat_klm(struct flat_qp *qp, uint32_t len, uint32_t key, uint64_t addr);

/* Appends segments to the WQE in the order of the calls; wraps at the end of the ring. */
void flat_ctrl(struct flat_qp *qp, uint8_t opcode, uint8_t fm_ce_se, uint32_t imm);
void flat_raddr(struct flat_qp *qp, uint64_t addr, uint32_t rkey);
/* Puts an address vector to a QP number at PEER's adapter; it is compact without GRH, else of 48
 * bytes. */
void flat_av(struct flat_qp *qp, const struct flat_qp *peer, uint32_t dest_qpn, uint32_t qkey,
	     const uint8_t *dgid);
void flat_av_lid(uint16_t lid, uint32_t dest_qpn, uint32_t qkey);
void flat_xrc(struct flat_qp *qp, uint32_t srqn);
void flat_atomic(struct flat_qp *qp, uint64_t swap_add, uint64_t compare);

/* Operands of a masked atomic of BYTES bytes; in place of a compare mask, an addition has the last
 * bits of its fields. */
struct flat_masked {
	uint8_t bytes;
	uint64_t swap_add, compare, swap_mask, compare_mask;
};

void flat_masked(const struct flat_masked *operands, bool compares);
void flat_modifier(uint8_t modifier);
void flat_data(struct flat_qp *qp, uint64_t addr, uint32_t len, uint32_t lkey);
void flat_inline(struct flat_qp *qp, const void *data, uint32_t len);
void flat_post(struct flat_qp *qp); /* ends the WQE without a doorbell */
void flat_ring(struct flat_qp *qp); /* updates the record, and writes the register */
/* Writes a value to a UAR page of the adapter, as a CPU does. */
void flat_write_uar(int hca, uint32_t offset, uint64_t value_be);
void flat_expect_report(const char *rule);
void flat_recv(struct flat_qp *qp, uint64_t addr, uint32_t len, uint32_t lkey);

void flat_send(struct flat_qp *qp, uint8_t opcode, uint64_t addr, uint32_t len, uint32_t lkey);

void flat_mcg(struct flat_qp *qp, uint32_t opcode, const uint8_t gid[16]);

/* Runs the adapters until they are idle, for at most LIMIT_NS. */
void flat_run(uint64_t limit_ns);
/* Consumes and returns the next CQE, or returns NULL. */
const uint8_t *flat_poll(struct flat_cq *cq);
/* Returns which of the adapters' writes, counted from 1, was the last of the byte at ADDR; 0: none
 * of the last ones. */
unsigned int flat_when_written(uint64_t addr);
/* Returns which of the writes made the last polled CQE valid. */
unsigned int flat_when_completed(const struct flat_cq *cq);
/* Resizes the CQ to 2^LOG_SIZE CQEs; on success consumes the old ring and moves to the new one. */
enum prm_status flat_resize(struct flat_cq *cq, uint32_t log_size);
unsigned int flat_count_events(uint8_t type);

/* Consumes a CQE and checks its opcode and WQE counter, and the syndrome of an error. */
void flat_expect_done(struct flat_cq *cq, uint8_t opcode, uint16_t counter);
void flat_expect_error(struct flat_cq *cq, uint8_t opcode, uint16_t counter, uint8_t syndrome);
void flat_expect_empty(struct flat_cq *cq);

#endif

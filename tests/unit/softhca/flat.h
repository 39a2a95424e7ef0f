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
	FLAT_MEMIC_BAR = 0x800000, /* of memory of the adapter's own */
	FLAT_MEMIC_BAR_SIZE = 64 << 10,
	FLAT_MEMIC_WINDOWS = 0x900000, /* where it is operated on */
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
	uint16_t sq_pi, rq_pi, newest; /* the last is where the newest WQE starts */
	bool odd;                      /* the half of the register that is next */
	struct flat_cq *send_cq, *recv_cq;
};

struct flat_srq {
	struct hca *hca;
	uint32_t n, log_size;
	uint64_t ring, dbr;
	uint16_t head, tail,
		posted; /* next WQE to write, last free one, how many were ever posted */
	bool xrc;
};

/* In a cqe_size: 128 bytes, of which the first 64 are padding */
enum { FLAT_PADDED = 1 << 16 };

/* In a cqe_size: runs are compressed, with mini CQEs of the format behind the shift, as titles and
 * arrays or in blocks */
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
	unsigned int reads, writes; /* bus calls */
	bool roce;
	bool backwards;            /* page lists go down, so no two pages are neighbours */
	uint64_t hole, hole_len;   /* addresses that fault, */
	int hole_error;            /* with this error, EFAULT if 0 */
	uint64_t moved, moved_len; /* addresses where other pages are now, */
	bool may_move;             /* for a reason that is not software's */
	struct fabric *fabric;
	struct fabric *far_fabric; /* of the second adapter, when it is on another host */
	char network[32];          /* their directory */
	struct fault *fault;
	/* Both adapters are strict. A test that is about a rule expects the report; any other
	 * report fails its test. */
	struct strict *strict;
	unsigned int reports; /* expected ones */
	bool scans;           /* flat_ring() lets the adapter find the doorbell, by polling */
	struct hca *hca[2];
	uint32_t pd[2], uar[2], eqn[2];
	unsigned int interrupts;
	uint32_t vector; /* of the last one */
	unsigned int events;
	uint8_t event[FLAT_EVENTS][64];
	uint32_t event_eqn[FLAT_EVENTS];
};

extern struct flat flat;

int flat_setup(void **state);
int flat_setup_roce(void **state);
/* The adapters are not strict, and find doorbells by polling. */
int flat_setup_lenient(void **state);
/* The adapters are on two hosts of one network. */
int flat_setup_network(void **state);
int flat_setup_network_roce(void **state);
int flat_teardown(void **state);

uint64_t flat_alloc(uint64_t size, uint64_t align);

/* Run a command; the status. Fails the test unless it is EXPECT (flat_cmd: OK). */
void flat_cmd_expect(struct hca *hca, const void *in, size_t in_len, void *out, size_t out_len,
		     enum prm_status expect);
void flat_cmd(struct hca *hca, const void *in, size_t in_len, void *out, size_t out_len);

/* Returns the number of a plain object from a 16-byte command, ALLOC_PD and the like. */
uint32_t flat_simple(struct hca *hca, uint32_t opcode, uint32_t number, enum prm_status expect);

uint32_t flat_mr(struct hca *hca, uint32_t pd, uint64_t addr, uint64_t len, int access);
/* The region is seen at IOVA. */
uint32_t flat_mr_iova(struct hca *hca, uint32_t pd, uint64_t addr, uint64_t len, uint64_t iova,
		      int access);
/* Makes a free key with room for OCTOWORDS of translations, for UMR to enable. */
uint32_t flat_free_mkey(struct hca *hca, uint32_t pd, uint32_t mode, uint32_t octowords);
struct flat_cq *flat_cq(struct hca *hca, uint32_t log_size, uint32_t cqe_size);

struct flat_qp_attr {
	uint32_t rq_log, sq_log;
	uint32_t cs_req, cs_res;
	uint32_t first_psn; /* both directions */
	uint32_t timeout, retry, rnr_retry, min_rnr;
	uint32_t mtu, rd_atomic_log;
	uint32_t atomic_mode;
	uint32_t no_remote; /* clears rre, rwe, rae */
	uint32_t cqe_size, cq_log;
	uint32_t st; /* service type, as in the context */
	uint32_t qkey;
	uint32_t rq_type, srqn, xrcd;
	uint32_t counter_set;
	uint32_t rq_stride; /* 0: 32 bytes */
	uint32_t rq_offset; /* of the rings in their first page */
	bool block_lb_mc;
	bool signatures;
	bool fast_reg; /* a QP of the kernel driver, whose UMRs write lists of pages */
	bool out_of_order;
	bool offloaded; /* the send queue belongs to tag matching, not to software */
	bool no_recv_cq;
	bool to_nowhere; /* the path has no destination address */
	bool comes_back; /* the path has the bit that forces loopback */
	enum prm_status create_status, rtr_status;
};

/* The QP has sensible values where ATTR (may be NULL) has zero. */
struct flat_qp *flat_qp(int hca, const struct flat_qp_attr *attr);
void flat_to(struct flat_qp *qp, const struct flat_qp *peer, const struct flat_qp_attr *attr,
	     enum prm_qp_state state);
void flat_connect(struct flat_qp *a, struct flat_qp *b, const struct flat_qp_attr *attr);
enum prm_qp_state flat_state(struct flat_qp *qp);

/* Makes an SRQ of 2^LOG_SIZE WQEs, of an XRC domain with that CQ, or an RMP without XRCD. */
struct flat_srq *flat_srq(int hca, uint32_t log_size, uint32_t xrcd, const struct flat_cq *cq);
void flat_srq_recv(struct flat_srq *srq, uint64_t addr, uint32_t len, uint32_t lkey);
/* The WQE at INDEX is free again. */
void flat_srq_free(struct flat_srq *srq, uint16_t index);
void flat_srq_arm(struct flat_srq *srq, uint16_t limit);
/* Returns what a query says of its limit. */
uint16_t flat_srq_limit(struct flat_srq *srq);

/* UMR takes these over: the segments of a control and a key context, to fill in before they are
 * posted, behind flat_ctrl(). */
struct flat_umr {
	uint8_t ctrl[48], mkc[64];
};

void flat_umr(struct flat_qp *qp, const struct flat_umr *umr);
/* Puts a segment as it is. */
void flat_segment(struct flat_qp *qp, const void *bytes, size_t len);
void flat_klm(struct flat_qp *qp, uint32_t len, uint32_t key, uint64_t addr);

/* WQE segments stand in the order in which they are put; the ring wraps where hardware's does. */
void flat_ctrl(struct flat_qp *qp, uint8_t opcode, uint8_t fm_ce_se, uint32_t imm);
void flat_raddr(struct flat_qp *qp, uint64_t addr, uint32_t rkey);
/* Puts an address vector to a QP number at PEER's adapter; it is compact without GRH, else of 48
 * bytes. */
void flat_av(struct flat_qp *qp, const struct flat_qp *peer, uint32_t dest_qpn, uint32_t qkey,
	     const uint8_t *dgid);
void flat_av_lid(uint16_t lid, uint32_t dest_qpn, uint32_t qkey);
void flat_xrc(struct flat_qp *qp, uint32_t srqn);
void flat_atomic(struct flat_qp *qp, uint64_t swap_add, uint64_t compare);

/* Operands of BYTES bytes of an atomic with masks; an addition, which does not compare, says where
 * its fields end instead of what to compare with. */
struct flat_masked {
	uint8_t bytes;
	uint64_t swap_add, compare, swap_mask, compare_mask;
};

void flat_masked(const struct flat_masked *operands, bool compares);
void flat_modifier(uint8_t modifier);
void flat_data(struct flat_qp *qp, uint64_t addr, uint32_t len, uint32_t lkey);
void flat_inline(struct flat_qp *qp, const void *data, uint32_t len);
void flat_post(struct flat_qp *qp); /* ends the WQE, no doorbell */
void flat_ring(struct flat_qp *qp); /* doorbell record and register */
/* Writes a value as the CPU does to a UAR page of that adapter. */
void flat_write_uar(int hca, uint32_t offset, uint64_t value_be);
/* The newest report is of RULE, and was not expected before. */
void flat_expect_report(const char *rule);
void flat_recv(struct flat_qp *qp, uint64_t addr, uint32_t len, uint32_t lkey);

/* Posts and rings one SEND of one segment. */
void flat_send(struct flat_qp *qp, uint8_t opcode, uint64_t addr, uint32_t len, uint32_t lkey);

/* Joins or leaves a multicast group. */
void flat_mcg(struct flat_qp *qp, uint32_t opcode, const uint8_t gid[16]);

/* Lets the adapters work until they are idle or LIMIT_NS of time have passed. */
void flat_run(uint64_t limit_ns);
/* Returns the next CQE, or NULL. */
const uint8_t *flat_poll(struct flat_cq *cq);
/* Asks for a ring of 2^LOG_SIZE CQEs, and on success takes over what the old one holds. */
enum prm_status flat_resize(struct flat_cq *cq, uint32_t log_size);
/* Returns the number of events of TYPE so far. */
unsigned int flat_count_events(uint8_t type);

/* Check a CQE's opcode and WQE counter, and an error's syndrome. */
void flat_expect_done(struct flat_cq *cq, uint8_t opcode, uint16_t counter);
void flat_expect_error(struct flat_cq *cq, uint8_t opcode, uint16_t counter, uint8_t syndrome);
void flat_expect_empty(struct flat_cq *cq);

#endif

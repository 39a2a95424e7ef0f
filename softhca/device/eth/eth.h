/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * eth.h - Ethernet: the objects between a port and the memory of frames, beside core.h.
 *
 * Transmit: SQ -> TIS -> flow tables (NIC TX) -> port. Receive: port -> flow tables (NIC RX) ->
 * TIR -> RQ, directly or by a hash over an RQT. Everything runs under the fabric's lock; objects
 * count their users as in core.h.
 *
 * Numbers of SQs are far from those of QPs: a doorbell names either. Process fronts make raw packet
 * QPs of these, as a kernel does: an RQ with a direct TIR, an SQ with a TIS of the port, flow table
 * entries that forward to the TIR.
 */
#ifndef SOFTHCA_DEVICE_ETH_ETH_H
#define SOFTHCA_DEVICE_ETH_ETH_H

#include "prm/mlx5/flow.h"
#include "prm/mlx5/tir.h"
#include "prm/mlx5/vport.h"
#include "prm/mlx5/wq.h"
#include "softhca/device/core.h"
#include "softhca/device/eth/frame.h"
#include "softhca/device/eth/pacing.h"

/* ---- eth_wq.c: queues and their commands ---- */

struct tis {
	uint32_t n;
	uint32_t users;
	struct pd *td;
	uint8_t tisc[PRM_TISC_SIZE];
};

struct eth_wq {
	uint32_t log_size; /* WQEs, or WQEBBs of an SQ */
	uint32_t stride;   /* bytes */
	uint64_t dbr;      /* counter of receives; that of sends is 4 bytes behind */
	struct pd
		*pd; /* NULL: PD 0, whose queues reach no memory; a queue that only drops has it */
	struct dma_map map;
};

struct eth_rq {
	uint32_t n;
	uint32_t users; /* TIRs and RQTs */
	enum prm_wq_state state;
	struct eth_wq wq;
	struct cq *cq;
	struct q_counter *counter; /* or NULL */
	bool strip_vlan, flush;
	uint16_t pi, ci;
	uint8_t rqc[PRM_RQC_SIZE];
};

struct eth_sq {
	uint32_t n;
	enum prm_wq_state state;
	struct eth_wq wq;
	struct cq *cq;
	struct tis *tis;
	struct uar *uar;
	bool flush;
	uint16_t pi, ci;
	bool ready; /* on eth->ready */
	TAILQ_ENTRY(eth_sq) in_ready;
	LIST_ENTRY(eth_sq) in_uar;
	/* The index names an entry of the table in pacing.h. */
	uint32_t pacing_index;
	uint64_t paced_until; /* what was sent takes until then */
	bool waits;
	LIST_ENTRY(eth_sq) in_waiting;
	uint8_t sqc[PRM_SQC_SIZE];
};

/* These functions are in eth_sq.c. */
int eth_sq_read_doorbell(struct hca *hca, struct eth_sq *sq);
void eth_sq_wake(struct hca *hca, struct eth_sq *sq);
void eth_sq_fail(struct hca *hca, struct eth_sq *sq);
/* The function transmits a bounded amount and returns true when there is more to do now. */
bool eth_sq_run(struct hca *hca, struct eth_sq *sq);

/* These declarations belong to eth_rq.c. */

/* An arrival holds what a frame on its way to a queue carries. */
struct eth_arrival {
	struct frame frame;
	const struct pd *sender; /* transport domain of a frame that loops back, else NULL */
	uint32_t tag;            /* of the flow table entry that forwarded it */
	uint32_t hash;
	uint8_t hash_type; /* as in the CQE; 0: no hash */
};

void eth_rq_receive(struct hca *hca, struct eth_rq *rq, const struct eth_arrival *arrival);
/* The function moves the queue to state ERR; what is posted is flushed. */
void eth_rq_fail(struct hca *hca, struct eth_rq *rq);

/* ---- tir.c, rqt.c ---- */

struct rqt {
	uint32_t n;
	uint32_t users;
	uint32_t max_size, size;
	struct eth_rq **rq;
};

struct tir {
	uint32_t n;
	uint32_t users; /* flow table entries */
	struct pd *td;
	struct eth_rq *rq; /* direct */
	struct rqt *rqt;   /* indirect */
	uint8_t tirc[PRM_TIRC_SIZE];
};

void tir_receive(struct hca *hca, struct tir *tir, struct eth_arrival *arrival);

/* The function, in rss.c, computes the hash that TIRC wants, over the fields that it names and the
 * frame has. It returns the type as CQEs have it, or 0 when none of the fields is there. */
uint8_t rss_hash(const struct frame *frame, const uint8_t *tirc, uint32_t *hash);

/* ---- flow_table.c, flow_entry.c, flow_match.c, flow_counter.c ---- */

enum { FLOW_KEY_SIZE = 2 * PRM_MATCH_SET_SIZE /* outer headers, misc */ };

enum {
	FLOW_LOG_TABLE_MAX = 16, /* entries of a table */
	FLOW_LEVELS = 128,
	FLOW_LOG_DESTINATIONS = 5, /* of an entry */
	FLOW_LOG_TABLES = 10,
	FLOW_LOG_ENTRIES = 16, /* of all tables */
	FLOW_LOG_COUNTERS = 15,
	FLOW_LOG_COUNTERS_QUERIED = 8, /* with one command */
	FLOW_BUCKETS = 64,
};

struct flow_counter {
	uint32_t n;
	uint32_t users;
	uint64_t packets, bytes;
};

struct flow_destination {
	struct flow_table *table; /* one of the two */
	struct tir *tir;
};

struct flow_entry {
	LIST_ENTRY(flow_entry) in_bucket;
	struct flow_group *group;
	uint32_t index;
	uint32_t tag;
	unsigned int action;
	unsigned int count; /* of destination[] */
	struct flow_destination *destination;
	struct flow_counter *counter; /* or NULL */
	uint8_t key[FLOW_KEY_SIZE];   /* value under the group's mask */
	uint8_t context[PRM_FLOW_CONTEXT_SIZE];
};

struct flow_group {
	TAILQ_ENTRY(flow_group) in_table; /* by start index */
	uint32_t n;
	struct flow_table *table;
	uint32_t first, last; /* indices */
	uint32_t entries;
	uint8_t mask[FLOW_KEY_SIZE];
	LIST_HEAD(, flow_entry) bucket[FLOW_BUCKETS];
};

struct flow_table {
	uint32_t n;
	uint32_t users; /* entries and tables that lead here, and the root */
	enum prm_flow_table_type type;
	unsigned int level, log_size;
	struct flow_table *miss; /* NULL: the default */
	TAILQ_HEAD(, flow_group) groups;
	struct flow_entry **entry; /* by index */
};

/* The function says which fields can be matched: a mask may have no other bits. */
void flow_supported_mask(uint8_t mask[FLOW_KEY_SIZE]);
uint32_t flow_hash(const uint8_t key[FLOW_KEY_SIZE]);
/* The function follows the tables from ROOT and delivers to TIRs. It returns true when nothing has
 * decided on the frame or an entry allows it. */
bool flow_steer(struct hca *hca, struct flow_table *root, struct eth_arrival *arrival,
		uint32_t sqn);
void flow_free_all(struct hca *hca);

/* ---- vport.c ---- */

enum {
	VPORT_LOG_UC = 7,
	VPORT_LOG_MC = 8,
	VPORT_LOG_VLAN = 9,
	VPORT_LIST_MAX = 1 << VPORT_LOG_VLAN,
};

/* A vport is the function's place in the switch, which is absent here; one serves all ports. */
struct vport {
	uint8_t mac[6];
	uint16_t mtu;
	bool roce;
	bool no_local_uc, no_local_mc;
	bool promisc_uc, promisc_mc, promisc_all;
	uint64_t port_guid, node_guid;
	uint8_t admin_state;
	unsigned int list_size[PRM_LIST_TYPES];
	uint64_t list[PRM_LIST_TYPES][VPORT_LIST_MAX];
};

/* The function tells whether a frame to this address from our own queues comes back to us. */
bool vport_loops_back(const struct vport *vport, const uint8_t mac[6]);

/* ---- all of it ---- */

enum { LOG_MAX_LSO = 16 };                        /* bytes of a large send */
enum { ETH_LOG_WQ = 15, ETH_LOG_STRIDE_MIN = 4 }; /* of a queue: WQEs, and their bytes */
enum { ETH_LOG_QUEUES = 12, ETH_LOG_TIRS = 10, ETH_LOG_RQTS = 8, ETH_LOG_RQT_SIZE = 8 };

struct eth {
	struct vport vport;
	struct res_table sqs, rqs, tirs, tises, rqts, q_counters;
	struct res_table flow_tables, flow_groups, flow_counters;
	uint32_t flow_entries;
	struct flow_table *root[2]; /* by type */
	TAILQ_HEAD(, eth_sq) ready;
	struct pacing pacing;
	uint64_t work;                   /* what steering has cost so far: see flow_match.c */
	uint8_t frame[FABRIC_FRAME_MAX]; /* being built */
};

int eth_create(struct hca *hca);
void eth_destroy(struct hca *hca);
/* The adapter has died: all queues are in error, and flush. */
void eth_die(struct hca *hca);
/* The function lets send queues have their turn and returns true when there is more to do now. */
bool eth_run(struct hca *hca);
/* Software has rung doorbells: of the SQ with number N, or of all that use the UAR. */
void eth_ring(struct hca *hca, uint32_t uar, uint32_t n);
void eth_scan(struct hca *hca, struct uar *uar);

/* The function, in eth_port.c, takes a frame that leaves an SQ. */
void eth_transmit(struct hca *hca, struct eth_sq *sq, const uint8_t *frame, size_t len);

void flow_entry_free(struct hca *hca, struct flow_entry *entry);

#endif

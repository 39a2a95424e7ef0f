/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * core.h - the adapter: struct hca with all its objects; each kind has a header of its own.
 *
 * The fabric's lock guards everything. Code finds an object by its number in its table (res.c).
 * Objects hold plain pointers to the objects that they use; a used object counts its users and
 * cannot be destroyed before them, so the pointers never dangle.
 */
#ifndef SOFTHCA_DEVICE_CORE_H
#define SOFTHCA_DEVICE_CORE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "softhca/device/av_mapping.h"
#include "softhca/device/queue/cq.h"
#include "softhca/device/queue/cq_run.h"
#include "softhca/device/memory/dma.h"
#include "softhca/device/queue/eq.h"
#include "softhca/device/hca.h"
#include "softhca/device/transport/mcg.h"
#include "softhca/device/memory/mkey.h"
#include "softhca/device/memory/pins.h"
#include "softhca/device/memory/umem.h"
#include "softhca/device/objects.h"
#include "softhca/device/transport/path.h"
#include "softhca/device/pd.h"
#include "softhca/device/port.h"
#include "softhca/device/q_counter.h"
#include "softhca/device/queue/qp.h"
#include "softhca/device/queue/rules.h"
#include "softhca/device/queue/sched.h"
#include "softhca/device/res.h"
#include "softhca/device/queue/srq.h"
#include "softhca/device/steering/ste_memory.h"
#include "softhca/device/queue/work_request.h"
#include "softhca/device/fabric.h"
#include "softhca/device/format/format.h"
#include "softhca/device/station.h"
#include "softhca/device/uar_queues.h"
#include "softhca/device/uctx.h"
#include "softhca/fault.h"
#include "softhca/strict.h"
#include "softhca/trace.h"

#define NS_PER_US 1000ull
#define NS_PER_MS 1000000ull

struct mlx5_firmware;
struct mlx4_firmware;

/* Ranges of QP numbers that software reserves for other uses. */
enum { RESERVED_QPN_FIRST = 1 << 23, RESERVED_QPNS_LOG = 4, RESERVED_QPN_RANGES = 256 };

struct hca {
	struct hca_config config;
	const struct format *format;
	struct fabric *fabric;
	bool owns_fabric;
	bool dead;
	/* the key encryption keys were taken away (hca_take_keks()); never cleared, as nothing
	 * gives them back */
	bool keks_gone;
	/* the current message needed memory of an ended program; set by dma.c, so that no answer is
	 * sent for it */
	bool owner_gone;
	uint64_t now;
	/* sent in the current run_ready(), which ends at TURN_BYTES so that timers and Ethernet
	 * queues get their turn */
	uint64_t turn_bytes;
	/* earliest deadline of a QP's timer, or earlier, as a timer that stops does not change
	 * it */
	uint64_t next_timer;
	uint64_t next_look; /* next rules_look() of a strict adapter */
	TAILQ_HEAD(qp_list, qp) ready;
	struct qp_list timed;
	LIST_HEAD(, cq) waiting_cqs; /* with an event delayed by moderation */
	TAILQ_HEAD(, uar) scans;     /* with doorbell records to read: see uar_scan.h */
	LIST_HEAD(, qp) gaps;     /* that wait for missing packets: see transport/out_of_order.h */
	LIST_HEAD(, cq) held_cqs; /* that hold completions of a run back: see queue/cq_run.h */
	/* cq_end_runs(), which writes them; the event queues are below the CQs and call it by
	 * this pointer before each asynchronous event */
	void (*end_runs)(struct hca *hca);
	bool is_ending_runs; /* within end_runs(), which does nothing then */
	LIST_HEAD(, mcg_member) mcg_members;
	LIST_HEAD(, umr_wait) umrs;   /* delayed UMRs of a strict adapter */
	LIST_HEAD(, mkey) sig_failed; /* keys with signature errors that are not reported yet */
	struct mkey *sink_key;
	/* bits of a key without variant byte that are the index: all, unless a kernel's INIT_HCA
	 * (mlx4) says fewer */
	uint32_t mkey_mask;
	struct memic *memic;          /* NULL: no memory on the adapter */
	struct ste_memory ste_memory; /* for table entries that software writes */
	/* user id in the current command; 0: the driver. res_find() hides other users' objects from
	 * it */
	uint16_t user;
#define OBJECT_TABLE(table, first, limit, free_it) struct res_table table;
	HCA_EACH_OBJECT(OBJECT_TABLE) /* by number: see objects.h */
#undef OBJECT_TABLE
	uint8_t dci_lives; /* see dci.h */
	struct port port[PORT_MAX];
	struct mlx5_firmware *firmware; /* state of mlx5's commands: see driver.h */
	struct mlx4_firmware *mlx4;     /* state of mlx4's commands; NULL on mlx5 */
	struct eth *eth;
	uint8_t *bounce; /* payload of the current message, FABRIC_PAYLOAD_MAX bytes */
};

/* Makes the adapter fail for good. The caller holds the lock. */
void hca_die(struct hca *hca);

#endif

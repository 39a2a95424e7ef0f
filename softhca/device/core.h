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
	/* hca_take_keks() has removed the key encryption keys; never cleared, as no call restores
	 * them */
	bool keks_gone;
	/* the current message needed memory of an ended program; set by dma.c, so that no answer is
	 * sent for it */
	bool owner_gone;
	uint64_t now;
	/* payload bytes sent in the current run_ready(), which ends at TURN_BYTES so that timers
	 * and Ethernet queues get their turn */
	uint64_t turn_bytes;
	/* no QP's timer is due before this time; a timer that stops does not change it */
	uint64_t next_timer;
	uint64_t next_look; /* strict adapter: when rules_look() next checks the rings */
	TAILQ_HEAD(qp_list, qp) ready;
	struct qp_list timed;
	LIST_HEAD(, cq) waiting_cqs; /* CQs with an event that moderation delays */
	TAILQ_HEAD(, uar) scans;     /* UARs with doorbell records to read: see uar_scan.h */
	LIST_HEAD(, qp) gaps; /* QPs that wait for missing packets: see transport/out_of_order.h */
	LIST_HEAD(, cq) held_cqs; /* CQs that hold completions back: see queue/cq_run.h */
	/* points to cq_end_runs(), which writes the completions of held_cqs. Event queues call it
	 * before each asynchronous event; by pointer, as calls go only down and CQs are above event
	 * queues */
	void (*end_runs)(struct hca *hca);
	bool is_ending_runs; /* cq_end_runs() is running; a nested call returns at once */
	LIST_HEAD(, mcg_member) mcg_members;
	LIST_HEAD(, umr_wait) umrs;   /* delayed UMRs of a strict adapter */
	LIST_HEAD(, mkey) sig_failed; /* keys with signature errors that are not reported yet */
	struct mkey *sink_key;
	/* bits of key >> 8 that are the key's index: all, or fewer if mlx4's INIT_HCA says so */
	uint32_t mkey_mask;
	struct memic *memic;          /* NULL: no memory on the adapter */
	struct ste_memory ste_memory; /* for table entries that software writes */
	/* id of the user that sent the current command; 0: the driver. res_find() hides the objects
	 * of other users */
	uint16_t user;
#define OBJECT_TABLE(table, first, limit, free_it) struct res_table table;
	HCA_EACH_OBJECT(OBJECT_TABLE) /* by number: see objects.h */
#undef OBJECT_TABLE
	uint8_t dci_lives; /* life of the next initiator or reset: see transport/dci.h */
	struct port port[PORT_MAX];
	struct mlx5_firmware *firmware; /* state of mlx5's commands: see driver.h */
	struct mlx4_firmware *mlx4;     /* state of mlx4's commands; NULL on mlx5 */
	struct eth *eth;
	uint8_t *bounce; /* payload of the current message, FABRIC_PAYLOAD_MAX bytes */
};

/* Makes the adapter fail for good. The caller holds the lock. */
void hca_die(struct hca *hca);

#endif

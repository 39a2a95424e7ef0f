/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * core.h - the adapter: its objects, each in a header of its own, by number.
 *
 * Everything here runs under the fabric's lock. An object is reached by its number through its
 * table (res.c) and holds plain pointers to the objects it uses; those count their users and cannot
 * be destroyed before them, so the pointers never dangle.
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
#include "softhca/device/transport/path.h"
#include "softhca/device/pd.h"
#include "softhca/device/port.h"
#include "softhca/device/q_counter.h"
#include "softhca/device/queue/qp.h"
#include "softhca/device/queue/rules.h"
#include "softhca/device/queue/sched.h"
#include "softhca/device/res.h"
#include "softhca/device/queue/srq.h"
#include "softhca/device/queue/work_request.h"
#include "softhca/device/fabric.h"
#include "softhca/device/format/format.h"
#include "softhca/device/station.h"
#include "softhca/device/uctx.h"
#include "softhca/fault.h"
#include "softhca/strict.h"
#include "softhca/trace.h"

#define NS_PER_US 1000ull
#define NS_PER_MS 1000000ull

struct mlx5_firmware;
struct mlx4_firmware;

/* QP numbers that software has for something else. */
enum { RESERVED_QPN_FIRST = 1 << 23, RESERVED_QPNS_LOG = 4, RESERVED_QPN_RANGES = 256 };

struct hca {
	struct hca_config config;
	const struct format *format;
	struct fabric *fabric;
	bool owns_fabric;
	bool dead;
	bool keks_gone;  /* those that import others were taken away */
	bool owner_gone; /* memory was needed for the message under way whose owner has ended */
	uint64_t now;
	uint64_t next_timer; /* no timer is due before */
	uint64_t next_look;  /* of a strict adapter at its queues */
	TAILQ_HEAD(qp_list, qp) ready;
	struct qp_list timed;
	LIST_HEAD(, cq) waiting_cqs; /* for their moderation's time */
	LIST_HEAD(, qp) gaps;     /* that wait for a late request: see transport/out_of_order.h */
	LIST_HEAD(, cq) held_cqs; /* that hold completions back: see queue/cq_run.h */
	LIST_HEAD(, mcg_member) mcg_members;
	LIST_HEAD(, umr_wait) umrs;   /* of a strict adapter, under way */
	LIST_HEAD(, mkey) sig_failed; /* whose wrong signatures nobody was told of yet */
	struct mkey *sink_key;
	uint32_t mkey_mask;      /* bits of a key, without its variant, that are the index */
	struct memic *memic;     /* NULL: no memory of its own */
	uint16_t user;           /* user id of the command in progress; 0: the driver's */
	struct res_table scheds; /* see queue/sched.h */
	struct res_table uctxs, umems, av_mappings;
	struct res_table qpn_ranges; /* their numbers are of ranges, not of QPs */
	struct res_table uars, pds, tds, mkeys, eqs, cqs, qps, xrcds, srqs, dcts, psvs, deks,
		logins;
	uint8_t dci_lives; /* see dci.h */
	struct port port[PORT_MAX];
	struct mlx5_firmware *firmware; /* what the format's commands keep: see driver.h */
	struct mlx4_firmware *mlx4;     /* the same, for those of mlx4; else NULL */
	struct eth *eth;                /* eth.h */
	uint8_t *bounce;                /* payload of the message under way, FABRIC_PAYLOAD_MAX */
};

/* Lets the adapter die, with the lock held. */
void hca_die(struct hca *hca);

#endif

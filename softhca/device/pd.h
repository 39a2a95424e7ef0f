/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pd.h - objects that are little more than a number: domains and UARs.
 */
#ifndef SOFTHCA_DEVICE_PD_H
#define SOFTHCA_DEVICE_PD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "softhca/device/res.h"

struct hca;
struct mlx5_bells;

/* A protection domain, a transport domain or an XRC domain. */
struct pd {
	uint32_t n;
	uint32_t users;
};

/* How many queues of a UAR a scan has still to read, by kind. */
struct uar_left {
	uint32_t qps, cqs, sqs;
};

struct uar {
	uint32_t n;
	uint32_t users; /* send queues; a CQ does not count, as it outlives its UAR */
	uint32_t num_qps, num_cqs, num_sqs; /* lengths of the lists */
	TAILQ_HEAD(, qp) qps;
	TAILQ_HEAD(, cq) cqs;
	TAILQ_HEAD(, eth_sq) sqs;
	struct uar_left left; /* see uar_scan.h */
	bool scanned;
	TAILQ_ENTRY(uar) in_scans;
	/* see doorbell_rules.c, which allocates and frees it; NULL unless the adapter is strict */
	struct mlx5_bells *bells;
	/* the page of a front that polls it: a BlueFlame write leaves its WQE there. NULL if the
	 * front traps writes */
	const volatile uint64_t *page;
};

/* Adds a domain to a table. Returns 0, ENOSPC or ENOMEM. */
int pd_add(struct res_table *table, struct pd **pd);
/* Adds a domain under a number that software has chosen. Returns as pd_add() does, or EEXIST. */
int pd_add_as(struct res_table *table, uint32_t n, struct pd **pd);
void pd_remove(struct res_table *table, struct pd *pd);
int uar_add(struct hca *hca, struct uar **uar);
int uar_add_as(struct hca *hca, uint32_t n, struct uar **uar);
void uar_remove(struct hca *hca, struct uar *uar);
void uar_free(struct hca *hca, struct uar *uar);

#endif

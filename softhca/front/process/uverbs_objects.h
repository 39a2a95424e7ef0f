/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * uverbs_objects.h - the objects that programs make, and the tables of methods that make them.
 */
#ifndef SOFTHCA_PROCESS_UVERBS_OBJECTS_H
#define SOFTHCA_PROCESS_UVERBS_OBJECTS_H

#include <rdma/mlx5_user_ioctl_cmds.h>

#include "softhca/front/process/events.h"
#include "softhca/front/process/uverbs.h"

struct uverbs_pd {
	struct object base;
	uint32_t pdn;
};

struct uverbs_mr {
	struct object base;
	struct uverbs_pd *pd;
	uint32_t key;
	uint64_t iova, length;
};

struct uverbs_uar {
	struct object base;
	struct uar_page page;
	uint32_t index; /* of the page in the file */
};

struct uverbs_cq {
	struct object base;
	struct event_source events;
	struct uverbs_uar *uar; /* NULL: named by number only */
	uint32_t cqn;
	uint32_t cqe;
	uint32_t cqe_size;
	struct epitaph_place epitaph;
	uint32_t comp_read, async_read; /* events, known once it is destroyed in the device */
};

/* What query_qp returns and the device does not know. */
struct uverbs_qp {
	struct object base;
	struct event_source events;
	struct uverbs_pd *pd;
	struct uverbs_cq *send_cq, *recv_cq;
	struct uverbs_uar *uar;
	uint32_t qpn;
	struct epitaph_place epitaph;
	uint32_t async_read; /* events, known once it is destroyed in the device */
	uint8_t state;       /* enum ibv_qp_state, as last set or queried */
	uint8_t port;
	bool sq_sig_all;
	uint32_t access; /* as the program set them; see fill_access() */
	uint8_t max_dest_reads;
	uint32_t rq_wqe_count, rq_sges;
};

extern const struct uverbs_methods device_methods, pd_methods, mr_methods, cq_methods, qp_methods,
	async_methods, uar_methods, devx_methods;
extern const struct uverbs_writes device_writes, async_writes, pd_writes, mr_writes, cq_writes,
	qp_writes;

/* The UAR of FILE with the device's number UAR, or NULL. */
struct uverbs_uar *uverbs_uar_by_number(const struct uverbs_file *file, uint32_t uar);

#endif

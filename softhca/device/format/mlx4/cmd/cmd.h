/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cmd.h - commands of a kernel driver for mlx4: one function each, which reads the input mailbox
 * and the modifiers, and fills the output. The table is in cmd.c.
 *
 * Software numbers the objects, and keeps the tables that lead to their memory, in memory that it
 * gave to the adapter (icm.h). A context is decoded once, when its object is handed over; later
 * changes of the tables affect later objects only.
 */
#ifndef SOFTHCA_DEVICE_FORMAT_MLX4_CMD_CMD_H
#define SOFTHCA_DEVICE_FORMAT_MLX4_CMD_CMD_H

#include <stdbool.h>
#include <stdint.h>

#include "prm/mlx4/cmd.h"
#include "softhca/device/hca.h"

struct cq;
struct dma_map;
struct eq;
struct mkey;
struct pd;
struct qp;
struct srq;
struct uar;

struct m4_cmd {
	struct hca_order *order;
	uint8_t in[M4_MAILBOX_SIZE], out[M4_MAILBOX_SIZE];
	const char *why; /* cause of a failure, for log and trace */
};

typedef enum m4_status (*m4_cmd_fn)(struct hca *hca, struct m4_cmd *cmd);

static inline enum m4_status m4_fail(struct m4_cmd *cmd, enum m4_status status, const char *why)
{
	cmd->why = why;
	return status;
}

/* Fails a command with the status for the errno of an allocation, or of absent memory. */
enum m4_status m4_errno(struct m4_cmd *cmd, int err, const char *what);

/* Returns the low bits of the modifier, which name an object. */
uint32_t m4_number(const struct m4_cmd *cmd);

/* Find or create a domain or doorbell page, as software uses their numbers without a command to
 * create them. NULL: no memory, or no such page. */
struct pd *m4_pd(struct hca *hca, uint32_t n);
struct pd *m4_xrcd(struct hca *hca, uint32_t n); /* an XRC domain; 0: none */
struct uar *m4_uar(struct hca *hca, uint32_t n);

/* mtt.c: the memory of a queue, as its context describes it */
struct m4_ring {
	uint64_t mtt;          /* offset in the translation table */
	unsigned int log_page; /* log2 of the page size in units of 4 KiB */
	uint64_t skip;         /* offset of the queue in its first page */
};

/* Maps LEN bytes. Returns 0, EINVAL if entries are not present or the offset is not an entry's,
 * EFAULT if they cannot be read, or ENOMEM. */
int m4_map_ring(struct hca *hca, const struct m4_ring *ring, uint64_t len, struct dma_map *map);
enum m4_status m4_mtt_write(struct hca *hca, struct m4_cmd *cmd);

enum m4_status m4_query_fw(struct hca *hca, struct m4_cmd *cmd);
enum m4_status m4_map_area(struct hca *hca, struct m4_cmd *cmd);
enum m4_status m4_unmap_area(struct hca *hca, struct m4_cmd *cmd);
enum m4_status m4_run_fw(struct hca *hca, struct m4_cmd *cmd);
enum m4_status m4_configure(struct hca *hca, struct m4_cmd *cmd);
enum m4_status m4_query_adapter(struct hca *hca, struct m4_cmd *cmd);
enum m4_status m4_set_icm_size(struct hca *hca, struct m4_cmd *cmd);
enum m4_status m4_map_aux(struct hca *hca, struct m4_cmd *cmd);
enum m4_status m4_unmap_aux(struct hca *hca, struct m4_cmd *cmd);
enum m4_status m4_map_icm(struct hca *hca, struct m4_cmd *cmd);
enum m4_status m4_unmap_icm(struct hca *hca, struct m4_cmd *cmd);
enum m4_status m4_init_hca(struct hca *hca, struct m4_cmd *cmd);
enum m4_status m4_query_hca(struct hca *hca, struct m4_cmd *cmd);
enum m4_status m4_close_hca(struct hca *hca, struct m4_cmd *cmd);
enum m4_status m4_nop(struct hca *hca, struct m4_cmd *cmd);

enum m4_status m4_diag_report(struct hca *hca, struct m4_cmd *cmd);

enum m4_status m4_query_caps(struct hca *hca, struct m4_cmd *cmd);

enum m4_status m4_port_query(struct hca *hca, struct m4_cmd *cmd);
enum m4_status m4_port_open(struct hca *hca, struct m4_cmd *cmd);
enum m4_status m4_port_close(struct hca *hca, struct m4_cmd *cmd);
enum m4_status m4_port_set(struct hca *hca, struct m4_cmd *cmd);
enum m4_status m4_mad(struct hca *hca, struct m4_cmd *cmd);
bool m4_port_exists(const struct hca *hca, uint32_t port);

enum m4_status m4_roce_configure(struct hca *hca, struct m4_cmd *cmd);
enum m4_status m4_filter_vlans(struct hca *hca, struct m4_cmd *cmd);
enum m4_status m4_filter_groups(struct hca *hca, struct m4_cmd *cmd);
enum m4_status m4_frames_report(struct hca *hca, struct m4_cmd *cmd);

enum m4_status m4_flow_attach(struct hca *hca, struct m4_cmd *cmd);
enum m4_status m4_flow_detach(struct hca *hca, struct m4_cmd *cmd);

enum m4_status m4_mpt_give(struct hca *hca, struct m4_cmd *cmd);
enum m4_status m4_mpt_take(struct hca *hca, struct m4_cmd *cmd);
enum m4_status m4_mpt_query(struct hca *hca, struct m4_cmd *cmd);
enum m4_status m4_mpt_sync(struct hca *hca, struct m4_cmd *cmd);

enum m4_status m4_eq_map(struct hca *hca, struct m4_cmd *cmd);
enum m4_status m4_eq_give(struct hca *hca, struct m4_cmd *cmd);
enum m4_status m4_eq_take(struct hca *hca, struct m4_cmd *cmd);
enum m4_status m4_eq_query(struct hca *hca, struct m4_cmd *cmd);

enum m4_status m4_cq_give(struct hca *hca, struct m4_cmd *cmd);
enum m4_status m4_cq_take(struct hca *hca, struct m4_cmd *cmd);
enum m4_status m4_cq_query(struct hca *hca, struct m4_cmd *cmd);
enum m4_status m4_cq_modify(struct hca *hca, struct m4_cmd *cmd);

enum m4_status m4_srq_give(struct hca *hca, struct m4_cmd *cmd);
enum m4_status m4_srq_take(struct hca *hca, struct m4_cmd *cmd);
enum m4_status m4_srq_query(struct hca *hca, struct m4_cmd *cmd);
enum m4_status m4_srq_arm(struct hca *hca, struct m4_cmd *cmd);

enum m4_status m4_qp_special(struct hca *hca, struct m4_cmd *cmd);
enum m4_status m4_qp_create(struct hca *hca, struct m4_cmd *cmd);
enum m4_status m4_qp_modify(struct hca *hca, struct m4_cmd *cmd);
enum m4_status m4_qp_reset(struct hca *hca, struct m4_cmd *cmd);
enum m4_status m4_qp_query(struct hca *hca, struct m4_cmd *cmd);

void m4_qp_remove(struct hca *hca, struct qp *qp);
void m4_srq_remove(struct hca *hca, struct srq *srq);
void m4_cq_remove(struct hca *hca, struct cq *cq);
void m4_eq_remove(struct hca *hca, struct eq *eq);
void m4_mpt_remove(struct hca *hca, struct mkey *mkey);

enum m4_status m4_mcg_hash(struct hca *hca, struct m4_cmd *cmd);
enum m4_status m4_mcg_read(struct hca *hca, struct m4_cmd *cmd);
enum m4_status m4_mcg_write(struct hca *hca, struct m4_cmd *cmd);

#endif

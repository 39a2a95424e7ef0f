/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * eth_qp.h - QPs with which a kernel's network driver sends and receives frames. Each has a send
 * queue, a receive queue, or both; or neither, and names other QPs (RSS).
 */
#ifndef SOFTHCA_DEVICE_FORMAT_MLX4_CMD_ETH_QP_H
#define SOFTHCA_DEVICE_FORMAT_MLX4_CMD_ETH_QP_H

#include <stdbool.h>
#include <stdint.h>

#include "prm/mlx4/qpc.h"
#include "softhca/device/format/mlx4/cmd/cmd.h"

struct hca;

struct m4_eth_qp {
	uint32_t n;
	enum m4_qp_state state;
	struct eth_sq *sq; /* or NULL */
	struct eth_rq *rq; /* or NULL */
	uint64_t bytes;    /* memory charged for it: see cmd/qp.h */
	uint8_t context[M4_QPC_SIZE];
};

/* Returns whether RST2INIT with this number and MAILBOX makes a QP of frames. A QP of datagrams
 * whose headers software writes has a Q_Key instead. */
bool m4_is_eth_qp(const struct hca *hca, uint32_t n, const uint8_t *mailbox);
struct m4_eth_qp *m4_eth_qp(const struct hca *hca, uint32_t n);
enum m4_status m4_eth_qp_create(struct hca *hca, struct m4_cmd *cmd);
enum m4_status m4_eth_qp_modify(struct hca *hca, struct m4_eth_qp *qp, struct m4_cmd *cmd);
void m4_eth_qp_query(const struct m4_eth_qp *qp, uint8_t *qpc);
void m4_eth_qp_remove(struct hca *hca, struct m4_eth_qp *qp);

#endif

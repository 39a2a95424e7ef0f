/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * wq.h - the parts that commands on RQs and SQs share: the ring, and changes of state.
 *
 * A queue is created in state RST, works in RDY and drops everything in ERR.
 */
#ifndef SOFTHCA_DEVICE_FORMAT_MLX5_CMD_WQ_H
#define SOFTHCA_DEVICE_FORMAT_MLX5_CMD_WQ_H

#include <stdbool.h>

#include "softhca/device/eth/eth_wq.h"
#include "softhca/device/format/mlx5/cmd/cmd.h"

/* Returns NULL, or the reason why the WQ in a context is not valid. It must have type TYPE. */
const char *wq_check(const uint8_t *wqc, uint32_t stride_max, uint32_t type);
/* Decodes the WQ and the page list behind it. Returns 0, or an errno for wq_status(). */
int wq_set_up(struct hca *hca, const struct cmd *cmd, const uint8_t *wqc, struct eth_wq *wq);
/* Returns the number that the queue shall have (mlx4 only); 0: any. */
uint32_t wq_number(const struct hca *hca, const struct cmd *cmd);
/* Fails a command with the status for ERR; ENOENT means an object that the context names. */
enum prm_status wq_status(struct cmd *cmd, int err);
/* Returns whether a queue may change from state FROM to state TO. */
bool wq_may_change(enum prm_wq_state from, uint64_t to);
/* Returns whether software knows the queue's state: SAID must be IS. A queue that has failed by
 * itself may still be moved to RST or ERR. */
bool wq_is_known(enum prm_wq_state is, uint64_t said, uint64_t to);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * wq.h - what commands on RQs and SQs have in common: the ring, and changes of state.
 *
 * A queue is created in state RST, works in RDY and drops everything in ERR.
 */
#ifndef SOFTHCA_DEVICE_FORMAT_MLX5_CMD_WQ_H
#define SOFTHCA_DEVICE_FORMAT_MLX5_CMD_WQ_H

#include <stdbool.h>

#include "softhca/device/eth/eth_wq.h"
#include "softhca/device/format/mlx5/cmd/cmd.h"

/* Returns NULL, or what is wrong with the WQ in a context, which has to be of TYPE. */
const char *wq_check(const uint8_t *wqc, uint32_t stride_max, uint32_t type);
/* Decodes the WQ and, behind it, the page list. It returns 0, or an errno for wq_status(). */
int wq_set_up(struct hca *hca, const struct cmd *cmd, const uint8_t *wqc, struct eth_wq *wq);
/* Returns the number that the queue is to have; 0: any. Only mlx4 has such. */
uint32_t wq_number(const struct hca *hca, const struct cmd *cmd);
/* Fails a command; ENOENT stands for any object that the context names. */
enum prm_status wq_status(struct cmd *cmd, int err);
/* Returns whether a queue in state FROM may be put into state TO. */
bool wq_may_change(enum prm_wq_state from, uint64_t to);
/* Software names the state that it knows of: the function tells whether that is right. A queue that
 * has failed by itself may be given up all the same. */
bool wq_is_known(enum prm_wq_state is, uint64_t said, uint64_t to);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * report.h - logs requests to post or poll that no adapter could execute.
 */
#ifndef PROVIDERS_COMMON_REPORT_H
#define PROVIDERS_COMMON_REPORT_H

#include "libibverbs/driver.h"

#define PROVIDER_REPORT void __attribute__((cold))

const char *provider_qp_state_str(enum ibv_qp_state state) __attribute__((cold));
const char *provider_wr_opcode_str(enum ibv_wr_opcode opcode) __attribute__((cold));
/* Writes the names of the opcodes in MASK, for instance "SEND, SEND_WITH_IMM". Bit n of MASK stands
 * for enum ibv_wr_opcode n. */
PROVIDER_REPORT provider_name_opcodes(uint32_t mask, char *text, size_t size);

PROVIDER_REPORT provider_report_poll(uint32_t cqn, const struct ibv_poll_cq_attr *attr);

PROVIDER_REPORT provider_report_full_sq(const struct ibv_qp *qp, const struct ibv_send_wr *wr,
					uint32_t limit);
PROVIDER_REPORT provider_report_inline(const struct ibv_qp *qp, const struct ibv_send_wr *wr,
				       uint64_t total, uint32_t limit);

PROVIDER_REPORT provider_report_full_rq(const char *owner, uint32_t number,
					const struct ibv_recv_wr *wr, uint32_t limit);
PROVIDER_REPORT provider_report_rq_sges(const char *owner, uint32_t number,
					const struct ibv_recv_wr *wr, uint32_t limit);

PROVIDER_REPORT provider_report_full_srq(uint32_t srqn, const struct ibv_recv_wr *wr,
					 uint32_t limit);
PROVIDER_REPORT provider_report_srq_sges(uint32_t srqn, const struct ibv_recv_wr *wr,
					 uint32_t limit);

#endif

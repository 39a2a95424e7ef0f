/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * qp_states.h - the attributes of QP transitions.
 */
#ifndef LIBIBVERBS_EXPLAIN_QP_STATES_H
#define LIBIBVERBS_EXPLAIN_QP_STATES_H

#include <stdbool.h>
#include <infiniband/verbs.h>

/* Returns false if QPs of TYPE cannot go from FROM to TO. The masks are sets of IBV_QP_*; *allowed
 * includes *required. */
bool verbs_qp_transition(enum ibv_qp_type type, enum ibv_qp_state from, enum ibv_qp_state to,
			 int *required, int *allowed);

#endif

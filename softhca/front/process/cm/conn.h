/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * conn.h - connection functions that only files in cm/ use: look-up, messages, ends.
 */
#ifndef SOFTHCA_FRONT_PROCESS_CM_CONN_H
#define SOFTHCA_FRONT_PROCESS_CM_CONN_H

#include "softhca/front/process/cm/cm.h"
#include "softhca/front/process/cm/mad.h"

extern const struct cm_ops *cm_user;

/* Converts IBTA's exponents, 4.096 us * 2^n, to nanoseconds. */
static inline uint64_t cm_ns_of(unsigned int iba_time)
{
	return 4096ull << iba_time;
}

/* Returns the QP's ACK timeout, as IBTA's exponent; IBTA vol 1, 12.7.34. */
uint8_t cm_ack_timeout(uint8_t lifetime, uint8_t ack_delay);
void cm_send_dreq(struct cm_conn *conn);

void cm_table_start(uint32_t first_id);
struct cm_conn *cm_find_local(uint32_t local_id);
/* Finds a connection by our id and the peer's, which all messages but the first have. */
struct cm_conn *cm_find_pair(uint32_t local_id, uint32_t remote_id);
/* Find a connection by the peer's GUID and the peer's id or QP number. SIDR: search service ID
 * requests, whose ids are separate from those of connections. */
struct cm_conn *cm_find_remote(uint64_t guid, uint32_t remote_id, bool sidr);
struct cm_conn *cm_find_qpn(uint64_t guid, uint32_t qpn);
void cm_enlist(struct cm_conn *conn);
/* Adds CONN to the table by the peer's GUID, id and QP number, so that repeated and stale requests
 * are recognised. */
void cm_enlist_remote(struct cm_conn *conn);
void cm_delist_remote(struct cm_conn *conn);
void cm_delist(struct cm_conn *conn);

void cm_send_start(void);
/* Send conn->mad: once, or every INTERVAL nanoseconds until it is answered. */
void cm_send(const struct cm_conn *conn);
void cm_send_and_repeat(struct cm_conn *conn, uint64_t interval);
/* Sends a message that has only the two ids. Does not change conn->mad, the message that may have
 * to be repeated. */
void cm_send_ids(const struct cm_conn *conn, unsigned int attribute);
void cm_start_timer(struct cm_conn *conn, uint64_t ns);
void cm_stop_timer(struct cm_conn *conn);
void cm_become_idle(struct cm_conn *conn);
/* Enters timewait, so that packets still on their way disappear before the QP is used again. */
void cm_enter_timewait(struct cm_conn *conn);

#endif

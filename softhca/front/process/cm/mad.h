/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * mad.h - the messages of communication management, put together and taken apart (mad.c). Each is a
 * whole datagram, MAD_SIZE bytes of the caller's; ib/cm.h has what stands where. Private data has
 * been checked to fit.
 */
#ifndef SOFTHCA_FRONT_PROCESS_CM_MAD_H
#define SOFTHCA_FRONT_PROCESS_CM_MAD_H

#include <stdint.h>

#include "ib/cm.h"
#include "softhca/front/process/cm/cm.h"

enum { CM_OWN_ACK_DELAY = 16 /* target ACK delay of a REP: 4.096 us * 2^16 */ };

static inline const uint8_t *cm_data(const uint8_t *mad)
{
	return mad + CM_DATA;
}

static inline unsigned int cm_attribute(const uint8_t *mad)
{
	return (unsigned int)fld_get(mad, MAD_ATTRIBUTE);
}

void cm_put_req(uint8_t *mad, const struct cm_conn *conn, const struct cm_param *param,
		uint64_t guid);
void cm_put_rep(uint8_t *mad, const struct cm_conn *conn, const struct cm_param *param,
		uint64_t guid);
void cm_put_ids(uint8_t *mad, const struct cm_conn *conn, unsigned int attribute);
void cm_put_rej(uint8_t *mad, const struct cm_conn *conn, enum cm_reason reason, const void *data,
		uint8_t len);
void cm_put_sidr_req(uint8_t *mad, const struct cm_conn *conn, const void *data, uint8_t len);
void cm_put_sidr_rep(uint8_t *mad, const struct cm_conn *conn, uint8_t status, uint32_t qpn,
		     uint32_t qkey, const void *data, uint8_t len);
/* Makes a message ATTRIBUTE that answers MAD without a connection: it has the ids of MAD the other
 * way round. */
void cm_put_answer(uint8_t *answer, const uint8_t *mad, unsigned int attribute);
/* Puts into PATH, the way on which a REQ arrived, what the path in the REQ is for who receives
 * it. */
void cm_take_path(const uint8_t *mad, struct cm_path *path);
uint8_t cm_take_qp_type(const uint8_t *mad);

#endif

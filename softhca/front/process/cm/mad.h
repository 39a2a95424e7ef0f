/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * mad.h - encodes and decodes CM messages (mad.c). Each is a whole datagram in MAD_SIZE bytes of
 * the caller; ib/cm.h has the layouts. Callers check that private data fits.
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
/* Makes message ATTRIBUTE as an answer to MAD without a connection: with MAD's ids exchanged. */
void cm_put_answer(uint8_t *answer, const uint8_t *mad, unsigned int attribute);
/* Completes PATH, on which a REQ arrived, with the path in the REQ, seen from the receiver. */
void cm_take_path(const uint8_t *mad, struct cm_path *path);
uint8_t cm_take_qp_type(const uint8_t *mad);

#endif

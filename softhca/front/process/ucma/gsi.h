/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * gsi.h - datagrams of the emulated kernel's rdma_cm: MADs of QP1 and address requests. Handlers
 * run in the notification thread, whichever thread received the datagram.
 */
#ifndef SOFTHCA_FRONT_PROCESS_UCMA_GSI_H
#define SOFTHCA_FRONT_PROCESS_UCMA_GSI_H

#include <stddef.h>
#include <stdint.h>

#include "softhca/device/fabric.h"
#include "softhca/front/process/cm/cm.h"

struct adapter;

enum {
	/* IPoIB's QP for address requests; no program's QP has this number */
	GSI_IPOIB_QPN = 0xfffff0,
};

/* A received datagram or frame. Its bytes are valid only during the call. */
struct gsi_arrival {
	struct adapter *adapter;
	unsigned int port;
	bool frame; /* an Ethernet frame: addr is empty */
	bool death; /* the adapter has died: no datagram */
	struct fabric_addr addr;
	uint32_t dest_qpn, src_qpn;
	const uint8_t *bytes;
	size_t len;
};

/* Called once, before adapters exist. TAKE gets each frame, and each datagram that is neither a CM
 * message nor for QP0. DIED is called when an adapter has died. */
int gsi_open(void (*take)(const struct gsi_arrival *arrival),
	     void (*died)(struct adapter *adapter));
void gsi_close(void);
/* Adds a second receiver, which umad uses. ALSO gets what TAKE of gsi_open() gets, after TAKE, and
 * also datagrams for QP0. ALSO_DIED is called when an adapter has died. */
void gsi_show(void (*also)(const struct gsi_arrival *arrival),
	      void (*also_died)(struct adapter *adapter));

void gsi_datagram(void *adapter, unsigned int port, const struct fabric_msg *msg);
/* Any thread may call it. */
void gsi_adapter_died(struct adapter *adapter);
void gsi_frame(void *adapter, unsigned int port, const uint8_t *frame, size_t len);

/* Sends a MAD along PATH. It may be lost. */
void gsi_send(const struct cm_path *path, const uint8_t mad[MAD_SIZE]);
/* Sends an IPoIB packet to QP DEST_QPN of DLID, or of group DGID. Only on InfiniBand. */
void gsi_send_ipoib(struct adapter *adapter, unsigned int port, uint16_t dlid,
		    const uint8_t dgid[16], uint32_t dest_qpn, const void *bytes, size_t len);

#endif

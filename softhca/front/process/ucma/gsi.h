/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * gsi.h - datagrams that the kernel's rdma_cm sends and receives: QP1's management datagrams and
 * address requests. Handlers run in the notification thread, whichever thread received the
 * datagram.
 */
#ifndef SOFTHCA_FRONT_PROCESS_UCMA_GSI_H
#define SOFTHCA_FRONT_PROCESS_UCMA_GSI_H

#include <stddef.h>
#include <stdint.h>

#include "softhca/device/fabric.h"
#include "softhca/front/process/cm/cm.h"

struct adapter;

enum {
	GSI_IPOIB_QPN = 0xfffff0, /* asks for addresses; no program's QP has this number */
};

/* Something that arrived; the bytes are gone on return. */
struct gsi_arrival {
	struct adapter *adapter;
	unsigned int port;
	bool frame; /* of Ethernet; the address is empty */
	bool death; /* of the adapter: nothing else */
	struct fabric_addr addr;
	uint32_t dest_qpn, src_qpn;
	const uint8_t *bytes;
	size_t len;
};

/* To be called once, before there are adapters. TAKE is called for what is not communication
 * management, DIED when an adapter has died. */
int gsi_open(void (*take)(const struct gsi_arrival *arrival),
	     void (*died)(struct adapter *adapter));
void gsi_close(void);
/* ALSO is called for all that is not communication management, after TAKE, and for what has come to
 * QP0; ALSO_DIED when an adapter has died. */
void gsi_show(void (*also)(const struct gsi_arrival *arrival),
	      void (*also_died)(struct adapter *adapter));

/* These are callbacks of the device core, for adapter_listener. */
void gsi_datagram(void *adapter, unsigned int port, const struct fabric_msg *msg);
/* May be called from any thread, too. */
void gsi_adapter_died(struct adapter *adapter);
void gsi_frame(void *adapter, unsigned int port, const uint8_t *frame, size_t len);

/* Sends a management datagram along PATH, which may be lost. */
void gsi_send(const struct cm_path *path, const uint8_t mad[MAD_SIZE]);
/* Sends a packet of IPoIB to QP DEST_QPN of DLID, or of the group DGID. There is no IPoIB on
 * RoCE. */
void gsi_send_ipoib(struct adapter *adapter, unsigned int port, uint16_t dlid,
		    const uint8_t dgid[16], uint32_t dest_qpn, const void *bytes, size_t len);

#endif

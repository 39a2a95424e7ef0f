/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * umad.h - /dev/infiniband/umad* and issm*: programs that send and receive management datagrams.
 *
 * A file belongs to a port and has agents: each is who sent a request, to whom its answer goes, and
 * who may be asked for requests of a class. All of it runs in the notification thread. What is
 * refused, and with which errno, is Linux' (drivers/infiniband/core/user_mad.c and mad.c).
 */
#ifndef SOFTHCA_FRONT_PROCESS_UMAD_UMAD_H
#define SOFTHCA_FRONT_PROCESS_UMAD_UMAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/stat.h>

#include <rdma/ib_user_mad.h>

#include "ib/mad.h"
#include "softhca/device/hca.h"
#include "softhca/front/process/deferred.h"
#include "softhca/front/process/notify.h"
#include "softhca/front/process/ucma/gsi.h"
#include "softhca/front/process/ucma/timer.h"
#include "softhca/front/process/watch.h"

struct adapter;

enum {
	UMAD_MAX_AGENTS = 32, /* of a file */
	UMAD_MAJOR = 231,
	UMAD_FIRST_MINOR = 0,
	ISSM_FIRST_MINOR = 64,
};

struct umad_agent {
	bool used, registered; /* registered: for requests of a class */
	uint32_t hi_tid;       /* the upper half of the transactions of its requests */
	uint8_t qpn, class, class_version, rmpp_version;
	bool user_rmpp; /* the program itself takes long datagrams apart */
	uint8_t oui[3];
	uint64_t methods[2];
};

/* What a program is to read. */
struct umad_packet {
	STAILQ_ENTRY(umad_packet) entry;
	struct ib_user_mad_hdr hdr;
	bool failed; /* a request that comes back */
	size_t len;
	uint8_t bytes[];
};

struct umad_reader {
	STAILQ_ENTRY(umad_reader) entry;
	struct deferred_call call;
	uint64_t address;
	size_t room;
};

struct umad_file {
	struct watch watch;      /* first; the end that the program does not have */
	struct ucma_timer timer; /* looks whether a reader is left of a file that is closed */
	LIST_ENTRY(umad_file) in_all;
	struct adapter *adapter;
	unsigned int port;
	bool manager; /* it is of issm */
	dev_t dev;
	ino_t ino;
	bool has_pkey_index, used;
	bool has_token; /* the program's end is readable */
	bool is_closed; /* the program has no descriptor any more */
	bool is_dead;   /* the adapter is */
	struct umad_agent agent[UMAD_MAX_AGENTS];
	unsigned int packet_count;
	size_t packet_bytes;
	STAILQ_HEAD(, umad_packet) packets;
	STAILQ_HEAD(, umad_reader) readers;
	unsigned int send_count, failed_count; /* that wait, and of packets */
	LIST_HEAD(, umad_send) sends;
	unsigned int assembly_count;
	size_t assembly_bytes;
	LIST_HEAD(, umad_assembly) assemblies;
};

/* ---- file.c ---- */

void umad_start(void);
void umad_stop(void);
void umad_open(struct call *call, struct adapter *adapter, unsigned int port, uint64_t flags);
void umad_open_manager(struct call *call, struct adapter *adapter, unsigned int port,
		       uint64_t flags);
/* Opens FILE's device again and answers CALL with the new descriptor. */
void umad_open_again(struct call *call, const struct umad_file *file, uint64_t flags);
struct umad_file *umad_file_find(const struct stat *st);
/* Returns the number of the device whose file this is. */
dev_t umad_file_device(const struct umad_file *file);
/* These answer a call only if its descriptor is a file of ours. */
void umad_read(struct call *call);
void umad_write(struct call *call);
void umad_ioctl(struct call *call);

/* Hands LEN bytes of a datagram to the program, under the header HDR; one that FAILED comes back to
 * it as it was written. */
void umad_file_deliver(struct umad_file *file, const struct ib_user_mad_hdr *hdr, bool failed,
		       const void *bytes, size_t len);

static inline size_t umad_header_size(const struct umad_file *file)
{
	return file->has_pkey_index ? sizeof(struct ib_user_mad_hdr)
				    : sizeof(struct ib_user_mad_hdr_old);
}

/* The first file behind AFTER, or of all, that is of this port. */
struct umad_file *umad_file_next(struct umad_file *after, const struct adapter *adapter,
				 unsigned int port);

/* ---- agent.c ---- */

int umad_register(struct call *call, struct umad_file *file);
int umad_register2(struct call *call, struct umad_file *file);
int umad_unregister(struct call *call, struct umad_file *file);
/* The agent is none any more, and what waits for it goes. */
void umad_agent_end(struct umad_file *file, unsigned int agent);
/* Finds the agent of PORT that takes requests like MAD, which came to QPN. */
struct umad_agent *umad_agent_find(const struct adapter *adapter, unsigned int port,
				   unsigned int qpn, const uint8_t *mad, struct umad_file **file);

static inline bool umad_class_has_rmpp(unsigned int class)
{
	return class == MAD_CLASS_SA || class == MAD_CLASS_DEVICE_MANAGEMENT ||
	       class == MAD_CLASS_DEVICE_ADMIN || class == MAD_CLASS_BIS ||
	       (class >= MAD_CLASS_VENDOR_OUI && class <= MAD_CLASS_VENDOR_OUI_LAST);
}

/* ---- send.c ---- */

/* A request that waits for its answer. */
struct umad_send {
	struct ucma_timer timer; /* first */
	LIST_ENTRY(umad_send) entry;
	struct umad_file *file;
	unsigned int agent;
	struct hca_datagram datagram;
	uint32_t timeout_ms, retries;
	uint8_t mad[MAD_SIZE];
};

/* Does MAD answer another datagram? */
bool umad_is_answer(const uint8_t *mad);
/* Sends LEN bytes at ADDRESS of the caller; it returns 0 or an errno. */
int umad_send(struct call *call, struct umad_file *file, uint64_t address, size_t len);
/* The request that MAD answers, or NULL. */
struct umad_send *umad_send_find(struct umad_file *file, unsigned int agent, const uint8_t *mad);
void umad_send_end(struct umad_send *send);
void umad_send_end_agent(struct umad_file *file, unsigned int agent);
void umad_send_datagram(struct adapter *adapter, const struct hca_datagram *datagram);

/* ---- receive.c ---- */

/* Takes what arrived, for gsi.h. */
void umad_take(const struct gsi_arrival *arrival);
/* A directed packet whose way ends where it begins is answered by our own agent. */
void umad_take_own(struct adapter *adapter, unsigned int port, const uint8_t mad[MAD_SIZE]);

/* ---- rmpp.c ---- */

/* A long datagram that is put together, or was: the other side may not have learned that it is
 * complete. */
struct umad_assembly {
	struct ucma_timer timer; /* first: when it is forgotten */
	LIST_ENTRY(umad_assembly) entry;
	struct umad_file *file;
	unsigned int agent;
	struct gsi_arrival first; /* without its bytes */
	uint64_t transaction;
	uint8_t kind[4];   /* how a header begins: versions, class and method */
	uint32_t segments; /* so many have come */
	bool complete;
	size_t len;
	uint8_t *bytes;
};

/* Takes a part of a long datagram, and acknowledges it. It returns the whole when it is there, for
 * the caller to free, and its length; else NULL. */
uint8_t *umad_rmpp_take(struct umad_file *file, unsigned int agent,
			const struct gsi_arrival *arrival, size_t *len);
/* Forgets the parts that have come of one transaction, or of all: 0. */
void umad_rmpp_forget(struct umad_file *file, unsigned int agent, uint64_t transaction);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * umad.h - /dev/infiniband/umad* and issm*: programs that send and receive MADs.
 *
 * A file belongs to a port and has agents: an agent sends requests, gets their answers, and may get
 * requests of a class. All of it runs in the notification thread. Refusals and errnos are Linux'
 * (drivers/infiniband/core/user_mad.c and mad.c).
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
#include "softhca/front/process/timer.h"
#include "softhca/front/process/watch.h"

struct adapter;

enum {
	UMAD_MAX_AGENTS = 32, /* agents of a file */
	UMAD_MAJOR = 231,
	UMAD_FIRST_MINOR = 0,
	ISSM_FIRST_MINOR = 64,
};

struct umad_agent {
	bool used, registered; /* registered: gets requests of a class */
	uint32_t hi_tid;       /* upper half of the transaction IDs of the agent's requests */
	uint8_t qpn, class, class_version, rmpp_version;
	bool user_rmpp;
	uint8_t oui[3];
	uint64_t methods[2];
};

/* A datagram for the program to read. */
struct umad_packet {
	STAILQ_ENTRY(umad_packet) entry;
	struct ib_user_mad_hdr hdr;
	bool failed; /* a request that got no answer */
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
	struct watch watch; /* first member; our end of the socket pair */
	struct timer timer; /* checks whether threads still wait in read() of a closed file */
	LIST_ENTRY(umad_file) in_all;
	struct adapter *adapter;
	unsigned int port;
	bool manager; /* an issm file */
	dev_t dev;
	ino_t ino;
	bool has_pkey_index, used;
	/* a byte is in the socket, so that poll() finds the program's end readable */
	bool has_token;
	bool is_closed; /* the program has closed all descriptors */
	bool is_dead;
	struct umad_agent agent[UMAD_MAX_AGENTS];
	unsigned int packet_count;
	size_t packet_bytes;
	STAILQ_HEAD(, umad_packet) packets;
	STAILQ_HEAD(, umad_reader) readers;
	/* requests that wait for an answer, and failed ones that are unread: together at most
	 * MAX_SENDS */
	unsigned int send_count, failed_count;
	LIST_HEAD(, umad_send) sends;
	unsigned int assembly_count;
	size_t assembly_bytes;
	LIST_HEAD(, umad_assembly) assemblies;
};

void umad_start(void);
void umad_stop(void);
void umad_read(struct call *call);
void umad_write(struct call *call);
void umad_ioctl(struct call *call);

/* Gives LEN bytes of a datagram to the program, after header HDR. FAILED: the datagram is a request
 * of the program that got no answer. */
void umad_file_deliver(struct umad_file *file, const struct ib_user_mad_hdr *hdr, bool failed,
		       const void *bytes, size_t len);

static inline size_t umad_header_size(const struct umad_file *file)
{
	return file->has_pkey_index ? sizeof(struct ib_user_mad_hdr)
				    : sizeof(struct ib_user_mad_hdr_old);
}

/* Returns the next file of this port after AFTER, or the port's first file if AFTER is NULL. */
struct umad_file *umad_file_next(struct umad_file *after, const struct adapter *adapter,
				 unsigned int port);

int umad_register(struct call *call, struct umad_file *file);
int umad_register2(struct call *call, struct umad_file *file);
int umad_unregister(struct call *call, struct umad_file *file);
/* Ends an agent, and drops its requests and unread datagrams, which no thread can read any more. */
void umad_agent_end(struct umad_file *file, unsigned int agent);
/* Finds the agent of PORT that takes requests like MAD, which arrived at QPN. */
struct umad_agent *umad_agent_find(const struct adapter *adapter, unsigned int port,
				   unsigned int qpn, const uint8_t *mad, struct umad_file **file);

static inline bool umad_class_has_rmpp(unsigned int class)
{
	return class == MAD_CLASS_SA || class == MAD_CLASS_DEVICE_MANAGEMENT ||
	       class == MAD_CLASS_DEVICE_ADMIN || class == MAD_CLASS_BIS ||
	       (class >= MAD_CLASS_VENDOR_OUI && class <= MAD_CLASS_VENDOR_OUI_LAST);
}

/* A request that waits for its answer. */
struct umad_send {
	struct timer timer; /* first member */
	LIST_ENTRY(umad_send) entry;
	struct umad_file *file;
	unsigned int agent;
	struct hca_datagram datagram;
	uint32_t timeout_ms, retries;
	uint8_t mad[MAD_SIZE];
};

bool umad_is_answer(const uint8_t *mad);
/* Sends LEN bytes at ADDRESS of the caller. Returns 0 or an errno. */
int umad_send(struct call *call, struct umad_file *file, uint64_t address, size_t len);
/* Returns the request that MAD answers, or NULL. */
struct umad_send *umad_send_find(struct umad_file *file, unsigned int agent, const uint8_t *mad);
void umad_send_end(struct umad_send *send);
void umad_send_end_agent(struct umad_file *file, unsigned int agent);
void umad_send_datagram(struct adapter *adapter, const struct hca_datagram *datagram);

void umad_take(const struct gsi_arrival *arrival);
void umad_take_own(struct adapter *adapter, unsigned int port, const uint8_t mad[MAD_SIZE]);

/* A datagram being reassembled, or complete and kept because its sender may repeat the last
 * segment. */
struct umad_assembly {
	struct timer timer; /* first member; frees it when it expires */
	LIST_ENTRY(umad_assembly) entry;
	struct umad_file *file;
	unsigned int agent;
	struct gsi_arrival first; /* arrival of the first segment, without its bytes */
	uint64_t transaction;
	uint8_t kind[4]; /* first bytes of its headers: versions, class, method */
	uint32_t segments;
	bool complete;
	size_t len;
	uint8_t *bytes;
};

/* Takes a segment and acknowledges it. Returns the whole datagram and its length when it is
 * complete, for the caller to free; else NULL. */
uint8_t *umad_rmpp_take(struct umad_file *file, unsigned int agent,
			const struct gsi_arrival *arrival, size_t *len);
/* Drops the segments of TRANSACTION, or of all transactions if it is 0. */
void umad_rmpp_forget(struct umad_file *file, unsigned int agent, uint64_t transaction);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * addr.h - addresses of ids: IP addresses of a fabric (addr.c), and GIDs with service IDs (AF_IB).
 */
#ifndef SOFTHCA_FRONT_PROCESS_UCMA_ADDR_H
#define SOFTHCA_FRONT_PROCESS_UCMA_ADDR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include <rdma/rdma_user_cm.h>

struct adapter;
struct daemon;

enum { AF_IB_FAMILY = 27 };

/* One end of a connection: a port of an adapter of this process, or of another process or host,
 * with its address. */
struct ucma_end {
	struct adapter *adapter; /* NULL: the port is not of this process */
	unsigned int port;
	uint32_t gid_index;
	uint16_t lid;
	uint8_t gid[16];
	struct sockaddr_storage addr; /* IP address of the end, with its port number */
};

/* Returns the size of an address of FAMILY; 0: unsupported family. */
size_t ucma_addr_size(unsigned int family);
/* Copies an address of SIZE bytes from a command. Returns EINVAL if the size does not fit its
 * family. */
int ucma_addr_get(const struct __kernel_sockaddr_storage *from, uint16_t size,
		  struct sockaddr_storage *to);
bool ucma_addr_is_ip(const struct sockaddr_storage *addr);
/* Returns whether the address is the unspecified or a loopback address. Linux treats the two alike,
 * as they belong to no port. */
bool ucma_addr_is_of_no_port(const struct sockaddr_storage *addr);
bool ucma_addr_is_loopback(const struct sockaddr_storage *addr);
bool ucma_addr_lacks_scope(const struct sockaddr_storage *addr);
bool ucma_addr_is_multicast(const struct sockaddr_storage *addr);
bool ucma_addr_same_host(const struct sockaddr_storage *a, const struct sockaddr_storage *b);
uint16_t ucma_addr_port(const struct sockaddr_storage *addr); /* in host order */
void ucma_addr_set_port(struct sockaddr_storage *addr, uint16_t port);
/* Writes an address as 16 bytes: GID, IPv6, or mapped IPv4. */
void ucma_addr_bytes(const struct sockaddr_storage *addr, uint8_t host[16]);
/* Makes an address of FAMILY from the 16 bytes of HOST. PORT is in host order. In an address with a
 * GID, PORT and port space PS make the service ID. */
void ucma_addr_put(struct sockaddr_storage *addr, unsigned int family, const uint8_t host[16],
		   uint16_t ps, uint16_t port);
bool ucma_addr_is_gid(const struct sockaddr_storage *addr);
/* Returns the service ID for a request to ADDR: the one in ADDR if it has a GID, else one made of
 * port space PS and ADDR's port. IBTA vol 1, annex A11. */
uint64_t ucma_addr_service(const struct sockaddr_storage *addr, uint16_t ps);
void ucma_addr_set_service(struct sockaddr_storage *addr, uint64_t service);
/* Returns whether address HOST belongs to the port; a resolve_own_fn of resolve.h. */
bool ucma_addr_is_own(const uint8_t host[16], const struct adapter *adapter, unsigned int port);
/* Finds the port with an address. Returns 0, or EADDRNOTAVAIL if no adapter of this process has
 * it. */
int ucma_addr_find(struct daemon *daemon, const struct sockaddr_storage *addr,
		   struct ucma_end *end);
/* Finds the port that serves loopback addresses: the first active port, or if none is active, the
 * first. */
int ucma_addr_find_loopback(struct daemon *daemon, unsigned int family, struct ucma_end *end);
/* Chooses a source for DST. DST's adapter is NULL if DST is on another host. */
int ucma_addr_source(struct daemon *daemon, const struct ucma_end *dst, struct ucma_end *src);

#endif

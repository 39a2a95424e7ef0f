/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * addr.h - addresses that ids go by: IP addresses of a fabric (addr.c), and GIDs with service IDs
 * (AF_IB).
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

/* A place is one port of an adapter, here or on another host of the network. */
struct ucma_end {
	struct adapter *adapter; /* NULL: of another process */
	unsigned int port;
	uint32_t gid_index;
	uint16_t lid;
	uint8_t gid[16];
	struct sockaddr_storage
		addr; /* the IP address that the end goes by, with its port number */
};

/* Returns 0 for a family that is not ours. */
size_t ucma_addr_size(unsigned int family);
/* Takes an address from a command, where it has SIZE bytes; returns EINVAL if that is not what its
 * family has. */
int ucma_addr_get(const struct __kernel_sockaddr_storage *from, uint16_t size,
		  struct sockaddr_storage *to);
bool ucma_addr_is_ip(const struct sockaddr_storage *addr);
/* Is it any address, or the loopback's, which Linux takes for the same: neither is a port's. */
bool ucma_addr_is_of_no_port(const struct sockaddr_storage *addr);
bool ucma_addr_is_loopback(const struct sockaddr_storage *addr);
/* Is it an address of one link that does not say of which? */
bool ucma_addr_lacks_scope(const struct sockaddr_storage *addr);
bool ucma_addr_is_multicast(const struct sockaddr_storage *addr);
bool ucma_addr_same_host(const struct sockaddr_storage *a, const struct sockaddr_storage *b);
uint16_t ucma_addr_port(const struct sockaddr_storage *addr); /* host order */
void ucma_addr_set_port(struct sockaddr_storage *addr, uint16_t port);
/* Gives an address as 16 bytes: a GID, or IPv6, IPv4 as mapped to it. */
void ucma_addr_bytes(const struct sockaddr_storage *addr, uint8_t host[16]);
/* Makes an address of FAMILY from 16 such bytes; PORT is in host order, with the service ID of port
 * space PS where it is a GID. */
void ucma_addr_put(struct sockaddr_storage *addr, unsigned int family, const uint8_t host[16],
		   uint16_t ps, uint16_t port);
/* Makes an address of a GID and a service ID. */
bool ucma_addr_is_gid(const struct sockaddr_storage *addr);
/* Gives the service ID that a request to ADDR names: the port and the port space that it is of, or
 * the service ID that is part of the address. */
uint64_t ucma_addr_service(const struct sockaddr_storage *addr, uint16_t ps);
void ucma_addr_set_service(struct sockaddr_storage *addr, uint64_t service);
/* Asks for resolve.h whether that port has that address. */
bool ucma_addr_is_own(const uint8_t host[16], const struct adapter *adapter, unsigned int port);
/* Finds whose address it is. It returns 0, or EADDRNOTAVAIL when it is of no adapter of this
 * process. */
int ucma_addr_find(struct daemon *daemon, const struct sockaddr_storage *addr,
		   struct ucma_end *end);
/* Finds the port that the loopback is: the first active one, else the first. */
int ucma_addr_find_loopback(struct daemon *daemon, unsigned int family, struct ucma_end *end);
/* Finds from where to go to DST, whose adapter is NULL if it is not ours, when no source is
 * given. */
int ucma_addr_source(struct daemon *daemon, const struct ucma_end *dst, struct ucma_end *src);

#endif

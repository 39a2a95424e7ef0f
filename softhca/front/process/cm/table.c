/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * table.c - tables of connections by the ids in messages. See conn.h.
 */
#include <string.h>

#include "softhca/front/process/cm/conn.h"

enum { BUCKETS = 1024 };

LIST_HEAD(conn_list, cm_conn);

static struct {
	struct conn_list by_local[BUCKETS], by_remote[BUCKETS], by_qpn[BUCKETS];
	uint32_t next_id;
} table;

void cm_table_start(uint32_t first_id)
{
	table.next_id = first_id;
	for (unsigned int i = 0; i < BUCKETS; i++) {
		LIST_INIT(&table.by_local[i]);
		LIST_INIT(&table.by_remote[i]);
		LIST_INIT(&table.by_qpn[i]);
	}
}

static unsigned int bucket_of(uint64_t guid, uint32_t number)
{
	uint64_t mixed = (guid ^ number) * 0x9e3779b97f4a7c15ull;

	return (unsigned int)(mixed >> 32) % BUCKETS;
}

struct cm_conn *cm_find_local(uint32_t local_id)
{
	struct cm_conn *conn;

	LIST_FOREACH(conn, &table.by_local[bucket_of(0, local_id)], by_local)
		if (conn->local_id == local_id)
			return conn;
	return NULL;
}

struct cm_conn *cm_find_pair(uint32_t local_id, uint32_t remote_id)
{
	struct cm_conn *conn = cm_find_local(local_id);

	return conn && conn->remote_id == remote_id ? conn : NULL;
}

struct cm_conn *cm_find_remote(uint64_t guid, uint32_t remote_id, bool sidr)
{
	struct cm_conn *conn;

	LIST_FOREACH(conn, &table.by_remote[bucket_of(guid, remote_id)], by_remote)
		if (conn->remote_guid == guid && conn->remote_id == remote_id &&
		    sidr == (conn->state == CM_SIDR_RECEIVED))
			return conn;
	return NULL;
}

struct cm_conn *cm_find_qpn(uint64_t guid, uint32_t qpn)
{
	struct cm_conn *conn;

	LIST_FOREACH(conn, &table.by_qpn[bucket_of(guid, qpn)], by_qpn)
		if (conn->remote_guid == guid && conn->remote_qpn == qpn)
			return conn;
	return NULL;
}

void cm_enlist(struct cm_conn *conn)
{
	do {
		conn->local_id = table.next_id++;
	} while (!conn->local_id || cm_find_local(conn->local_id));
	LIST_INSERT_HEAD(&table.by_local[bucket_of(0, conn->local_id)], conn, by_local);
	conn->listed = true;
}

void cm_enlist_remote(struct cm_conn *conn)
{
	LIST_INSERT_HEAD(&table.by_remote[bucket_of(conn->remote_guid, conn->remote_id)], conn,
			 by_remote);
	LIST_INSERT_HEAD(&table.by_qpn[bucket_of(conn->remote_guid, conn->remote_qpn)], conn,
			 by_qpn);
	conn->remote_listed = true;
}

void cm_delist_remote(struct cm_conn *conn)
{
	if (!conn->remote_listed)
		return;
	LIST_REMOVE(conn, by_remote);
	LIST_REMOVE(conn, by_qpn);
	conn->remote_listed = false;
}

void cm_delist(struct cm_conn *conn)
{
	cm_delist_remote(conn);
	if (conn->listed)
		LIST_REMOVE(conn, by_local);
	conn->listed = false;
}

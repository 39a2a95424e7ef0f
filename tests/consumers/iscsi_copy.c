/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * iscsi_copy.c - copies one disk of an iSCSI or iSER target to another by libiscsi, and reads back
 * what it has written: iscsi_copy SOURCE-URL DESTINATION-URL. All requests are told to the first
 * disk's log-in name, "iqn.example:copy".
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <iscsi/iscsi.h>
#include <iscsi/scsi-lowlevel.h>

enum { BLOCK = 512, BLOCKS = 256 };

struct disk {
	struct iscsi_context *iscsi;
	int lun;
	uint32_t blocks;
};

static void give_up(const struct disk *disk, const char *what)
{
	fprintf(stderr, "%s: %s\n", what, iscsi_get_error(disk->iscsi));
	exit(1);
}

/* The answer of a command that must succeed. */
static struct scsi_task *expect_good(const struct disk *disk, struct scsi_task *task,
				     const char *what)
{
	if (!task || task->status != SCSI_STATUS_GOOD)
		give_up(disk, what);
	return task;
}

static void open_disk(const char *text, struct disk *disk)
{
	struct scsi_readcapacity10 *capacity;
	struct scsi_task *task;
	struct iscsi_url *url;

	disk->iscsi = iscsi_create_context("iqn.example:copy");
	url = iscsi_parse_full_url(disk->iscsi, text);
	if (!url)
		give_up(disk, text);
	iscsi_set_session_type(disk->iscsi, ISCSI_SESSION_NORMAL);
	iscsi_set_header_digest(disk->iscsi, ISCSI_HEADER_DIGEST_NONE);
	if (iscsi_full_connect_sync(disk->iscsi, url->portal, url->lun))
		give_up(disk, text);
	disk->lun = url->lun;
	task = expect_good(disk, iscsi_readcapacity10_sync(disk->iscsi, disk->lun, 0, 0),
			   "capacity");
	capacity = scsi_datain_unmarshall(task);
	if (!capacity || capacity->block_size != BLOCK)
		give_up(disk, "blocks of 512 bytes are expected");
	disk->blocks = capacity->lba + 1;
	scsi_free_scsi_task(task);
	iscsi_destroy_url(url);
}

static void close_disk(struct disk *disk)
{
	iscsi_logout_sync(disk->iscsi);
	iscsi_destroy_context(disk->iscsi);
}

static struct scsi_task *read_blocks(const struct disk *disk, uint32_t at, uint32_t count)
{
	struct scsi_task *task = expect_good(
		disk,
		iscsi_read10_sync(disk->iscsi, disk->lun, at, count * BLOCK, BLOCK, 0, 0, 0, 0, 0),
		"read");

	if (task->datain.size != (int)(count * BLOCK))
		give_up(disk, "a short read");
	return task;
}

static void copy_blocks(const struct disk *from, const struct disk *to, uint32_t at, uint32_t count)
{
	struct scsi_task *data = read_blocks(from, at, count), *back;

	scsi_free_scsi_task(
		expect_good(to,
			    iscsi_write10_sync(to->iscsi, to->lun, at, data->datain.data,
					       count * BLOCK, BLOCK, 0, 0, 0, 0, 0),
			    "write"));
	back = read_blocks(to, at, count);
	if (memcmp(back->datain.data, data->datain.data, count * BLOCK)) {
		fprintf(stderr, "block %u and the %u that follow are not what was written\n", at,
			count);
		exit(1);
	}
	scsi_free_scsi_task(back);
	scsi_free_scsi_task(data);
}

int main(int argc, char **argv)
{
	struct disk from, to;
	uint32_t count = 1;

	if (argc != 3)
		return 2;
	open_disk(argv[1], &from);
	open_disk(argv[2], &to);
	if (from.blocks != to.blocks)
		give_up(&to, "the disks differ in size");
	for (uint32_t at = 0; at < from.blocks;
	     at += count, count = count < BLOCKS ? count * 2 : BLOCKS) {
		if (count > from.blocks - at)
			count = from.blocks - at;
		copy_blocks(&from, &to, at, count);
	}
	printf("%u blocks copied\n", from.blocks);
	close_disk(&to);
	close_disk(&from);
	return 0;
}

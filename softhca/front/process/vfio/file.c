/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * file.c - open files of VFIO, and calls on them.
 *
 * As a uverbs file, each is a memfd that is opened a second time for the program (last_close.h) and
 * found by its inode.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "softhca/fault.h"
#include "softhca/front/process/client.h"
#include "softhca/front/process/daemon.h"
#include "softhca/front/process/fd_number.h"
#include "softhca/front/process/last_close.h"
#include "softhca/front/process/notify.h"
#include "softhca/front/process/program/caller.h"
#include "softhca/front/process/vfio/vfio.h"
#include "softhca/log.h"
#include "util/bits.h"

static LIST_HEAD(, vfio_file) files = LIST_HEAD_INITIALIZER(files);
static struct last_closes closes = { .watch.fd = -1 };

struct vfio_file *vfio_file_newest(void)
{
	return LIST_FIRST(&files);
}

struct vfio_file *vfio_file_find(const struct stat *st)
{
	struct vfio_file *file;

	LIST_FOREACH(file, &files, in_all)
		if (file->ino == st->st_ino && file->dev == st->st_dev)
			return file;
	return NULL;
}

static void file_close(struct vfio_file *file)
{
	log_note("vfio: %s closed by process %d", file->kind->name, file->client->pid);
	LIST_REMOVE(file, in_all);
	last_close_forget(&closes, &file->last_close);
	file->kind->close(file);
	client_put(file->client);
	close(file->memfd);
	free(file);
}

/* Opens the memory for the program and notes by which inode it is found. The descriptor that
 * created it stays open: its close would look like the program's. */
static int open_for_program(struct vfio_file *file, int *fd)
{
	struct stat st;

	if (fstat(file->memfd, &st))
		return errno;
	file->dev = st.st_dev;
	file->ino = st.st_ino;
	return last_close_open(&closes, &file->last_close, file->memfd, fd);
}

int vfio_file_open(struct call *call, const struct vfio_file_kind *kind, int memfd, void *object,
		   bool cloexec)
{
	struct vfio_file *file = calloc(1, sizeof(*file));
	int fd = -1, number, ret = file ? fd_number_pick(call->tid, &number) : ENOMEM;

	if (!ret)
		ret = caller_client(call, &file->client);
	if (ret)
		goto free_file;
	file->memfd = fcntl(memfd, F_DUPFD_CLOEXEC, 0);
	ret = file->memfd < 0 ? errno : open_for_program(file, &fd);
	if (ret)
		goto close_memfd;
	file->kind = kind;
	file->object = object;
	LIST_INSERT_HEAD(&files, file, in_all);
	log_note("vfio: %s opened by process %d", kind->name, file->client->pid);
	fd_number_return(call, fd, cloexec, number);
	close(fd); /* if the caller did not get it, this closes the file */
	return 0;
close_memfd:
	if (file->memfd >= 0)
		close(file->memfd);
	client_put(file->client);
free_file:
	free(file);
	return ret;
}

int vfio_file_open_empty(struct call *call, const struct vfio_file_kind *kind, void *object,
			 bool cloexec)
{
	int memfd = memfd_create(kind->name, MFD_CLOEXEC | MFD_ALLOW_SEALING), ret;

	if (memfd < 0)
		return errno;
	ret = fcntl(memfd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) ? errno : 0;
	if (!ret)
		ret = vfio_file_open(call, kind, memfd, object, cloexec);
	close(memfd);
	return ret;
}

static void file_closed(struct last_close *last_close)
{
	file_close(container_of(last_close, struct vfio_file, last_close));
}

void vfio_files_settle(void)
{
	last_closes_settle(&closes);
}

static struct vfio_file *file_of_call(const struct call *call)
{
	struct stat st;

	if (LIST_EMPTY(&files) || client_fd_stat(call->tid, call_arg_int(call, 0), &st))
		return NULL;
	return vfio_file_find(&st);
}

static void finish_call(struct call *call, int ret)
{
	if (ret)
		call_fail(call, ret);
	else if (!call->answered)
		call_return(call, 0);
}

/* Counts a request as a command to the kernel. Returns whether a fault has answered it. */
static bool fails_by_fault(struct call *call)
{
	const int err = fault_command(call->daemon->fault);

	if (err)
		call_fail(call, err);
	return err;
}

void vfio_ioctl(struct call *call)
{
	struct vfio_file *file = file_of_call(call);
	const uint32_t number = (uint32_t)call_arg(call, 1);

	if (!file)
		return;
	log_detail("%d: %s: ioctl %#x", call->tid, file->kind->name, number);
	if (fails_by_fault(call))
		return;
	for (unsigned int i = 0; i < file->kind->num_requests; i++) {
		if (file->kind->requests[i].number == number) {
			finish_call(call, file->kind->requests[i].answer(file, call));
			return;
		}
	}
	call_fail(call, ENOTTY);
}

void vfio_pread(struct call *call)
{
	struct vfio_file *file = file_of_call(call);

	if (file && !fails_by_fault(call))
		finish_call(call, file->kind->read ? file->kind->read(file, call) : EINVAL);
}

void vfio_pwrite(struct call *call)
{
	struct vfio_file *file = file_of_call(call);

	if (file && !fails_by_fault(call))
		finish_call(call, file->kind->write ? file->kind->write(file, call) : EINVAL);
}

int vfio_start(struct daemon *daemon)
{
	int ret = vfio_device_create(daemon);

	if (ret || !vfio_device_get())
		return ret;
	vfio_container_start();
	vfio_group_start();
	return last_closes_start(&closes, file_closed);
}

void vfio_stop(void)
{
	while (!LIST_EMPTY(&files))
		file_close(LIST_FIRST(&files));
	last_closes_stop(&closes);
	vfio_device_destroy();
}

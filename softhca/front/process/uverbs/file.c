/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * file.c - open uverbs files and their objects.
 *
 * The program's descriptor is a memfd of UAR pages, opened a second time for it (last_close.h). A
 * uverbs file is found by the memfd's inode, so duplicated descriptors need no bookkeeping.
 */
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <rdma/mlx5-abi.h>
#include <rdma/mlx5_user_ioctl_cmds.h>

#include "softhca/front/process/daemon.h"
#include "softhca/front/process/driver/engine.h"
#include "softhca/front/process/fd_number.h"
#include "softhca/front/process/last_close.h"
#include "softhca/front/process/node.h"
#include "softhca/front/process/notify.h"
#include "softhca/front/process/program/caller.h"
#include "softhca/front/process/seccomp.h"
#include "softhca/front/process/timer.h"
#include "softhca/front/process/uverbs/mlx4/mlx4.h"
#include "softhca/front/process/uverbs/uverbs.h"
#include "softhca/front/process/uverbs/objects.h"
#include "softhca/front/process/uverbs/quota.h"
#include "softhca/front/process/vfio/vfio.h"
#include "softhca/log.h"
#include "util/bits.h"

static LIST_HEAD(, uverbs_file) files = LIST_HEAD_INITIALIZER(files);
static struct last_closes closes;

/* Layout of the file: UAR pages first; other mappings at the page number that encodes their mmap
 * command (mlx5-abi.h). */
enum {
	CLOCK_PAGE = MLX5_IB_MMAP_CLOCK_INFO << 8,
	MEMORY_PAGE = MLX5_IB_MMAP_DEVICE_MEM << 8,
	FILE_BYTES = (MEMORY_PAGE + UVERBS_FILE_MEMORY_PAGES) * UAR_PAGE_SIZE,
};
static_assert((int)CLOCK_PAGE < (int)MEMORY_PAGE, "device memory is last");
static_assert((int)UVERBS_FILE_EMULATION + (int)EMULATION_PAGES <= (int)CLOCK_PAGE,
	      "UAR pages, and doorbells of emulated devices, must end before it");

int object_new_kind(size_t size, struct uverbs_file *file, uint16_t type, enum object_kind kind,
		    int (*destroy)(struct object *object, pid_t tid), void *out)
{
	struct object *object = calloc(1, size);

	if (!object)
		return ENOMEM;
	object->file = file;
	object->type = type;
	object->kind = kind;
	/* queues still use doorbell pages */
	object->scarce = kind == OBJECT_OTHER && type != MLX5_IB_OBJECT_UAR;
	object->destroy = destroy;
	object->maker = file->caller;
	if (quota_take(object)) {
		free(object);
		return ENOMEM;
	}
	if (object->maker)
		client_keep(object->maker);
	*(struct object **)out = object;
	return 0;
}

int object_new(size_t size, struct uverbs_file *file, uint16_t type,
	       int (*destroy)(struct object *object, pid_t tid), void *out)
{
	return object_new_kind(size, file, type, quota_kind(file->adapter, type), destroy, out);
}

void object_free(struct object *object)
{
	quota_give(object);
	pinned_drop(&object->pinned);
	if (object->maker)
		client_put(object->maker);
	free(object);
}

static int grow_table(struct uverbs_file *file)
{
	uint32_t wanted = file->num_objects ? file->num_objects * 2 : 64;
	struct object **table = realloc(file->object, wanted * sizeof(*table));

	if (!table)
		return ENOMEM;
	memset(table + file->num_objects, 0, (wanted - file->num_objects) * sizeof(*table));
	file->object = table;
	file->num_objects = wanted;
	return 0;
}

/* Gives the object the lowest free handle, as the kernel does. */
int object_publish(struct object *object)
{
	struct uverbs_file *file = object->file;
	uint32_t handle = file->lowest_free;
	int ret;

	while (handle < file->num_objects && file->object[handle])
		handle++;
	if (handle == file->num_objects) {
		ret = grow_table(file);
		if (ret)
			return ret;
	}
	file->lowest_free = handle + 1;
	object->handle = handle;
	file->object[handle] = object;
	return 0;
}

int object_take_down(struct object *object, pid_t tid)
{
	return object->users ? EBUSY : object->destroy(object, tid);
}

int object_destroy(struct object *object, pid_t tid)
{
	int ret = object_take_down(object, tid);

	if (!ret)
		object_forget(object);
	return ret;
}

void object_forget(struct object *object)
{
	struct uverbs_file *file = object->file;

	file->object[object->handle] = NULL;
	if (object->handle < file->lowest_free)
		file->lowest_free = object->handle;
	object_free(object);
}

int object_find(const struct uverbs_file *file, uint16_t type, uint32_t handle, void *out)
{
	struct object *object = handle < file->num_objects ? file->object[handle] : NULL;

	if (!object)
		return ENOENT;
	if (object->type != type && type != ANY_OBJECT)
		return EINVAL;
	*(struct object **)out = object;
	return 0;
}

struct uverbs_file *uverbs_file_find(const struct stat *st)
{
	struct uverbs_file *file;

	LIST_FOREACH(file, &files, in_all)
		if (file->ino == st->st_ino && file->dev == st->st_dev)
			return file;
	return NULL;
}

void uverbs_objects_see(const struct adapter *adapter,
			void (*see)(const struct object *object, void *arg), void *arg)
{
	const struct uverbs_file *file;

	LIST_FOREACH(file, &files, in_all)
		for (uint32_t i = 0; file->adapter == adapter && i < file->num_objects; i++)
			if (file->object[i])
				see(file->object[i], arg);
}

/* Returns the adapter's file at PLACE, or the next one if it was closed. Files are in the order of
 * their numbers, the newest first. */
static const struct uverbs_file *file_at(const struct adapter *adapter, struct object_place *place)
{
	const struct uverbs_file *file;

	LIST_FOREACH(file, &files, in_all) {
		if (file->adapter != adapter ||
		    (place->begun && file->context_number > place->context_number))
			continue;
		if (!place->begun || file->context_number != place->context_number)
			*place = (struct object_place){ true, file->context_number, 0 };
		return file;
	}
	return NULL;
}

/* Moves on to the next file. Returns false if there can be none. */
static bool place_pass_file(struct object_place *place)
{
	place->handle = 0;
	return place->context_number-- != 0;
}

bool uverbs_objects_see_from(const struct adapter *adapter, struct object_place *place,
			     bool (*see)(const struct object *object, void *arg), void *arg)
{
	const struct uverbs_file *file;

	while ((file = file_at(adapter, place))) {
		for (; place->handle < file->num_objects; place->handle++)
			if (file->object[place->handle] && !see(file->object[place->handle], arg))
				return false;
		if (!place_pass_file(place))
			break;
	}
	return true;
}

bool uverbs_contexts_see_from(const struct adapter *adapter, struct object_place *place,
			      bool (*see)(const struct uverbs_file *file, void *arg), void *arg)
{
	const struct uverbs_file *file;

	while ((file = file_at(adapter, place))) {
		if (file->has_context && !see(file, arg))
			return false;
		if (!place_pass_file(place))
			break;
	}
	return true;
}

unsigned int uverbs_count_contexts(const struct adapter *adapter)
{
	const struct uverbs_file *file;
	unsigned int count = 0;

	LIST_FOREACH(file, &files, in_all)
		count += file->adapter == adapter && file->has_context;
	return count;
}

uint32_t uverbs_file_memory_page(uint32_t index)
{
	return MEMORY_PAGE + index;
}

void *uverbs_file_memory(const struct uverbs_file *file, uint32_t index)
{
	return file->pages + (MEMORY_PAGE + (size_t)index) * UAR_PAGE_SIZE;
}

struct file_guest {
	STAILQ_ENTRY(file_guest) entry;
	struct client *client;
};

static void guests_leave(struct uverbs_file *file)
{
	struct file_guest *guest;

	while ((guest = STAILQ_FIRST(&file->guests))) {
		STAILQ_REMOVE_HEAD(&file->guests, entry);
		client_put(guest->client);
		free(guest);
	}
}

static bool is_guest(const struct uverbs_file *file, const struct client *client)
{
	const struct file_guest *guest;

	STAILQ_FOREACH(guest, &file->guests, entry)
		if (guest->client == client)
			return true;
	return false;
}

int object_will_move(const struct object *object)
{
	struct uverbs_file *file = object->file;
	struct file_guest *guest;

	if (file->caller == object->maker || is_guest(file, file->caller))
		return 0;
	guest = malloc(sizeof(*guest));
	if (!guest)
		return ENOMEM;
	guest->client = file->caller;
	client_keep(guest->client);
	STAILQ_INSERT_HEAD(&file->guests, guest, entry);
	return 0;
}

int uverbs_call_begin(struct uverbs_file *file, const struct call *call)
{
	if (!client_has_thread(file->client, call->tid))
		return caller_client(call, &file->caller);
	file->caller = file->client;
	client_keep(file->caller);
	return 0;
}

void uverbs_call_end(struct uverbs_file *file)
{
	/* Memory of an object that the call has failed to create: nothing else would unpin it */
	pinned_drop(&file->caller->pinning);
	client_put(file->caller);
	file->caller = NULL;
}

/* Frees a file without objects. */
static void file_free(struct uverbs_file *file)
{
	free(file->object);
	mlx4_close_context(file);
	devx_file_close(file);
	if (file->async)
		event_channel_put(file->async);
	munmap(file->pages, FILE_BYTES);
	close(file->memfd);
	guests_leave(file);
	client_put(file->client);
	free(file);
}

/* Files are closed in turns of the daemon's loop, so that other programs' calls are answered in
 * between: those of many objects, and many of few objects. Each file in the list gets a turn in
 * turn. */
static TAILQ_HEAD(, uverbs_file) closing = TAILQ_HEAD_INITIALIZER(closing);

static void closing_turn(struct timer *timer);
static struct timer closing_timer = { .expired = closing_turn };

enum {
	OBJECTS_OF_TURN = 128,  /* about a millisecond */
	OBJECTS_OF_FILE = 8,    /* an empty file takes the time of so many objects */
	LOOKS_OF_OBJECT = 16,   /* as many objects can be passed over in the time of one */
	OBJECTS_OF_TRIM = 1024, /* after which their memory goes back to the host */
	CLOSING_TURNS = 4,      /* of the adapter, for work that the program has posted */
};

/* What may still be done in this turn of the loop, in looks. The timer begins the next turn. */
static uint32_t turn_left = OBJECTS_OF_TURN * LOOKS_OF_OBJECT;

static bool turn_take(uint32_t looks)
{
	if (turn_left < looks) {
		turn_left = 0;
		return false;
	}
	turn_left -= looks;
	return true;
}

/* The first round destroys scarce objects only: another program may wait for them. */
static bool is_due(const struct uverbs_file *file, const struct object *object)
{
	return file->close_round || object->scarce;
}

/* Looks at the file's objects below close_at. Returns whether this turn was enough for all. */
static bool round_go_on(struct uverbs_file *file)
{
	for (; file->close_at > 0; file->close_at--) {
		struct object *object = file->object[file->close_at - 1];
		bool due = object && is_due(file, object);

		if (object && !turn_take(due ? LOOKS_OF_OBJECT : 1))
			return false;
		if (due && !object_destroy(object, file->client->pid))
			file->close_progress = true;
	}
	return true;
}

/* Destroys objects of the file as long as this turn lasts, users before what they use: in rounds,
 * as deep as the nesting, from the highest handle down, as the youngest objects mostly have the
 * highest. Returns whether none is left. */
static bool objects_destroy(struct uverbs_file *file)
{
	do {
		if (!file->close_at) {
			file->close_at = file->num_objects;
			file->close_progress = false;
		}
		if (!round_go_on(file))
			return false;
	} while (!file->close_round++ || file->close_progress);
	return true;
}

/* Handles doorbells once for many objects, as looking for those of thousands of pages takes longer
 * than destroying an object. The closing program rings no more. A strict adapter looks before each
 * object, as it runs all posted work first. */
static void doorbells_take(struct adapter *adapter)
{
	if (adapter->strict)
		return;
	engine_catch_up(adapter, CLOSING_TURNS);
	adapter->is_caught_up = true;
}

/* Returns whether the file is closed and freed. */
static bool file_close_on(struct uverbs_file *file)
{
	struct adapter *adapter = file->adapter;
	bool closed;

	doorbells_take(adapter);
	closed = objects_destroy(file) && turn_take(OBJECTS_OF_FILE * LOOKS_OF_OBJECT);
	adapter->is_caught_up = false;
	if (closed)
		file_free(file);
	return closed;
}

static void memory_trim(void)
{
	static unsigned int destroyed;

	destroyed += OBJECTS_OF_TURN;
	if (destroyed >= OBJECTS_OF_TRIM) {
		malloc_trim(0);
		destroyed = 0;
	}
}

static void closing_turn(struct timer *timer)
{
	struct uverbs_file *file;

	turn_left = OBJECTS_OF_TURN * LOOKS_OF_OBJECT;
	if (TAILQ_EMPTY(&closing))
		return;
	while (turn_left && (file = TAILQ_FIRST(&closing))) {
		TAILQ_REMOVE(&closing, file, in_closing);
		if (!file_close_on(file))
			TAILQ_INSERT_TAIL(&closing, file, in_closing);
	}
	memory_trim();
	timer_start(timer, timer_now());
}

static void file_close(struct uverbs_file *file)
{
	log_note("%s: closed by process %d", file->adapter->name, file->client->pid);
	LIST_REMOVE(file, in_all);
	last_close_forget(&closes, &file->last_close);
	if (!closing_timer.deadline)
		timer_start(&closing_timer, timer_now());
	if (!turn_left || !file_close_on(file))
		TAILQ_INSERT_TAIL(&closing, file, in_closing);
}

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Describes how to convert CQE timestamps to wall-clock time. They are of CLOCK_MONOTONIC, so a
 * tick is always a nanosecond. */
static void describe_clock(struct uverbs_file *file)
{
	enum { SHIFT = 20 };
	struct mlx5_ib_clock_info *info = (void *)(file->pages + CLOCK_PAGE * UAR_PAGE_SIZE);

	*info = (struct mlx5_ib_clock_info){ .nsec = clock_ns(CLOCK_REALTIME),
					     .cycles = clock_ns(CLOCK_MONOTONIC),
					     .mult = 1u << SHIFT,
					     .shift = SHIFT,
					     .mask = UINT64_MAX >> 1,
					     .overflow_period = UINT64_MAX >> (SHIFT + 2) };
}

/* Seals the memfd, as the program could shrink it under our mapping. */
static int memory_seal(int memfd)
{
	return fcntl(memfd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
}

static int make_memory(struct uverbs_file *file)
{
	struct stat st;

	file->memfd = memfd_create("uverbs", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (file->memfd < 0)
		return errno;
	if (ftruncate(file->memfd, FILE_BYTES) || memory_seal(file->memfd) ||
	    fstat(file->memfd, &st))
		goto close_memfd;
	file->pages = mmap(NULL, FILE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, file->memfd, 0);
	if (file->pages == MAP_FAILED)
		goto close_memfd;
	file->dev = st.st_dev;
	file->ino = st.st_ino;
	describe_clock(file);
	return 0;
close_memfd:
	close(file->memfd);
	return errno;
}

static uint32_t next_context;

static int file_new(const struct call *call, struct adapter *adapter, struct uverbs_file **out,
		    int *fd)
{
	struct uverbs_file *file = calloc(1, sizeof(*file));
	int ret;

	if (!file)
		return ENOMEM;
	file->adapter = adapter;
	file->context_number = next_context++;
	STAILQ_INIT(&file->guests);
	ret = caller_client(call, &file->client);
	if (ret)
		goto free_file;
	ret = make_memory(file);
	if (ret)
		goto put_client;
	ret = last_close_open(&closes, &file->last_close, file->memfd, fd);
	if (ret)
		goto unmap;
	LIST_INSERT_HEAD(&files, file, in_all);
	*out = file;
	return 0;
unmap:
	munmap(file->pages, FILE_BYTES);
	close(file->memfd);
put_client:
	client_put(file->client);
free_file:
	free(file);
	return ret;
}

static void device_open(struct call *call, unsigned int index, uint64_t flags)
{
	struct adapter *adapter = call->daemon->adapters[index];
	struct uverbs_file *file;
	int fd, number = -1;
	int ret = adapter->dead ? ENODEV : fd_number_pick(call->tid, &number);

	if (!ret)
		ret = file_new(call, adapter, &file, &fd);
	if (ret) {
		call_fail(call, ret);
		return;
	}
	log_note("%s: opened by process %d", adapter->name, file->client->pid);
	fd_number_return(call, fd, flags & O_CLOEXEC, number);
	close(fd); /* if the caller did not get it, this closes the last reference */
}

static bool device_exists(const struct daemon *daemon, unsigned int index)
{
	return index < daemon->num_adapters;
}

static int device_of_file(const struct stat *st)
{
	const struct uverbs_file *file = uverbs_file_find(st);

	return file ? (int)file->adapter->index : -1;
}

static void copy_descriptor(struct call *call, bool cloexec)
{
	int number, fd, ret;
	struct stat st;

	if (client_fd_stat(call->tid, call_arg_int(call, 0), &st) ||
	    (!uverbs_file_find(&st) && !vfio_file_find(&st)))
		return; /* nothing, as the kernel executes the call or reports the error */
	ret = fd_number_pick(call->tid, &number);
	fd = ret ? -1 : caller_fd_copy(call, call_arg_int(call, 0));
	if (fd < 0) {
		call_fail(call, ret ? ret : EMFILE);
		return;
	}
	fd_number_return(call, fd, cloexec, number);
	close(fd);
}

void uverbs_dup(struct call *call)
{
	copy_descriptor(call, false);
}

/* Takes fcntl(). The lowest number that F_DUPFD asks for is only respected below the intercepted
 * band. */
void uverbs_fcntl(struct call *call)
{
	int command = call_arg_int(call, 1);

	if ((command == F_DUPFD || command == F_DUPFD_CLOEXEC) &&
	    call_arg_int(call, 2) <= FD_BAND_FIRST)
		copy_descriptor(call, command == F_DUPFD_CLOEXEC);
}

static void file_closed(struct last_close *last_close)
{
	file_close(container_of(last_close, struct uverbs_file, last_close));
}

int uverbs_start(void)
{
	static struct node_kind kind = {
		.path = "/dev/infiniband/uverbs",
		.major = UVERBS_MAJOR,
		.first_minor = UVERBS_FIRST_MINOR,
		.exists = device_exists,
		.open = device_open,
		.find = device_of_file,
	};

	node_register(&kind);
	return last_closes_start(&closes, file_closed);
}

void uverbs_stop(void)
{
	while (!LIST_EMPTY(&files))
		file_close(LIST_FIRST(&files));
	timer_stop(&closing_timer);
	while (!TAILQ_EMPTY(&closing))
		closing_turn(&closing_timer);
	timer_stop(&closing_timer);
	last_closes_stop(&closes);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * file_test.c - uverbs files: how they open and close, their memory, the handles of their objects,
 * and the processes that use them.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <sys/epoll.h>
#include <cmocka.h>

#include "softhca/front/process/uverbs/file.c"

enum { TID = 77, OTHER_TID = 99, FD = 600, FIRST_TABLE = 64, FEW = 5, TYPE = UVERBS_OBJECT_CQ };

static struct adapter adapters[2];
static struct daemon it = { .num_adapters = 2, .adapters = { &adapters[0], &adapters[1] } };
static struct client owner, other;
static struct seccomp_notif notif;
static struct call call;
static const struct call other_call = { .tid = OTHER_TID };
static int64_t answer;
static int program_fd; /* the program's end of the file */
static bool returned_cloexec;
static int pick_error, client_error, copy_error;
static int quota_error, quota; /* quota: objects that are counted */
static unsigned int drops, contexts_closed, devx_closed, channels_put, catch_ups;
static struct node_kind *uverbs_kind;
static struct watch *watched;

void node_register(struct node_kind *kind)
{
	uverbs_kind = kind;
}

int watch_add(struct watch *watch, uint32_t events)
{
	assert_int_equal(events, EPOLLIN);
	watched = watch;
	return 0;
}

uint64_t timer_now(void)
{
	return 1;
}

void timer_start(struct timer *timer, uint64_t deadline)
{
	assert_int_equal(deadline, timer_now());
	timer->deadline = deadline;
}

void timer_stop(struct timer *timer)
{
	timer->deadline = 0;
}

int caller_client(const struct call *of, struct client **client)
{
	if (client_error)
		return client_error;
	*client = of->tid == TID ? &owner : &other;
	client_keep(*client);
	return 0;
}

void client_keep(struct client *client)
{
	client->users++;
}

void client_put(struct client *client)
{
	assert_true(client->users > 0);
	client->users--;
}

bool client_has_thread(const struct client *client, pid_t tid)
{
	return client == (tid == TID ? &owner : &other);
}

int client_fd_stat(pid_t tid, int fd, struct stat *st)
{
	assert_int_equal(tid, TID);
	return fd != FD || fstat(program_fd, st) ? EBADF : 0;
}

int caller_fd_copy(const struct call *of, int fd)
{
	assert_int_equal(of->tid, TID);
	assert_int_equal(fd, FD);
	return copy_error ? -1 : fcntl(program_fd, F_DUPFD_CLOEXEC, 0);
}

struct vfio_file *vfio_file_find(const struct stat *st)
{
	(void)st;
	return NULL;
}

int fd_number_pick(pid_t tid, int *number)
{
	assert_int_equal(tid, TID);
	*number = FD;
	return pick_error;
}

void fd_number_return(struct call *of, int fd, bool cloexec, int number)
{
	int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);

	if (program_fd >= 0)
		close(program_fd);
	program_fd = copy;
	returned_cloexec = cloexec;
	of->answered = true;
	answer = number;
}

void call_fail(struct call *of, int error)
{
	assert_false(of->answered);
	of->answered = true;
	answer = -error;
}

enum object_kind quota_kind(const struct adapter *adapter, uint16_t type)
{
	assert_ptr_equal(adapter, &adapters[1]);
	assert_int_equal(type, TYPE);
	return OBJECT_CQ;
}

int quota_take(const struct object *object)
{
	assert_non_null(object->file);
	quota += !quota_error;
	return quota_error;
}

void quota_give(const struct object *object)
{
	assert_non_null(object->file);
	quota--;
}

void pinned_drop(struct pinned *pinned)
{
	assert_non_null(pinned);
	drops++;
}

void mlx4_close_context(struct uverbs_file *file)
{
	assert_non_null(file->pages);
	contexts_closed++;
}

void devx_file_close(struct uverbs_file *file)
{
	assert_non_null(file->pages);
	devx_closed++;
}

void event_channel_put(struct event_channel *channel)
{
	assert_non_null(channel);
	channels_put++;
}

void engine_catch_up(struct adapter *adapter, unsigned int turns)
{
	assert_false(adapter->is_caught_up);
	assert_in_range(turns, 1, 8);
	catch_ups++;
}

/* ---- the test's calls ---- */

static struct call *call_with(uint64_t a, uint64_t b, uint64_t c)
{
	notif = (struct seccomp_notif){ .data.args = { a, b, c } };
	call = (struct call){ .daemon = &it, .notif = &notif, .tid = TID };
	answer = 0;
	return &call;
}

static struct uverbs_file *file_opened(unsigned int index, uint64_t flags)
{
	uverbs_kind->open(call_with(0, 0, 0), index, flags);
	return answer == FD ? LIST_FIRST(&files) : NULL;
}

static int file_begin(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 2; i++)
		adapters[i] = (struct adapter){ .index = i, .name = "mlx5" };
	program_fd = -1;
	pick_error = client_error = copy_error = quota_error = quota = 0;
	drops = contexts_closed = devx_closed = channels_put = catch_ups = 0;
	turn_left = OBJECTS_OF_TURN * LOOKS_OF_OBJECT;
	assert_int_equal(uverbs_start(), 0);
	assert_ptr_equal(watched, &closes.watch);
	return 0;
}

static int file_end(void **state)
{
	(void)state;
	uverbs_stop();
	assert_true(LIST_EMPTY(&files));
	assert_true(TAILQ_EMPTY(&closing));
	assert_int_equal(closing_timer.deadline, 0);
	assert_int_equal(quota, 0);
	assert_int_equal(owner.users, 0);
	assert_int_equal(other.users, 0);
	if (program_fd >= 0)
		close(program_fd);
	return 0;
}

static void program_closes(void)
{
	close(program_fd);
	program_fd = -1;
	watched->ready(watched, EPOLLIN);
}

/* ---- objects ---- */

static struct object *destroyed[8];
static unsigned int num_destroyed;
static struct object *used; /* by all others */
static unsigned int seen_caught_up;
static int destroy_error;

static int see_destroyed(struct object *object, pid_t tid)
{
	(void)tid;
	seen_caught_up += object->file->adapter->is_caught_up;
	if (destroy_error)
		return destroy_error;
	if (num_destroyed < sizeof(destroyed) / sizeof(destroyed[0]))
		destroyed[num_destroyed++] = object;
	if (used && object != used)
		used->users--;
	return 0;
}

static struct object *object_made(struct uverbs_file *file)
{
	struct object *object;

	assert_int_equal(object_new(sizeof(*object), file, TYPE, see_destroyed, &object), 0);
	assert_int_equal(object_publish(object), 0);
	return object;
}

static struct uverbs_file *file_with_caller(void)
{
	struct uverbs_file *file = file_opened(1, 0);

	num_destroyed = 0;
	used = NULL;
	destroy_error = 0;
	assert_int_equal(uverbs_call_begin(file, &call), 0);
	return file;
}

static void a_handle_is_the_lowest_that_is_free(void **state)
{
	struct uverbs_file *file = file_with_caller();
	struct object *object[FIRST_TABLE + 2];

	(void)state;
	for (unsigned int i = 0; i < FIRST_TABLE + 2; i++) {
		object[i] = object_made(file);
		assert_int_equal(object[i]->handle, i);
		assert_int_equal(object[i]->kind, OBJECT_CQ);
		assert_ptr_equal(object[i]->maker, &owner);
	}
	assert_int_equal(file->num_objects, 2 * FIRST_TABLE);
	assert_int_equal(quota, FIRST_TABLE + 2);
	assert_int_equal(object_destroy(object[5], TID), 0);
	assert_int_equal(object_destroy(object[3], TID), 0);
	assert_int_equal(object_destroy(object[40], TID), 0);
	assert_int_equal(object_made(file)->handle, 3);
	assert_int_equal(object_made(file)->handle, 5);
	assert_int_equal(object_made(file)->handle, 40);
	assert_int_equal(object_made(file)->handle, FIRST_TABLE + 2);
	uverbs_call_end(file);
}

static void an_object_is_found_by_handle_and_type(void **state)
{
	struct uverbs_file *file = file_with_caller();
	struct object *object = object_made(file), *found;

	(void)state;
	assert_int_equal(object_find(file, TYPE, 0, &found), 0);
	assert_ptr_equal(found, object);
	found = NULL;
	assert_int_equal(object_find(file, ANY_OBJECT, 0, &found), 0);
	assert_ptr_equal(found, object);
	assert_int_equal(object_find(file, UVERBS_OBJECT_PD, 0, &found), EINVAL);
	assert_int_equal(object_find(file, TYPE, 1, &found), ENOENT);
	assert_int_equal(object_find(file, TYPE, FIRST_TABLE, &found), ENOENT);
	uverbs_call_end(file);
}

static void an_object_in_use_stays(void **state)
{
	struct uverbs_file *file = file_with_caller();
	struct object *object = object_made(file), *found;

	(void)state;
	object->users = 1;
	assert_int_equal(object_destroy(object, TID), EBUSY);
	assert_int_equal(num_destroyed, 0);
	object->users = 0;
	destroy_error = EIO;
	assert_int_equal(object_destroy(object, TID), EIO);
	assert_int_equal(object_find(file, TYPE, 0, &found), 0);
	destroy_error = 0;
	assert_int_equal(object_take_down(object, TID), 0);
	assert_int_equal(object_find(file, TYPE, 0, &found), 0); /* the struct is still there */
	object_forget(object);
	assert_int_equal(object_find(file, TYPE, 0, &found), ENOENT);
	uverbs_call_end(file);
}

static void an_object_beyond_the_share_is_not_made(void **state)
{
	struct uverbs_file *file = file_with_caller();
	struct object *object;

	(void)state;
	quota_error = ENOMEM;
	assert_int_equal(object_new(sizeof(*object), file, TYPE, see_destroyed, &object), ENOMEM);
	assert_int_equal(quota, 0);
	uverbs_call_end(file);
	assert_int_equal(owner.users, 1); /* of the file */
}

static void the_end_destroys_users_first_and_the_youngest(void **state)
{
	struct uverbs_file *file = file_with_caller();
	struct object *object[4];

	(void)state;
	for (unsigned int i = 0; i < 4; i++)
		object[i] = object_made(file);
	used = object[3]; /* the youngest of all */
	used->users = 3;
	uverbs_call_end(file);
	file->async = (void *)file;
	program_closes();
	assert_int_equal(num_destroyed, 4);
	assert_ptr_equal(destroyed[0], object[2]);
	assert_ptr_equal(destroyed[1], object[1]);
	assert_ptr_equal(destroyed[2], object[0]);
	assert_ptr_equal(destroyed[3], object[3]);
	assert_int_equal(contexts_closed, 1);
	assert_int_equal(devx_closed, 1);
	assert_int_equal(channels_put, 1);
}

/* ---- opening and closing ---- */

static void a_file_is_found_by_its_inode(void **state)
{
	struct uverbs_file *file = file_opened(1, O_CLOEXEC);
	struct stat st, null;

	(void)state;
	assert_true(returned_cloexec);
	assert_int_equal(fstat(program_fd, &st), 0);
	assert_ptr_equal(uverbs_file_find(&st), file);
	assert_int_equal(uverbs_kind->find(&st), 1);
	assert_int_equal(stat("/dev/null", &null), 0);
	assert_null(uverbs_file_find(&null));
	assert_int_equal(uverbs_kind->find(&null), -1);
	st.st_dev++;
	assert_null(uverbs_file_find(&st));
	assert_true(uverbs_kind->exists(&it, 1));
	assert_false(uverbs_kind->exists(&it, 2));
}

static void a_file_that_cannot_be_opened_leaves_none(void **state)
{
	(void)state;
	adapters[0].dead = true;
	assert_null(file_opened(0, 0));
	assert_int_equal(answer, -ENODEV);
	adapters[0].dead = false;
	pick_error = EMFILE;
	assert_null(file_opened(0, 0));
	assert_int_equal(answer, -EMFILE);
	pick_error = 0;
	client_error = ENOSPC;
	assert_null(file_opened(0, 0));
	assert_int_equal(answer, -ENOSPC);
	assert_true(LIST_EMPTY(&files));
}

static void a_file_lives_until_its_last_descriptor_or_mapping(void **state)
{
	void *page;
	int copy;

	(void)state;
	assert_non_null(file_opened(1, 0));
	assert_false(returned_cloexec);
	copy = dup(program_fd);
	page = mmap(NULL, UAR_PAGE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, copy, 0);
	assert_ptr_not_equal(page, MAP_FAILED);
	program_closes();
	assert_false(LIST_EMPTY(&files));
	close(copy);
	watched->ready(watched, EPOLLIN);
	assert_false(LIST_EMPTY(&files));
	munmap(page, UAR_PAGE_SIZE);
	watched->ready(watched, EPOLLIN);
	assert_true(LIST_EMPTY(&files));
	assert_int_equal(owner.users, 0);
}

static void one_file_closes_and_others_stay(void **state)
{
	struct uverbs_file *first = file_opened(0, 0), *second;
	int first_fd = program_fd;

	(void)state;
	program_fd = -1;
	second = file_opened(1, 0);
	assert_int_not_equal(first->context_number, second->context_number);
	close(first_fd);
	watched->ready(watched, EPOLLIN);
	assert_ptr_equal(LIST_FIRST(&files), second);
	assert_null(LIST_NEXT(second, in_all));
}

static void see_one(const struct object *object, void *arg)
{
	const struct object **seen = arg;

	assert_null(*seen);
	*seen = object;
}

static bool see_no_object(const struct object *object, void *arg)
{
	(void)arg;
	assert_null(object);
	return false;
}

/* Makes a file of a program and closes it again: it has OBJECTS objects, of which all others use
 * the first if FIRST_IS_USED. */
static void file_of_objects_closes(int objects, bool first_is_used)
{
	struct uverbs_file *file = file_with_caller();
	struct object *first = object_made(file);

	for (int i = 1; i < objects; i++)
		object_made(file);
	used = first_is_used ? first : NULL;
	first->users = first_is_used ? (uint32_t)objects - 1 : 0;
	uverbs_call_end(file);
	program_closes();
}

static void closing_timer_expires(void)
{
	assert_int_not_equal(closing_timer.deadline, 0);
	closing_timer.deadline = 0;
	closing_timer.expired(&closing_timer);
}

/* The timer only begins the next turn. */
static void closing_timer_expires_for_nothing(void)
{
	closing_timer_expires();
	assert_int_equal(closing_timer.deadline, 0);
}

static void small_files_close_at_once(void **state)
{
	(void)state;
	file_of_objects_closes(OBJECTS_OF_TURN / 2, true);
	assert_int_equal(quota, 0);
	assert_int_equal(owner.users, 0);
	closing_timer_expires_for_nothing();
}

/* Returns how many turns it takes until all is closed. */
static int turns_until_closed(void)
{
	int turns = 0;

	for (; !TAILQ_EMPTY(&closing); turns++)
		closing_timer_expires();
	assert_int_equal(quota, 0);
	assert_int_equal(owner.users, 0);
	return turns;
}

/* A program that ends has many files closed at once. */
static void many_small_files_share_a_turn(void **state)
{
	const int files_of_turn = OBJECTS_OF_TURN / (FEW + OBJECTS_OF_FILE);

	(void)state;
	for (int i = 0; i < 4 * files_of_turn; i++)
		file_of_objects_closes(FEW, false);
	assert_in_range(quota, FEW * (3 * files_of_turn - 1), FEW * (3 * files_of_turn + 2));
	assert_in_range(turns_until_closed(), 3, 4);
}

/* Files without objects take time, too. */
static void many_empty_files_share_a_turn(void **state)
{
	(void)state;
	for (int i = 0; i < 3 * OBJECTS_OF_TURN / OBJECTS_OF_FILE; i++) {
		assert_non_null(file_opened(1, 0));
		program_closes();
	}
	assert_int_equal(contexts_closed, OBJECTS_OF_TURN / OBJECTS_OF_FILE);
	assert_int_equal(turns_until_closed(), 2);
}

static void a_small_file_need_not_wait_for_a_large_one(void **state)
{
	(void)state;
	file_of_objects_closes(20 * OBJECTS_OF_TURN, false);
	file_of_objects_closes(FEW, false);
	closing_timer_expires();
	closing_timer_expires();
	assert_int_equal(contexts_closed, 1);
}

/* With thousands of doorbell pages that takes longer than to destroy an object. */
static void doorbells_are_taken_once_for_many_objects(void **state)
{
	(void)state;
	seen_caught_up = 0;
	file_of_objects_closes(OBJECTS_OF_TURN / 2, false);
	assert_int_equal(catch_ups, 1);
	assert_int_equal(seen_caught_up, OBJECTS_OF_TURN / 2);
	assert_false(adapters[1].is_caught_up);
	adapters[1].strict = true;
	file_of_objects_closes(FEW, false);
	assert_int_equal(catch_ups, 1);
	assert_int_equal(seen_caught_up, OBJECTS_OF_TURN / 2);
	assert_int_equal(quota, 0);
}

/* A file that comes when the turn is over costs nothing until the next one. */
static void files_beyond_the_turn_only_wait(void **state)
{
	(void)state;
	file_of_objects_closes(2 * OBJECTS_OF_TURN, false);
	assert_int_equal(catch_ups, 1);
	file_of_objects_closes(FEW, false);
	assert_int_equal(catch_ups, 1);
	assert_in_range(turns_until_closed(), 2, 3);
}

/* Queues, which are not scarce, ring them. */
static void doorbell_pages_are_not_scarce(void **state)
{
	struct uverbs_file *file = file_with_caller();
	struct object *page;

	(void)state;
	assert_int_equal(object_new_kind(sizeof(*page), file, MLX5_IB_OBJECT_UAR, OBJECT_OTHER,
					 see_destroyed, &page),
			 0);
	assert_false(page->scarce);
	object_free(page);
	uverbs_call_end(file);
	program_closes();
}

/* Others wait for what an adapter has few of: memory, table entries, rate limits. */
static void scarce_objects_go_first(void **state)
{
	struct uverbs_file *file = file_with_caller();
	struct object *scarce[3];

	(void)state;
	for (unsigned int i = 0; i < 3; i++) {
		assert_int_equal(object_new_kind(sizeof(*scarce[i]), file, UVERBS_OBJECT_DM,
						 OBJECT_OTHER, see_destroyed, &scarce[i]),
				 0);
		assert_int_equal(object_publish(scarce[i]), 0);
	}
	scarce[0]->users = 1; /* of common objects */
	for (unsigned int i = 0; i < 3 * OBJECTS_OF_TURN; i++)
		object_made(file);
	uverbs_call_end(file);
	program_closes();
	assert_ptr_equal(destroyed[0], scarce[2]);
	assert_ptr_equal(destroyed[1], scarce[1]);
	assert_int_equal(num_destroyed, 8); /* the turn went on with others */
	scarce[0]->users = 0;
}

/* Checks that COUNT objects are left, or a few more: finding the scarce ones takes time, too. */
static void expect_left(int count, int of_all)
{
	assert_in_range(quota, count, count + of_all / LOOKS_OF_OBJECT + 1);
}

static void large_files_close_in_turns(void **state)
{
	const int objects = 3 * OBJECTS_OF_TURN;
	struct object_place place = { 0 };
	const struct object *seen = NULL;

	(void)state;
	file_of_objects_closes(objects, true);
	assert_true(LIST_EMPTY(&files)); /* nobody finds it any more */
	uverbs_objects_see(&adapters[1], see_one, &seen);
	assert_true(uverbs_objects_see_from(&adapters[1], &place, see_no_object, NULL));
	assert_null(seen);
	expect_left(objects - OBJECTS_OF_TURN, objects);
	closing_timer_expires();
	expect_left(objects - 2 * OBJECTS_OF_TURN, objects);
	assert_int_not_equal(owner.users, 0);
	assert_int_equal(turns_until_closed(), 2);
	closing_timer_expires_for_nothing();
}

/* A turn ends at the end of a round, when only the object that all use is left. */
static void rounds_go_on_in_the_next_turn(void **state)
{
	const int first_looks = OBJECTS_OF_TURN * LOOKS_OF_OBJECT / (LOOKS_OF_OBJECT + 1);

	(void)state;
	for (int objects = first_looks - 1; objects < first_looks + 3; objects++) {
		file_of_objects_closes(objects, true);
		assert_in_range(quota, 0, 4);
		turns_until_closed();
		closing_timer_expires_for_nothing();
	}
}

static void large_files_take_their_turns_together(void **state)
{
	const int objects = 2 * OBJECTS_OF_TURN;

	(void)state;
	file_of_objects_closes(objects, false);
	file_of_objects_closes(objects, false);
	expect_left(2 * objects - OBJECTS_OF_TURN, objects);
	assert_int_equal(turns_until_closed(), 4);
}

/* file_end() checks that nothing is left. */
static void the_end_closes_what_is_being_closed(void **state)
{
	(void)state;
	file_of_objects_closes(5 * OBJECTS_OF_TURN, false);
	file_of_objects_closes(5 * OBJECTS_OF_TURN, false);
	assert_int_not_equal(quota, 0);
}

/* ---- memory ---- */

static void a_program_cannot_change_the_size(void **state)
{
	struct stat st;

	(void)state;
	assert_non_null(file_opened(0, 0));
	assert_int_equal(fstat(program_fd, &st), 0);
	assert_int_equal(st.st_size, FILE_BYTES);
	assert_int_equal(ftruncate(program_fd, 0), -1);
	assert_int_equal(errno, EPERM);
	assert_int_equal(ftruncate(program_fd, FILE_BYTES + 1), -1);
	assert_int_equal(fcntl(program_fd, F_ADD_SEALS, F_SEAL_FUTURE_WRITE), -1);
}

static void device_memory_is_where_mmap_finds_it(void **state)
{
	struct uverbs_file *file = file_opened(0, 0);
	off_t place = (off_t)uverbs_file_memory_page(3) * UAR_PAGE_SIZE;
	char byte = 0;

	(void)state;
	assert_int_equal(uverbs_file_memory_page(3), MEMORY_PAGE + 3);
	*(char *)uverbs_file_memory(file, 3) = 'x';
	assert_int_equal(pread(program_fd, &byte, 1, place), 1);
	assert_int_equal(byte, 'x');
}

static void the_clock_has_nanoseconds_for_ticks(void **state)
{
	struct mlx5_ib_clock_info info;
	uint64_t before = clock_ns(CLOCK_MONOTONIC), real = clock_ns(CLOCK_REALTIME);
	off_t place = (off_t)CLOCK_PAGE * UAR_PAGE_SIZE;

	(void)state;
	assert_non_null(file_opened(0, 0));
	assert_int_equal(pread(program_fd, &info, sizeof(info), place), sizeof(info));
	assert_true(info.cycles >= before);
	assert_true(info.cycles <= clock_ns(CLOCK_MONOTONIC));
	assert_true(info.nsec >= real);
	assert_true(info.nsec <= clock_ns(CLOCK_REALTIME));
	assert_int_equal((1000 * (uint64_t)info.mult) >> info.shift, 1000);
	assert_true(info.mask == UINT64_MAX >> 1);
	assert_true(info.overflow_period <= UINT64_MAX / info.mult); /* their product fits */
}

/* ---- contexts and processes ---- */

static void objects_and_contexts_are_of_one_adapter(void **state)
{
	struct uverbs_file *file = file_with_caller();
	struct object *object = object_made(file);
	const struct object *seen = NULL;

	(void)state;
	uverbs_call_end(file);
	uverbs_objects_see(&adapters[0], see_one, &seen);
	assert_null(seen);
	uverbs_objects_see(&adapters[1], see_one, &seen);
	assert_ptr_equal(seen, object);
	assert_int_equal(uverbs_count_contexts(&adapters[1]), 0);
	file->has_context = true;
	assert_int_equal(uverbs_count_contexts(&adapters[1]), 1);
	assert_int_equal(uverbs_count_contexts(&adapters[0]), 0);
}

static bool see_some(const struct object *object, void *arg)
{
	const struct object **next = *(const struct object ***)arg;

	if (!*next) /* enough for now */
		return false;
	assert_ptr_equal(object, *next);
	++*(const struct object ***)arg;
	return true;
}

/* Checks that the next objects of the adapter are these, up to NULL, and whether they are the
 * last. */
static void check_next(struct object_place *place, const struct object *first,
		       const struct object *second, bool is_last)
{
	const struct object *expected[] = { first, second, NULL };
	const struct object **next = expected;

	assert_int_equal(uverbs_objects_see_from(&adapters[1], place, see_some, &next), is_last);
	assert_null(*next);
}

/* A list goes on where it was, though files and objects come and go: newest file first. */
static void objects_are_seen_in_parts(void **state)
{
	struct uverbs_file *old = file_with_caller(), *new, *newest;
	struct object *a = object_made(old), *b = object_made(old), *c, *d;
	struct object_place place = { 0 }, start = { 0 };
	int fds[2];

	(void)state;
	uverbs_call_end(old);
	fds[0] = program_fd;
	program_fd = -1;
	new = file_with_caller();
	c = object_made(new);
	d = object_made(new);
	uverbs_call_end(new);
	check_next(&place, c, NULL, false);
	check_next(&place, d, a, false);
	check_next(&place, b, NULL, true);
	check_next(&place, NULL, NULL, true);
	place = start;
	check_next(&place, c, NULL, false);
	fds[1] = program_fd;
	program_fd = -1;
	newest = file_with_caller(); /* begun later, so the list does not have it */
	object_made(newest);
	uverbs_call_end(newest);
	close(fds[1]); /* a file that is gone is passed over */
	watched->ready(watched, EPOLLIN);
	check_next(&place, a, b, true);
	close(fds[0]);
	watched->ready(watched, EPOLLIN);
}

static bool see_context(const struct uverbs_file *file, void *arg)
{
	const struct uverbs_file **seen = arg;

	if (*seen)
		return false;
	*seen = file;
	return true;
}

static void contexts_are_seen_in_parts(void **state)
{
	struct uverbs_file *old = file_with_caller(), *new;
	const struct uverbs_file *seen = NULL;
	struct object_place place = { 0 };
	int fd = program_fd;

	(void)state;
	uverbs_call_end(old);
	program_fd = -1;
	new = file_with_caller();
	uverbs_call_end(new);
	assert_true(uverbs_contexts_see_from(&adapters[1], &place, see_context, &seen));
	assert_null(seen); /* neither has a context yet */
	old->has_context = new->has_context = true;
	place = (struct object_place){ 0 };
	assert_false(uverbs_contexts_see_from(&adapters[1], &place, see_context, &seen));
	assert_ptr_equal(seen, new);
	seen = NULL;
	assert_true(uverbs_contexts_see_from(&adapters[1], &place, see_context, &seen));
	assert_ptr_equal(seen, old);
	close(fd);
	watched->ready(watched, EPOLLIN);
}

static void a_call_is_of_the_process_that_makes_it(void **state)
{
	struct uverbs_file *file = file_with_caller();

	(void)state;
	assert_ptr_equal(file->caller, &owner);
	uverbs_call_end(file);
	assert_null(file->caller);
	assert_int_equal(drops, 1);
	assert_int_equal(uverbs_call_begin(file, &other_call), 0);
	assert_ptr_equal(file->caller, &other);
	uverbs_call_end(file);
	assert_int_equal(other.users, 0);
	client_error = ESRCH;
	assert_int_equal(uverbs_call_begin(file, &other_call), ESRCH);
	assert_null(file->caller);
}

static void memory_of_another_process_keeps_that_one(void **state)
{
	struct uverbs_file *file = file_with_caller();
	struct object *object = object_made(file);

	(void)state;
	assert_int_equal(object_will_move(object), 0);
	assert_true(STAILQ_EMPTY(&file->guests)); /* its maker is kept anyway */
	uverbs_call_end(file);
	assert_int_equal(uverbs_call_begin(file, &other_call), 0);
	assert_int_equal(object_will_move(object), 0);
	assert_int_equal(object_will_move(object), 0);
	uverbs_call_end(file);
	assert_int_equal(other.users, 1);
	program_closes();
	assert_int_equal(other.users, 0);
}

/* ---- copies of the descriptor ---- */

static void a_copy_is_in_the_band_too(void **state)
{
	(void)state;
	assert_non_null(file_opened(0, 0));
	uverbs_dup(call_with(FD, 0, 0));
	assert_int_equal(answer, FD);
	assert_false(returned_cloexec);
	uverbs_fcntl(call_with(FD, F_DUPFD_CLOEXEC, FD_BAND_FIRST));
	assert_int_equal(answer, FD);
	assert_true(returned_cloexec);
	uverbs_fcntl(call_with(FD, F_DUPFD, 0));
	assert_int_equal(answer, FD);
	assert_false(returned_cloexec);
	uverbs_fcntl(call_with(FD, F_DUPFD, FD_BAND_FIRST + 1));
	assert_false(call.answered);
	uverbs_fcntl(call_with(FD, F_GETFD, 0));
	assert_false(call.answered);
	uverbs_dup(call_with(FD + 1, 0, 0)); /* not a file of ours */
	assert_false(call.answered);
}

static void a_copy_that_fails_says_so(void **state)
{
	(void)state;
	assert_non_null(file_opened(0, 0));
	copy_error = EMFILE;
	uverbs_dup(call_with(FD, 0, 0));
	assert_int_equal(answer, -EMFILE);
	pick_error = ENFILE;
	uverbs_dup(call_with(FD, 0, 0));
	assert_int_equal(answer, -ENFILE);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, file_begin, file_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_handle_is_the_lowest_that_is_free),
		TEST(an_object_is_found_by_handle_and_type),
		TEST(an_object_in_use_stays),
		TEST(an_object_beyond_the_share_is_not_made),
		TEST(the_end_destroys_users_first_and_the_youngest),
		TEST(a_file_is_found_by_its_inode),
		TEST(a_file_that_cannot_be_opened_leaves_none),
		TEST(a_file_lives_until_its_last_descriptor_or_mapping),
		TEST(one_file_closes_and_others_stay),
		TEST(small_files_close_at_once),
		TEST(many_small_files_share_a_turn),
		TEST(many_empty_files_share_a_turn),
		TEST(a_small_file_need_not_wait_for_a_large_one),
		TEST(doorbells_are_taken_once_for_many_objects),
		TEST(files_beyond_the_turn_only_wait),
		TEST(doorbell_pages_are_not_scarce),
		TEST(scarce_objects_go_first),
		TEST(large_files_close_in_turns),
		TEST(rounds_go_on_in_the_next_turn),
		TEST(large_files_take_their_turns_together),
		TEST(the_end_closes_what_is_being_closed),
		TEST(a_program_cannot_change_the_size),
		TEST(device_memory_is_where_mmap_finds_it),
		TEST(the_clock_has_nanoseconds_for_ticks),
		TEST(objects_and_contexts_are_of_one_adapter),
		TEST(objects_are_seen_in_parts),
		TEST(contexts_are_seen_in_parts),
		TEST(a_call_is_of_the_process_that_makes_it),
		TEST(memory_of_another_process_keeps_that_one),
		TEST(a_copy_is_in_the_band_too),
		TEST(a_copy_that_fails_says_so),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

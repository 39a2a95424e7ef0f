/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * flush_test.c - flush CQEs for a program whose adapter was killed. The progress of queues is
 * found in rings and doorbell records, which here belong to this process.
 *
 * Covers: softhca/front/process/holder/flush.c, softhca/front/process/holder/epitaph.c
 */
#include <endian.h>
#include <linux/sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "softhca/front/process/client.h"
#include "softhca/front/process/holder/flush.h"

enum {
	ENTRIES = 8,
	BLOCKS = 16,
	RECEIVES = 8,
	QPN = 0x123456,
	OTHER_QPN = 0x48,
	UIDX = 0xabcdef,
	HANDLE = 7,
	OP_SEND = 0x0a,
	REQUEST = 0,
	SEND_RECEIVED = 2,
	REQUEST_ERROR = 13,
	RECEIVE_ERROR = 14,
};

/* A program with two QPs on one CQ */
struct program {
	struct epitaph_table *table;
	struct flush *flush;
	int file;
	struct stat st;
	uint32_t cqe_size;
	uint8_t ring[ENTRIES * 128];
	uint8_t sq[2][BLOCKS * 64];
	uint32_t cq_record[2], record[2][2];
	uint32_t pi;
};

static struct program program;

static uint8_t *cqe_at(uint32_t index)
{
	return program.ring + (index % ENTRIES + 1) * program.cqe_size - 64;
}

static void add_entry(struct epitaph_entry *entry, uint32_t handle)
{
	*entry = (struct epitaph_entry){
		1, handle, { getpid(), program.file, program.st.st_dev, program.st.st_ino }
	};
}

static void add_qp(unsigned int i, uint32_t qpn)
{
	struct epitaph_qp *qp = &program.table->qp[i];

	*qp = (struct epitaph_qp){
		.sq = (uintptr_t)program.sq[i],
		.dbrec = (uintptr_t)program.record[i],
		.qpn = qpn,
		.user_index = UIDX,
		.sq_blocks = BLOCKS,
		.rq_wqes = RECEIVES,
		.has_started = 1,
	};
	add_entry(&qp->entry, HANDLE + i);
	program.table->qps = i + 1;
}

/* Makes new rings: their CQEs have an invalid opcode. The initial owner bit differs between
 * libraries, so tests pass it. */
static void set_up_with(uint32_t cqe_size, uint8_t blank)
{
	int memory = memfd_create("memory", MFD_CLOEXEC);

	memset(&program, 0, sizeof(program));
	program.cqe_size = cqe_size;
	program.file = memfd_create("uverbs", MFD_CLOEXEC);
	assert_int_equal(fstat(program.file, &program.st), 0);
	assert_int_equal(ftruncate(memory, epitaph_memory_bytes()), 0);
	assert_int_equal(epitaph_map(memory, &program.table), 0);
	close(memory);
	for (uint32_t i = 0; i < ENTRIES; i++)
		cqe_at(i)[63] = blank;
	program.table->cqs = 1;
	program.table->cq[0] = (struct epitaph_cq){
		.ring = (uintptr_t)program.ring,
		.dbrec = (uintptr_t)program.cq_record,
		.cqe_size = cqe_size,
		.entries = ENTRIES,
	};
	add_entry(&program.table->cq[0].entry, 1);
	add_qp(0, QPN);
	add_qp(1, OTHER_QPN);
}

static int set_up(void **state)
{
	(void)state;
	set_up_with(64, 0xf1);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	if (program.flush)
		flush_end(program.flush);
	epitaph_unmap(program.table);
	close(program.file);
	return 0;
}

static void device_completes(uint32_t qpn, uint8_t opcode, uint16_t counter)
{
	uint8_t *cqe = cqe_at(program.pi);
	uint32_t number = htobe32(qpn);
	uint16_t index = htobe16(counter);

	memset(cqe, 0, 64);
	memcpy(cqe + 0x38, &number, sizeof(number));
	memcpy(cqe + 0x3c, &index, sizeof(index));
	cqe[63] = opcode << 4 | (program.pi / ENTRIES & 1);
	program.pi++;
}

static void program_consumes(uint32_t upto)
{
	program.cq_record[0] = htobe32(upto & 0xffffff);
}

static void put_control(unsigned int qp, uint16_t slot, uint16_t index, unsigned int blocks)
{
	uint32_t control[2] = { htobe32((uint32_t)index << 8 | OP_SEND),
				htobe32(program.table->qp[qp].qpn << 8 | blocks * 4) };

	memcpy(&program.sq[qp][slot % BLOCKS * 64], control, sizeof(control));
}

/* Posts a WQE of BLOCKS blocks. The blocks behind the first hold payload, or an old control
 * segment, as the search must not take either for a WQE. */
static void posts_send(unsigned int qp, uint16_t index, unsigned int blocks)
{
	for (unsigned int i = 1; i < blocks; i++)
		memset(&program.sq[qp][(index + i) % BLOCKS * 64], 0x5a, 64);
	if (blocks > 1)
		put_control(qp, index + 1, index + 1 - BLOCKS, 1);
	put_control(qp, index, index, blocks);
	program.record[qp][1] = htobe32((uint16_t)(index + blocks));
}

static void posts_receives(unsigned int qp, uint16_t upto)
{
	program.record[qp][0] = htobe32(upto);
}

static bool flush_now(void)
{
	bool was_busy;

	if (!program.flush)
		assert_int_equal(flush_begin(program.table, &program.flush), 0);
	assert_true(flush_all(program.flush, &was_busy));
	return was_busy;
}

static bool is_there(uint32_t index)
{
	uint8_t op_own = cqe_at(index)[63];

	return (op_own & 1) == (index / ENTRIES & 1) && op_own >> 4 != 15;
}

/* Checks that the next CQE flushes WQE COUNTER of a QP. */
static void cqe_expect(uint32_t qpn, uint8_t opcode, uint16_t counter)
{
	const uint8_t *cqe = cqe_at(program.pi);
	uint32_t word;

	assert_true(is_there(program.pi));
	assert_int_equal(cqe[63] >> 4, opcode);
	memcpy(&word, cqe + 0x38, sizeof(word));
	assert_int_equal(be32toh(word),
			 opcode == REQUEST_ERROR ? (uint32_t)OP_SEND << 24 | qpn : qpn);
	memcpy(&word, cqe + 0x20, sizeof(word));
	assert_int_equal(be32toh(word), UIDX);
	memcpy(&word, cqe + 0x3c, sizeof(word));
	assert_int_equal(be32toh(word) >> 16, counter);
	assert_int_equal(cqe[0x36], 0xf9);
	assert_int_equal(cqe[0x37], 5);
	program.pi++;
}

static void expect_no_more(void)
{
	assert_false(is_there(program.pi));
}

static void all_that_a_new_qp_posted(void **state)
{
	(void)state;
	posts_send(0, 0, 1);
	posts_send(0, 1, 3);
	posts_send(0, 4, 1);
	posts_receives(0, 2);
	assert_true(flush_now());
	cqe_expect(QPN, REQUEST_ERROR, 0);
	cqe_expect(QPN, REQUEST_ERROR, 1);
	cqe_expect(QPN, REQUEST_ERROR, 4);
	cqe_expect(QPN, RECEIVE_ERROR, 0);
	cqe_expect(QPN, RECEIVE_ERROR, 1);
	expect_no_more();
	assert_false(flush_now());
}

/* A raw packet QP's CQEs have a flow tag in place of the QP number, here another QP's number, so
 * the search uses the user index. */
static void raw_packet_qps_are_known_by_their_index(void **state)
{
	uint32_t index = htobe32(UIDX);

	(void)state;
	program.table->qp[0].by_index = 1;
	posts_receives(0, 3);
	device_completes(OTHER_QPN, SEND_RECEIVED, 1);
	memcpy(cqe_at(program.pi - 1) + 0x20, &index, sizeof(index));
	assert_true(flush_now());
	cqe_expect(QPN, RECEIVE_ERROR, 2);
	expect_no_more();
}

static void cqes_of_either_blank_and_size(void **state)
{
	tear_down(state);
	set_up_with(128, 0xf0);
	all_that_a_new_qp_posted(state);
}

static void only_what_is_behind_the_last_cqe(void **state)
{
	(void)state;
	posts_send(0, 0, 2);
	posts_send(0, 2, 1);
	posts_receives(0, 3);
	device_completes(QPN, REQUEST, 0);
	device_completes(QPN, SEND_RECEIVED, 0);
	device_completes(QPN, SEND_RECEIVED, 1);
	program_consumes(2); /* consumed CQEs count like unconsumed ones */
	assert_true(flush_now());
	cqe_expect(QPN, REQUEST_ERROR, 2);
	cqe_expect(QPN, RECEIVE_ERROR, 2);
	expect_no_more();
}

static void what_is_posted_later(void **state)
{
	(void)state;
	assert_false(flush_now());
	posts_send(0, 0, 1);
	assert_true(flush_now());
	posts_send(0, 1, 1);
	posts_receives(0, 1);
	assert_true(flush_now());
	cqe_expect(QPN, REQUEST_ERROR, 0);
	cqe_expect(QPN, REQUEST_ERROR, 1);
	cqe_expect(QPN, RECEIVE_ERROR, 0);
	expect_no_more();
}

static void indices_that_wrap(void **state)
{
	(void)state;
	/* just before the record's 24 bits wrap, in a lap with owner bit 1 */
	program.pi = 0xfffffe;
	program.table->qp[0].send_since = program.table->qp[0].recv_since = 0xfffff0;
	device_completes(QPN, REQUEST, 0xfffe);
	device_completes(QPN, SEND_RECEIVED, 0xffff);
	program_consumes(0xffffff);
	posts_send(0, 0xffff, 2);
	posts_send(0, 1, 1);
	posts_receives(0, 2);
	assert_true(flush_now());
	cqe_expect(QPN, REQUEST_ERROR, 0xffff);
	cqe_expect(QPN, REQUEST_ERROR, 1);
	cqe_expect(QPN, RECEIVE_ERROR, 0);
	cqe_expect(QPN, RECEIVE_ERROR, 1);
	expect_no_more();
}

static void a_full_cq_waits_for_the_program(void **state)
{
	(void)state;
	for (uint16_t i = 0; i < ENTRIES + 2; i++)
		posts_send(0, i, 1);
	assert_true(flush_now());
	assert_false(flush_now());
	for (uint16_t i = 0; i < ENTRIES; i++)
		cqe_expect(QPN, REQUEST_ERROR, i);
	program_consumes(1);
	assert_true(flush_now());
	cqe_expect(QPN, REQUEST_ERROR, ENTRIES);
	expect_no_more();
	program_consumes(ENTRIES);
	assert_true(flush_now());
	cqe_expect(QPN, REQUEST_ERROR, ENTRIES + 1);
	expect_no_more();
}

/* The ring may hold CQEs of a former QP with the same number, which must not count: its WQEs are
 * gone. */
static void a_former_life_does_not_count(void **state)
{
	(void)state;
	device_completes(QPN, REQUEST, 4);
	device_completes(QPN, SEND_RECEIVED, 4);
	program_consumes(2);
	program.table->qp[0].send_since = program.table->qp[0].recv_since = 2;
	posts_send(0, 0, 1);
	posts_receives(0, 1);
	assert_true(flush_now());
	cqe_expect(QPN, REQUEST_ERROR, 0);
	cqe_expect(QPN, RECEIVE_ERROR, 0);
	expect_no_more();
}

static void qps_that_share_a_cq(void **state)
{
	(void)state;
	posts_send(0, 0, 1);
	posts_send(0, 1, 1);
	posts_send(1, 0, 1);
	posts_send(1, 1, 1);
	device_completes(OTHER_QPN, REQUEST, 0);
	device_completes(QPN, REQUEST, 0);
	device_completes(OTHER_QPN, REQUEST, 1);
	assert_true(flush_now());
	cqe_expect(QPN, REQUEST_ERROR, 1);
	expect_no_more();
}

/* The ring holds CQEs of the other QP only, so the first QP may have completed no request or all:
 * nothing is flushed. */
static void a_qp_that_cannot_be_known_is_left_alone(void **state)
{
	(void)state;
	posts_send(0, 0, 1);
	posts_receives(0, 1);
	device_completes(QPN, REQUEST, 0);
	for (uint16_t i = 0; i < ENTRIES; i++) {
		posts_send(1, i, 1);
		device_completes(OTHER_QPN, REQUEST, i);
	}
	program_consumes(ENTRIES + 1);
	posts_send(1, ENTRIES, 1);
	assert_true(flush_now());
	cqe_expect(OTHER_QPN, REQUEST_ERROR, ENTRIES);
	expect_no_more();
}

static void a_qp_in_reset_is_left_alone(void **state)
{
	(void)state;
	posts_send(0, 0, 1);
	program.table->qp[0].has_started = 0;
	assert_false(flush_now());
	expect_no_more();
}

static void a_destroyed_queue_is_not_written_to(void **state)
{
	(void)state;
	assert_false(flush_now());
	posts_send(0, 0, 1);
	posts_send(1, 0, 1);
	flush_forget(program.flush, &program.st, HANDLE);
	assert_true(flush_now());
	cqe_expect(OTHER_QPN, REQUEST_ERROR, 0);
	expect_no_more();
	flush_forget(program.flush, &program.st, 1); /* the CQ's object */
	posts_send(1, 1, 1);
	assert_false(flush_now());
	expect_no_more();
}

static void a_closed_file_is_the_end(void **state)
{
	bool was_busy;

	(void)state;
	assert_false(flush_now());
	posts_send(0, 0, 1);
	close(program.file);
	assert_false(flush_all(program.flush, &was_busy));
	assert_false(was_busy);
	expect_no_more();
}

/* Starts a process that has a copy of the memory and the files, and NUMBER if that is not 0. -1:
 * that is not allowed. */
static pid_t copy_start(pid_t number)
{
	struct clone_args args = { .exit_signal = SIGCHLD,
				   .set_tid = number ? (uintptr_t)&number : 0,
				   .set_tid_size = number != 0 };
	pid_t pid = syscall(SYS_clone3, &args, sizeof(args));

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;)
		pause();
}

static void copy_end(pid_t pid)
{
	assert_true(pid > 1); /* -1 would end every process */
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void owner_is(pid_t pid)
{
	program.table->cq[0].entry.owner.pid = pid;
	program.table->qp[0].entry.owner.pid = pid;
	program.table->qp[1].entry.owner.pid = pid;
}

static bool is_written(pid_t pid, uint32_t index)
{
	uint8_t last;

	assert_int_equal(client_read(pid, (uintptr_t)&cqe_at(index)[63], &last, 1), 0);
	return last != cqe_at(index)[63];
}

static void another_process_is_written_to(void **state)
{
	pid_t pid;

	(void)state;
	posts_send(0, 0, 1);
	pid = copy_start(0);
	assert_true(pid > 1);
	owner_is(pid);
	assert_true(flush_now());
	assert_true(is_written(pid, 0));
	expect_no_more();
	copy_end(pid);
}

/* The program has ended. Another process has its number, and the same file at the same number. */
static void a_later_process_with_the_number_is_left_alone(void **state)
{
	bool was_busy;
	pid_t pid, other;

	(void)state;
	posts_send(0, 0, 1);
	pid = copy_start(0);
	assert_true(pid > 1);
	owner_is(pid);
	assert_int_equal(flush_begin(program.table, &program.flush), 0);
	copy_end(pid);
	other = copy_start(pid);
	if (other < 0) {
		print_message("no process can be given a number here\n");
		skip();
	}
	assert_int_equal(other, pid);
	flush_all(program.flush, &was_busy);
	assert_false(was_busy);
	assert_false(is_written(other, 0));
	copy_end(other);
}

static int lowest_free(void)
{
	const int fd = dup(program.file);

	close(fd);
	return fd;
}

/* A process may have hundreds of contexts, and the holder a limit of descriptors. */
static void a_process_with_two_files_is_opened_once(void **state)
{
	const int other = memfd_create("uverbs", MFD_CLOEXEC), before = lowest_free();
	struct stat st;

	(void)state;
	assert_int_equal(fstat(other, &st), 0);
	program.table->qp[1].entry.owner =
		(struct epitaph_owner){ getpid(), other, st.st_dev, st.st_ino };
	posts_send(0, 0, 1);
	posts_send(1, 0, 1);
	assert_true(flush_now());
	cqe_expect(QPN, REQUEST_ERROR, 0);
	cqe_expect(OTHER_QPN, REQUEST_ERROR, 0);
	assert_int_equal(lowest_free(), before + 1);
	close(other);
}

/* The QPs' memory cannot be opened at first. The CQ is in this process, so that it is found. */
static void memory_is_tried_again_after_a_shortage(void **state)
{
	struct rlimit limit, none;
	pid_t pid;

	(void)state;
	posts_send(0, 0, 1);
	pid = copy_start(0);
	assert_true(pid > 1);
	owner_is(pid);
	program.table->cq[0].entry.owner.pid = getpid();
	assert_int_equal(flush_begin(program.table, &program.flush), 0);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	none = limit;
	none.rlim_cur = lowest_free();
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	assert_false(flush_now());
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	assert_true(flush_now());
	copy_end(pid);
	cqe_expect(QPN, REQUEST_ERROR, 0);
	expect_no_more();
}

/* The CQ's memory cannot be opened at first, so its progress is not known. */
static void a_cq_is_learned_after_a_shortage(void **state)
{
	struct rlimit limit, none;
	pid_t pid;

	(void)state;
	posts_send(0, 0, 1);
	posts_send(0, 1, 1);
	device_completes(QPN, REQUEST, 0);
	pid = copy_start(0);
	assert_true(pid > 1);
	owner_is(pid);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	none = limit;
	none.rlim_cur = lowest_free();
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	assert_false(flush_now());
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	assert_true(flush_now());
	assert_false(is_written(pid, 0));
	assert_true(is_written(pid, 1));
	assert_false(is_written(pid, 2));
	copy_end(pid);
}

/* Starts the first QP in a table of the daemon's, with programs that have made its CQ. */
static void qp_start(const struct client *send, const struct client *recv, struct epitaph_qp *qp)
{
	const int memory = memfd_create("memory", MFD_CLOEXEC);
	struct epitaph_place cq_place = { 0 }, qp_place = { 0 };
	struct epitaph_table *table;
	struct epitaph *epitaph;

	assert_int_equal(ftruncate(memory, epitaph_memory_bytes()), 0);
	assert_int_equal(epitaph_open(memory, &epitaph), 0);
	epitaph_add_cq(epitaph, &program.table->cq[0], &cq_place);
	program.table->qp[0].has_started = 0;
	epitaph_add_qp(epitaph, &program.table->qp[0], &cq_place, &cq_place, &qp_place);
	epitaph_start_qp(&qp_place, send, recv);
	assert_int_equal(epitaph_map(memory, &table), 0);
	*qp = table->qp[0];
	assert_int_equal(qp->has_started, 1);
	epitaph_reset_qp(&qp_place);
	assert_int_equal(table->qp[0].has_started, 0);
	epitaph_unmap(table);
	epitaph_remove_qp(&qp_place);
	epitaph_remove_cq(&cq_place);
	epitaph_put(epitaph);
	close(memory);
}

/* The daemon may still be writing entries behind the counts, so the holder must not read those. */
static void entries_behind_the_counts_are_not_looked_at(void **state)
{
	struct epitaph_entry *cq = &program.table->cq[program.table->cqs].entry;
	struct epitaph_entry *qp = &program.table->qp[program.table->qps].entry;

	(void)state;
	add_entry(cq, 1);
	add_entry(qp, HANDLE);
	cq->owner.ino++; /* an entry whose program has closed its file becomes invalid */
	qp->owner.ino++;
	flush_now();
	assert_int_equal(cq->valid, 1);
	assert_int_equal(qp->valid, 1);
}

/* Another program has resized the first CQ. The CQ keeps its entry, as its QPs name it by index. */
static void a_hidden_cq_keeps_its_place(void **state)
{
	const int memory = memfd_create("memory", MFD_CLOEXEC);
	struct epitaph_place first = { 0 }, second = { 0 };
	struct epitaph_table *table;
	struct epitaph *epitaph;

	(void)state;
	assert_int_equal(ftruncate(memory, epitaph_memory_bytes()), 0);
	assert_int_equal(epitaph_open(memory, &epitaph), 0);
	epitaph_add_cq(epitaph, &program.table->cq[0], &first);
	epitaph_hide_cq(&first);
	epitaph_resize_cq(&first, (uintptr_t)program.ring, ENTRIES, 64); /* later, by its maker */
	epitaph_add_cq(epitaph, &program.table->cq[0], &second);
	assert_int_not_equal(first.index, second.index);
	assert_int_equal(epitaph_map(memory, &table), 0);
	program.table->cq[0] = table->cq[first.index];
	posts_send(0, 0, 1);
	assert_false(flush_now());
	expect_no_more();
	epitaph_unmap(table);
	epitaph_remove_cq(&first);
	epitaph_remove_cq(&second);
	epitaph_put(epitaph);
	close(memory);
}

/* One program that has made the CQ lives, the other has ended, and this process has its number. */
static void a_start_asks_the_program_and_not_its_number(void **state)
{
	struct client lives = { .pid = getpid() }, ended = { .pid = getpid() };
	pid_t pid = copy_start(0);
	struct epitaph_qp qp;

	(void)state;
	assert_true(pid > 1);
	program_consumes(5);
	assert_int_equal(space_open(getpid(), getpid(), &lives.space), 0);
	assert_int_equal(space_open(pid, pid, &ended.space), 0);
	copy_end(pid);
	qp_start(&lives, &ended, &qp);
	assert_int_equal(qp.send_since, 5);
	assert_int_equal(qp.recv_since, 0);
	space_close(&lives.space);
	space_close(&ended.space);
}

int main(void)
{
#define FACT(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		FACT(all_that_a_new_qp_posted),
		FACT(raw_packet_qps_are_known_by_their_index),
		FACT(cqes_of_either_blank_and_size),
		FACT(only_what_is_behind_the_last_cqe),
		FACT(what_is_posted_later),
		FACT(indices_that_wrap),
		FACT(a_full_cq_waits_for_the_program),
		FACT(a_former_life_does_not_count),
		FACT(qps_that_share_a_cq),
		FACT(a_qp_that_cannot_be_known_is_left_alone),
		FACT(a_qp_in_reset_is_left_alone),
		FACT(a_destroyed_queue_is_not_written_to),
		FACT(a_closed_file_is_the_end),
		FACT(entries_behind_the_counts_are_not_looked_at),
		FACT(another_process_is_written_to),
		FACT(a_process_with_two_files_is_opened_once),
		FACT(memory_is_tried_again_after_a_shortage),
		FACT(a_cq_is_learned_after_a_shortage),
		FACT(a_hidden_cq_keeps_its_place),
		FACT(a_start_asks_the_program_and_not_its_number),
		FACT(a_later_process_with_the_number_is_left_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

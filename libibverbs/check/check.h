/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * check.h - shared by the files of the checker (VERBS_CHECK): see README.md.
 *
 * Functions that change a record, or read more of it than is constant, need verbs_check_lock().
 */
#ifndef LIBIBVERBS_CHECK_CHECK_H
#define LIBIBVERBS_CHECK_CHECK_H

#include "libibverbs/check/messages.h"
#include "libibverbs/private.h"

/* ---- settings.c: settings of VERBS_CHECK, and lines of the log ---- */

struct check_settings {
	bool on;
	bool aborts;
	bool leaks;
	bool buffers;
};

extern struct check_settings verbs_check_settings;

/* Logs a line at level warn, whatever the level is, unless the log is off. With
 * VERBS_CHECK=abort, ends the program. */
void verbs_check_say(enum check_fault fault, const char *format, ...)
	__attribute__((format(printf, 2, 3), cold));

/* ---- names.c ---- */

const char *verbs_check_name(enum check_fault fault);
/* Returns CHECK_FAULTS if there is no such name. */
enum check_fault verbs_check_fault_of(const char *name);

/* ---- settings.c ---- */

void verbs_check_lock(void);
void verbs_check_unlock(void);
/* Waits until another thread calls verbs_check_wake(). The caller holds the lock, which is free
 * meanwhile, and looks then whether what it waits for has happened. */
void verbs_check_wait(void);
void verbs_check_wake(void);
/* Frees the lock in a child of fork(), which has it from its parent. */
void verbs_check_lock_forked(void);

/* ---- records.c: records of live and destroyed objects ---- */

enum check_kind {
	CHECK_KEY, /* an lkey, and its region */
	CHECK_CQ,
	CHECK_QP,
	CHECK_QPN, /* a QP number, and its QP */
	CHECK_SRQ,
	CHECK_AH,
	CHECK_DOMAIN,  /* a parent domain with a thread domain */
	CHECK_CHANNEL, /* a completion channel */
	CHECK_GRAVE,   /* an address, and the object that was last destroyed there */
	/* any object; recorded only with VERBS_CHECK=leaks, because each record costs memory */
	CHECK_MADE,
};

/* First member of each kind of record. Records are never freed, so that verbs_check_find() needs no
 * lock. A new object at the address of a destroyed one takes over its record. */
struct check_record {
	struct check_record *next;
	enum check_kind kind;
	const void *context; /* context of an lkey or QP number; NULL: id is an address */
	uint64_t id;
	bool is_alive;
};

/* Returns the record of an object, which may be destroyed, or NULL if there is no record. */
void *verbs_check_find(enum check_kind kind, const void *context, uint64_t id);
/* Returns the record only if its object is alive, otherwise NULL. Direct verbs may create an object
 * without a record at the address of a destroyed object, whose record is then stale. */
void *verbs_check_find_live(enum check_kind kind, const void *context, uint64_t id);
/* Returns a new record of SIZE bytes, zeroed behind struct check_record, or NULL if there is no
 * memory. */
void *verbs_check_add(enum check_kind kind, const void *context, uint64_t id, size_t size);

void verbs_check_each(enum check_kind kind, void (*say)(const struct check_record *record));

/* Records that an object is destroyed, or is alive again because destroying it has failed. Atomic,
 * because other threads may read the record. */
static inline void check_live(struct check_record *record, bool is_alive)
{
	__atomic_store_n(&record->is_alive, is_alive, __ATOMIC_RELEASE);
}

static inline bool check_lives(const struct check_record *record)
{
	return __atomic_load_n(&record->is_alive, __ATOMIC_ACQUIRE);
}

static inline uint64_t check_id(const void *address)
{
	return (uintptr_t)address;
}

struct check_post {
	const char *call;
	const char *owner;
	uint32_t number, pd;
	uint64_t wr_id;
	const struct ibv_context *context;
};

struct check_places {
	const struct ibv_cq *cq;
	int count;
	bool is_over;
	struct check_post post;
};

struct check_ah {
	struct check_record record;
	uint32_t pd; /* the kernel's handle of the PD */
};

/* A batch of ibv_wr_*(). Only the thread `owner` uses the fields after `owner`. */
struct check_batch {
	struct ibv_qp_ex real;
	uint64_t ops;
	const void *owner; /* thread between ibv_wr_start() and the end of the batch, or NULL */
	const char *operation;
	const char *writer; /* log text for the writer of the buffers; NULL: they are only read */
	unsigned int lacks; /* setters that the request still needs */
	unsigned int count;
	struct check_places places;
};

enum { CHECK_SGES = 4 };

struct check_request {
	uint64_t wr_id;
	const char *call;
	bool is_signaled;
	uint64_t posted_ns;
	bool is_written; /* by the adapter, which otherwise reads the buffers */
	bool has_sum;
	uint64_t sum; /* of the buffers' contents at the post */
	int count;
	/* the first SGEs: a record has a fixed size, and few requests have more */
	struct ibv_sge sges[CHECK_SGES];
};

/* The requests of a queue, the oldest at `head`. Both indices are free-running. */
struct check_ring {
	struct check_request *requests;
	unsigned int room, head, tail;
	const void *poster; /* thread whose turn it is to post, or NULL */
	/* Turns asked for, and ended. Both are free-running: threads get their turns in the order
	 * in which they asked. */
	unsigned int turns, turns_ended;
	bool is_lost;       /* the outstanding requests are unknown, until the QP is reset */
	bool is_unwatched;  /* the outstanding requests are unknown for ever */
	bool had_signal;    /* a signaled request has completed since the last reset */
	bool was_refused;   /* the last post, for lack of room, and nothing has completed since */
	bool has_completed; /* a request has since the last post, or batch, began; atomic */
};

struct check_qp {
	struct check_record record;
	const struct ibv_qp *of;
	bool is_kept;      /* verbs_check_each_qp() finds it */
	unsigned int pins; /* calls of verbs_check_each_qp() that look: destroying the QP waits */
	bool has_no_lock;
	bool has_failed; /* a request has, and the program has not changed the QP's state since */
	const void *sender, *receiver;
	struct check_ring sends, receives;
	bool signals_all;
	/* Limits of SGEs. A provider refuses a request with more SGEs without reading them, so the
	 * checker must not read them either. */
	uint32_t max_send_sge, max_recv_sge;
	struct check_batch batch;
};

struct check_srq {
	struct check_record record;
	uint32_t max_sge;
};

/* ---- regions.c ---- */

enum check_end { CHECK_DEREGISTERED, CHECK_REREGISTERED, CHECK_UNIMPORTED };

struct check_key {
	struct check_record record;
	uint32_t pd; /* the kernel's handle of the PD; a parent domain has the handle of its PD */
	uint64_t start, length;
	unsigned int access;
	bool is_ranged;
	bool is_memory; /* its addresses are those of the program's memory */
	int imports;    /* number of imports, if an import made the record; otherwise 0 */
	enum check_end end;
};

void verbs_check_sges(const struct check_post *post, const struct ibv_sge *sges, int count,
		      const char *why);
/* Checks the scatter list of an atomic request. Providers write 8 bytes to a single buffer,
 * whatever its length. */
void verbs_check_atomic(const struct check_post *post, const struct ibv_sge *sges, int count);

/* Returns whether the bytes of SGE are in a live region of the program's memory. */
bool verbs_check_is_memory(const struct ibv_context *context, const struct ibv_sge *sge);

/* ---- buffers.c ---- */

/* Sets *SUM to a sum over the contents of COUNT buffers. Returns false if one cannot be read. */
bool verbs_check_sum(const struct ibv_context *context, const struct ibv_sge *sges, int count,
		     uint64_t *sum);
/* Returns whether the buffers of a request that has completed have changed since the post. */
bool verbs_check_has_changed(const struct ibv_context *context,
			     const struct check_request *request);
void verbs_check_changed_say(uint32_t qp_num, const struct check_request *request);
/* Returns the SGE of EARLIER that shares bytes with an SGE of REQUEST, or NULL. */
const struct ibv_sge *verbs_check_shared(const struct ibv_context *context,
					 const struct check_request *request,
					 const struct check_request *earlier);
void verbs_check_shared_say(const struct check_post *post, const struct check_request *earlier,
			    const struct ibv_sge *sge);

/* ---- queues.c ---- */

/* Checks the address handle of a datagram by its record, because a destroyed handle cannot be read.
 * FIELD is the handle's name in the log. */
void verbs_check_ah(const struct check_post *post, const struct ibv_ah *address, const char *field);

/* ---- requests.c ---- */

struct check_completion {
	uint32_t qp_num;
	uint64_t wr_id;
	bool is_failed, is_receive;
};

/* Keeps the calling thread from being cancelled within a call of the checker, which would keep its
 * turn. Returns the state before, for verbs_check_unshield(), which the same call must restore: in
 * between, the state is the program's. */
int verbs_check_shield(void);
void verbs_check_unshield(int before);

/* Let the calling thread alone post to a queue until it leaves. So the ring has the order of the
 * adapter, and the requests of a call follow each other. The provider lets other threads wait as
 * long, unless the queue has no lock, which has no turns. */
void verbs_check_turn_take(struct check_ring *ring);
/* Does nothing if another thread has the turn. */
void verbs_check_turn_leave(struct check_ring *ring);
/* Ends the turn of POSTER, which may be another thread than the calling one. */
void verbs_check_turn_end(struct check_ring *ring, const void *poster);

/* Called when a post, or a batch of posts, begins. A completion behind it makes room, so that a
 * refusal of the post says no longer that the queue is full. */
void verbs_check_post_begin(struct check_ring *ring);
/* Adds a request before the provider gets it, because another thread may poll its completion at
 * once. */
void verbs_check_request_add(struct check_ring *ring, const struct check_post *post,
			     bool is_signaled);
/* Notes the buffers of the request that was added last. IS_WRITTEN: the adapter writes to them. */
void verbs_check_request_buffers(struct check_ring *ring, const struct check_post *post,
				 const struct ibv_sge *sges, int count, bool is_written);
/* Drops the COUNT requests that were added last: the program has taken them back. */
void verbs_check_request_drop(struct check_ring *ring, unsigned int count);
/* Drops those that the provider has refused with ERR. */
void verbs_check_request_refuse(struct check_ring *ring, unsigned int count, int err);
void verbs_check_request_done(const struct ibv_context *context,
			      const struct check_completion *done);

/* Adds the record of a new QP. The caller holds the checker's lock. */
struct check_qp *verbs_check_qp_add(const struct ibv_qp *qp);
/* Called when a QP was created (with the checker's lock held), has changed its state, or will be
 * destroyed. */
void verbs_check_request_watch(struct check_qp *qp, const struct ibv_qp *of);
void verbs_check_request_state(struct check_qp *qp, enum ibv_qp_state state);
void verbs_check_request_unwatch(struct check_qp *qp);
/* Called in a child of fork(). Threads of the parent, which have a turn or a pin, are not there.
 * Its QPs are not the child's to query: their requests are forgotten. */
void verbs_check_request_forked(void);
/* Called when destroying a QP has failed. Its outstanding requests are unknown until a reset. */
void verbs_check_request_rewatch(struct check_qp *qp, const struct ibv_qp *of);

/* The outstanding requests of a ring, and the oldest of them. */
struct check_ring_look {
	bool is_known;   /* otherwise the numbers are 0 */
	bool had_signal; /* a signaled request has completed */
	bool was_refused;
	unsigned int count, signaled;
	struct check_request oldest;
};

void verbs_check_ring_look(const struct check_ring *ring, struct check_ring_look *look);
/* Calls LOOK for each QP that lives. Destroying the QP waits until LOOK returns, but the checker's
 * lock is free: LOOK may call the provider. Then calls SAY, which must not touch the QP. Both get
 * INTO. */
void verbs_check_each_qp(void (*look)(const struct check_qp *qp, void *into),
			 void (*say)(void *into), void *into);

/* Counts a move of the program: a poll of completions, or a post that the provider has taken. */
void verbs_check_move(void);
/* Returns the number of moves, and sets *WAITS if a request is known not to have completed, or
 * one has failed and the program has not changed the QP's state since. */
unsigned int verbs_check_moves(bool *waits);

bool verbs_check_request_names(const struct ibv_context *context, uint32_t lkey,
			       struct check_post *post);

/* ---- owners.c ---- */

/* Returns a number that identifies the calling process: each child of fork() has another one. */
unsigned int verbs_check_process(void);
void verbs_check_before_fork(void);
void verbs_check_forked(void);
/* Logs a fault if another process, a parent, has opened the device. */
void verbs_check_is_ours(struct ibv_context *context, const char *call, const char *owner,
			 uint32_t number);

void verbs_check_domain_made(const struct ibv_pd *domain);
void verbs_check_domain_unmade(const struct ibv_pd *domain);
/* Returns whether queues created with DOMAIN have no lock. DOMAIN may be NULL. */
bool verbs_check_has_no_lock(struct ibv_context *context, const struct ibv_pd *domain);
/* Mark the begin and the end of a call on a queue without a lock. *USER is the thread in the call.
 * verbs_check_enter() logs a fault if *USER is another thread. */
void verbs_check_enter(const void **user, const char *call, const char *owner, uint32_t number);
void verbs_check_leave(const void **user);
void verbs_check_meet(const char *call, const char *owner, uint32_t number);

/* ---- batches.c ---- */

void verbs_check_watch_batches(struct check_qp *check, struct ibv_qp_ex *qp, uint64_t ops);
void verbs_check_batch_meet(const struct check_qp *check, const char *call,
			    const struct ibv_qp *qp);
bool verbs_check_batch_is_ours(const struct check_qp *check);

/* ---- places.c ---- */

/* Counts a request as promised to its CQ, before the provider gets the request. */
void verbs_check_promise(struct check_places *places, const struct check_post *post);
/* Called after the provider has refused REFUSED of the counted requests. Logs a fault if the
 * accepted requests exceed the CQ's entries. */
void verbs_check_settle(const struct check_places *places, int refused);
/* Returns whether the program has polled CQ, and the checker sees all completions that the program
 * polls. The caller holds the checker's lock. */
bool verbs_check_cq_is_polled(const struct ibv_cq *cq);
/* Returns whether the completions that the program polls from CQ tell the checker their QP. */
bool verbs_check_cq_tells(const struct ibv_cq *cq);
void verbs_check_forget(const struct ibv_cq *send_cq, const struct ibv_cq *recv_cq);

/* What is known of a completion queue, or of all queues of a channel. */
struct check_cq_look {
	int promised, cqe;
	bool is_armed, is_solicited; /* armed for solicited events only */
	bool is_polled;              /* at least once */
	uint64_t polled_ns;          /* when it was polled last, by verbs_check_now() */
};

/* A completion channel with CQs. The counters are atomic. */
struct check_channel {
	struct check_record record;
	int armed;          /* CQs that are armed */
	unsigned int waits; /* threads that wait now */
	unsigned int begun; /* waits that began */
	bool is_watched, is_reported;
};

uint64_t verbs_check_now(void);
/* Returns false if CQ has no record. */
bool verbs_check_cq_look(const struct ibv_cq *cq, struct check_cq_look *look);
/* Sums up the live CQs of a channel. Returns their number. */
unsigned int verbs_check_channel_look(const struct check_channel *channel,
				      struct check_cq_look *look);
/* The program has read an event of CQ, which must be armed again. */
void verbs_check_event_taken(const struct ibv_cq *cq);

/* ---- status.c ---- */

/* Starts to write the status of all QPs, on the signal that VERBS_STATUS_SIGNAL names and after
 * idle seconds, if the environment asks for it. The program opens DEVICE. */
void verbs_check_status_start(const struct ibv_device *device);
/* Writes the status of all QPs. A second thread waits until the first has written its own. */
void verbs_check_status_say(void);
/* Writes it below a line that nothing has happened for so many SECONDS. */
void verbs_check_status_say_idle(unsigned int seconds);
/* Gives the signal back in a child of fork(), which lacks the thread that answers. A device that
 * the child opens starts anew. */
void verbs_check_status_forked(void);

/* ---- idle.c ---- */

struct check_idle {
	uint64_t patience_ns;
	uint64_t since_ns; /* the program has not moved since then */
	unsigned int moves;
	bool is_said;
};

/* Returns whether the program has waited for IDLE->patience_ns, for the first time since it moved
 * last. */
bool verbs_check_idle_look(struct check_idle *idle, uint64_t now);
/* Starts to watch. Returns 0 or an errno value. */
int verbs_check_idle_start(int seconds);

/* ---- counters.c ---- */

/* Reads the counters of a device that is opened. */
void verbs_check_counters_watch(const struct ibv_device *device);
void verbs_check_counters_say(void);

/* ---- waits.c ---- */

/* Called before and after a thread waits for an event of CHANNEL. Logs a fault if the wait lasts
 * and none of the channel's CQs is armed. */
void verbs_check_wait_begin(const struct ibv_comp_channel *channel);
void verbs_check_wait_end(const struct ibv_comp_channel *channel);

/* ---- paths.c ---- */

void verbs_check_path(const struct ibv_qp *qp, const struct ibv_qp_attr *attr, int mask);

/* ---- leaks.c: places in the program ---- */

enum { CHECK_FRAMES = 12, CHECK_PLACE_SIZE = 200 };

struct check_place {
	const char *call;
	void *frames[CHECK_FRAMES];
	int count;
};

/* Records the program's call stack. The caller does not hold the checker's lock, because
 * backtrace() may load a library and takes the dynamic linker's locks. */
void verbs_check_place_take(struct check_place *place, const char *call);
/* Writes the first frame outside this library and librdmacm: "prog(main+0x1b)". Returns false if
 * there is no such frame, as in a static program, or if librdmacm made the object for itself: it
 * keeps a PD for each device. */
bool verbs_check_place_write(const struct check_place *place, char *to);

/* ---- graves.c ---- */

/* Called before CALL destroys OBJECT: a record that is allocated later may get the object's memory,
 * and the mistake would end in a crash. Without effect if CALL fails. */
void verbs_check_bury(const void *object, const char *call);
/* Returns whether an object that has no live record was destroyed. If so, logs a fault. MUTEX is
 * the object's own. */
bool verbs_check_is_dead(const void *object, pthread_mutex_t *mutex, const char *call,
			 const char *owner, uint32_t number);

static inline bool check_qp_is_dead(struct ibv_qp *qp, const char *call)
{
	return verbs_check_is_dead(qp, &qp->mutex, call, "QP", qp->qp_num);
}

static inline bool check_cq_is_dead(struct ibv_cq *cq, const char *call)
{
	return verbs_check_is_dead(cq, &cq->mutex, call, "CQ", cq->handle);
}

/* ---- leaks.c: CALL has made an object; the object is destroyed ---- */

void verbs_check_made(const void *object, const char *call);
void verbs_check_unmade(const void *object);

/* ---- the operations of the table that these files replace ---- */

/* Not freed when the context is closed: it is small, and a program opens few contexts. */
struct check_context {
	struct check_context *next;
	unsigned int process; /* process that opened the context, from verbs_check_process() */
	struct verbs_ops real;
};

static inline const struct verbs_ops *check_real(struct ibv_context *context)
{
	return &to_priv(context)->check->real;
}

int verbs_check_reg_mr(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova,
		       unsigned int access, struct verbs_mr **vmr);
int verbs_check_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset, size_t length, uint64_t iova,
			      int fd, unsigned int access, struct verbs_mr **vmr);
int verbs_check_reg_mr_ex(struct ibv_pd *pd, const struct ibv_mr_init_attr *attr,
			  struct verbs_mr **vmr);
int verbs_check_rereg_mr(struct verbs_mr *vmr, int flags, struct ibv_pd *pd, void *addr,
			 size_t length, unsigned int access);
int verbs_check_dereg_mr(struct verbs_mr *vmr);
int verbs_check_import_mr(struct ibv_pd *pd, uint32_t handle, struct verbs_mr **vmr);
void verbs_check_unimport_mr(struct verbs_mr *vmr);
struct ibv_mr *verbs_check_reg_dm_mr(struct ibv_pd *pd, struct ibv_dm *dm, uint64_t offset,
				     size_t length, unsigned int access);

int verbs_check_alloc_pd(struct ibv_context *context, struct ibv_pd **pd);
int verbs_check_dealloc_pd(struct ibv_pd *pd);
struct ibv_pd *verbs_check_alloc_parent_domain(struct ibv_context *context,
					       struct ibv_parent_domain_init_attr *attr);
int verbs_check_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr, struct ibv_ah **ah);
int verbs_check_destroy_ah(struct ibv_ah *ah);
int verbs_check_create_srq(struct ibv_context *context, struct ibv_srq_init_attr_ex *attr,
			   struct verbs_srq **vsrq);
int verbs_check_destroy_srq(struct ibv_srq *srq);

int verbs_check_create_cq(struct ibv_context *context, const struct ibv_cq_init_attr_ex *attr,
			  struct verbs_cq **vcq);
int verbs_check_destroy_cq(struct ibv_cq *cq);
int verbs_check_req_notify_cq(struct ibv_cq *cq, int solicited_only);
int verbs_check_poll_cq(struct ibv_cq *cq, int num_entries, struct ibv_wc *wc);

int verbs_check_create_qp(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr,
			  struct verbs_qp **vqp);
int verbs_check_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask);
int verbs_check_destroy_qp(struct ibv_qp *qp);

int verbs_check_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr);
int verbs_check_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr);
int verbs_check_post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr,
			      struct ibv_recv_wr **bad_wr);

#endif

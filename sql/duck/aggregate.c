//go:build duckdb

#define _GNU_SOURCE
#include "aggregate.h"
#include "_cgo_export.h"
#include <stdlib.h>
#include <string.h>
#ifdef __linux__
#include <sys/uio.h>
#include <unistd.h>
#endif

static const uint64_t MARK = 0x6576715f73746174ull;
enum { EVENT_BYTES = 13, FEWEST = 16, VECTOR = 2048, AT_ONCE = 512 };

// The list of groups is locked for a few instructions at a time.
static void lock(evq_budget *b) {
	while (__atomic_test_and_set(&b->locked, __ATOMIC_ACQUIRE)) {
	}
}

static void unlock(evq_budget *b) { __atomic_clear(&b->locked, __ATOMIC_RELEASE); }

evq_events *evq_new(evq_budget *b) {
	evq_events *e = calloc(1, sizeof *e);
	if (!e) return NULL;
	e->budget = b;
	lock(b);
	e->next = b->first;
	if (e->next) e->next->last = e;
	b->first = e;
	unlock(b);
	return e;
}

static void empty(evq_events *e) {
	__atomic_sub_fetch(&e->budget->used, e->cap * EVENT_BYTES, __ATOMIC_RELAXED);
	free(e->t);
	free(e->x);
	free(e->y);
	free(e->p);
	e->t = NULL;
	e->x = e->y = NULL;
	e->p = NULL;
	e->n = e->cap = 0;
}

// evq_reclaim frees the events of groups that DuckDB forgot: of a query that was stopped it does not destroy all
// states. It is called while no query runs. The groups themselves, which are small, stay, should they be destroyed yet.
void evq_reclaim(evq_budget *b) {
	lock(b);
	for (evq_events *e = b->first; e; e = e->next) empty(e);
	unlock(b);
}

// evq_grow makes room for need events. It returns 1 where there is no memory and 2 where the limit is reached.
int evq_grow(evq_events *e, int64_t need, int64_t limit) {
	if (need <= e->cap) return 0;
	int64_t cap = e->cap ? e->cap : FEWEST;
	while (cap < need) cap *= 2;
	int64_t more = (cap - e->cap) * EVENT_BYTES;
	if (__atomic_add_fetch(&e->budget->used, more, __ATOMIC_RELAXED) > limit) {
		__atomic_sub_fetch(&e->budget->used, more, __ATOMIC_RELAXED);
		return 2;
	}
	void *t = realloc(e->t, cap * 8);
	if (t) e->t = t;
	void *x = realloc(e->x, cap * 2);
	if (x) e->x = x;
	void *y = realloc(e->y, cap * 2);
	if (y) e->y = y;
	void *p = realloc(e->p, cap);
	if (p) e->p = p;
	if (!t || !x || !y || !p) {
		__atomic_sub_fetch(&e->budget->used, more, __ATOMIC_RELAXED);
		return 1;
	}
	e->cap = cap;
	return 0;
}

void evq_free(evq_events *e) {
	if (!e) return;
	evq_budget *b = e->budget;
	lock(b);
	if (e->last) e->last->next = e->next;
	else b->first = e->next;
	if (e->next) e->next->last = e->last;
	unlock(b);
	empty(e);
	free(e);
}

// evq_guarded says whether there are reads that fail instead of crashing: on Linux, where no policy forbids them.
bool evq_guarded(void) {
#ifdef __linux__
	static int known; // 0 where it is not, then 1 or 2: whoever asks first finds out
	int k = __atomic_load_n(&known, __ATOMIC_RELAXED);
	if (!k) {
		uint64_t from = MARK, to = 0;
		struct iovec remote = {&from, sizeof from}, local = {&to, sizeof to};
		k = process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == sizeof to && to == MARK ? 2 : 1;
		__atomic_store_n(&known, k, __ATOMIC_RELAXED);
	}
	return k == 2;
#else
	return false;
#endif
}

// evq_one_state says whether a vector of states holds one state for all rows. For aggregates with ORDER BY inside or
// with OVER, DuckDB hands such a vector to the C API as if it held one for each row (duckdb issue 21537): what lies
// behind the first is other memory. Queries of that kind are refused from their text; where one gets through, this
// looks whether each row's state bears the mark, by reads that fail instead of crashing. Where there are no such reads
// the text is all there is.
bool evq_one_state(evq_slot **states, uint64_t n) {
#ifdef __linux__
	if (n < 2 || !evq_guarded()) return false;
	void *at[VECTOR];
	if (n > VECTOR) return true;
	pid_t self = getpid();
	struct iovec into = {at, n * sizeof *at}, from = {states, n * sizeof *at};
	if (process_vm_readv(self, &into, 1, &from, 1, 0) != (ssize_t)(n * sizeof *at)) return true;
	static __thread evq_slot slots[AT_ONCE];
	struct iovec remote[AT_ONCE];
	for (uint64_t i = 1; i < n;) {
		int k = 0;
		for (; i < n && k < AT_ONCE; i++) {
			if (at[i] == at[i - 1]) continue;
			remote[k].iov_base = at[i];
			remote[k++].iov_len = sizeof(evq_slot);
		}
		if (!k) break;
		struct iovec local = {slots, k * sizeof(evq_slot)};
		if (process_vm_readv(self, &local, 1, remote, k, 0) != (ssize_t)(k * sizeof(evq_slot))) return true;
		for (int j = 0; j < k; j++)
			if (slots[j].mark != MARK) return true;
	}
#endif
	return false;
}

static uint64_t size(void *info) {
	(void)info;
	return sizeof(evq_slot);
}

static void init(void *info, void *state) {
	(void)info;
	evq_slot *s = state;
	s->events = NULL;
	s->mark = MARK;
}

static void destroy(evq_slot **states, uint64_t n) {
	for (uint64_t i = 0; i < n; i++) {
		evq_free(states[i]->events);
		states[i]->events = NULL;
		states[i]->mark = 0;
	}
}

void evq_setup(void *function) {
	duckdb_aggregate_function_set_functions(function, size, init, evqUpdate, evqCombine, evqFinalize);
	duckdb_aggregate_function_set_destructor(function, destroy);
}

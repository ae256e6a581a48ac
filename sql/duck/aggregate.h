//go:build duckdb

// The prototypes of DuckDB's C API for aggregate functions, which its Go driver does not wrap, and the state of a
// group. Every opaque handle is a void pointer.
#pragma once
#include <stdbool.h>
#include <stdint.h>

extern void *duckdb_create_aggregate_function(void);
extern void duckdb_destroy_aggregate_function(void **);
extern void duckdb_aggregate_function_set_name(void *, const char *);
extern void duckdb_aggregate_function_add_parameter(void *, void *);
extern void duckdb_aggregate_function_set_return_type(void *, void *);
extern void duckdb_aggregate_function_set_functions(void *, void *size, void *init, void *update, void *combine, void *finalize);
extern void duckdb_aggregate_function_set_destructor(void *, void *);
extern void duckdb_aggregate_function_set_extra_info(void *, void *, void *);
extern void *duckdb_aggregate_function_get_extra_info(void *);
extern void duckdb_aggregate_function_set_error(void *, const char *);
extern void *duckdb_create_aggregate_function_set(const char *);
extern void duckdb_destroy_aggregate_function_set(void **);
extern int duckdb_add_aggregate_function_to_set(void *, void *);
extern int duckdb_register_aggregate_function_set(void *, void *);

// evq_events are the events of a group: 13 bytes each, in memory of their own.
typedef struct evq_events {
	int64_t *t;
	uint16_t *x, *y;
	int8_t *p;
	int64_t n, cap;
	int32_t params;
	struct evq_budget *budget;
	struct evq_events *next, *last; // of those of the budget
} evq_events;

// evq_budget are the groups of a database, and the bytes that they hold.
typedef struct evq_budget {
	int64_t used;
	evq_events *first;
	char locked;
} evq_budget;

// evq_slot is what DuckDB keeps for a group. The mark tells a state of ours from other memory.
typedef struct {
	evq_events *events;
	uint64_t mark;
} evq_slot;

evq_events *evq_new(evq_budget *b);
void evq_reclaim(evq_budget *b);
int evq_grow(evq_events *e, int64_t need, int64_t limit);
void evq_free(evq_events *e);
bool evq_guarded(void);
bool evq_one_state(evq_slot **states, uint64_t n);
void evq_setup(void *function);

//go:build duckdb

#include <stdint.h>

extern "C" {
void duckdb_vector_assign_string_element_len(void *vector, uint64_t index, const char *text, uint64_t length);
int evq_assign(void *vector, uint64_t index, const char *text, uint64_t length);
}

// evq_assign copies bytes into a vector. It returns 1 where DuckDB has no memory for them: that is an exception there,
// which must not pass through Go.
int evq_assign(void *vector, uint64_t index, const char *text, uint64_t length) {
	try {
		duckdb_vector_assign_string_element_len(vector, index, text, length);
		return 0;
	} catch (...) {
		return 1;
	}
}

//go:build duckdb

package duck

/*
#include <stdint.h>
int evq_assign(void *vector, uint64_t index, const char *text, uint64_t length);
*/
import "C"

import (
	"unsafe"

	"github.com/duckdb/duckdb-go/v2/mapping"
)

// assign copies bytes into row i of a vector. It reports whether DuckDB had the memory for them.
func assign(v mapping.Vector, i int, b []byte) bool {
	return C.evq_assign(v.Ptr, C.uint64_t(i), (*C.char)(unsafe.Pointer(unsafe.SliceData(b))), C.uint64_t(len(b))) == 0
}

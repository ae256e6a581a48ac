//go:build !(hdf5 && cgo)

package hdf5

import (
	"context"
	"fmt"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/format"
	"github.com/evq-project/evq/io/tensor"
)

// Built says whether this build has the HDF5 library.
const Built = false

// LibraryVersion returns "": this build has no HDF5 library.
func LibraryVersion() string { return "" }

func describe(string) (string, error) { return "", ErrNotBuilt }

func open(_ context.Context, f format.File, _ format.Policy) (event.Source, error) {
	return nil, fmt.Errorf("%s: %w", f.Path, ErrNotBuilt)
}

func create(path string, _ format.Header, _ format.CreateOptions) (event.Sink, error) {
	return nil, fmt.Errorf("%s: %w", path, ErrNotBuilt)
}

func (o output) open([]tensor.Layout) (tensor.Sink, error) {
	return nil, fmt.Errorf("%s: %w", o.path, ErrNotBuilt)
}

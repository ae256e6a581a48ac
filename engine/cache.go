package engine

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/evq-project/evq/io/atomicfile"
	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/parquet"
)

// Cache makes Open convert a recording once to a store in the folder dir, and read that store from then on. A store
// is kept for each path, size, time of change and set of policies; none is ever removed. What the conversion lost
// stands in the store's Info().Report.
func Cache(dir string) Option { return func(s *settings) { s.cache = dir } }

// cached returns the store of a recording, which it makes where there is none yet. A recording that is a store, or
// that is no file, is returned as it is.
func (s settings) cached(src event.Source, path string, open func(path string) (event.Source, error)) (event.Source, error) {
	if s.cache == "" || src.Info().Format == parquet.Format.Name {
		return src, nil
	}
	name, err := s.cacheName(path)
	if err != nil {
		return src, nil //nolint:nilerr // standard input, or a file that is gone: read what was opened
	}
	if err := os.MkdirAll(s.cache, 0o777); err != nil {
		return nil, fmt.Errorf("cache: %w", err)
	}
	if _, err := os.Stat(name); errors.Is(err, os.ErrNotExist) {
		_, err := Convert(context.Background(), src, name, func(to *settings) { // as a query reads it: many events off the sensor stop no query
			to.policy, to.threads, to.logger, to.progress = s.policy.WithDefaults(), s.threads, s.logger, s.progress
		})
		if err != nil && !errors.Is(err, atomicfile.ErrExists) { // another run was faster
			return nil, fmt.Errorf("cache: %w", err)
		}
	} else if err != nil {
		return nil, fmt.Errorf("cache: %w", err)
	}
	store, err := open(name)
	if err != nil {
		return nil, fmt.Errorf("cache: %w; remove %s to make it anew", err, name)
	}
	return &fromCache{store, src.String()}, nil
}

// cacheName is the store's file: the recording's name, and a digest of all that decides what the store holds.
func (s settings) cacheName(path string) (string, error) {
	h := sha256.New()
	for _, p := range append([]string{path}, s.parts...) {
		abs, err := filepath.Abs(p)
		if err != nil {
			return "", err
		}
		st, err := os.Stat(abs)
		if err != nil {
			return "", err
		}
		if !st.Mode().IsRegular() {
			return "", fmt.Errorf("%s is no file", p)
		}
		fmt.Fprintf(h, "%q %d %d\n", abs, st.Size(), st.ModTime().UnixNano())
	}
	p := s.policy.WithDefaults()
	// What does not change the events is left out.
	p.Memory, p.TempDir, p.Threads, p.ReadSize, p.Logger, p.OnRead = 0, "", 0, 0, nil, nil
	fmt.Fprintf(h, "%s %#v\n", s.format, p)
	return filepath.Join(s.cache, filepath.Base(path)+"."+hex.EncodeToString(h.Sum(nil)[:12])+".parquet"), nil
}

// fromCache is a store that stands for the recording it was made of.
type fromCache struct {
	event.Source
	name string
}

// String names the recording.
func (c *fromCache) String() string { return c.name + " (cached)" }

// Cached reports whether a recording is read from a store that Cache made.
func (r *Recording) Cached() bool {
	_, ok := r.Source.(*fromCache)
	return ok
}

// Close closes the store.
func (c *fromCache) Close() error {
	if closer, ok := c.Source.(interface{ Close() error }); ok {
		return closer.Close()
	}
	return nil
}

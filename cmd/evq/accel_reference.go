package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/evq-project/evq/accel/check"
)

// peer runs the script with a folder that holds the data: t.i64, x.u16, y.u16, p.i8, and windows.i64 with the first event
// of each window and the one after its last, all little-endian. The script prints a line of JSON for each thing it
// measures: {"name": ..., "ms": ..., "sha256": ...}.
func (c *accelCheck) peer(ctx context.Context, d check.Data) []check.Peer {
	fail := func(err error) []check.Peer {
		return []check.Peer{{Name: filepath.Base(c.reference), Failure: err.Error()}}
	}
	dir, err := os.MkdirTemp("", "evq-accel-")
	if err != nil {
		return fail(err)
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a temporary folder
	var windows []int64
	for _, w := range d.Windows {
		windows = append(windows, int64(w[0]), int64(w[1]))
	}
	for name, data := range map[string]any{"t.i64": d.T, "x.u16": d.X, "y.u16": d.Y, "p.i8": d.P, "windows.i64": windows} {
		var b bytes.Buffer
		if err := binary.Write(&b, binary.LittleEndian, data); err != nil {
			return fail(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), b.Bytes(), 0o600); err != nil {
			return fail(err)
		}
	}
	cmd := exec.CommandContext(ctx, c.python, c.reference, dir, strconv.Itoa(c.size.Width), strconv.Itoa(c.size.Height))
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	if err := cmd.Run(); err != nil {
		lines := strings.Split(strings.TrimSpace(errOut.String()), "\n")
		return fail(fmt.Errorf("%w: %s", err, lines[len(lines)-1]))
	}
	peers, err := readPeers(out.Bytes())
	if err != nil {
		return fail(err)
	}
	return peers
}

// readPeers reads what the script printed.
func readPeers(out []byte) (peers []check.Peer, err error) {
	for line := range bytes.Lines(out) {
		var p accelPeer
		if err := json.Unmarshal(line, &p); err != nil || p.Name == "" {
			return nil, fmt.Errorf("the script prints %.60q, which is no {\"name\": ..., \"ms\": ..., \"sha256\": ...}", line)
		}
		peers = append(peers, check.Peer{Name: p.Name, Millis: p.Millis, SHA256: p.SHA256})
	}
	return peers, nil
}

package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
	"time"

	"github.com/evq-project/evq/engine/rvt"
)

// scenicLabels are two boxes at 30 Hz from 0.1 s to the end: a car that drifts, and a pedestrian.
func scenicLabels(duration time.Duration) rvt.Labels {
	const step = 33_333 // microseconds
	var out rvt.Labels
	for t := int64(4 * step); t <= duration.Microseconds(); t += step {
		along := float32(t % 4_000_000 / 10_000)
		out = append(out,
			rvt.Label{T: t, X: 100 + along, Y: 300, W: 180, H: 120, ClassID: 2, TrackID: 1, Confidence: 1},
			rvt.Label{T: t, X: 900 - along, Y: 280, W: 60, H: 150, ClassID: 0, TrackID: 2, Confidence: 1})
	}
	return out
}

// labelFile is a NAME_bbox.npy, records in the order of the 1 Mpx data set's files.
func labelFile(labels rvt.Labels) []byte {
	var b bytes.Buffer
	head := fmt.Sprintf("{'descr': [('t', '<i8'), ('x', '<f4'), ('y', '<f4'), ('w', '<f4'), ('h', '<f4'), ('class_id', '<u4'), "+
		"('track_id', '<u4'), ('class_confidence', '<f4')], 'fortran_order': False, 'shape': (%d,), }", len(labels))
	head += strings.Repeat(" ", 63-(10+len(head))%64) + "\n"
	b.WriteString("\x93NUMPY\x01\x00")
	_ = binary.Write(&b, binary.LittleEndian, uint16(len(head))) // a buffer takes everything
	b.WriteString(head)
	for _, l := range labels {
		_ = binary.Write(&b, binary.LittleEndian, struct {
			T               int64
			X, Y, W, H      float32
			Class, Track    uint32
			ClassConfidence float32
		}{l.T, l.X, l.Y, l.W, l.H, l.ClassID, l.TrackID, l.Confidence})
	}
	return b.Bytes()
}

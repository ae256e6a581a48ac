package npy

import (
	"encoding/binary"

	"github.com/evq-project/evq/io/tensor"
)

// archive is the body of a .npz: an array for each representation, and three that tell of the windows.
type archive struct {
	*GrowingArchive
	parts int
	value [8]byte
}

func openArchive(o output, layouts []tensor.Layout) (body, error) {
	var members []GrowingMember
	for i, name := range tensor.Names(layouts) {
		l := layouts[i]
		members = append(members, GrowingMember{name, quoted(l.DType), l.Shape, l.Bytes()})
	}
	for _, name := range []string{tensor.WindowStart, tensor.WindowEnd, tensor.WindowEvents} {
		members = append(members, GrowingMember{Name: name, Descr: quoted(tensor.Int64), Size: tensor.Int64.Size()})
	}
	a, err := NewGrowingArchive(o.path, members, o.level, o.force)
	return &archive{GrowingArchive: a, parts: len(layouts)}, err
}

func (a *archive) write(b tensor.Block) error {
	if b.Part == 0 {
		for i, v := range []int64{b.Start, b.End, b.Events} {
			binary.LittleEndian.PutUint64(a.value[:], uint64(v))
			if err := a.Write(a.parts+i, a.value[:]); err != nil {
				return err
			}
		}
	}
	return a.Write(b.Part, b.Data)
}

func (a *archive) complete(int) error { return a.Close() }

package npyrec

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"strings"
	"testing"

	"github.com/evq-project/evq/io/format"
	"github.com/evq-project/evq/io/formattest"
)

// Arrays and archives that declare or are far more than they need end in an error, in little memory.
func TestBombs(t *testing.T) {
	long := append([]byte("\x93NUMPY\x02\x00"), 0xFF, 0xFF, 0xFF, 0x7F, '{')
	deep := array(strings.Repeat("[", 30_000)+"'<i8'", "(1,)", false)
	zeros := array("<i8", "(3,)", false, []int64{7, 70, 700}, make([]byte, 64<<20))
	declared := archive(zip.Store, npzMembers...)
	at := bytes.Index(declared, []byte("PK\x01\x02"))
	for ; at >= 0; at = next(declared, at) { // the central directory's sizes
		binary.LittleEndian.PutUint32(declared[at+24:], 1<<32-2)
	}
	for name, c := range map[string]struct {
		f    format.Format
		data []byte
	}{
		"a header of 2 GiB":         {NPY, long},
		"brackets":                  {NPY, deep},
		"2^62 rows of no bytes":     {NPY, array(recordDescr, "(4611686018427387904,)", false)},
		"a negative shape":          {NPY, array(recordDescr, "(-1,)", false)},
		"a shape that overflows":    {NPY, array("<i8", "(4294967296, 4294967296)", false)},
		"a member that goes on":     {NPZ, archive(zip.Deflate, append([]member{{"t", zeros}}, npzMembers[1], npzMembers[3], npzMembers[4])...)},
		"members that declare more": {NPZ, declared},
		"a member of 2^62 rows":     {NPZ, archive(zip.Deflate, member{"e", array(recordDescr, "(4611686018427387904,)", false)})},
	} {
		if err := (formattest.Hostile{Format: c.f, Known: known}).Check(t, c.data); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// next returns where the next entry of a central directory is, -1 after the last.
func next(b []byte, at int) int {
	if i := bytes.Index(b[at+4:], []byte("PK\x01\x02")); i >= 0 {
		return at + 4 + i
	}
	return -1
}

// Every number of an archive's directory is extreme in turn.
func TestDirectoriesOfExtremeNumbers(t *testing.T) {
	data := archive(zip.Deflate, member{"e", structured})
	at := bytes.Index(data, []byte("PK\x01\x02"))
	for shift := range 2 {
		formattest.Hostile{Format: NPZ, Known: known}.Extremes(t, data, at+2*shift, len(data), 4)
	}
}

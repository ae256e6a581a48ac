// Package formats is the list of formats that evq reads and writes, and the choice of one for a recording.
//
// It knows every format by its entry, and none of their bytes.
package formats

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/evq-project/evq/io/aedat2"
	"github.com/evq-project/evq/io/aedat3"
	"github.com/evq-project/evq/io/aedat4"
	"github.com/evq-project/evq/io/aer"
	"github.com/evq-project/evq/io/arrowipc"
	"github.com/evq-project/evq/io/dat"
	"github.com/evq-project/evq/io/evt2"
	"github.com/evq-project/evq/io/evt21"
	"github.com/evq-project/evq/io/evt3"
	"github.com/evq-project/evq/io/format"
	"github.com/evq-project/evq/io/hdf5"
	"github.com/evq-project/evq/io/nmnist"
	"github.com/evq-project/evq/io/npyrec"
	"github.com/evq-project/evq/io/parquet"
	"github.com/evq-project/evq/io/text"
)

// All lists the formats. Where two are equally sure of a recording, the first has it.
var All = []format.Format{
	evt2.Format,
	evt3.Format,
	evt21.Format,
	dat.Format,
	aedat2.Format,
	aedat2.Format1,
	aedat3.Format,
	aedat4.Format,
	nmnist.Format,
	aer.Format,
	hdf5.Format,
	parquet.Format,
	arrowipc.Format,
	npyrec.NPY,
	npyrec.NPZ,
	text.Format,
	text.CSV,
}

// ByName returns the format called name.
func ByName(name string) (format.Format, error) {
	names := make([]string, len(All))
	for i, f := range All {
		if f.Name == name {
			return f, nil
		}
		names[i] = f.Name
	}
	if near := Nearest(name, names); near != "" {
		return format.Format{}, fmt.Errorf("unknown format %q; did you mean %s?", name, near)
	}
	return format.Format{}, fmt.Errorf("unknown format %q; the formats are %s", name, strings.Join(names, ", "))
}

// ByExtension returns the format in which a recording called path is written.
func ByExtension(path string) (format.Format, error) {
	ext := strings.ToLower(filepath.Ext(path))
	var known []string
	reads := ""
	for _, f := range All {
		for _, e := range f.Extensions {
			switch {
			case f.Create == nil && e == ext:
				reads = f.Name
			case e == ext:
				return f, nil
			case f.Create != nil:
				known = append(known, e)
			}
		}
	}
	if reads != "" {
		return format.Format{}, fmt.Errorf("%s: %s recordings can be read but not written; choose another extension of %s", path, reads, strings.Join(known, ", "))
	}
	return format.Format{}, fmt.Errorf("%s: no format is written under the extension %q; name one with --to, or use one of %s", path, ext, strings.Join(known, ", "))
}

package formats

import (
	"fmt"

	"github.com/evq-project/evq/io/format"
)

// A ForeignError reports a file of a kind that evq knows and does not read. It is a format.ErrUnknown.
type ForeignError struct {
	Kind string // what the file is
	Do   string // what to do with it
}

func (e *ForeignError) Error() string { return fmt.Sprintf("it is %s; %s", e.Kind, e.Do) }

// Is makes it format.ErrUnknown.
func (e *ForeignError) Is(target error) bool { return target == format.ErrUnknown }

// What to do with a foreign file.
const (
	doUnpack = "unpack it first, or pack it as .gz, .zst or a .zip of one file"
	doVideo  = "frames hold no events; name the recording they were made from, or events that a simulator made of them"
	doExport = "export its events as CSV, HDF5 or Parquet and read these"
)

// A foreignKind is a kind of file by the bytes that it has at a place.
type foreignKind struct {
	at    int
	magic string
	as    ForeignError
}

// foreign are kinds of files that users have beside recordings. Only what no format claims is looked at.
var foreign = []foreignKind{
	{0, "#ROSBAG V", ForeignError{"a ROS 1 bag", doExport}},
	{0, "\x89MCAP0\r\n", ForeignError{"an MCAP file, as of ROS 2", doExport}},
	{0, "SQLite format 3\x00", ForeignError{"an SQLite database, as ROS 2 bags are", doExport}},
	{0, "Event Stream", ForeignError{"an Event Stream (.es)", doExport}},
	{0, "MATLAB 5.0 MAT-file", ForeignError{"a MATLAB file", "save it with -v7.3, which is HDF5, or " + doExport}},
	{0, "\xFD7zXZ\x00", ForeignError{"packed by xz", doUnpack}},
	{0, "BZh", ForeignError{"packed by bzip2", doUnpack}},
	{0, "7z\xBC\xAF\x27\x1C", ForeignError{"a 7z archive", doUnpack}},
	{0, "Rar!\x1A\x07", ForeignError{"a RAR archive", doUnpack}},
	{0, "\x04\x22\x4D\x18", ForeignError{"packed by lz4", doUnpack}},
	{257, "ustar", ForeignError{"a tar archive", doUnpack}},
	{0, "t,channel,edge\n", ForeignError{"a table of external triggers", "name the recording: evq head --triggers prints its triggers"}},
	{0, "\x89PNG\r\n\x1A\n", ForeignError{"a PNG image", doVideo}},
	{0, "\xFF\xD8\xFF", ForeignError{"a JPEG image", doVideo}},
	{0, "GIF8", ForeignError{"a GIF image", doVideo}},
	{4, "ftyp", ForeignError{"an MP4 or MOV video", doVideo}},
	{8, "AVI LIST", ForeignError{"an AVI video", doVideo}},
	{0, "\x1A\x45\xDF\xA3", ForeignError{"a Matroska or WebM video", doVideo}},
}

// kindOf returns a *ForeignError where the file is of a foreign kind, else nil.
func kindOf(f format.File) error {
	head := make([]byte, 512)
	n, _ := f.ReadAt(head, 0) // what cannot be read is of no kind
	for i := range foreign {
		k := &foreign[i]
		if end := k.at + len(k.magic); end <= n && string(head[k.at:end]) == k.magic {
			return &k.as
		}
	}
	return nil
}

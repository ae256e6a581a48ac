package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/evq-project/evq/io/event/eventtest"
	"github.com/evq-project/evq/io/npy"
)

// Inputs that have hurt users of event-camera tools, each with what evq answers.

// fileOf writes bytes under a name in a folder of its own.
func fileOf(t *testing.T, name string, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, data, 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// store converts a recording and returns its path.
func store(t *testing.T, code int, in string, args ...string) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), "o.parquet")
	must(t, code, append([]string{"convert", in, "-o", out}, args...)...)
	return out
}

// timesOf returns the first column that head prints.
func timesOf(t *testing.T, path string, args ...string) (out []int64) {
	t.Helper()
	for line := range strings.Lines(csv(t, path, args...)) {
		first, _, _ := strings.Cut(line, ",")
		if v, err := strconv.ParseInt(first, 10, 64); err == nil {
			out = append(out, v)
		}
	}
	return out
}

// Two cameras that are compared must not be shifted apart: times are raw, and under --zero all differ by the shift that
// is recorded, which is the first event's time and no word's.
func TestShiftIsOptionalAndRecorded(t *testing.T) {
	in := rawWords(t, 0x8623, 0x6007, 0x0001, 0x2001, 0x6009, 0x2801, 0x8624, 0x2002)
	raw, zeroed := timesOf(t, store(t, 0, in)), timesOf(t, store(t, 0, in, "--zero"))
	if len(raw) != 3 || len(zeroed) != 3 || raw[0] != 1571*4096+7 {
		t.Fatalf("%v, zeroed %v", raw, zeroed)
	}
	for i := range raw {
		if raw[i]-zeroed[i] != raw[0] {
			t.Errorf("event %d is shifted by %d, want %d", i, raw[i]-zeroed[i], raw[0])
		}
	}
	has(t, must(t, 0, "info", store(t, 0, in, "--zero")).out, fmt.Sprintf("%d µs were subtracted", raw[0]))
}

// Times beyond 32 bits, signed or not, survive every way through.
func TestTimesBeyond32Bits(t *testing.T) {
	const text = "t,x,y,p\n2147483648,3,5,0\n2200000000,4,6,1\n49599300523,7,8,0\n"
	in := fileOf(t, "a.csv", []byte(text))
	out := store(t, 0, in)
	if got := csv(t, out); got != text {
		t.Errorf("the store holds\n%s", got)
	}
	names := []string{"back.csv", "back.txt", "back.raw", "back.evt2", "back.evt21", "back.npy", "back.npz", "back.arrow", "back.arrows"}
	if hdf5Built {
		names = append(names, "back.h5")
	}
	for _, name := range names {
		back := filepath.Join(t.TempDir(), name)
		if r := evq(t, "convert", out, "-o", back); r.code != 0 {
			t.Errorf("%s: %s", name, r.errOut)
			continue
		}
		if got := csv(t, back); got != text {
			t.Errorf("%s holds\n%s", name, got)
		}
	}
	if got := csv(t, out, "--time", "49599300523us..49599300524us"); !strings.HasSuffix(got, "\n49599300523,7,8,0\n") || strings.Count(got, "\n") != 2 {
		t.Errorf("a query far out gives\n%s", got)
	}
}

// A step back by a second inside a recording: clamp keeps the file's order as RVT's reader does, sort does not.
func TestBackwardSecond(t *testing.T) {
	in := fileOf(t, "a.csv", []byte("t,x,y,p\n1000000,1,1,0\n2000000,2,1,0\n1000001,3,1,0\n2000005,4,1,0\n"))
	if got := csv(t, store(t, 0, in, "--on-unsorted", "clamp")); got != "t,x,y,p\n1000000,1,1,0\n2000000,2,1,0\n2000000,3,1,0\n2000005,4,1,0\n" {
		t.Errorf("clamped:\n%s", got)
	}
	if got := csv(t, store(t, 0, in)); got != "t,x,y,p\n1000000,1,1,0\n1000001,3,1,0\n2000000,2,1,0\n2000005,4,1,0\n" {
		t.Errorf("sorted:\n%s", got)
	}
}

// Simulators write seconds in scientific notation, pixel after pixel.
func TestSimulatorText(t *testing.T) {
	in := fileOf(t, "a.txt", []byte("6.55e-05 1 2 1\n4.9e-05 3 4 0\n5.1e-05 5 6 1\n4.9e-05 7 8 0\n0.00005 9 10 1\n5.2000e-05 11 12 0\n"))
	if got := csv(t, store(t, 0, in)); got != "t,x,y,p\n49,3,4,0\n49,7,8,0\n50,9,10,1\n51,5,6,1\n52,11,12,0\n66,1,2,1\n" {
		t.Errorf("the store holds\n%s", got)
	}
}

// Whole numbers may be written as floating-point ones; a fraction of a pixel is an error with its line.
func TestWholeNumbersWrittenAsFloats(t *testing.T) {
	flags := []string{"--columns", "x,y,t,p", "--time-unit", "s", "--format", "text"}
	in := fileOf(t, "a.txt", []byte("3.000000000000000000e+01 4.0e+01 0.0e+00 1.0e+00\n"))
	if got := csv(t, store(t, 0, in, flags...)); got != "t,x,y,p\n0,30,40,1\n" {
		t.Errorf("the store holds\n%s", got)
	}
	half := fileOf(t, "b.txt", []byte("3.0e+01 4.0e+01 0.0e+00 1.0e+00\n30.5 4.0e+01 0.0e+00 1.0e+00\n"))
	has(t, must(t, exitFailed, append([]string{"head", half}, flags...)...).errOut, "line 2", `"30.5"`, "fraction")
}

// The unit of times is decided once, by a rule that info prints, and never mixed.
func TestUnitIsDecidedAndPrinted(t *testing.T) {
	in := fileOf(t, "a.txt", []byte("0.001833 3 5 1\n0.002 4 6 0\n"))
	has(t, must(t, 0, "info", in).out, "time in s", "decimal point", "first t   1833 µs")
	has(t, must(t, exitFailed, "head", in, "--time-unit", "us").errOut, "whole number of microseconds", "--time-unit s")
}

// A reserved word in the middle is no damage: all other events, and exit 0.
func TestReservedWordMidFile(t *testing.T) {
	data := []byte("% evt 2.1\n% format EVT21;endianness=little;height=48;width=64\n% end\n")
	for _, w := range []uint64{0x8000000100000000, 0x1000000000000000 | 3<<43 | 5<<32 | 1, 0xC000000000000000, 0x0000000000000000 | 4<<43 | 6<<32 | 1} {
		data = binary.LittleEndian.AppendUint64(data, w)
	}
	if got := csv(t, store(t, 0, fileOf(t, "a.raw", data))); got != "t,x,y,p\n64,3,5,1\n64,4,6,0\n" {
		t.Errorf("the store holds\n%s", got)
	}
}

// A damaged packet is exit 1 and no file; under --salvage the rest is kept, the bytes are named, and the exit is 3.
func TestDamagedPacket(t *testing.T) {
	data, err := os.ReadFile(filepath.Join(eventtest.Data(t), "aedat4", "evl_sample.aedat4"))
	if err != nil {
		t.Fatal(err)
	}
	whole := len(timesOf(t, fileOf(t, "whole.aedat4", data)))
	magic := []byte{0x04, 0x22, 0x4D, 0x18}
	last := bytes.LastIndex(data[:len(data)/2], magic)
	copy(data[last:], "XXXX")
	in := fileOf(t, "bad.aedat4", data)
	dir := t.TempDir()
	out := filepath.Join(dir, "o.parquet")
	has(t, must(t, exitFailed, "convert", in, "-o", out).errOut, "aedat4: offset 0x", "--salvage")
	if left := eventtest.Names(t, dir); len(left) != 0 {
		t.Errorf("it leaves %v", left)
	}
	has(t, must(t, exitLosses, "convert", in, "-o", out, "--salvage").errOut, "damaged")
	if n := len(timesOf(t, out)); n == 0 || n > whole {
		t.Errorf("%d events of %d are kept", n, whole)
	}
}

// An index that another program left beside the recording, broken or not to be read, is no matter.
func TestForeignIndexIsNoMatter(t *testing.T) {
	in := rawWords(t, 0x8064, 0x6000, 0x0001, 0x2001)
	index := in + ".tmp_index"
	if err := os.WriteFile(index, []byte("not an index"), 0); err != nil {
		t.Fatal(err)
	}
	store(t, 0, in)
	if got := eventtest.Names(t, filepath.Dir(in)); !slices.Equal(got, []string{"words.raw", "words.raw.tmp_index"}) {
		t.Errorf("the input's folder holds %v", got)
	}
}

// Windows may start anywhere and have any length: neither need be a multiple of the other.
func TestAnyStartAndStep(t *testing.T) {
	in := write(t, "a.raw", vga, nil, grid(1000, 0, 100, 640, 480)) // to 99,900 µs
	out := filepath.Join(t.TempDir(), "o.npz")
	must(t, 0, "tensor", in, "--time", "4192us..54241us", "--origin", "4192us", "--window", "16683us", "--repr", "rvt", "-o", out)
	starts, err := npy.ReadIntsIn(out, "window_start")
	if err != nil {
		t.Fatal(err)
	}
	if want := []int64{4192, 4192 + 16683, 4192 + 2*16683}; !slices.Equal(starts, want) {
		t.Errorf("windows start at %v, want %v", starts, want)
	}
}

// The first line of an AEDAT file says its version, and its name says nothing.
func TestMagicLineNotExtension(t *testing.T) {
	data := []byte("#!AER-DAT2.0\r\n# AEChip: eu.seebetter.ini.chips.davis.DAVIS240C\r\n")
	data = binary.BigEndian.AppendUint32(data, 5<<22|3<<12|1<<11)
	data = binary.BigEndian.AppendUint32(data, 7)
	in := fileOf(t, "a.aedat4", data)
	has(t, must(t, 0, "info", in).out, "aedat2 2.0", "240x180")
	if got := csv(t, in); got != "t,x,y,p\n7,3,5,1\n" {
		t.Errorf("head prints\n%s", got)
	}
}

// A recording whose sensor is not named has no size: info says so, a store keeps none, and blocks need --size.
func TestSizeIsNeverInferred(t *testing.T) {
	data := []byte("#!AER-DAT3.1\r\n#Format: RAW\r\n#!END-HEADER\r\n")
	data = binary.LittleEndian.AppendUint32(data, 1) // polarity, of source 0
	for _, v := range []uint32{8, 4, 0, 1, 1, 1, 300<<17 | 200<<2 | 1<<1 | 1, 5} {
		data = binary.LittleEndian.AppendUint32(data, v)
	}
	in := fileOf(t, "a.aedat", data)
	has(t, must(t, 0, "info", in).out, "aedat3 3.1", "unknown; --size WxH")
	out := store(t, 0, in)
	has(t, must(t, 0, "info", out).out, "unknown; --size WxH", "300", "200")
	for _, rec := range []string{in, out} {
		r := evq(t, "tensor", rec, "--repr", "rvt", "-o", filepath.Join(t.TempDir(), "o.npy"))
		if r.code == 0 || !strings.Contains(r.errOut, "--size") || !strings.Contains(r.errOut, "300") || !strings.Contains(r.errOut, "200") {
			t.Errorf("%s: %+v", rec, r)
		}
	}
}

// Every way to say ON and OFF means the same, and the recording's own is told.
func TestPolarityOfEveryKind(t *testing.T) {
	for stored, words := range map[string][2]string{"0/1": {"0", "1"}, "-1/1": {"-1", "1"}, "on/off": {"OFF", "ON"}, "true/false": {"False", "True"}, "255": {"255", "1"}} {
		in := fileOf(t, "a.csv", []byte(fmt.Sprintf("t,x,y,p\n7,3,5,%s\n9,4,6,%s\n", words[0], words[1])))
		out := store(t, 0, in)
		if got := csv(t, out); got != "t,x,y,p\n7,3,5,0\n9,4,6,1\n" {
			t.Errorf("%s: the store holds\n%s", stored, got)
		}
		if stored == "255" {
			stored = "0/1"
		}
		has(t, must(t, 0, "info", in).out, "polarity as "+stored)
		if stored != "0/1" {
			has(t, must(t, 0, "info", out).out, stored)
		}
	}
	three := fileOf(t, "b.csv", []byte("t,x,y,p\n7,3,5,0\n8,3,5,1\n9,4,6,2\n"))
	has(t, must(t, exitFailed, "convert", three, "-o", filepath.Join(t.TempDir(), "o.parquet")).errOut, "line 4", "--polarity-encoding nonzero")
	if got := csv(t, store(t, 0, three, "--polarity-encoding", "nonzero")); got != "t,x,y,p\n7,3,5,0\n8,3,5,1\n9,4,6,1\n" {
		t.Errorf("nonzero:\n%s", got)
	}
}

// Pixels off the sensor are dropped and counted, those beyond 15 bits as well; none becomes negative or wraps.
func TestPixelsOffTheSensor(t *testing.T) {
	var b strings.Builder
	b.WriteString("t,x,y,p\n1,1308,10,1\n2,-1,10,1\n3,40000,10,1\n")
	for i := range 400 {
		fmt.Fprintf(&b, "%d,%d,11,1\n", 4+i, i)
	}
	in := fileOf(t, "a.csv", []byte(b.String()))
	r := must(t, exitLosses, "convert", in, "--size", "1280x720", "-o", filepath.Join(t.TempDir(), "o.parquet"))
	has(t, r.errOut, "400 events", "lost 3 offsensor")
	if got := csv(t, in, "--time", "3..4"); got != "t,x,y,p\n3,40000,10,1\n" {
		t.Errorf("without a size head prints\n%s", got)
	}
	late := fileOf(t, "b.csv", []byte("t,x,y,p\n9223372036854775808,1,2,1\n"))
	has(t, must(t, exitFailed, "head", late, "--format", "csv").errOut, "64 bits", "--time-unit")
}

// Bounds in seconds are decimals: none loses its own event to a rounding.
func TestDecimalBoundsKeepTheirEvent(t *testing.T) {
	in := write(t, "a.raw", vga, nil, grid(8000, 0, 1, 640, 480))
	for i := range int64(8000) {
		if i%120 == 57 || i == 3917 { // the last is one that binary fractions lose
			at := fmt.Sprintf("0.%06ds..", i)
			if got := timesOf(t, in, "--time", at, "-n", "1"); len(got) != 1 || got[0] != i {
				t.Fatalf("--time %s begins at %v", at, got)
			}
		}
	}
}

// One event is a recording.
func TestOneEvent(t *testing.T) {
	in := rawWords(t, 0x8064, 0x6000, 0x0001, 0x2001)
	out := store(t, 0, in)
	has(t, must(t, 0, "info", out).out, "events    1\n", "first t   409600 µs", "last t    409600 µs")
	has(t, must(t, 0, "tensor", out, "--repr", "rvt", "-o", filepath.Join(t.TempDir(), "o.npz")).errOut, "1 window")
}

// A full disk ends with 1 in every format that is written, says how many bytes there are, and leaves nothing.
func TestFullDisk(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the limit of a file's size stands for a full disk where the shell can set it")
	}
	in := filepath.Join(t.TempDir(), "in.raw")
	must(t, 0, "bench", "generate", "-o", in, "--events", "400k", "--seconds", "1")
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	names := []string{"o.parquet", "o.raw", "o.evt2", "o.dat", "o.csv", "o.txt"}
	if hdf5Built {
		names = append(names, "o.h5")
	}
	for _, name := range names {
		dir := t.TempDir()
		args := []string{"convert", in, "-o", filepath.Join(dir, name)}
		cmd := exec.Command("sh", append([]string{"-c", `ulimit -f 64; trap '' XFSZ; exec "$0" "$@"`, exe}, args...)...)
		cmd.Env = append(os.Environ(), "EVQ_TEST_COMMAND=1")
		out, _ := cmd.CombinedOutput()
		if code := cmd.ProcessState.ExitCode(); code != exitFailed || !strings.Contains(string(out), "bytes") || !strings.Contains(string(out), name) {
			t.Errorf("%s: code %d, %s", name, code, out)
		}
		if left := eventtest.Names(t, dir); len(left) != 0 {
			t.Errorf("%s: left behind: %v", name, left)
		}
	}
}

// The violations that OpenEB names are named by check.
func TestCheckNamesViolations(t *testing.T) {
	for name, words := range map[string][]uint16{
		"NonMonotonicTimeHigh":  {0x8064, 0x0001, 0x2001, 0x8063, 0x2002},
		"NonContinuousTimeHigh": {0x8001, 0x0001, 0x2001, 0x8301, 0x2002},
		"InvalidVectBase":       {0x8001, 0x0001, 0x4003, 0x4000, 0x5001, 0x2002},
		"MissingYAddr":          {0x8001, 0x2001, 0x0001, 0x2002},
		"PartialVect_12_12_8":   {0x8001, 0x0001, 0x3001, 0x4003, 0x2002},
	} {
		r := must(t, exitLosses, "check", rawWords(t, words...))
		if has(t, r.out, name); strings.Count(r.out, "(") != 1 {
			t.Errorf("%s is not the only one named in\n%s", name, r.out)
		}
	}
}

// Check reads external triggers too, which some formats read only where they are asked for.
func TestCheckReadsTriggers(t *testing.T) {
	if !hdf5Built {
		t.Skip("built without HDF5")
	}
	data, err := os.ReadFile(filepath.Join(eventtest.Data(t), "prophesee_hdf5", "ecf_from_evt3_trigger.hdf5"))
	if err != nil {
		t.Fatal(err)
	}
	clear(data[len(data)/2:][:4096]) // where the chunks of the triggers are found
	has(t, must(t, exitLosses, "check", fileOf(t, "a.hdf5", data)).out, "damage: 1", "/EXT_TRIGGER/events")
}

// What is no file is not replaced by one, and - is no name by mistake.
func TestOutputsThatAreNoFiles(t *testing.T) {
	in := rawWords(t, 0x8064, 0x6000, 0x0001, 0x2001)
	has(t, must(t, exitUsage, "convert", in, "-o", "-").errOut, "writes files", "evq head")
	dir, err := os.MkdirTemp("", "s") // of a name short enough for a socket
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	socket, err := net.Listen("unix", filepath.Join(dir, "o.csv"))
	if err != nil {
		t.Skip(err)
	}
	defer func() { _ = socket.Close() }()
	for _, force := range [][]string{nil, {"--force"}} {
		r := must(t, exitFailed, append([]string{"convert", in, "-o", filepath.Join(dir, "o.csv")}, force...)...)
		if has(t, r.errOut, "device or a pipe"); strings.Contains(r.errOut, "use --force") {
			t.Errorf("it says %s", r.errOut)
		}
	}
}

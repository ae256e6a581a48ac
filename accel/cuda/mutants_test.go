package cuda

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/evq-project/evq/accel"
	"github.com/evq-project/evq/accel/acceltest"
)

// A mutant is the PTX with one instruction changed.
type mutant struct {
	line     int // from 1
	from, to string
}

func (m mutant) String() string { return fmt.Sprintf("%s -> %s", m.from, m.to) }

// swaps are instructions and what is put in their place.
var swaps = [][2]string{
	{"setp.eq", "setp.ne"}, {"setp.ne", "setp.eq"}, {"setp.lt", "setp.le"}, {"setp.le", "setp.lt"}, {"setp.ge", "setp.gt"},
	{"setp.gt", "setp.ge"}, {"add.s32", "sub.s32"}, {"sub.s32", "add.s32"}, {"add.s64", "sub.s64"}, {"shl.b32", "shr.u32"},
	{"shr.u32", "shl.b32"}, {"and.b32", "or.b32"}, {"xor.b32", "or.b32"}, {"or.b32", "and.b32"}, {"not.pred", "mov.pred"},
	{"xor.pred", "or.pred"}, {"%ctaid.x", "%tid.x"}, {"%ntid.x", "%nctaid.x"}, {"mul.lo", "add"}, {"@%p", "@!%p"},
	{"bra.uni", "ret;//"},
}

var (
	instruction = regexp.MustCompile(`^\s+(@!?%p\d+ )?\s*[a-z]`)
	immediate   = regexp.MustCompile(`, (-?\d+)(, -?\d+)?;$`)
	fieldLength = regexp.MustCompile(`(bfe\.u32.*, )(\d+);`)
	madAddend   = regexp.MustCompile(`mad\.lo\.s32 (\s*%r\d+, %r\d+, %r\d+), %r\d+;`)
	addAtomic   = regexp.MustCompile(`atom\.global\.add\.u32 (\s*%r\d+, \[%rd\d+\]), %r\d+;`)
	storeByte   = regexp.MustCompile(`st\.global\.u8 .*;`)
	parameter   = regexp.MustCompile(`(ld\.param\.u32 .*_param_)(\d)\];`)
)

// mutantsOf returns every change of one instruction that these rules know.
func mutantsOf(ptx string) (all []mutant) {
	for i, line := range strings.Split(ptx, "\n") {
		if !instruction.MatchString(line) {
			continue
		}
		add := func(to string) {
			if to != line {
				all = append(all, mutant{i + 1, strings.TrimSpace(line), strings.TrimSpace(to)})
			}
		}
		for _, s := range swaps {
			add(strings.Replace(line, s[0], s[1], 1))
		}
		if m := immediate.FindStringSubmatchIndex(line); m != nil {
			n, _ := strconv.Atoi(line[m[2]:m[3]])
			add(line[:m[2]] + strconv.Itoa(n+1) + line[m[3]:])
		}
		if m := fieldLength.FindStringSubmatch(line); m != nil {
			n, _ := strconv.Atoi(m[2])
			add(fieldLength.ReplaceAllString(line, "${1}"+strconv.Itoa(n-1)+";"))
		}
		if m := parameter.FindStringSubmatch(line); m != nil {
			n, _ := strconv.Atoi(m[2])
			add(parameter.ReplaceAllString(line, "${1}"+strconv.Itoa(n-1)+"];"))
		}
		add(madAddend.ReplaceAllString(line, "mul.lo.s32 $1;"))
		add(addAtomic.ReplaceAllString(line, "ld.global.u32 $1;"))
		add(storeByte.ReplaceAllString(line, "mov.pred %p1, %p1;"))
	}
	return all
}

// hunt are the cases that mutants are tried with, the quick ones first.
func hunt() (cases []acceltest.Case, want [][]uint8) {
	for seed := range uint64(24) {
		cases = append(cases, acceltest.Random(seed))
	}
	for range 8 { // each with another order of threads
		cases = append(cases, crowd(false), crowd(true))
	}
	cases = append(cases, manyBatches(), hotLate(1), hotLate(2), oneThread(), tall(1), tall(2))
	for _, c := range cases {
		counts, _ := acceltest.Want(c.Grid, c.Job)
		want = append(want, counts)
	}
	return cases, want
}

// tables are the cases that mutants of evq_count are tried with: the largest tiles and coordinates, a run longer than its
// block of threads, both after another run, and all polarities.
func tables() (cases []acceltest.TableCase, want [][]uint8) {
	for seed := range uint64(16) {
		cases = append(cases, acceltest.RandomTable(seed))
	}
	for _, p := range []accel.Polarity{accel.Merged, accel.Apart, accel.Signed} {
		late := hotLate(1)
		cases = append(cases, acceltest.TableCase{Name: "late", Job: late.Job,
			Table: accel.Table{Bins: 2, Width: 32, Height: 24, TileX: 3, TileY: 5, Polarity: p}})
		wide := tall(1)
		wide.Job.X = wide.Job.Y
		cases = append(cases, acceltest.TableCase{Name: "every bit", Job: wide.Job,
			Table: accel.Table{Bins: 1, Width: 1 << 15, Height: 1 << 15, TileX: 777, TileY: 1 << 9, Polarity: p}})
	}
	for _, c := range cases {
		counts, _ := acceltest.WantTable(c.Table, c.Job)
		want = append(want, counts)
	}
	return cases, want
}

// crowd puts thousands of events on the four counts of one word, so that carries run through all of them at once.
func crowd(half bool) acceltest.Case {
	g := accel.Grid{Bins: 1, Width: 4, Height: 1, Downsample: 1, Cutoff: 255, Wrap: true}
	n, step := 4*256*3+130, 1
	if half {
		g.Width, g.Height, g.Downsample, g.Cutoff, step = 8, 2, 2, 254, 2
	}
	job := accel.Job{X: make([]uint16, n), Y: make([]uint16, n), P: make([]int8, n), Segments: []accel.Segment{{Len: uint32(n)}}, Windows: 1}
	for i := range n {
		job.X[i], job.Y[i] = uint16((i%4)*step+step-1), uint16(step-1)
	}
	return acceltest.Case{Name: "crowd", Grid: g, Job: job}
}

// hotLate has a run that is longer than its block of threads, whose last events alone take counts past the cutoff, and a
// run before it.
func hotLate(downsample int) acceltest.Case {
	g := accel.Grid{Bins: 2, Width: 32, Height: 24, Downsample: downsample, Cutoff: 2, Wrap: true}
	const n = 1200
	job := accel.Job{X: make([]uint16, n), Y: make([]uint16, n), P: make([]int8, n), Windows: 2,
		Segments: []accel.Segment{{Window: 0, Bin: 1, Start: 0, Len: 100}, {Window: 1, Bin: 0, Start: 100, Len: n - 100}}}
	for i := range n {
		job.X[i], job.Y[i] = uint16(i%32), uint16(i/32%24)
		if i >= n-300 {
			job.X[i], job.Y[i], job.P[i] = uint16(i%5*6+1), uint16(i%7*3), 1
		}
	}
	return acceltest.Case{Name: "hot late", Grid: g, Job: job}
}

// oneThread has two counts past the cutoff, both of the events of one thread alone.
func oneThread() acceltest.Case {
	g := accel.Grid{Bins: 1, Width: 40, Height: 40, Downsample: 1, Cutoff: 2, Wrap: true}
	const n = 6*256 - 1
	job := accel.Job{X: make([]uint16, n), Y: make([]uint16, n), P: make([]int8, n), Windows: 1, Segments: []accel.Segment{{Len: n}}}
	for i := range n {
		job.X[i], job.Y[i] = uint16(i%40), uint16(i/40)
		if i%256 == 0 {
			job.X[i], job.Y[i], job.P[i] = uint16(i/768), 0, 1
		}
	}
	return acceltest.Case{Name: "one thread", Grid: g, Job: job}
}

// tall has rows of every bit.
func tall(downsample int) acceltest.Case {
	g := accel.Grid{Bins: 1, Width: 2, Height: 1 << 15, Downsample: downsample, Cutoff: 1, Wrap: true}
	const n = 64
	job := accel.Job{X: make([]uint16, n), Y: make([]uint16, n), P: make([]int8, n), Windows: 1, Segments: []accel.Segment{{Len: n}}}
	for i := range n {
		job.X[i], job.Y[i], job.P[i] = 1, uint16(1<<(i%16)-1), int8(i/32)
	}
	return acceltest.Case{Name: "tall", Grid: g, Job: job}
}

// Tests of the kernel find a mistake in almost any of its instructions. Those they do not find are listed with the
// reasons in testdata/survivors.txt.
func TestMutants(t *testing.T) {
	f := newFake(t)
	f.do("fakeInstructionLimit", 2e6)
	cases, want := hunt()
	wide, wantWide := tables()
	lines := strings.Split(string(kernelPTX), "\n")
	mutants := mutantsOf(string(kernelPTX))
	counting := 1 + slices.IndexFunc(lines, func(l string) bool { return strings.Contains(l, ".entry evq_count(") })
	var survivors []string
	for _, m := range mutants {
		changed := append([]string(nil), lines...)
		changed[m.line-1] = "\t" + m.to
		d := New(Options{Library: f.path, Kernel: writePTX(t, strings.Join(changed, "\n"))})
		alive := true
		for i, c := range cases {
			if m.line >= counting {
				break
			}
			f.do("fakeSeed", uintptr(i))
			if alive = survives(f, d.Open, c.Grid, c.Job, want[i]); !alive {
				break
			}
		}
		for i, c := range wide {
			if m.line < counting {
				break
			}
			f.do("fakeSeed", uintptr(i))
			if alive = survives(f, d.(accel.Tabler).OpenTable, c.Table, c.Job, wantWide[i]); !alive {
				break
			}
		}
		if alive {
			survivors = append(survivors, fmt.Sprintf("line %d: %v", m.line, m))
		}
	}
	caught := len(mutants) - len(survivors)
	t.Logf("%d of %d mutants caught", caught, len(mutants))
	if 164*caught < 150*len(mutants) {
		t.Errorf("only %d of %d mutants were caught", caught, len(mutants))
	}
	const path = "testdata/survivors.txt"
	known, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range survivors {
		if !strings.Contains(string(known), s) {
			t.Errorf("survived, and is not in %s: %s", path, s)
		}
	}
}

// survives reports whether a kernel for a grid or a table counts a job right.
func survives[G any](f *fake, open func(G) (accel.Kernel, error), g G, job accel.Job, want []uint8) bool {
	k, err := open(g)
	if err == nil {
		dst := make([]uint8, len(want))
		_, err = k.Scatter(context.Background(), job, dst)
		if err == nil && !bytes.Equal(dst, want) {
			err = errDiffers
		}
		err = errors.Join(err, k.Close())
	}
	f.fail("", 0, 0, false) // a launch that failed spoils the device until now
	for range f.stats().LiveContext {
		f.do(symbols[cuDevicePrimaryCtxRelease], 0)
	}
	return err == nil
}

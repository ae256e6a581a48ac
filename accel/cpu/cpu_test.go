package cpu

import (
	"bytes"
	"context"
	"testing"

	"github.com/evq-project/evq/accel"
	"github.com/evq-project/evq/accel/acceltest"
)

func TestConformance(t *testing.T) { acceltest.Run(t, Device) }

// The reference is checked against a count that shares no code with it.
func TestReference(t *testing.T) {
	cases := acceltest.Cases()
	for seed := range uint64(100) {
		cases = append(cases, acceltest.Random(seed))
	}
	for _, c := range cases {
		want, wantOff := acceltest.Want(c.Grid, c.Job)
		got := make([]uint8, len(want))
		if off := Reference(c.Grid, c.Job, got); off != wantOff || !bytes.Equal(got, want) {
			t.Errorf("%s: the reference differs (%d off the sensor, want %d)", c.Name, off, wantOff)
		}
	}
}

func FuzzScatter(f *testing.F) {
	for seed := range uint64(8) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) { acceltest.Check(t, Device, acceltest.Random(seed)) })
}

func TestOutside(t *testing.T) {
	for _, size := range []int{1, 2, 304, 1280, 1<<15 - 1, 1 << 15} {
		for n := 1; n <= 20; n++ {
			for at := range n {
				for _, v := range []int{0, size - 1, size, size + 1, 1<<15 - 1, 1 << 15, 1<<16 - 1} {
					column := make([]uint16, n)
					for i := range column {
						column[i] = uint16(size - 1)
					}
					column[at] = uint16(v)
					if got, want := outside(column, size), int(uint16(v)) >= size; got != want {
						t.Fatalf("outside(%d at %d of %d, size %d) = %v", v, at, n, size, got)
					}
				}
			}
		}
	}
}

func TestCheckPolarity(t *testing.T) {
	for n := 1; n <= 20; n++ {
		for at := range n {
			for v := -128; v < 128; v++ {
				p := make([]int8, n)
				p[at] = int8(v)
				if err := checkPolarity(p, 0); (err != nil) != (v != 0 && v != 1) {
					t.Fatalf("polarity %d at %d of %d: %v", v, at, n, err)
				}
			}
		}
	}
}

// Once a kernel is warm it allocates nothing.
func TestScatterDoesNotAllocate(t *testing.T) {
	c := acceltest.Cases()[0]
	k, err := Device.Open(c.Grid)
	if err != nil {
		t.Fatal(err)
	}
	dst := make([]uint8, c.Job.Windows*c.Grid.Len())
	if n := testing.AllocsPerRun(20, func() { _, _ = k.Scatter(context.Background(), c.Job, dst) }); n > 0 {
		t.Errorf("%v allocations a call", n)
	}
}

var _ accel.Kernel = (*kernel)(nil)

package cpu

import "github.com/evq-project/evq/accel"

// Reference is the definition of what a kernel counts, one event at a time and in the obvious way; every
// device must equal it. dst holds Grid.Len counts for each window. The job must be valid and its polarities
// 0 or 1.
//
// The channel of an event is p*bins + bin (OFF planes first). Downsampling by 2 keeps in[2i+1][2j+1], which
// is what torch's nearest-exact interpolation by 0.5 does. Counts are clipped at the cutoff, after they
// wrapped at 256 where the grid says so (uzh-rpg/RVT, data/utils/representations.py, fastmode).
func Reference(g accel.Grid, job accel.Job, dst []uint8) (offSensor int64) {
	counts := make([]uint64, g.Len())
	for w := range job.Windows {
		clear(counts)
		for _, s := range job.Segments {
			if int(s.Window) == w {
				offSensor += count(g, job, s, counts)
			}
		}
		for i, n := range counts {
			if g.Wrap {
				n %= 256
			}
			dst[w*g.Len()+i] = uint8(min(n, uint64(g.Cutoff)))
		}
	}
	return offSensor
}

// count adds the events of one segment.
func count(g accel.Grid, job accel.Job, s accel.Segment, counts []uint64) (offSensor int64) {
	for i := s.Start; i < s.Start+s.Len; i++ {
		c, y, x, ok := place(g, int(job.P[i])*g.Bins+int(s.Bin), int(job.Y[i]), int(job.X[i]))
		if !ok {
			offSensor++
			continue
		}
		if g.Downsample == 2 {
			if x%2 == 0 || y%2 == 0 {
				continue
			}
			x, y = x/2, y/2
		}
		counts[(c*g.Rows()+y)*g.Columns()+x]++
	}
	return offSensor
}

// place returns where on the full sensor an event counts: where it is, or where RVT's unchecked flat index
// puts it.
func place(g accel.Grid, c, y, x int) (channel, row, column int, ok bool) {
	if !g.Flat {
		return c, y, x, x < g.Width && y < g.Height
	}
	flat := (int64(c)*int64(g.Height)+int64(y))*int64(g.Width) + int64(x)
	row64 := flat / int64(g.Width)
	channel = int(row64 / int64(g.Height))
	return channel, int(row64 % int64(g.Height)), int(flat % int64(g.Width)), channel < g.Channels()
}

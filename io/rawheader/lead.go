package rawheader

// leadStep is the longest silence between two words of the time base, in microseconds. Cameras repeat theirs all the
// time; readers take a longer silence for a gap, or past half the base's range for its end.
const leadStep = 1_000_000

// Lead yields the bases, in units of unit microseconds, that an encoder writes on its way from the base from to the
// base to: to itself last, and those before it where the way is longer than a second. The first base of a recording
// comes from -1: it is 0 where to lies past half the range of 1<<bits bases, for a base can only be led past the end
// of its range. The end of a range is passed from its last base to its first: readers that ask for nearly a whole range
// of decrease would miss it otherwise (OpenEB's EVT2.1 decoder, and its standalone ones).
func Lead(from, to, unit int64, bits uint, yield func(base int64)) {
	if from < 0 {
		if to < 1<<bits {
			yield(to)
			return
		}
		from = 0
		yield(0)
	}
	step := leadStep / unit
	for from < to {
		next := min(from+step, to)
		if last := from | (1<<bits - 1); next > last {
			next = max(last, from+1)
		}
		from = next
		yield(from)
	}
}

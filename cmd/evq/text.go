package main

import (
	"fmt"
	"math"
	"strconv"
	"time"
)

// grouped prints a number with commas: 12,345,678.
func grouped(n int64) string {
	s := strconv.FormatInt(n, 10)
	from := 0
	if n < 0 {
		from = 1
	}
	for i := len(s) - 3; i > from; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// counted prints a number and its noun: 1 window, 2 windows.
func counted(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return grouped(n) + " " + noun + "s"
}

// approx prints a number in three digits or so: 12.3 M.
func approx(n int64) string {
	switch {
	case n >= 1e9:
		return fmt.Sprintf("%.2f G", float64(n)/1e9)
	case n >= 1e6:
		return fmt.Sprintf("%.1f M", float64(n)/1e6)
	case n >= 1e4:
		return fmt.Sprintf("%.1f k", float64(n)/1e3)
	}
	return strconv.FormatInt(n, 10)
}

// bytesText prints a size: 12.3 MB.
func bytesText(n int64) string {
	switch {
	case n >= 1e9:
		return fmt.Sprintf("%.2f GB", float64(n)/1e9)
	case n >= 1e6:
		return fmt.Sprintf("%.1f MB", float64(n)/1e6)
	case n >= 1e4:
		return fmt.Sprintf("%.1f kB", float64(n)/1e3)
	}
	return fmt.Sprintf("%d B", n)
}

// microsText prints a number of microseconds as a duration: 60.000 s, 1 h 02 min 03.000 s. From a
// second on it is rounded to milliseconds.
func microsText(us int64) string {
	switch {
	case us == math.MinInt64:
		return microsText(us + 1) // its negative does not fit
	case us < 0:
		return "-" + microsText(-us)
	case us < 1000:
		return fmt.Sprintf("%d µs", us)
	case us < 1_000_000:
		return fmt.Sprintf("%d.%03d ms", us/1000, us%1000)
	}
	ms := us/1000 + (us%1000+500)/1000
	if ms < 3600_000 {
		return fmt.Sprintf("%d.%03d s", ms/1000, ms%1000)
	}
	return fmt.Sprintf("%d h %02d min %02d.%03d s", ms/3600_000, ms/60_000%60, ms/1000%60, ms%1000)
}

// micros returns the time from first to last, or as much of it as int64 holds.
func micros(first, last int64) int64 {
	if d := last - first; d >= 0 {
		return d
	}
	return math.MaxInt64
}

// secondsText prints how long a run took.
func secondsText(d time.Duration) string { return fmt.Sprintf("%.2f s", d.Seconds()) }

// rateText prints events per second.
func rateText(events int64, d time.Duration) string {
	if d <= 0 {
		return "0 events/s"
	}
	return approx(int64(float64(events)/d.Seconds())) + " events/s"
}

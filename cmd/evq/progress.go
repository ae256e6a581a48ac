package main

import (
	"fmt"
	"io"
	"os"
	"sync/atomic"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"github.com/evq-project/evq/io/event"
)

// A meter shows how far a run is: events where their number is known, else bytes of the file. What runs only
// stores numbers; a goroutine draws them.
type meter struct {
	events, bytes atomic.Int64

	size    int64         // of the recording in bytes, 0 where it is not known
	total   int64         // of events where inEvents, else of bytes; 0 where neither is known
	counted bool          // total counts events
	detail  func() string // said before the rest where it is set
	started time.Time
	app     *app
	bar     *mpb.Bar
	bars    *mpb.Progress
	quit    chan struct{}
	stopped chan struct{}
}

// newMeter makes a meter that shows nothing yet.
func (a *app) newMeter() *meter { return &meter{app: a, started: time.Now()} }

// readAt is told how far into its file a format has read.
func (m *meter) readAt(offset int64) { m.bytes.Store(offset) }

// show starts the bar if --progress asks for one: auto draws on a terminal only.
func (m *meter) show(what string, info event.Info, path string) {
	a := m.app
	if a.progress == "off" || a.quiet || a.progress == "auto" && (a.env("TERM") == "dumb" || a.logFormat == "json" || !terminal(a.errOut)) {
		return
	}
	if m.counted = info.Events >= 0; m.counted {
		m.total = info.Events
	} else if m.size > 0 {
		m.total = m.size
	} else if st, err := os.Stat(path); err == nil {
		m.total = st.Size()
	}
	options := []mpb.ContainerOption{mpb.WithOutput(a.errOut), mpb.WithWidth(32), mpb.WithRefreshRate(200 * time.Millisecond)}
	if a.progress == "on" {
		options = append(options, mpb.WithAutoRefresh())
	}
	m.bars = mpb.New(options...)
	// The total stays one ahead, so that the bar ends when the run does and not before.
	m.bar = m.bars.AddBar(max(m.total, 1)+1, mpb.BarRemoveOnComplete(), mpb.PrependDecorators(decor.Name(what+" ")),
		mpb.AppendDecorators(decor.Any(func(decor.Statistics) string { return m.status() })))
	a.screen.share(m.bars)
	m.quit, m.stopped = make(chan struct{}), make(chan struct{})
	go m.draw()
}

// terminal reports whether w is one. Elsewhere no bar is drawn, and lines that were to appear above it would not.
func terminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	st, err := f.Stat()
	return err == nil && st.Mode()&os.ModeCharDevice != 0
}

// draw moves the bar until stop.
func (m *meter) draw() {
	defer close(m.stopped)
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			m.bar.SetCurrent(min(m.done(), max(m.total, 1)))
		case <-m.quit:
			return
		}
	}
}

func (m *meter) done() int64 {
	if m.counted {
		return m.events.Load()
	}
	return m.bytes.Load()
}

// status is the text beside the bar: how much is done, the rate, the time that is left.
func (m *meter) status() string {
	elapsed := time.Since(m.started)
	done := m.done()
	s := fmt.Sprintf(" %s events", approx(m.events.Load()))
	if !m.counted && done > 0 {
		s = fmt.Sprintf(" %s of %s,%s", bytesText(done), bytesText(m.total), s)
	}
	if m.detail != nil {
		s = m.detail() + s
	}
	if rate := float64(done) / elapsed.Seconds(); rate > 0 && elapsed > 200*time.Millisecond {
		if m.counted {
			s += fmt.Sprintf(", %s/s", approx(int64(rate)))
		} else {
			s += fmt.Sprintf(", %s/s", bytesText(int64(rate)))
		}
		if left := float64(m.total-done) / rate; left >= 0 {
			s += fmt.Sprintf(", %s left", (time.Duration(left) * time.Second).Round(time.Second))
		}
	}
	return s
}

// stop removes the bar. It may be called twice.
func (m *meter) stop() {
	if m.quit == nil {
		return
	}
	close(m.quit)
	<-m.stopped
	m.quit = nil
	m.app.screen.share(nil)
	m.bar.Abort(true)
	m.bars.Wait()
}

// elapsed is how long the run takes so far.
func (m *meter) elapsed() time.Duration { return time.Since(m.started) }

package engine

import (
	"log/slog"
	"runtime"

	"github.com/evq-project/evq/accel"
	"github.com/evq-project/evq/accel/devices"
	"github.com/evq-project/evq/exprs"
	"github.com/evq-project/evq/io/convert"
	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/format"
	"github.com/evq-project/evq/plan/optimize"
	"github.com/evq-project/evq/udf"
)

// An Option says how a recording is opened or how a query runs. Options that do not concern a call are
// ignored by it.
type Option func(*settings)

type settings struct {
	format   string
	parts    []string
	cache    string
	policy   format.Policy
	device   string
	threads  int
	memory   int64
	rules    []optimize.Rule
	ruleErr  error
	logger   *slog.Logger
	progress func(done, total int64)
	stats    *Stats
	measure  *measured // filled by a run that is analysed

	representations []udf.Entry
	filters         []udf.FilterEntry
	aggregates      []udf.AggregateEntry
	funcs           []exprs.Func

	force       bool
	compression string
	output      format.CreateOptions // but for what has a field of its own
	facts       []event.Field
}

// DefaultMemory is what a query may hold of events and blocks unless Memory says otherwise, in bytes.
const DefaultMemory = 512 << 20

func settingsOf(opts []Option) settings {
	s := settings{
		device: accel.Auto, threads: runtime.GOMAXPROCS(0), memory: DefaultMemory, rules: optimize.Default,
		logger: slog.New(slog.DiscardHandler),
	}
	s.named()
	for _, o := range opts {
		o(&s)
	}
	s.policy.Threads, s.policy.Memory, s.policy.Logger = s.threads, s.memory/4, s.logger
	return s
}

// maxHeld is how many events of 13 bytes the windows may hold back. Events are in memory twice while a run of
// windows is encoded and the next is gathered, and buffers grow by doubling.
func (s settings) maxHeld() int { return int(s.memory / 4 / 13) }

func (s settings) pick() (accel.Device, error) { return accel.Pick(devices.All, s.device) }

// Format names the recording's format instead of recognising it.
func Format(name string) Option { return func(s *settings) { s.format = name } }

// Join names the other parts of a recording that a camera split, in order: they are read as one recording with the first.
func Join(more ...string) Option { return func(s *settings) { s.parts = more } }

// Size sets the sensor's size in pixels; it wins over the recording's own.
func Size(width, height int) Option {
	return func(s *settings) { s.policy.Size = event.Geometry{Width: width, Height: height} }
}

// Policies sets every decode policy at once.
func Policies(p format.Policy) Option { return func(s *settings) { s.policy = p } }

// OnUnsorted says what becomes of events that lie before an earlier one: format.Sort (default), Clamp, Drop
// or Error.
func OnUnsorted(c format.Choice) Option { return func(s *settings) { s.policy.OnUnsorted = c } }

// OnOffSensor says what becomes of events outside the sensor: format.Drop (default), Error or Keep.
func OnOffSensor(c format.Choice) Option { return func(s *settings) { s.policy.OnOffSensor = c } }

// Strict makes every policy an error.
func Strict() Option { return func(s *settings) { s.policy.Strict = true } }

// Device names the device that representations run on: cpu, or auto (default) for the fastest there is.
func Device(name string) Option { return func(s *settings) { s.device = name } }

// Threads bounds the goroutines that decode, and those that encode; the default is one per CPU each.
func Threads(n int) Option {
	return func(s *settings) {
		if n > 0 {
			s.threads = n
		}
	}
}

// Memory bounds the bytes that a query holds of events and blocks.
func Memory(bytes int64) Option {
	return func(s *settings) {
		if bytes > 0 {
			s.memory = bytes
		}
	}
}

// Rules sets the optimiser's rules; without arguments the plan runs as written.
func Rules(rules ...optimize.Rule) Option { return func(s *settings) { s.rules = rules } }

// WithoutRule leaves rules out by name. A name that no rule has is an error when the query runs.
func WithoutRule(names ...string) Option {
	return func(s *settings) {
		rules, err := optimize.Without(s.rules, names...)
		if err != nil {
			s.ruleErr = err
			return
		}
		s.rules = rules
	}
}

// Force lets Convert overwrite a file.
func Force() Option { return func(s *settings) { s.force = true } }

// Compression sets the codec that Convert writes with, by the names of the output's format.
func Compression(name string) Option { return func(s *settings) { s.compression = name } }

// Facts are recorded in a store that Convert writes, beside the policies: what else was done to the events.
func Facts(fields ...event.Field) Option {
	return func(s *settings) { s.facts = append(s.facts, fields...) }
}

// Logger gets what the library has to say; it is silent by default.
func Logger(l *slog.Logger) Option { return func(s *settings) { s.logger = l } }

// Progress is called from time to time with the events read and, where it is known, their total; otherwise
// total is -1.
func Progress(f func(done, total int64)) Option { return func(s *settings) { s.progress = f } }

// Collected is filled by a run that ends without an error.
func Collected(to *Stats) Option { return func(s *settings) { s.stats = to } }

// Stats says what a run met.
type Stats struct {
	Report    *event.Report // what reading counted; partial where the query did not need the whole recording
	OffSensor int64         // events a representation left out because they lay off the sensor
	Events    int64         // events read
	First     int64         // the first and the last time read, 0 where there is no event
	Last      int64
	Windows   int64           // blocks or windows yielded
	Empty     int64           // of those, without an event
	Rows      int64           // rows of a table
	Written   convert.Written // what Convert wrote
}

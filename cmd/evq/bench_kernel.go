package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/evq-project/evq/accel"
	"github.com/evq-project/evq/accel/devices"
	"github.com/evq-project/evq/engine"
	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/tensor"
	"github.com/evq-project/evq/udf"
)

func (a *app) kernelCommand() *cobra.Command {
	k := kernelBench{app: a, length: 50 * time.Millisecond}
	cmd := &cobra.Command{
		Use:   "kernel REC",
		Short: "Time a representation alone, on events already in memory, on one goroutine",
		Long: `Kernel reads a recording into memory, cuts it into half-open windows on the grid through time 0, and times encoding
every window into one block that is used again. It prints the median of the rounds and the sha256 of all blocks in
order, so that another program's result can be compared.`,
		Example: `  evq bench generate -o drive.parquet --events 5.1M --seconds 6.4
  evq bench kernel drive.parquet --repr rvt`,
		Args:              oneArgument,
		ValidArgsFunction: completeFiles,
		RunE:              func(cmd *cobra.Command, args []string) error { return k.run(cmd.Context(), args[0]) },
	}
	f := cmd.Flags()
	f.StringVar(&k.repr, "repr", "rvt", "the representation, `NAME[:k=v,...]`")
	f.StringVar(&k.device, "device", accel.Auto, "the device, `NAME`")
	valueFlag(cmd, &k.length, parseDuration, "window", "50ms", "windows of `LENGTH`")
	f.IntVar(&k.rounds, "rounds", 9, "encode everything `N` times")
	f.BoolVar(&k.asJSON, "json", false, "print JSON")
	k.reading.flags(cmd)
	return cmd
}

// A kernelBench is the flags of bench kernel.
type kernelBench struct {
	app          *app
	reading      reading
	repr, device string
	length       time.Duration
	rounds       int
	asJSON       bool
}

type kernelResult struct {
	Events  int     `json:"events"`
	Windows int     `json:"windows"`
	Device  string  `json:"device"`
	Millis  float64 `json:"ms"`
	MEvents float64 `json:"m_events_per_s"`
	SHA256  string  `json:"sha256"`
}

func (k *kernelBench) run(ctx context.Context, path string) error {
	if k.rounds < 1 {
		return usage("--rounds is a number from 1 on, not %d", k.rounds)
	}
	rep, err := engine.Represent(k.repr)
	if err != nil {
		return err
	}
	device, err := accel.Pick(devices.All, k.device)
	if err != nil {
		return err
	}
	rec, err := k.app.open(path, &k.reading, k.app.newMeter())
	if err != nil {
		return err
	}
	defer rec.Close() //nolint:errcheck // only read
	all := event.NewBuffer(0)
	want := event.Request{Box: event.Everything, Threads: k.app.threads}
	if _, err := event.Each(ctx, rec, want, func(b event.Batch) error { all.AppendBatch(b); return nil }); err != nil {
		return err
	}
	enc, err := rep.Open(rec.Geometry(), device)
	if err != nil {
		return err
	}
	defer enc.Close() //nolint:errcheck // nothing is left to lose
	windows := cutEvery(all.T, k.length.Microseconds())
	res, err := k.measure(ctx, enc, all.Batch(), windows, tensor.NewPool(rep.Layout(rec.Geometry())).Get())
	if err != nil {
		return err
	}
	res.Device = device.Name()
	if k.asJSON {
		return json.NewEncoder(k.app.out).Encode(res)
	}
	_, err = fmt.Fprintf(k.app.out, "%v on %s: %d events in %d windows, %.2f ms, %.0f M events/s\nsha256 %s\n",
		rep, res.Device, res.Events, res.Windows, res.Millis, res.MEvents, res.SHA256)
	return err
}

// measure encodes all windows k.rounds times, and once more for their checksum.
func (k *kernelBench) measure(ctx context.Context, enc udf.Encoder, all event.Batch, windows []event.Window, block tensor.Block) (kernelResult, error) {
	blocks := []tensor.Block{block}
	encode := func(done func()) error {
		for i := range windows {
			if err := enc.Encode(ctx, event.Windowed{Events: all, Windows: windows[i : i+1]}, blocks); err != nil {
				return err
			}
			done()
		}
		return nil
	}
	var took []float64
	for range k.rounds {
		began := time.Now()
		if err := encode(func() {}); err != nil {
			return kernelResult{}, err
		}
		took = append(took, time.Since(began).Seconds())
	}
	slices.Sort(took)
	sum := sha256.New()
	if err := encode(func() { sum.Write(block.Data) }); err != nil {
		return kernelResult{}, err
	}
	s := took[k.rounds/2]
	return kernelResult{Events: all.Len(), Windows: len(windows), Millis: s * 1e3,
		MEvents: float64(all.Len()) / max(s, 1e-9) / 1e6, SHA256: hex.EncodeToString(sum.Sum(nil))}, nil
}

// cutEvery cuts times into half-open windows of a length on the grid through 0, from the first that holds an
// event to the last.
func cutEvery(t []int64, length int64) []event.Window {
	var out []event.Window
	if len(t) == 0 {
		return nil
	}
	start := t[0] - ((t[0]%length)+length)%length
	for lo := 0; lo < len(t); start += length {
		n, _ := slices.BinarySearch(t[lo:], start+length)
		out = append(out, event.Window{Index: len(out), Start: start, End: start + length, Lo: lo, Hi: lo + n})
		lo += n
	}
	return out
}

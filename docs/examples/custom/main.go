// Command custom adds functions of its own to evq: a representation, a filter with memory, an aggregate, a predicate
// and an integer function. It is a module of its own, as any program outside the repository is.
//
//	cd docs/examples/custom && go run .
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/evq-project/evq/engine"
	"github.com/evq-project/evq/exprs"
	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/synth"
	"github.com/evq-project/evq/io/tensor"
)

// own are the program's functions. The calls that read text are handed them, and then know their names beside evq's.
var own = []engine.Option{
	engine.WithRepresentation(RecentEntry),
	engine.WithFilter(ChangesEntry),
	engine.WithAggregate(SpanEntry),
	engine.WithFunc(Near),
	engine.WithFunc(Ring),
}

func main() {
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) error {
	scene, err := synth.New(synth.Options{Events: 20_000, Duration: 200 * time.Millisecond, Size: event.Geometry{Width: 64, Height: 48}, Seed: 1})
	if err != nil {
		return err
	}
	events := engine.Scan(scene) // of a recording: engine.Open("drive.raw"), then rec.Frame()
	if err := byValue(ctx, events); err != nil {
		return err
	}
	return byName(ctx, events)
}

// byValue uses the functions as the Go values they are.
func byValue(ctx context.Context, events engine.Frame) error {
	middle, err := exprs.Test(&Near, exprs.X.Sub(exprs.Const(32)), exprs.Y.Sub(exprs.Const(24)), exprs.Const(16))
	if err != nil {
		return err
	}
	kept := events.Filter(middle).Apply(Changes{})

	fmt.Println("by value: events")
	all, err := kept.Collect(ctx)
	if err != nil {
		return err
	}
	fmt.Println(all.Len())

	fmt.Println("by value: blocks")
	windows := kept.Window(engine.Every(50 * time.Millisecond))
	err = windows.Represent(Recent{Within: 10_000}).Each(ctx, func(b tensor.Block) error {
		on, off := 0, 0
		for _, v := range b.Data {
			switch int8(v) {
			case 1:
				on++
			case -1:
				off++
			}
		}
		fmt.Println("window", b.Index, b.Shape, b.DType, "on", on, "off", off)
		return nil
	})
	if err != nil {
		return err
	}

	fmt.Println("by value: rows")
	rows := windows.Group(exprs.P).Agg(engine.Agg(Span{}, exprs.T), engine.Agg(Span{}, exprs.X).As("width"))
	return rows.Limit(4).Each(ctx, printRows)
}

// byName makes the same functions of text, such as a user of the program would type.
func byName(ctx context.Context, events engine.Frame) error {
	middle, err := engine.Predicate("near(x - 32, y - 24, 16)", own...)
	if err != nil {
		return err
	}
	changes, err := engine.Filter("changes", own...)
	if err != nil {
		return err
	}
	recent, err := engine.Represent("recent:within=10ms", own...)
	if err != nil {
		return err
	}
	keys, err := engine.Keys("ring(x - 32, y - 24) // 4 as ring", own...)
	if err != nil {
		return err
	}
	aggs, err := engine.Aggregates("count, span(t), span(x + y) as diagonal", own...)
	if err != nil {
		return err
	}
	kept := events.Filter(middle).Apply(changes)

	fmt.Println("by name: the plan")
	plan, err := kept.Window(engine.Every(50*time.Millisecond)).Represent(recent).
		Explain(engine.Threads(2), engine.Device("cpu")) // or it would say what this machine has
	if err != nil {
		return err
	}
	fmt.Print(plan)

	fmt.Println("by name: rows")
	if err := kept.Group(keys[0].Value).Named(keys[0].Name).Agg(aggs...).Each(ctx, printRows); err != nil {
		return err
	}

	// A name that nobody knows says which there are, the program's own among them.
	_, err = engine.Filter("chnges", own...)
	fmt.Println(err)
	return nil
}

// printRows prints each row as JSON.
func printRows(r arrow.RecordBatch) error {
	columns := r.Schema().Fields()
	out := json.NewEncoder(os.Stdout)
	for row := range int(r.NumRows()) {
		values := map[string]any{}
		for i, c := range columns {
			values[c.Name] = r.Column(i).GetOneForMarshal(row)
		}
		if err := out.Encode(values); err != nil {
			return err
		}
	}
	return nil
}

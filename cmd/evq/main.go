// Command evq converts, inspects and queries event-camera recordings.
//
// One verb a file: a verb turns flags into a plan for package engine, and prints. Nothing here decodes, filters
// or counts events itself.
//
// Exit codes: 0 done; 1 failed; 2 wrong use; 3 done, with losses that are printed; 130 interrupted.
package main

import (
	"context"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"syscall"
)

// version is stamped in by the linker.
var version string

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	a := &app{out: os.Stdout, errOut: os.Stderr, env: os.Getenv, limit: limitProcess}
	os.Exit(a.run(ctx, os.Args[1:]))
}

// limitProcess keeps the whole process near what --memory and --threads ask for. What the environment says
// (GOMEMLIMIT, GOGC, GOMAXPROCS) wins.
func limitProcess(memory int64, threads int) {
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(memory / 4 * 3) // the rest is for C libraries and what the runtime does not count
	}
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(50)
	}
	if threads > 0 && os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(min(threads, runtime.NumCPU()))
	}
}

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/evq-project/evq/engine"
)

// An app is one run of the command: where it prints, and the flags that every verb has.
type app struct {
	out, errOut io.Writer
	env         func(string) string
	// limit bounds the process; nil leaves it alone, as tests must.
	limit func(memory int64, threads int)

	logLevel  string
	logFormat string
	quiet     bool
	verbose   int
	progress  string
	threads   int
	memory    int64
	profile   profile

	log    *slog.Logger
	screen *screen
}

// run runs the command and returns its exit code.
func (a *app) run(ctx context.Context, args []string) int {
	a.screen = &screen{to: a.errOut}
	a.log = slog.New(slog.DiscardHandler)
	root := a.rootCommand()
	root.SetArgs(args)
	err := verbError(root, root.ExecuteContext(ctx))
	if e := a.profile.stop(); err == nil {
		err = e
	}
	code := exitCode(ctx, err)
	switch {
	case code == exitInterrupted:
		err = errInterrupted
	case errors.Is(err, syscall.ENOSPC):
		err = fmt.Errorf("%w; the unfinished output is removed: free some space, or write elsewhere", err)
	}
	if code != exitOK && !errors.Is(err, errLosses) {
		a.printError(err)
	}
	return code
}

func (a *app) rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:     "evq",
		Version: readVersion().Version,
		Short:   "Convert, inspect and query event-camera recordings",
		Long: `evq converts, inspects and queries event-camera recordings.

A recording is recognised by its content and decoded on the fly, so nothing has to be converted first.
The sorted Parquet store that "evq convert" writes is for what is read often or in parts: it is in order once and for
all, a range of times is read without the rest, and DuckDB, Polars and pyarrow open it.

Exit codes: 0 done; 1 failed; 2 wrong use; 3 done, with losses that are printed; 130 interrupted.

Environment: EVQ_LOG, log levels by room, such as io=debug,engine=info; EVQ_CACHE, the folder of --cache; TMPDIR, where large recordings are sorted;
GOMEMLIMIT, GOGC and GOMAXPROCS win over --memory and --threads.`,
		Example: `  evq convert drive.raw -o drive.parquet
  evq info drive.parquet
  evq tensor drive.parquet --window 50ms --repr rvt -o rep.h5`,
		SilenceErrors:      true,
		SilenceUsage:       true,
		DisableSuggestions: true, // our own fit on the line of the error
		CompletionOptions:  cobra.CompletionOptions{DisableDefaultCmd: true},
		PersistentPreRunE:  func(*cobra.Command, []string) error { return a.start() },
	}
	root.SetOut(a.out)
	root.SetErr(a.errOut)
	root.SetFlagErrorFunc(flagError)
	root.AddCommand(a.convertCommand(), a.infoCommand(), a.checkCommand(), a.headCommand(), a.diffCommand(), a.conformanceCommand(),
		a.tensorCommand(), a.queryCommand(), a.sqlCommand(), a.explainCommand(), a.listCommand(), a.rvtCommand(), a.benchCommand(), a.accelCommand(), a.versionCommand(), a.completionCommand())
	a.globalFlags(root)
	return root
}

func (a *app) globalFlags(root *cobra.Command) {
	f := root.PersistentFlags()
	enumFlag(root, &a.logLevel, "log-level", "warn", "`LEVEL` of what is logged on stderr", "debug", "info", "warn", "error")
	enumFlag(root, &a.logFormat, "log-format", "text", "`FORM` of messages on stderr", "text", "json")
	enumFlag(root, &a.progress, "progress", "auto", "`WHEN` to show progress; auto: on a terminal", "auto", "on", "off")
	f.BoolVarP(&a.quiet, "quiet", "q", false, "print errors only")
	f.CountVarP(&a.verbose, "verbose", "v", "log more; twice logs all")
	f.IntVar(&a.threads, "threads", 0, "goroutines that work at once, `N` (default one per CPU)")
	a.memory = engine.DefaultMemory
	valueFlag(root, &a.memory, parseBytes, "memory", "512MiB", "`BYTES` that evq may hold; sql: more, unless given")
	a.profile.flags(root)
}

// maxThreads bounds --threads: more goroutines than this only take memory.
const maxThreads = 1024

// start is run before every verb.
func (a *app) start() error {
	if a.threads < 0 || a.threads > maxThreads {
		return usage("--threads is a number from 1 to %d, not %d", maxThreads, a.threads)
	}
	log, err := a.newLogger()
	if err != nil {
		return err
	}
	a.log = log
	if a.limit != nil {
		a.limit(a.memory, a.threads)
	}
	return a.profile.start()
}

// A screen is standard error, shared with the progress bar while there is one: lines appear above it.
type screen struct {
	mu  sync.Mutex
	to  io.Writer
	bar io.Writer
}

func (s *screen) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.bar != nil {
		return s.bar.Write(b)
	}
	return s.to.Write(b)
}

// share sends what is written to bar; nil ends that.
func (s *screen) share(bar io.Writer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bar = bar
}

// say prints one line on stderr, or logs it where logs are JSON.
func (a *app) say(text string, attrs ...any) {
	switch {
	case a.quiet:
	case a.logFormat == "json":
		a.log.Log(context.Background(), levelAlways, text, attrs...)
	default:
		_, _ = io.WriteString(a.screen, text+"\n")
	}
}

// warn says what went differently than one would expect.
func (a *app) warn(text string) {
	if !a.quiet {
		a.always(text)
	}
}

// always says what has to be known even with -q.
func (a *app) always(text string) {
	if a.logFormat == "json" {
		a.log.Log(context.Background(), levelAlways, text)
		return
	}
	_, _ = io.WriteString(a.screen, "evq: "+text+"\n")
}

func (a *app) printError(err error) {
	if a.logFormat == "json" && a.log.Enabled(context.Background(), slog.LevelError) {
		a.log.Error(err.Error())
		return
	}
	for line := range strings.SplitSeq(strings.TrimRight(err.Error(), "\n"), "\n") {
		_, _ = io.WriteString(a.screen, "evq: "+line+"\n")
	}
}

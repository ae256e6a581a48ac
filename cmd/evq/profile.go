package main

import (
	"errors"
	"os"
	"runtime"
	"runtime/pprof"

	"github.com/spf13/cobra"
)

// A profile writes what Go's profiler saw of the run; its flags are hidden.
type profile struct {
	cpu, mem string
	file     *os.File
}

func (p *profile) flags(root *cobra.Command) {
	f := root.PersistentFlags()
	f.StringVar(&p.cpu, "cpuprofile", "", "write a CPU profile to `FILE`")
	f.StringVar(&p.mem, "memprofile", "", "write a memory profile to `FILE`")
	_ = f.MarkHidden("cpuprofile")
	_ = f.MarkHidden("memprofile")
}

func (p *profile) start() (err error) {
	if p.cpu == "" {
		return nil
	}
	if p.file, err = os.Create(p.cpu); err != nil {
		return err
	}
	return pprof.StartCPUProfile(p.file)
}

func (p *profile) stop() error {
	var err error
	if p.file != nil {
		pprof.StopCPUProfile()
		err = p.file.Close()
	}
	if p.mem == "" {
		return err
	}
	f, e := os.Create(p.mem)
	if e != nil {
		return errors.Join(err, e)
	}
	runtime.GC()
	return errors.Join(err, pprof.WriteHeapProfile(f), f.Close())
}

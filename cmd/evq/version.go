package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/evq-project/evq/io/hdf5"
)

// A versionInfo is what evq version prints. The names of its JSON keys are stable.
type versionInfo struct {
	Version   string            `json:"version"`
	Go        string            `json:"go"`
	OS        string            `json:"os"`
	Arch      string            `json:"arch"`
	Tags      []string          `json:"tags"`
	Features  []feature         `json:"features"`
	Libraries map[string]string `json:"libraries"`
}

// A feature is something that not every build has.
type feature struct {
	Name   string `json:"name"`
	Built  bool   `json:"built"`
	Detail string `json:"detail,omitempty"`
}

func (a *app) versionCommand() *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print evq's version and what is built in",
		Example: `  evq version
  evq version --json`,
		Args: noArguments,
		RunE: func(*cobra.Command, []string) error {
			v := readVersion()
			if asJSON {
				return printJSON(a.out, v)
			}
			_, err := fmt.Fprint(a.out, v)
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func (v versionInfo) String() string {
	var b strings.Builder
	_, _ = fmt.Fprintf(&b, "evq %s (%s, %s/%s)\n", v.Version, v.Go, v.OS, v.Arch)
	for _, f := range v.Features {
		word := "yes"
		if !f.Built {
			word = "no"
		}
		if f.Detail != "" {
			word += ", " + f.Detail
		}
		_, _ = fmt.Fprintf(&b, "  %-6s %s\n", f.Name, word)
	}
	return b.String()
}

// readVersion says what the linker, the compiler and the running process know.
func readVersion() versionInfo {
	v := versionInfo{Version: version, Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH,
		Tags: []string{}, Libraries: map[string]string{}}
	cgo := feature{Name: "cgo"}
	if info, ok := debug.ReadBuildInfo(); ok {
		if v.Version == "" {
			v.Version = info.Main.Version
		}
		for _, s := range info.Settings {
			switch s.Key {
			case "-tags":
				v.Tags = strings.FieldsFunc(s.Value, func(r rune) bool { return r == ',' || r == ' ' })
			case "CGO_ENABLED":
				cgo.Built = s.Value == "1"
			}
		}
		for _, d := range info.Deps {
			v.Libraries[d.Path] = d.Version
		}
	}
	if v.Version == "" {
		v.Version = "unknown"
	}
	cgo.Built = cgo.Built || hdf5Built
	v.Features = []feature{cgo, hdf5Feature()}
	return v
}

func hdf5Feature() feature {
	f := feature{Name: "hdf5", Built: hdf5Built}
	if !f.Built {
		f.Detail = hdf5.ErrNotBuilt.Error()
		return f
	}
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return f // this system does not say how libraries are linked
	}
	f.Detail = "static"
	for s := bufio.NewScanner(bytes.NewReader(maps)); s.Scan(); {
		at := strings.IndexByte(s.Text(), '/')
		if at < 0 {
			continue
		}
		path := s.Text()[at:]
		if base := filepath.Base(path); strings.HasPrefix(base, "libhdf5") && !strings.Contains(base, "_hl") {
			f.Detail = "dynamic, " + path
			break
		}
	}
	return f
}

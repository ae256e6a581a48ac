package main

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/evq-project/evq/io/hdf5"
	"github.com/evq-project/evq/sql"
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
	v.Features = []feature{cgo, hdf5Feature(), sqlFeature(v.Libraries)}
	return v
}

// sqlFeature says whether this build answers SQL, and by which version of the driver, whose minor number is DuckDB's own.
func sqlFeature(libraries map[string]string) feature {
	f := feature{Name: "sql", Built: sql.Built}
	if !f.Built {
		f.Detail = sql.ErrUnsupported.Error()
		return f
	}
	f.Detail = "DuckDB"
	if v := libraries["github.com/duckdb/duckdb-go/v2"]; v != "" {
		f.Detail += " by duckdb-go " + v
	}
	return f
}

// hdf5Built says whether this build reads and writes HDF5.
const hdf5Built = hdf5.Built

func hdf5Feature() feature {
	f := feature{Name: "hdf5", Built: hdf5Built}
	if !f.Built {
		f.Detail = hdf5.ErrNotBuilt.Error()
		return f
	}
	f.Detail = hdf5.LibraryVersion()
	// Where the system lists the files a process has mapped, a library that is not among them is linked in.
	if maps, err := os.ReadFile("/proc/self/maps"); err == nil {
		link := "static"
		if bytes.Contains(maps, []byte("/libhdf5")) {
			link = "dynamic"
		}
		f.Detail += ", " + link
	}
	return f
}

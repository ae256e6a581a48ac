package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
)

// defaultPeers is where peers.py and gen.py lie unless EVQ_BENCH_PEERS says otherwise.
const defaultPeers = "../shared/bench"

// A peers is the flags that name the programs beside evq.
type peers struct {
	rvt, python string
}

func (p *peers) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&p.rvt, "rvt", "", "run RVT's own code, a checkout of uzh-rpg/RVT in `DIR`")
	f.StringVar(&p.python, "python", "", "run evlib, and RVT, with the virtual environment or interpreter `VENV` (RVT alone: default python3)")
}

func (p *peers) given() bool { return p.rvt != "" || p.python != "" }

// folder is where the peers' scripts lie.
func (p *peers) folder() string {
	if dir := os.Getenv("EVQ_BENCH_PEERS"); dir != "" {
		return dir
	}
	return defaultPeers
}

// generates reports whether the peers' own generator makes the scene, whose times step back as real ones do.
func (p *peers) generates() bool {
	_, err := os.Stat(filepath.Join(p.folder(), "gen.py"))
	return p.python != "" && err == nil
}

// interpreter is the Python to run.
func (p *peers) interpreter() string {
	if p.python == "" {
		return "python3"
	}
	for _, inside := range []string{"bin/python", "Scripts/python.exe"} {
		path := filepath.Join(p.python, filepath.FromSlash(inside))
		if _, err := os.Stat(path); err == nil {
			return path
		}
	}
	return p.python
}

// generate runs the peers' generator.
func (p *peers) generate(ctx context.Context, path string, s benchScene) error {
	argv := append([]string{filepath.Join(p.folder(), "gen.py"), "rvt", path}, s.arguments()...)
	cmd := exec.CommandContext(ctx, p.interpreter(), argv...)
	var errOut bytes.Buffer
	cmd.Env, cmd.Stderr = append(os.Environ(), pythonQuiet), &errOut
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w", argv[0], because(err, errOut.String()))
	}
	return nil
}

// pythonQuiet keeps Python from writing beside scripts that are not ours.
const pythonQuiet = "PYTHONDONTWRITEBYTECODE=1"

// listPeers asks peers.py which peers it has, and what environment each is measured with.
const listPeers = `import json, sys; sys.path.insert(0, sys.argv[1]); import peers
print(json.dumps({n: e[1] for n, e in peers.PEERS["rvt_gen4"].items()}))`

func (p *peers) environments(ctx context.Context) (map[string]map[string]string, error) {
	cmd := exec.CommandContext(ctx, p.interpreter(), "-c", listPeers, p.folder())
	var errOut bytes.Buffer
	cmd.Env, cmd.Stderr = append(os.Environ(), pythonQuiet), &errOut
	out, err := cmd.Output()
	if err != nil {
		return nil, because(err, errOut.String())
	}
	all := map[string]map[string]string{}
	if err := json.Unmarshal(out, &all); err != nil {
		return nil, fmt.Errorf("peers.py in %s: %w", p.folder(), err)
	}
	return all, nil
}

// programs are the peers that are given. What cannot even be asked becomes a program that fails with the reason.
func (p *peers) programs(ctx context.Context, in benchInput) ([]program, error) {
	var out []program
	if !p.given() {
		return nil, nil
	}
	all, failed := p.environments(ctx)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	root, err := filepath.Abs(p.rvt)
	if err != nil {
		return nil, err
	}
	for _, peer := range []struct{ name, title, flag string }{
		{"rvt", "RVT's own code (torch)", p.rvt}, {"evlib_rust", "evlib (Rust)", p.python},
	} {
		if peer.flag == "" {
			continue
		}
		env, known := all[peer.name]
		q := program{name: peer.name, title: peer.title, windows: int64(len(in.ends)), frames: findFrames, first: peer.name == "rvt"}
		q.command = func(out string) ([]string, []string, error) {
			switch {
			case failed != nil:
				return nil, nil, fmt.Errorf("peers.py in %s: %w", p.folder(), failed)
			case !known:
				return nil, nil, fmt.Errorf("peers.py in %s has no %s", p.folder(), peer.name)
			}
			args, err := json.Marshal(map[string]string{"in": in.path, "grid": in.grid, "out": out})
			more := []string{pythonQuiet, "RVT_DIR=" + root}
			for k, v := range env {
				more = append(more, k+"="+v)
			}
			return []string{p.interpreter(), filepath.Join(p.folder(), "peers.py"), "rvt_gen4", peer.name, string(args)}, more, err
		}
		out = append(out, q)
	}
	return out, nil
}

// findFrames finds the file of the frames below a folder.
func findFrames(out string) (string, error) {
	found := ""
	err := filepath.WalkDir(out, func(path string, e fs.DirEntry, err error) error {
		name := ""
		if err == nil {
			name = e.Name()
		}
		if found == "" && strings.HasPrefix(name, "event_representations") && filepath.Ext(name) == ".h5" && !strings.Contains(name, "in_progress") {
			found = path
		}
		return err
	})
	if err == nil && found == "" {
		err = fmt.Errorf("%s: no event_representations*.h5 was made", out)
	}
	return found, err
}

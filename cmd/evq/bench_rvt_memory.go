package main

import (
	"bytes"
	"os"
	"strconv"
	"strings"
	"time"
)

// peakMemory is the most this process had in memory since it began, its VmHWM in bytes; 0 where the system does
// not tell. Unlike the maximum of getrusage it is never inherited from the process that started this one.
func peakMemory() int64 { return procField("/proc/self/status", "VmHWM:") }

// procField reads a line such as "VmHWM:  1234 kB" of a file of /proc in bytes; 0 where it is not there.
func procField(path, name string) int64 {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0
	}
	for line := range bytes.Lines(text) {
		f := strings.Fields(string(line))
		if len(f) < 2 || f[0] != name {
			continue
		}
		if n, err := strconv.ParseInt(f[1], 10, 64); err == nil {
			return n << 10
		}
	}
	return 0
}

// A treeWatch samples the memory of a process and of all that it started. Pages that they share count once.
type treeWatch struct {
	quit chan struct{}
	peak chan int64
}

const treeSample = 200 * time.Millisecond

func watchTree(pid int) treeWatch {
	w := treeWatch{make(chan struct{}), make(chan int64)}
	go func() {
		tick := time.NewTicker(treeSample)
		defer tick.Stop()
		peak := int64(0)
		for {
			select {
			case <-tick.C:
				peak = max(peak, treeMemory(pid))
			case <-w.quit:
				w.peak <- peak
				return
			}
		}
	}()
	return w
}

// stop returns the largest sum that was seen, 0 where nothing was watched.
func (w treeWatch) stop() int64 {
	if w.quit == nil {
		return 0
	}
	close(w.quit)
	return <-w.peak
}

// treeMemory sums the proportional set sizes of a process and its descendants in bytes.
func treeMemory(root int) int64 {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return 0
	}
	children := map[int][]int{}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		parent := parentOf(pid)
		children[parent] = append(children[parent], pid)
	}
	sum := int64(0)
	for todo := []int{root}; len(todo) > 0; todo = todo[1:] {
		sum += procField("/proc/"+strconv.Itoa(todo[0])+"/smaps_rollup", "Pss:")
		todo = append(todo, children[todo[0]]...)
	}
	return sum
}

// parentOf reads a process's parent; 0 where it is gone.
func parentOf(pid int) int {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0
	}
	f := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:])) // the name before it may hold anything
	if len(f) < 2 {
		return 0
	}
	parent, _ := strconv.Atoi(f[1])
	return parent
}

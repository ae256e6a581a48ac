package exprs

import "sync"

// blockLen is how many events are evaluated at a time.
const blockLen = 1024

// A scratch holds the blocks that one evaluation works in. Blocks are taken and given back as on a stack.
type scratch struct {
	ints  stack[int64]
	bools stack[bool]
	args  [][]int64 // the arguments of the calls that are being made
}

// scratches keeps those that nobody uses at the moment.
var scratches = sync.Pool{New: func() any { return new(scratch) }}

type stack[N any] struct {
	blocks [][]N
	used   int
}

// take returns a block of n <= blockLen stale values.
func (s *stack[N]) take(n int) []N {
	if s.used == len(s.blocks) {
		s.blocks = append(s.blocks, make([]N, blockLen))
	}
	s.used++
	return s.blocks[s.used-1][:n]
}

// give returns the n blocks taken last.
func (s *stack[N]) give(n int) { s.used -= n }

// withArgs evaluates the arguments of a call for a block of n events and hands them to call.
func (s *scratch) withArgs(args []Value, n int, eval func(v Value, dst []int64), call func(args [][]int64)) {
	base := len(s.args)
	for _, a := range args {
		block := s.ints.take(n)
		eval(a, block)
		s.args = append(s.args, block)
	}
	call(s.args[base:len(s.args):len(s.args)])
	s.args = s.args[:base]
	s.ints.give(len(args))
}

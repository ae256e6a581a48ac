// Package formattest is the conformance suite that every format passes, and the comparison with what independent
// decoders say of a recording. It knows how formats are asked, and no single format.
package formattest

package cuda

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// The committed PTX is byte for byte what clang 14 makes of the sources.
func TestPTXIsReproducible(t *testing.T) {
	if _, err := exec.LookPath("clang-14"); err != nil {
		t.Skip("no clang-14; on Debian: apt-get install clang-14")
	}
	out := filepath.Join(t.TempDir(), "scatter.ptx")
	if b, err := exec.Command("kernel/build", out).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, b)
	}
	made, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(made, kernelPTX) {
		t.Error("clang makes other PTX than kernel/scatter.ptx; run make cuda-kernel and look at the difference")
	}
}

// NVIDIA's assembler takes the PTX for every generation, and keeps nothing in memory for want of registers.
func TestPTXAssembles(t *testing.T) {
	assembler := os.Getenv("PTXAS")
	if assembler == "" {
		assembler = "ptxas"
	}
	if _, err := exec.LookPath(assembler); err != nil {
		t.Skip("no ptxas; it is in the Python package nvidia-cuda-nvcc, and PTXAS names it")
	}
	b, err := exec.Command("kernel/assemble").CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, b)
	}
	t.Logf("%s", b)
	bad := writePTX(t, string(bytes.ReplaceAll(kernelPTX, []byte("mul.wide.u32"), []byte("mul.wider.u32"))))
	if b, err := exec.Command("kernel/assemble", bad).CombinedOutput(); err == nil {
		t.Errorf("an instruction that is none was taken:\n%s", b)
	}
}

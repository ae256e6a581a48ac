package devices

import (
	"testing"

	"github.com/evq-project/evq/accel"
	"github.com/evq-project/evq/accel/acceltest"
)

func TestConformance(t *testing.T) {
	for _, d := range All {
		t.Run(d.Name(), func(t *testing.T) { acceltest.Run(t, d) })
	}
}

func TestAutoRunsEverywhere(t *testing.T) {
	if _, err := accel.Pick(All, accel.Auto); err != nil {
		t.Fatal(err)
	}
}

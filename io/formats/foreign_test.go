package formats

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evq-project/evq/io/event/eventtest"
	"github.com/evq-project/evq/io/format"
)

// Files that users have beside recordings are named, with what to do, and not answered by a list of formats.
func TestForeignKinds(t *testing.T) {
	for _, k := range foreign {
		data := []byte(strings.Repeat("\x00", k.at) + k.magic)
		r := rand.New(rand.NewPCG(4, 4))
		for len(data) < 4096 {
			data = append(data, byte(r.Uint32()))
		}
		path := filepath.Join(t.TempDir(), "a.raw")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := Open(t.Context(), path, "", format.Policy{})
		var named *ForeignError
		if !errors.As(err, &named) || !errors.Is(err, format.ErrUnknown) || named.Kind != k.as.Kind || !strings.Contains(err.Error(), k.as.Do) {
			t.Errorf("%s: %v", k.as.Kind, err)
		}
	}
}

// The Event Streams of other programs are files as their writers leave them.
func TestEventStreamsAreNamed(t *testing.T) {
	for _, name := range []string{"es/faery_dvs.es", "es/loris_test.es"} {
		_, err := Open(t.Context(), filepath.Join(eventtest.Data(t), name), "", format.Policy{})
		var named *ForeignError
		if !errors.As(err, &named) || !strings.Contains(named.Kind, "Event Stream") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

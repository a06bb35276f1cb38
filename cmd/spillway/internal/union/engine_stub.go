//go:build !spillway_engine

package union

import (
	"errors"

	"github.com/spillway-db/spillway/cmd/spillway/internal/input"
)

func openEngine(limits, input.Schema) (executor, error) {
	return nil, errors.New("union: this mode is not built yet")
}

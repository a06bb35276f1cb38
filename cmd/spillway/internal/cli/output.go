package cli

import (
	"errors"
	"io"
	"os"
	"path/filepath"
)

// output is a file that appears when it is complete.
type output struct {
	name string
	tmp  *os.File
}

// newOutput begins a file; that it can be made is known before long work. An
// empty name gives nil.
func newOutput(name string) (*output, error) {
	if name == "" {
		return nil, nil
	}
	tmp, err := os.CreateTemp(filepath.Dir(name), ".spillway-*")
	if err != nil {
		return nil, err
	}
	return &output{name, tmp}, nil
}

// write writes the file. On an error there is none.
func (o *output) write(what func(io.Writer) error) error {
	if o == nil {
		return nil
	}
	err := errors.Join(what(o.tmp), o.tmp.Chmod(0o644), o.tmp.Close())
	if err == nil {
		err = os.Rename(o.tmp.Name(), o.name)
	}
	return err
}

// discard removes what was begun, if it was not written.
func (o *output) discard() {
	if o != nil {
		_ = o.tmp.Close()
		_ = os.Remove(o.tmp.Name())
	}
}

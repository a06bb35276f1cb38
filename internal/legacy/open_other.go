//go:build unix && !linux

package legacy

func openTemp(dir string) (int, error) { return openUnlinked(dir) }

package collation

// binary compares bytes; the text is its own key.
type binary struct{}

func (binary) Name() string        { return "binary" }
func (binary) PadSpace() bool      { return false }
func (binary) MaxKeyLen(n int) int { return n }

func (binary) AppendKey(dst, src []byte) ([]byte, error) {
	return append(dst, src...), nil
}

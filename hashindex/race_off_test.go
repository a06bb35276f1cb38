//go:build !race

package hashindex

const heavy = 1

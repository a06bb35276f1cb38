// Command spillway shows what a temporary-table engine does with a UNION that
// spills: see `spillway union --help`.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/spillway-db/spillway/cmd/spillway/internal/cli"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second interrupt ends the process at once
	os.Exit(cli.Run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

package cli

import "github.com/spf13/cobra"

func newProfile(c *console) *cobra.Command { return &cobra.Command{Use: "profile"} }

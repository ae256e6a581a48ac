package main

import (
	"github.com/spf13/cobra"
)

func (a *app) completionCommand() *cobra.Command {
	shells := []string{"bash", "zsh", "fish"}
	return &cobra.Command{
		Use:   "completion bash|zsh|fish",
		Short: "Print a script that completes evq's verbs, flags and files in a shell",
		Example: `  source <(evq completion bash)
  evq completion zsh > "${fpath[1]}/_evq"
  evq completion fish > ~/.config/fish/completions/evq.fish`,
		ValidArgs: shells,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usage("evq completion takes one of bash, zsh, fish")
			}
			root := cmd.Root()
			switch args[0] {
			case "bash":
				return root.GenBashCompletionV2(a.out, true)
			case "zsh":
				return root.GenZshCompletion(a.out)
			case "fish":
				return root.GenFishCompletion(a.out, true)
			}
			return unknown("shell", args[0], shells)
		},
	}
}

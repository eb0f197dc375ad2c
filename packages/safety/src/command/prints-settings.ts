/** What tools print for a shell to set variables by: `eval "$(fnm env)"`. */
export function printsSettings(text: string): boolean {
  return /^\$\(\s*(?:(?:fnm|opam|goenv|jenv) env|(?:\/[\w/.-]+\/)?brew shellenv|(?:pyenv|rbenv|nodenv|plenv|starship|zoxide|conda|atuin) (?:init|shell\.\w+ hook)|(?:direnv|mise|rtx) (?:hook|activate)|ssh-agent(?: -s)?|dircolors|minikube (?:-p \w+ )?docker-env|luarocks path|thefuck --alias|pip completion|npm completion)(?:\s[\w\s./~-]*)?\)$/.test(
    text,
  )
}

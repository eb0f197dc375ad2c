import type { CommandSpec } from './command-spec.js'

/** The shells there are scripts for. */
export type Shell = 'bash' | 'zsh' | 'fish' | 'powershell'

/** Writes a completion script for one shell. */
type ScriptWriter = (specs: readonly CommandSpec[]) => string

/** A script per shell. Each says at its top how it is used. */
export const SCRIPTS: Readonly<Record<Shell, ScriptWriter>> = { bash, zsh, fish, powershell }

/** Walks the words of the line to the innermost command; `at` holds its path. */
function walk(specs: readonly CommandSpec[], words: string): string {
  const inner = specs.filter(({ path }) => path.length > 1).map(({ path }) => `'${path.join(' ')}'`)
  return `  local at=hermes word
  for word in ${words}; do
    case "$at $word" in
      ${inner.join(' | ')}) at="$at $word" ;;
    esac
  done`
}

function bash(specs: readonly CommandSpec[]): string {
  const cases = specs.map(
    ({ path, words }) => `    '${path.join(' ')}') words='${words.map(({ word }) => word).join(' ')}' ;;`,
  )
  return `# For this shell: eval "$(hermes completion bash)". For every one: put that line into ~/.bashrc
_hermes() {
${walk(specs, `"\${COMP_WORDS[@]:1:COMP_CWORD-1}"`)}
  local words=
  case "$at" in
${cases.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _hermes hermes
`
}

function zsh(specs: readonly CommandSpec[]): string {
  const cases = specs.map(({ path, words }) => {
    const choices = words.map(({ word, description }) => quote(`${word}:${description}`))
    return `    '${path.join(' ')}') choices=(${choices.join(' ')}) ;;`
  })
  return `#compdef hermes
# For this shell: eval "$(hermes completion zsh)". For every one: put that line into ~/.zshrc, after compinit
_hermes() {
${walk(specs, `"\${(@)words[2,CURRENT-1]}"`)}
  local -a choices
  case "$at" in
${cases.join('\n')}
  esac
  _describe hermes choices || _files
}
compdef _hermes hermes
`
}

function fish(specs: readonly CommandSpec[]): string {
  const lines = specs.flatMap(({ path, words }) => {
    const [, ...inner] = path
    const names = words.map(({ word }) => word).filter((word) => !word.startsWith('-'))
    const seen = inner.map((word) => `__fish_seen_subcommand_from ${word}`)
    const unseen = names.length > 0 ? [`not __fish_seen_subcommand_from ${names.join(' ')}`] : []
    const when = [...seen, ...unseen].join('; and ')
    const condition = when === '' ? '' : ` -n ${quote(when)}`
    return words.map(({ word, description }) => {
      const what = word.startsWith('--')
        ? `-l ${word.slice(2)}`
        : word.startsWith('-')
          ? `-s ${word.slice(1)}`
          : `-f -a ${word}`
      return `complete -c hermes${condition} ${what} -d ${quote(description)}`
    })
  })
  return `# For this shell: hermes completion fish | source. For every one: save it as ~/.config/fish/completions/hermes.fish\n${lines.join('\n')}\n`
}

function powershell(specs: readonly CommandSpec[]): string {
  const text = (value: string) => `'${value.replaceAll("'", "''")}'`
  const cases = specs.map(({ path, words }) => {
    const choices = words.map(({ word, description }) => `@(${text(word)}, ${text(description || word)})`)
    return `    ${text(path.join(' '))} = @(${choices.join(', ')}${choices.length === 1 ? ',$null' : ''})`
  })
  return `# For this shell: hermes completion powershell | Out-String | Invoke-Expression. For every one: put that line into $PROFILE
Register-ArgumentCompleter -Native -CommandName hermes -ScriptBlock {
  param($wordToComplete, $commandAst, $cursorPosition)
  $table = @{
${cases.join('\n')}
  }
  $at = 'hermes'
  foreach ($element in $commandAst.CommandElements | Select-Object -Skip 1) {
    if ($element.Extent.EndOffset -ge $cursorPosition) { break }
    if ($table.ContainsKey("$at $element")) { $at = "$at $element" }
  }
  $table[$at] | Where-Object { $_ -and $_[0] -like "$wordToComplete*" } | ForEach-Object {
    [System.Management.Automation.CompletionResult]::new($_[0], $_[0], 'ParameterValue', $_[1])
  }
}
`
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}

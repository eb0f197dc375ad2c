import { execFileSync } from 'node:child_process'
import { Argument, Command, Option } from 'commander'
import { describe, expect, it } from 'vitest'
import { commandSpecs } from './command-spec.js'
import { SCRIPTS } from './scripts.js'

function program(): Command {
  const hermes = new Command('hermes').version('1', '-V, --version')
  hermes
    .command('chat', { isDefault: true })
    .description("talk, it's the default")
    .option('-q, --query <text>', 'ask once')
  const sessions = hermes.command('sessions').description('past sessions')
  sessions.command('list').option('--json').addOption(new Option('--secret').hideHelp())
  hermes.command('completion').addArgument(new Argument('<shell>').choices(['bash', 'fish']))
  return hermes
}

describe('commandSpecs', () => {
  it('names for each command what can follow it', () => {
    const specs = commandSpecs(program()).map(({ path, words }) => [
      path.join(' '),
      words.map(({ word }) => word).join(' '),
    ])
    expect(specs).toEqual([
      ['hermes', 'chat sessions completion --version --help --query'],
      ['hermes chat', '--query --help'],
      ['hermes sessions', 'list --help'],
      ['hermes sessions list', '--json --help'],
      ['hermes completion', 'bash fish --help'],
    ])
  })
})

describe('SCRIPTS', () => {
  it.each([
    ['hermes se', 'sessions'],
    ['hermes --q', '--query'],
    ['hermes sessions ', 'list --help'],
    ['hermes sessions list --j', '--json'],
    ['hermes completion ', 'bash fish --help'],
  ])('completes %j in bash to %j', (line, expected) => {
    const words = line.split(' ')
    const test = `COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}; _hermes; echo "\${COMPREPLY[@]}"`
    const output = execFileSync('bash', ['-c', `${SCRIPTS.bash(commandSpecs(program()))}\n${test}`], {
      encoding: 'utf8',
    })
    expect(output.trim()).toBe(expected)
  })

  it('has one row for each command in a table of PowerShell, with its quotes doubled', () => {
    const script = SCRIPTS.powershell(commandSpecs(program()))
    expect(script).toContain(`@('chat', 'talk, it''s the default')`)
    expect(script).toContain(
      `'hermes sessions list' = @(@('--json', '--json'), @('--help', 'display help for command'))`,
    )
    expect(script.split('\n').filter((line) => / = @\(@/.test(line))).toHaveLength(commandSpecs(program()).length)
  })

  it('quotes descriptions for zsh and fish', () => {
    const specs = commandSpecs(program())
    expect(SCRIPTS.zsh(specs)).toContain(`'chat:talk, it'\\''s the default'`)
    expect(SCRIPTS.fish(specs)).toContain(`-f -a chat -d 'talk, it'\\''s the default'`)
    expect(SCRIPTS.fish(specs)).toContain(
      `-n '__fish_seen_subcommand_from sessions; and __fish_seen_subcommand_from list' -l json`,
    )
  })
})

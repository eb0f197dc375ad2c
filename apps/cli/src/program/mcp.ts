import type { Command } from 'commander'
import type { Action } from '../io.js'
import { takingOver } from './import-agent.js'

type Choose = (action: Action) => void

declare const __HERMES_VERSION__: string

interface AddOptions {
  readonly url?: string
  readonly env: readonly string[]
  readonly header: readonly string[]
  readonly cwd?: string
  readonly sse?: boolean
  readonly isolated?: boolean
  readonly untrusted?: boolean
}

/** `hermes mcp …`: the words are those of `/mcp`. */
export function addMcp(program: Command, choose: Choose): void {
  const mcp = program.command('mcp').description('servers of tools: add, look, test, remove')
  const call = (words: readonly string[], flags: object = {}, options = {}) =>
    choose(async (world) =>
      (await import('../home-command.js')).homeCommand(world, 'mcp', { words, ...flags }, options),
    )
  mcp
    .command('list', { isDefault: true })
    .description('the servers of config.yaml, and how they are')
    .option('--json', 'as JSON lines')
    .action((options) => call(['list'], {}, options))
  mcp
    .command('add <name> [command...]')
    .description('add a server: a command after --, or --url')
    .option('--url <address>', 'a server of the network')
    .option('--sse', 'it speaks the older transport with events alone')
    .option('--env <NAME=VALUE...>', 'variables it gets; ${NAME} stands for one of .env', [])
    .option('--header <header...>', 'sent with each request, as "Name: value"', [])
    .option('--cwd <folder>', 'where its program starts')
    .option('--isolated', 'hold its program in the isolation that commands are held in')
    .option('--untrusted', 'ask about each of its tools that does not only read')
    .action((name: string, command: readonly string[], options: AddOptions) =>
      call(['add', name, JSON.stringify(entryOf(command, options))]),
    )
  mcp
    .command('test [server]')
    .description('connect anew, and say what it offers')
    .action((server?: string) => call(['test', ...(server === undefined ? [] : [server])]))
  mcp
    .command('tools <server>')
    .description('its tools by the names that models and rules use')
    .option('--accept', 'take those that changed as they are now')
    .option('--json', 'as JSON lines')
    .action((server: string, { accept = false, ...options }) => call(['tools', server], { accept }, options))
  mcp
    .command('login <server>')
    .description('log in at a server of the network, in a browser of this machine or another one')
    .option('--device', 'with a code that is entered on any device')
    .action((server: string, { device = false }) => call(['login', server], { device }))
  mcp
    .command('logout <server>')
    .description('forget the login')
    .action((server: string) => call(['logout', server]))
  const importing = mcp
    .command('import [client|file]')
    .description('take servers over from Claude Code, Claude Desktop, Codex, Cursor, VS Code or Zed; starts none')
    .addHelpText(
      'after',
      `
Examples:
  hermes mcp import                    the lists of all of them, of yours and of this folder
  hermes mcp import cursor --dry-run   what would be taken over
  hermes mcp import ./mcp.json         a file, whoever's form it has
  hermes import-agent undo             all as it was before`,
    )
  takingOver(importing).action((from: string | undefined, flags) =>
    choose(async (world) => (await import('../import-agent/import-servers.js')).importServers(world, from, flags)),
  )
  mcp
    .command('serve')
    .description(
      'be a server of sessions, memory and the agent, on standard input and output; over HTTP the gateway is one, at /mcp',
    )
    .action(() =>
      choose(async (world) => (await import('../commands/mcp-serve.js')).serveMcp(world, __HERMES_VERSION__)),
    )
  mcp
    .command('remove <server>')
    .description('take a server out of config.yaml')
    .action((server: string) => call(['remove', server]))
}

function entryOf(command: readonly string[], options: AddOptions): object {
  const { url, env, header, cwd, sse, isolated, untrusted } = options
  const [program, ...args] = command
  return {
    ...(program === undefined ? {} : { command: program, ...(args.length > 0 ? { args } : {}) }),
    ...(url === undefined ? {} : { url }),
    ...(sse ? { transport: 'sse' } : {}),
    ...(env.length > 0 ? { env: pairs(env, '=') } : {}),
    ...(header.length > 0 ? { headers: pairs(header, ':') } : {}),
    ...(cwd === undefined ? {} : { cwd }),
    ...(isolated ? { isolated: true } : {}),
    ...(untrusted ? { trust: 'untrusted' } : {}),
  }
}

function pairs(texts: readonly string[], sign: string): Readonly<Record<string, string>> {
  return Object.fromEntries(
    texts.map((text) => {
      const at = text.indexOf(sign)
      return at < 0 ? [text, ''] : [text.slice(0, at).trim(), text.slice(at + 1).trim()]
    }),
  )
}

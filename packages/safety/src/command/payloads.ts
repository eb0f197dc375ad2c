import type { Word } from '../shell/script.js'
import { resolveShellPath } from './context.js'
import { type Invocation, texts } from './invocation.js'
import { printedText } from './known-text.js'
import { PROGRAMS } from './program-tables.js'
import { gitCommand, namesProgram } from './rules-git.js'
import { commandsOfSql } from './sql.js'
import { namedFolders } from './wrappers.js'

const SSH_VALUED = Object.freeze([...'BbcDEeFIiJLlmOopQRSWw'].map((letter) => `-${letter}`))
const FIND_EXEC = Object.freeze(['-exec', '-execdir', '-ok', '-okdir'])

/** Commands inside a command: as text that will be split again, or as words already split. */
export type Payload =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'words'; readonly words: readonly Word[] }

/** What `bash -c`, `eval`, `find -exec`, `ssh`, `su -c` and their kind will run. */
export function payloads(invocation: Invocation): readonly Payload[] {
  const { name, args } = invocation
  const joined = (words: readonly Word[]): Payload[] =>
    words.length === 0 ? [] : [{ type: 'text', text: words.map(unquoted).join(' ') }]
  const own = madeScript(invocation, invocation.program.text)
  if (own.length > 0) return own
  const named = Object.hasOwn(PROGRAMS.commandOptions, name) ? afterOption(args, PROGRAMS.commandOptions[name]!) : []
  if (PROGRAMS.shells.includes(name)) return [...shellPayloads(invocation), ...named]
  switch (name) {
    case 'eval':
      return joined(args)
    case '.':
    case 'source':
      return sourced(invocation)
    case 'hyperfine':
    case 'concurrently':
      return args.filter(({ text }) => /\s/.test(text)).map(({ text }) => ({ type: 'text', text }))
    case 'nix':
      return afterCommand(args)
    case '[[':
    case '[':
    case 'test':
    case 'let':
    case 'declare':
    case 'typeset':
    case 'local':
    case 'unset':
    case 'read':
      return indexPayloads(args)
    case 'printf':
      return args[0]?.text.startsWith('-v') ? indexPayloads(args) : []
    case 'watch':
      return joined(args.slice(0, 1))
    case 'trap':
      return joined(args.filter(({ text }, at) => !(at === 0 && /^-[lpP]?-?$/.test(text))).slice(0, 1))
    case 'ed':
    case 'ex':
    case 'vi':
    case 'vim':
    case 'nvim':
    case 'dc':
      return [...named, ...shellLines([...texts(args), invocation.input.text ?? ''])]
    case 'sqlite3':
    case 'psql':
    case 'mysql':
    case 'mariadb':
    case 'duckdb':
      return [...named, ...commandsOfSql(invocation).map((text): Payload => ({ type: 'text', text }))]
    case 'alias':
      return args.flatMap((word) => joined([{ ...word, text: word.text.replace(/^[^=]*=?/, '') }]))
    case 'set':
      return afterDashes(args)
    case 'su':
    case 'runuser':
      return [...named, ...afterDashes(args)]
    case 'npm':
      return [...named, ...behindVerb(withoutFolders(name, args), /^(?:exec|x)$/)]
    case 'npx':
    case 'pnpx':
    case 'bunx':
    case 'uvx':
      return [...named, ...behindOptions(args)]
    case 'pnpm':
    case 'yarn':
    case 'bun':
    case 'pipx':
      return behindVerb(withoutFolders(name, args), /^(?:dlx|exec|x|run)$/)
    case 'cmake':
      return behindVerb(args, /^-E$/)
    case 'socat':
      return args.flatMap(({ text }) => {
        const command = /\b(?:EXEC|SYSTEM|SHELL):(.*)/i.exec(text)?.[1]
        return command === undefined ? [] : [{ type: 'text', text: command.replace(/^["']|["'],?.*$/g, '') }]
      })
    case 'at':
    case 'batch':
      return invocation.input.text === null ? [] : [{ type: 'text', text: invocation.input.text }]
    case 'tmux':
    case 'screen':
      return sessionPayloads(name, args)
    case 'expect':
      return named.map((payload) =>
        payload.type === 'text' ? { ...payload, text: payload.text.replace(/\bspawn\b/g, '') } : payload,
      )
    case 'ssh':
      return [...sshCommands(args), ...joined(args.slice(skipSshOptions(args) + 1))]
    case 'scp':
    case 'sftp':
      return [...named, ...sshCommands(args)]
    case 'git':
      return gitPayloads(args)
    case 'tar':
      return [
        ...named,
        ...args.flatMap(({ text }): Payload[] => {
          const action = /^(?:--checkpoint-action=)?exec=(.*)$/s.exec(text)?.[1]
          return action === undefined ? [] : [{ type: 'text', text: action }]
        }),
      ]
    case 'find':
    case 'fd':
    case 'fdfind':
      return findPayloads(args)
    case 'cmd':
      return joined(args.filter((word) => !/^\/[a-zA-Z]$/.test(word.text)))
    default:
      return named
  }
}

/** A quoted tilde, which is the name of a file, is none any more where the text is read again. */
const unquoted = ({ text, mask }: Word): string =>
  text.startsWith('./~') && mask.startsWith('qq') ? text.slice(2) : text

/** Lines of an editor or calculator that begin with `!` go to a shell. */
function shellLines(input: readonly string[]): Payload[] {
  const lines = input.flatMap((text) => text.slice(0, MAX_FILLED_CHARS).split('\n'))
  return lines.flatMap((line): Payload[] => {
    const command = /^\s*(?:\+?:?(?:sil(?:ent)?!?\s+|%|\d*r(?:ead)?\s*|w(?:rite)?\s*)?)!\s*(\S.*)$/.exec(line)?.[1]
    return command === undefined ? [] : [{ type: 'text', text: command }]
  })
}

/** bash reads such words as arithmetic or as the name of a variable, and runs what is in brackets in spite of quotes. */
function indexPayloads(args: readonly Word[]): Payload[] {
  const indexed = args.filter(({ text, scripts }) => scripts.length === 0 && /\[.*(?:\$\(|`)/s.test(text))
  return indexed.map(({ text }) => ({ type: 'text', text: `: ${text}` }))
}

/** The script a shell is given with `-c`; what it reads from standard input where that text is known. */
function shellPayloads(invocation: Invocation): Payload[] {
  const { args, input } = invocation
  const at = args.findIndex((word) => /^-[a-zA-Z]*c[a-zA-Z]*$/.test(word.text))
  if (at !== -1) {
    const script = args.findIndex((word, index) => index > at && !/^[-+]/.test(word.text))
    if (script === -1) return []
    const { text } = args[script]!
    const filled = withArguments(text, texts(args.slice(script + 1)))
    return [text, ...(filled === text ? [] : [filled])].map((one) => ({ type: 'text', text: one }))
  }
  if (readsInput(invocation) && input.text !== null) return [{ type: 'text', text: input.text }]
  const script = texts(args).find((word) => !/^[-+]/.test(word)) ?? ''
  if (OPEN_FILE.test(script) && input.text !== null) return [{ type: 'text', text: input.text }]
  return [...printedScript(invocation), ...madeScript(invocation, script)]
}

/** A file that is open already: what a redirect put there is the one input that is known. */
const OPEN_FILE = /^\/(?:dev\/(?:stdin|fd\/\d+)|proc\/self\/fd\/\d+)$/

/** A script that an earlier command of the same line wrote. */
function madeScript({ made, context }: Invocation, path: string): Payload[] {
  const text = path.includes('/') || made.size > 0 ? made.get(resolveShellPath(path, context)) : undefined
  return path === '' || text === undefined ? [] : [{ type: 'text', text }]
}

/** What `.` is to read, where that is known. */
function sourced(invocation: Invocation): Payload[] {
  const { args, input } = invocation
  if (OPEN_FILE.test(args[0]?.text ?? '') && input.text !== null) return [{ type: 'text', text: input.text }]
  return [...printedScript(invocation), ...madeScript(invocation, args[0]?.text ?? '')]
}

/** The script in `<(echo …)`. */
function printedScript({ args, inner }: Invocation): Payload[] {
  const last = inner.at(-1)
  const text = last && args[0]?.text.startsWith('<(') ? printedText(last) : null
  return text === null ? [] : [{ type: 'text', text }]
}

const MAX_FILLED_CHARS = 20_000
const ARGUMENT = /"?\$\{?([\d@*])\}?"?/g

/** A script with the arguments it is given in place of `$0`, `$1` and `$@`; what would make it very long is cut, and is not followed then. */
function withArguments(script: string, input: readonly string[]): string {
  const places = input.length === 0 ? 0 : [...script.matchAll(ARGUMENT)].length
  if (places === 0) return script
  const most = Math.floor(MAX_FILLED_CHARS / places)
  const quoted = input.map((word) => {
    // The home folder stays one; a tilde that was quoted stands behind `./` here.
    const home = /^~[\w.-]*(?=\/|$)/.exec(word)?.[0] ?? ''
    return word === home && home !== '' ? home : `${home}'${word.slice(home.length).replaceAll("'", "'\\''")}'`
  })
  return script.replace(ARGUMENT, (_, which: string) =>
    (/\d/.test(which) ? (quoted[Number(which)] ?? '') : quoted.slice(1).join(' ')).slice(0, most),
  )
}

/** Whether a shell or interpreter takes its program from standard input. */
export function readsInput(invocation: Invocation): boolean {
  const args = texts(invocation.args)
  if (args.some((arg) => arg === '-' || arg === '-s' || arg === '/dev/stdin' || arg === '/dev/fd/0')) return true
  const withValue = ['-o', '-O', '--rcfile', '--init-file']
  return args.every((arg, index) => /^[-+]/.test(arg) || withValue.includes(args[index - 1] ?? ''))
}

/** What an option is given: in the next word, behind its letter, which may be the last of several, or behind `=`. */
function afterOption(args: readonly Word[], names: readonly string[]): Payload[] {
  const letters = names.flatMap((name) => (/^-\w$/.test(name) ? [name[1]!] : []))
  const long = names.filter((name) => name.length > 2)
  return args.flatMap((word, index): Payload[] => {
    const next = args[index + 1]?.text
    const [, option = '', value] = /^(--?[\w-]+)(?:=([\s\S]*))?$/.exec(word.text) ?? []
    const isLong = option.length > 3 && long.some((name) => name.startsWith(option))
    const cluster = /^-([a-zA-Z]+)$/.exec(word.text)?.[1] ?? ''
    const hanging = letters.map((letter) => new RegExp(`^-[a-zA-Z]*?${letter}=?([^-].*)$`, 's').exec(word.text)?.[1])
    const text = isLong
      ? (value ?? next)
      : letters.includes(cluster.at(-1) ?? '') || long.includes(word.text)
        ? next
        : hanging.find((each) => each !== undefined && /\s/.test(each))
    return text === undefined ? [] : [{ type: 'text', text }]
  })
}

/** The words from the first that is no option. */
function behindOptions(args: readonly Word[]): Payload[] {
  const at = args.findIndex(
    ({ text }, index) => !text.startsWith('-') && !/^(?:-p|--package)$/.test(args[index - 1]?.text ?? ''),
  )
  return at === -1 ? [] : [{ type: 'words', words: args.slice(at) }]
}

function behindVerb(args: readonly Word[], verb: RegExp): Payload[] {
  const at = args.findIndex(({ text }) => verb.test(text))
  // What `run` names is a script of the project.
  if (at === -1 || args.slice(0, at).some(({ text }) => !text.startsWith('-'))) return []
  return behindOptions(args.slice(at + 1))
}

/** The words without options that only say in which folder it is. */
function withoutFolders(name: string, args: readonly Word[]): readonly Word[] {
  const folders = new Set(namedFolders(name, args).map(({ text }) => text))
  return args.filter(({ text }, at) => !(folders.has(text) && args[at - 1]?.text.startsWith('-')))
}

/** What ssh starts on this machine. */
function sshCommands(args: readonly Word[]): Payload[] {
  return args.flatMap(({ text }): Payload[] => {
    const command = /^(?:-o)?\s*(?:ProxyCommand|LocalCommand|KnownHostsCommand)[\s=]+(.*)$/is.exec(text)?.[1]
    return command === undefined || command === 'none' ? [] : [{ type: 'text', text: command }]
  })
}

/** Commands that git is told to run, by an option, by a setting, or by an address. */
function gitPayloads(args: readonly Word[]): Payload[] {
  const { verb, rest } = gitCommand(args)
  const settings = args.flatMap((word, at): Payload[] => {
    const [, key = '', value = ''] = /^(?:--config=)?([\w.*-]+)=([\s\S]+)$/.exec(word.text) ?? []
    const isSetting = /^(?:-c|--config)$/.test(args[at - 1]?.text ?? '') || word.text.startsWith('--config=')
    return isSetting && namesProgram(key) ? [{ type: 'text', text: value.replace(/^!/, '') }] : []
  })
  const transports = texts(args).flatMap((word): Payload[] => {
    const command = /^ext::(.*)$/s.exec(word)?.[1]
    return command === undefined ? [] : [{ type: 'text', text: command.replace(/%\w/g, '') }]
  })
  return [...settings, ...transports, ...verbPayloads(verb, rest)]
}

function verbPayloads(verb: string, rest: readonly Word[]): Payload[] {
  switch (verb) {
    case 'rebase':
      return afterOption(rest, ['-x', '--exec'])
    case 'bisect':
      return rest[0]?.text === 'run' ? [{ type: 'words', words: rest.slice(1) }] : []
    case 'submodule': {
      const at = rest.findIndex(({ text }) => text === 'foreach')
      const words = at === -1 ? [] : rest.slice(at + 1).filter(({ text }) => !/^--(?:recursive|quiet)$/.test(text))
      return words.length === 1 ? [{ type: 'text', text: words[0]!.text }] : [{ type: 'words', words }]
    }
    case 'filter-branch':
      return rest.flatMap(({ text }, at) => (/-filter$/.test(rest[at - 1]?.text ?? '') ? [{ type: 'text', text }] : []))
    case 'difftool':
      return afterOption(rest, ['-x', '--extcmd'])
    case 'send-email':
      return afterOption(rest, ['--sendmail-cmd', '--to-cmd', '--cc-cmd', '--header-cmd'])
    case 'archive':
    case 'clone':
    case 'fetch':
    case 'pull':
    case 'push':
    case 'ls-remote':
      return afterOption(rest, ['--upload-pack', '--receive-pack', '--exec', ...(verb === 'clone' ? ['-u'] : [])])
    default:
      return []
  }
}

function afterCommand(args: readonly Word[]): Payload[] {
  const at = args.findIndex(({ text }) => text === '-c' || text === '--command')
  return at === -1 ? [] : [{ type: 'words', words: args.slice(at + 1) }]
}

function afterDashes(args: readonly Word[]): Payload[] {
  const at = args.findIndex((word) => word.text === '--')
  return at === -1 ? [] : [{ type: 'words', words: args.slice(at + 1) }]
}

/** What a terminal session is told to run or to type: whole lines, and for `screen` the words behind its options. */
function sessionPayloads(name: string, args: readonly Word[]): Payload[] {
  const lines = args.filter((word) => /\s/.test(word.text))
  if (lines.length > 0 || name === 'tmux') return lines.map(({ text }) => ({ type: 'text', text }))
  const isValue = (at: number) => /^-\w*[SstcTpX]$/.test(args[at - 1]?.text ?? '')
  const first = args.findIndex(({ text }, at) => !text.startsWith('-') && !isValue(at))
  return first === -1 ? [] : [{ type: 'words', words: args.slice(first) }]
}

function skipSshOptions(args: readonly Word[]): number {
  let at = 0
  while (args[at]?.text.startsWith('-')) at += SSH_VALUED.includes(args[at]!.text) ? 2 : 1
  return at
}

function findPayloads(args: readonly Word[]): Payload[] {
  const found: Payload[] = []
  for (let at = 0; at < args.length; at++) {
    const isFd = ['-x', '-X', '--exec', '--exec-batch'].includes(args[at]!.text)
    if (!FIND_EXEC.includes(args[at]!.text) && !isFd) continue
    const rest = args.slice(at + 1)
    const end = rest.findIndex((word) => word.text === ';' || word.text === '+')
    found.push({ type: 'words', words: end === -1 ? rest : rest.slice(0, end) })
    if (end === -1) break
    at += end + 1
  }
  return found
}

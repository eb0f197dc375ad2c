import type { Word } from '../shell/script.js'
import { type Invocation, texts } from './invocation.js'
import type { CommandRule } from './rule.js'

const RUNNERS = ['node', 'npx', 'npm', 'pnpm', 'pnpx', 'yarn', 'bun', 'bunx', 'deno', 'tsx']
/** Options with which less is asked. */
const LOOSENING = ['--yolo', '--trust', '--accept-hooks']
const HERMES = /(?:^|\/)(?:hermes|bin\.js|@hermes\/cli(?:@[^/]*)?)$/

/** An agent never answers for the person it should ask. */
export const ANSWERS_ITSELF: CommandRule = {
  rule: 'self-approval',
  reason: 'answers a question that is meant for the user',
  programs: ['hermes', ...RUNNERS],
  matches: anyReading(([command, verb = '']) => {
    if (command === 'skills') return ['approve', 'accept', 'install'].includes(verb)
    if (command === 'memory') return verb === 'approve'
    return command === 'approvals' && verb === 'answer'
  }),
}

/** What an agent would do to its own rules and settings with the commands of Hermes. */
export const HERMES_RULES: readonly CommandRule[] = Object.freeze([
  {
    rule: 'hermes-permissions',
    reason: 'changes what Hermes may do',
    programs: ['hermes', ...RUNNERS],
    matches: anyReading(([command, verb = '', key = ''], invocation) => {
      const words = texts(invocation.args)
      if (words.some((word) => LOOSENING.includes(word))) return command !== 'permissions'
      // What it holds is asked as if it were typed.
      if (words.some((word) => word.startsWith('--query-file'))) return true
      if (command === 'permissions') return !['list', 'explain', 'help', ''].includes(verb)
      if (command === 'pairing') return !['list', 'help', ''].includes(verb)
      // Whoever starts these answers for the person.
      if (command === 'acp' || (command === 'mcp' && verb === 'serve')) return true
      const isChange = verb === 'set' || verb === 'unset'
      return command === 'config' && isChange && /^(?:approvals|command_allowlist|security|people)\b/.test(key)
    }),
  },
  {
    rule: 'hermes-send',
    reason: 'sends a message in your name',
    programs: ['hermes', ...RUNNERS],
    matches: anyReading(([command]) => command === 'send'),
  },
  {
    rule: 'hermes-config',
    reason: 'changes how Hermes behaves',
    programs: ['hermes', ...RUNNERS],
    matches: anyReading(([command, verb = ''], invocation) => {
      if (command === 'uninstall' || command === 'import-agent' || command === 'claw') return true
      if (command === 'config') return ['set', 'unset', 'edit', 'migrate'].includes(verb)
      if (command === 'mcp') return ['add', 'remove', 'login', 'logout'].includes(verb) || accepts(invocation)
      if (command === 'auth') return !['list', 'status', 'help', ''].includes(verb)
      if (command === 'learning') return verb === 'edit' || verb === 'remove'
      if (command === 'memory') return !['list', 'status', 'export', 'help', ''].includes(verb)
      if (command === 'trust') return verb === 'add' || verb === 'remove'
      if (command === 'hooks') return ['accept', 'test', 'revoke'].includes(verb)
      if (command === 'plugins')
        return ['install', 'uninstall', 'update', 'enable', 'disable', 'accept', 'create'].includes(verb)
      if (command === 'skills')
        return ['create', 'edit', 'delete', 'config', 'reject', 'discard', 'update', 'uninstall'].includes(verb)
      if (command === 'curator') return !['status', 'list-archived', 'help', ''].includes(verb)
      if (command === 'learn' || command === 'journey') return verb === 'undo'
      if (command === 'bundles') return verb === 'create' || verb === 'delete'
      if (command === 'backup') return verb === 'restore'
      if (command === 'audit') return verb === 'prune'
      return command === 'sessions' && (verb === 'delete' || verb === 'prune')
    }),
  },
])

const accepts = ({ args }: Invocation): boolean => texts(args).some((word) => /(?:^|\s)--accept\b/.test(word))

type Words = readonly [command: string, ...more: string[]]

/** Whether a call of Hermes is meant, in one of the ways it can be read; another program never is. */
function anyReading(isMeant: (words: Words, invocation: Invocation) => boolean) {
  return (invocation: Invocation): boolean => readings(invocation).some((words) => isMeant(words, invocation))
}

/** The words behind the name of Hermes, options left out, and each command that is typed to it, as in `-q "/trust add ."`. */
function readings({ name, args }: Invocation): readonly Words[] {
  const words = texts(args)
  if (name === 'hermes') return [ofHermes(words), ...typedIn(words), ...unknownIn(args)]
  const at = words.findIndex((word) => HERMES.test(word))
  if (at === -1) return []
  // `npx -p @hermes/cli hermes`
  const isNamedAgain = HERMES.test(words[at + 1] ?? '')
  const own = words.slice(at + (isNamedAgain ? 2 : 1))
  return [ofHermes(own), ...typedIn(own), ...unknownIn(args.slice(words.length - own.length))]
}

function ofHermes(words: readonly string[]): Words {
  const isProfile = (word: string | undefined) => word === '-p' || word === '--profile'
  const [command = '', ...rest] = words.filter((word, at) => !word.startsWith('-') && !isProfile(words[at - 1]))
  return [command, ...rest]
}

/** A word, or the value of an option, that begins as a typed command does. */
const TYPED = /^(?:--[a-z-]+=|-[a-z]+=?)?\s*\/(?=[a-z][a-z0-9-]*(?:\s|$))/i

/** A typed command may be one word or several. */
function typedIn(words: readonly string[]): readonly Words[] {
  return words.flatMap((word, at) => {
    const start = TYPED.exec(word)?.[0]
    if (start === undefined) return []
    const line = [word.slice(start.length), ...words.slice(at + 1)].join(' ').replaceAll(/["'\\]/g, '')
    const [command = '', ...rest] = line.split(/\s+/).map((one) => one.replace(/^--[\w-]+=/, ''))
    return [
      asSubcommand(
        command.toLowerCase(),
        rest.filter((one) => one !== '' && !one.startsWith('-')),
      ),
    ]
  })
}

/** Options whose value is asked as if it were typed. */
const ASKS = /^(?:-[a-zA-Z]*[qz]|--query)$/
const ASKS_ATTACHED = /^(?:--query=|-[a-zA-Z]*?[qz](?=[$`]))?\s*/

/** Of what is known only when it runs the worst: what is asked may begin as a typed command does. */
function unknownIn(words: readonly Word[]): readonly Words[] {
  const isUnknown = ({ text, mask, dynamic }: Word) => {
    const start = ASKS_ATTACHED.exec(text)![0].length
    return dynamic && (mask[start] === 'd' || /[$`]/.test(text[start] ?? ''))
  }
  const first = words.findIndex(({ text }) => !text.startsWith('-'))
  return words.some((word, at) => {
    const isAttached = /^(?:--query=|-[a-zA-Z]*?[qz][$`])/.test(word.text)
    const isRequested = isAttached || ASKS.test(words[at - 1]?.text ?? '')
    const isTyped = at === first || (at === first + 1 && words[first]?.text === 'chat')
    return (isRequested || isTyped) && isUnknown(word)
  })
    ? [['approvals', 'answer']]
    : []
}

/** Where a typed command is written otherwise than the subcommand that does the same. */
function asSubcommand(command: string, rest: readonly string[]): Words {
  if (command === 'approvals' && rest.length > 1 && rest[0] !== 'revoke') return [command, 'answer', ...rest]
  if (command === 'config' && rest.length > 1) return [command, 'set', ...rest]
  if (command === 'account' && rest.length > 0) return ['auth', 'use', ...rest]
  return [command, ...rest]
}

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
  matches: (invocation) => {
    const [command, verb = ''] = commandOf(invocation)
    if (command === 'skills') return ['approve', 'accept', 'install'].includes(verb)
    if (command === 'memory') return verb === 'approve'
    return command === 'approvals' && verb === 'answer'
  },
}

/** What an agent would do to its own rules and settings with the commands of Hermes. */
export const HERMES_RULES: readonly CommandRule[] = Object.freeze([
  {
    rule: 'hermes-permissions',
    reason: 'changes what Hermes may do',
    programs: ['hermes', ...RUNNERS],
    matches: (invocation: Invocation) => {
      const [command, verb = '', key = ''] = commandOf(invocation)
      if (command === null) return false
      if (texts(invocation.args).some((word) => LOOSENING.includes(word))) return command !== 'permissions'
      if (command === 'permissions') return !['list', 'explain', 'help', ''].includes(verb)
      if (command === 'pairing') return !['list', 'help', ''].includes(verb)
      // Whoever starts these answers for the person.
      if (command === 'acp' || (command === 'mcp' && verb === 'serve')) return true
      const isChange = verb === 'set' || verb === 'unset'
      return command === 'config' && isChange && /^(?:approvals|command_allowlist|security|people)\b/.test(key)
    },
  },
  {
    rule: 'hermes-send',
    reason: 'sends a message in your name',
    programs: ['hermes', ...RUNNERS],
    matches: (invocation: Invocation) => commandOf(invocation)[0] === 'send',
  },
  {
    rule: 'hermes-config',
    reason: 'changes how Hermes behaves',
    programs: ['hermes', ...RUNNERS],
    matches: (invocation: Invocation) => {
      const [command, verb = ''] = commandOf(invocation)
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
    },
  },
])

const accepts = ({ args }: Invocation): boolean => texts(args).includes('--accept')

/** The words behind the name of Hermes, options left out; first `null` when it is another program. */
function commandOf({ name, args }: Invocation): readonly [string | null, ...string[]] {
  const words = texts(args)
  if (name === 'hermes') return ofHermes(words)
  const at = words.findIndex((word) => HERMES.test(word))
  if (at === -1) return [null]
  // `npx -p @hermes/cli hermes`
  const isNamedAgain = HERMES.test(words[at + 1] ?? '')
  return ofHermes(words.slice(at + (isNamedAgain ? 2 : 1)))
}

function ofHermes(words: readonly string[]): readonly [string, ...string[]] {
  const isProfile = (word: string | undefined) => word === '-p' || word === '--profile'
  const [command = '', ...rest] = words.filter((word, at) => !word.startsWith('-') && !isProfile(words[at - 1]))
  return [command, ...rest]
}

import { type Invocation, texts } from './invocation.js'
import type { CommandRule } from './rule.js'

const RUNNERS = ['node', 'npx', 'npm', 'pnpm', 'pnpx', 'yarn', 'bun', 'bunx', 'deno', 'tsx']
const HERMES = /(?:^|\/)(?:hermes|bin\.js|@hermes\/cli(?:@[^/]*)?)$/

/** An agent never answers for the person it should ask. */
export const ANSWERS_ITSELF: CommandRule = {
  rule: 'self-approval',
  reason: 'answers a question that is meant for the user',
  programs: ['hermes', ...RUNNERS],
  matches: (invocation) => {
    const [command, verb] = commandOf(invocation)
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
      if (texts(invocation.args).includes('--yolo')) return command !== 'permissions'
      if (command === 'permissions') return !['list', 'explain', 'help', ''].includes(verb)
      return command === 'config' && verb === 'set' && /^(?:approvals|command_allowlist|security)\b/.test(key)
    },
  },
  {
    rule: 'hermes-config',
    reason: 'changes how Hermes behaves',
    programs: ['hermes', ...RUNNERS],
    matches: (invocation: Invocation) => {
      const [command, verb = ''] = commandOf(invocation)
      if (command === 'config') return verb === 'set'
      if (command === 'auth') return !['list', 'status', 'help', ''].includes(verb)
      if (command === 'trust') return verb === 'add' || verb === 'remove'
      if (command === 'backup') return verb === 'restore'
      if (command === 'audit') return verb === 'prune'
      return command === 'sessions' && (verb === 'delete' || verb === 'prune')
    },
  },
])

/** The words behind the name of Hermes, options left out; first `null` when it is another program. */
function commandOf({ name, args }: Invocation): readonly [string | null, ...string[]] {
  const words = texts(args).filter((word) => !word.startsWith('-'))
  if (name === 'hermes') return [words[0] ?? '', ...words.slice(1)]
  const at = words.findIndex((word) => HERMES.test(word))
  return at === -1 ? [null] : [words[at + 1] ?? '', ...words.slice(at + 2)]
}

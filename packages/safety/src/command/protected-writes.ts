import { type Protection, protectionOf } from '../path/protected.js'
import { resolveShellPath } from './context.js'
import { type Invocation, texts } from './invocation.js'
import type { CommandRule } from './rule.js'
import { writeTargets } from './write-targets.js'

/** What only file tools ask about: commands are kept from it by isolation, or see it as always. */
const UNASKED: readonly string[] = Object.freeze(['device', 'private-place', 'credential-name'])

/** One rule for each kind of protected file: writing it by any program, reading it by one of `readers`. */
export function checkProtected(readers: readonly string[]): CommandRule[] {
  const writes = [
    ['hermes-secrets', 'changes credentials of Hermes'],
    ['hermes-permissions', 'changes what Hermes may do'],
    ['hermes-store', 'changes the database of Hermes'],
    ['hermes-config', 'changes how Hermes behaves'],
    ['ssh-config', 'changes where ssh connects to'],
    ['credential-write', 'changes keys or credentials'],
    ['sudoers', 'changes administrator rights'],
    ['env-file', 'changes a file with secrets'],
    ['device', 'writes into the kernel'],
    ['shell-startup', 'changes what runs when a shell or session starts'],
    ['system-file', 'changes files of the system'],
    ['git-internals', 'changes what git runs'],
  ] as const
  return [
    ...writes.map(([rule, reason]) => ({
      rule,
      reason,
      matches: (invocation: Invocation) =>
        writeTargets(invocation).some((path) => ruleOf(path, 'write', invocation) === rule),
    })),
    {
      rule: 'crontab',
      reason: 'changes what runs on a schedule',
      programs: ['crontab', 'at', 'batch'],
      matches: ({ args }: Invocation) => !texts(args).some((word) => /^-[lcqVt]$/.test(word)),
    },
    {
      rule: 'credential-read',
      reason: 'reads keys or credentials',
      programs: readers,
      matches: (invocation: Invocation) =>
        texts(invocation.args).some((path) => {
          const rule = ruleOf(path.replace(/^(?:@|[a-z]\w*=@?)/, ''), 'read', invocation)
          return rule !== null && !UNASKED.includes(rule)
        }),
    },
  ]
}

function ruleOf(path: string, access: 'read' | 'write', { context }: Invocation): Protection['rule'] | null {
  const resolved = resolveShellPath(path, context)
  if (/^\/dev\//.test(resolved)) return null
  return protectionOf(resolved, access, context)?.rule ?? null
}

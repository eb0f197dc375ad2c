import { type CommandContext, resolveShellPath } from './context.js'
import { type Invocation, texts } from './invocation.js'
import { holdsProtected, mayName, placesOf } from './may-name.js'
import { PROGRAMS } from './program-tables.js'
import { isSecretPath } from './reads-secrets.js'
import type { CommandRule, Finding } from './rule.js'
import { outsideWorkspace, writeTargets } from './write-targets.js'

const WRITES = Object.freeze([
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
] as const)

const KEY_OPTION = /^(?:-i|-F|--identity|--key|--cert)$/

/** Which kinds of protected files a program writes. */
export function protectedWrites(invocation: Invocation): readonly Finding[] {
  const targets = [...new Set(writeTargets(invocation))]
  const places = placesOf(invocation.context)
  // Nobody knows that it is not a home folder.
  const atHome = invocation.context.cwd === undefined ? targets.filter((path) => /^\.\w/.test(path)) : []
  const paths = [...targets, ...atHome.map((path) => `~/${path}`)]
  const found = new Set(paths.map((path) => mayName(path, 'write', invocation.context, places)?.rule))
  if (UNPACKS.test(invocation.name) && targets.some((path) => isHermesHome(path, invocation.context)))
    found.add('hermes-permissions')
  return WRITES.filter(([rule]) => found.has(rule)).map(([rule, reason]) => ({ rule, reason }))
}

/** What they write in a folder, an archive or a patch says. */
const UNPACKS = /^(?:tar|bsdtar|unzip|7z|7za|cpio|patch)$/

const isHermesHome = (path: string, context: CommandContext): boolean =>
  context.home !== undefined && resolveShellPath(path, context) === resolveShellPath(context.home, context)

/** Schedules, what runs at a start, and keys that are read. */
export const PROTECTED_RULES: readonly CommandRule[] = Object.freeze([
  {
    rule: 'crontab',
    reason: 'changes what runs on a schedule',
    programs: ['crontab', 'at', 'batch'],
    matches: ({ args }: Invocation) => !texts(args).some((word) => /^-[lcqVt]$/.test(word)),
  },
  {
    rule: 'shell-startup',
    reason: 'has something run when the machine or a session starts',
    programs: ['systemctl', 'launchctl'],
    matches: ({ args }: Invocation) =>
      texts(args).some((word) =>
        /^(?:enable|reenable|link|edit|preset|add-(?:wants|requires)|set-default|load|bootstrap|submit|import-environment|set-environment)$/.test(
          word,
        ),
      ),
  },
  {
    rule: 'credential-read',
    reason: 'reads keys or credentials',
    matches: readsCredentials,
  },
])

function readsCredentials(invocation: Invocation): boolean {
  const { name, args, redirects, context } = invocation
  const words = texts(args)
  const inputs = redirects.filter(({ operator }) => operator === '<').map(({ target }) => target.text)
  const isRead = !PROGRAMS.namesOnly.includes(name) && !PROGRAMS.logIn.has(name)
  const base =
    name === 'tar' || name === 'bsdtar'
      ? words.find((_, at) => /^(?:-C|--directory)$/.test(words[at - 1] ?? ''))
      : undefined
  const input = isRead ? words.filter((_, at) => !KEY_OPTION.test(words[at - 1] ?? '')) : []
  const named = input.flatMap((word) => {
    const path = word.replace(/^(?:--?[\w-]+=@?|@|[a-z]\w*=@?)/, '').replace(/^file:\/\/(?:localhost)?(?=\/)/i, '')
    if (base === undefined || path.startsWith('-')) return [path]
    return word === base ? [] : [`${base}/${path}`, path]
  })
  const [paths, places] = [[...new Set([...named, ...inputs])], placesOf(context)]
  if (paths.some((path) => mayName(path, 'read', context, places) !== null)) return true
  if (paths.some((path) => outsideWorkspace([path], context).some(isSecretPath))) return true
  if (paths.some((path) => mayName(path, 'write', context, places)?.rule === 'hermes-store')) return true
  if (name === 'find' || name === 'fd') return searchesHome(invocation, words)
  return PROGRAMS.takeFolders.has(name) && named.some((path) => holdsProtected(path, context))
}

/** A search of the home folder, or of hidden folders in it, whose finds are handed on. */
function searchesHome({ context }: Invocation, words: readonly string[]): boolean {
  if (!words.some((word) => /^-(?:exec|execdir|ok|okdir|fprint\w*|fls|X|x|-exec(?:-batch)?)$/.test(word))) return false
  const roots = words.filter(
    (word, at) => !word.startsWith('-') && !words.slice(0, at).some((one) => /^-(?!H|L|P)/.test(one)),
  )
  return outsideWorkspace(roots, context).some((root) => root === '~' || root.startsWith('~/') || root === '/')
}

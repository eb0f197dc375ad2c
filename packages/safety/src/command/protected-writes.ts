import { type CommandContext, resolveShellPath } from './context.js'
import { type Invocation, texts } from './invocation.js'
import { printedText } from './known-text.js'
import { holdsHome, holdsProtected, mayName, placesOf } from './may-name.js'
import { PROGRAMS } from './program-tables.js'
import { isSecretPath } from './reads-secrets.js'
import type { CommandRule, Finding } from './rule.js'
import { filesReadBySql } from './sql.js'
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

/** Programs that log in with the key in `-i`, or as the settings in `-F` say, and show neither. */
const BY_KEY = /^(?:ssh|scp|sftp|rsync|mosh|autossh|sshfs|sshpass|ssh-copy-id|age|rage)$/
/** Options whose value is a key to log in with. */
const KEY_OPTION =
  /^--(?:identity|key|key-file|cert|private-key|client-key|client-certificate|certificate-authority|kubeconfig|tls(?:key|cert|cacert)|vault-password-file)$/
/** Programs that speak to a service of theirs, which such options may name behind `=`. */
const SERVICES = /^(?:kubectl|oc|helm|docker|podman|nerdctl|ansible(?:-\w+)?|terraform|tofu)$/
/** Words that git, and those, take as they are. */
const SPOKEN = /^(?:-m|--message|--author|--grep|-S|-G)$/

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
  const base = /^(?:tar|bsdtar|git)$/.test(name)
    ? words.find((_, at) => /^(?:-C|--directory)$/.test(words[at - 1] ?? ''))
    : undefined
  const input = isRead ? words.filter((word, at) => !isKeyToLogIn(name, word, words[at - 1] ?? '')) : []
  const named = input.flatMap((word) => {
    const path = word.replace(/^(?:--?[\w-]+=@?|@|[a-z]\w*=@?)/, '').replace(/^file:\/\/(?:localhost)?(?=\/)/i, '')
    if (base === undefined || path.startsWith('-')) return [path]
    return word === base ? [] : [`${base}/${path}`, path]
  })
  const all = [...named, ...inputs, ...listedPaths(invocation), ...filesReadBySql(invocation)]
  const [paths, places] = [[...new Set(all)], placesOf(context)]
  if (paths.some((path) => mayName(path, 'read', context, places) !== null)) return true
  if (paths.some((path) => outsideWorkspace([path], context).some(isSecretPath))) return true
  if (paths.some((path) => mayName(path, 'write', context, places)?.rule === 'hermes-store')) return true
  if (isRead && invocation.via === 'xargs' && invocation.input.from.some(findsInHome)) return true
  if (name === 'find' || name === 'fd') return searchesHome(invocation, words)
  const takesFolders =
    PROGRAMS.takeFolders.has(name) ||
    (name === 'git' && words.includes('--no-index')) ||
    (/^(?:docker|podman|nerdctl|kubectl|oc)$/.test(name) && words.includes('cp'))
  return takesFolders && named.some((path) => holdsProtected(path, context))
}

/** Names of files that a program takes from a list which the line itself makes up. */
function listedPaths({ name, args, inner, input }: Invocation): readonly string[] {
  const isList = args.some(({ text }) => /^(?:-T|-@|--files0?-from|--from-file)(?:=|$)/.test(text))
  if (name !== 'cpio' && !isList) return []
  const printed = inner.flatMap((one) => printedText(one) ?? [])
  return [...printed, input.text ?? ''].flatMap((text) => text.split(/[\n\0]/)).filter((path) => path !== '')
}

/** Whether what a program finds may lie anywhere in the home folder. */
function findsInHome(invocation: Invocation): boolean {
  if (/^(?:locate|plocate|mlocate|mdfind)$/.test(invocation.name)) return true
  return /^(?:find|fd|fdfind)$/.test(invocation.name) && rootsInHome(invocation, texts(invocation.args))
}

/** Whether a word is what a program logs in with, or says, and does not read for anybody. */
function isKeyToLogIn(name: string, word: string, before: string): boolean {
  if (BY_KEY.test(name) && /^-[iF]$/.test(before)) return true
  if (SERVICES.test(name) && KEY_OPTION.test(word.replace(/=.*$/s, ''))) return true
  return KEY_OPTION.test(before) || (name === 'git' && SPOKEN.test(before))
}

/** A search of the home folder, or of hidden folders in it, whose finds are handed on. */
function searchesHome(invocation: Invocation, words: readonly string[]): boolean {
  const handsOn = words.some((word) => /^-(?:exec|execdir|ok|okdir|fprint\w*|fls|X|x|-exec(?:-batch)?)$/.test(word))
  return handsOn && rootsInHome(invocation, words)
}

function rootsInHome({ context }: Invocation, words: readonly string[]): boolean {
  const roots = words.filter(
    (word, at) => !word.startsWith('-') && !words.slice(0, at).some((one) => /^-(?!H|L|P)/.test(one)),
  )
  return outsideWorkspace(roots, context).some(
    (root) => root === '~' || root.startsWith('~/') || holdsHome(root, context),
  )
}

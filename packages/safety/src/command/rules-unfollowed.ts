import { posix } from 'node:path'
import type { CommandContext } from './context.js'
import { type Invocation, readOptions, texts } from './invocation.js'
import { awayFolder } from './named-targets.js'
import { PROGRAMS } from './program-tables.js'
import { interpreterOf, isKnownProgram } from './programs.js'
import type { CommandRule } from './rule.js'
import { outsideWorkspace, writeTargets } from './write-targets.js'

/** Where nothing holds commands to the workspace: what they do elsewhere, and what cannot be followed, asks. */
export const UNFOLLOWED_RULES: readonly CommandRule[] = Object.freeze([
  {
    rule: 'write-beyond',
    reason: 'changes files outside the workspace',
    about: (invocation: Invocation) => foldersOf(changedOutside(invocation)),
    matches: (invocation: Invocation) => !isConfined(invocation) && changedOutside(invocation).length > 0,
  },
  {
    rule: 'unknown-program',
    reason: 'hands files outside the workspace to a program that nothing is known about',
    about: (invocation: Invocation) => foldersOf(homePaths(invocation)).map((folder) => `${invocation.name} ${folder}`),
    matches: (invocation: Invocation) => !isConfined(invocation) && homePaths(invocation).length > 0,
  },
  {
    rule: 'project-beyond',
    reason: 'builds or changes a project outside the workspace, or runs what that one says',
    matches: (invocation: Invocation) => !isConfined(invocation) && isProjectBeyond(invocation),
  },
])

/** Words behind which a program only shows something of a project. */
const SHOWS =
  /^(?:--version|-V|--help|-h|help|version|log|st|status|info|diff|list|ls|show|cat|blame|annotate|tree|metadata|outdated|doc|env|vet|validate|output|dependency:\w+|check-updates)$/
/** Words that take away or replace what is there. */
const TAKES_AWAY =
  /clean|purge|reset|remove|^rm$|erase|delete|expunge|destroy|uninstall|revert|abandon|force|clear|^(?:up|update|switch)$/i
/** Options, and settings, whose path is only read. */
const ONLY_READ =
  /^(?:-[DI].*|-P.+|-s|--settings|-gs|--global-settings|-t|--toolchains|--toolchain|--config-settings|--python|-p?ython)$/

const HANGING = /^-[DIP]./

/** Whether a program which builds or changes projects is told one of the person's home outside the workspace, or has gone to it. */
function isProjectBeyond({ name, args, context }: Invocation): boolean {
  if (!PROGRAMS.builders.has(name)) return false
  const words = texts(args)
  if (SHOWS.test(words.find((word) => /^[^-/~.]/.test(word)) ?? words[0] ?? '')) return false
  const isTaken = words.some((word) => TAKES_AWAY.test(word))
  const named = words
    .filter(
      (word, at) =>
        isTaken || !(ONLY_READ.test(word) || (ONLY_READ.test(words[at - 1] ?? '') && !HANGING.test(words[at - 1]!))),
    )
    .flatMap((word) => [word, word.replace(/^-[a-zA-Z]/, ''), ...(/[=:,]/.test(word) ? word.split(/[=:,]/) : [])])
  const isBeside = (path: string) => /^(?:\.\.\/?)+(?:[^./]|$)/.test(path)
  const paths = named.filter((word) => /^(?:[/~]|\.\.(?:\/|$))/.test(word) && (isTaken || !isBeside(word)))
  // `cd` goes there, as an option of its own would.
  const at = isTaken ? '.' : awayFolder(context)
  return outsideWorkspace(at === null ? paths : [...paths, at], context).some((path) => isInHome(path, context))
}

/** What a program writes, or whose rights it changes. */
function changedOutside(invocation: Invocation): readonly string[] {
  const { name, args, context } = invocation
  const { operands } = readOptions(args)
  // The first says whose rights, or which; `setfacl -b` takes them all.
  const rights = /^(?:chmod|chown|chgrp|chattr)$/.test(name) ? operands.slice(1) : name === 'setfacl' ? operands : []
  return outsideWorkspace([...writeTargets(invocation), ...rights], context)
}

const isConfined = ({ context }: Invocation): boolean => context.isolated === true

/** What an unknown program, or the script of an interpreter, is given of the person's home outside the workspace. */
function homePaths(invocation: Invocation): readonly string[] {
  const { program, redirects } = invocation
  if (invocation.name === '' || /^\/(?:usr|opt)\//.test(program.text)) return []
  const input = unknownWords(invocation).flatMap((word) => [word, word.replace(/^(?:--?[\w-]+=|-\w|\w+=|@)/, '')])
  // In a folder outside every word may be a file there.
  const isAway = outsideWorkspace(['.'], invocation.context).length > 0
  const read = redirects.filter(({ operator }) => operator === '<').map(({ target }) => target.text)
  const isUnknown = !isKnownProgram(invocation.name) || interpreterOf(invocation.name) !== null
  const paths = [...input, ...(isUnknown ? read : [])].filter(
    (word) => /^(?:[/~]|\.\.?(?:\/|$))/.test(word) || (isAway && /^\w/.test(word)),
  )
  return outsideWorkspace(paths, invocation.context).filter((path) => isInHome(path, invocation.context))
}

const isInHome = (path: string, { userHome }: CommandContext): boolean =>
  path === '~' || path.startsWith('~/') || (userHome === undefined && /^\/(?:home|Users)\/[^/]/.test(path))

/** The words that go to code of which nothing is known: all those of such a program, those behind the script of an interpreter. */
function unknownWords({ name, args }: Invocation): readonly string[] {
  const words = texts(args)
  if (!isKnownProgram(name) || name.includes('/')) return words
  if (!PROGRAMS.shells.includes(name) && interpreterOf(name) === null) return []
  const script = words.findIndex((word) => !word.startsWith('-'))
  const isModule = words.slice(0, Math.max(script, 0)).some((word) => /^-[a-zA-Z]*[mc]$/.test(word))
  if (script === -1 || (isModule && (!words.includes('-m') || PROGRAMS.plainModules.has(words[script]!)))) return []
  return words.slice(script + 1)
}

/** The folders that leave counts for. What is copied into a file that may be a folder lies in that one's. */
function foldersOf(paths: readonly string[]): readonly string[] {
  const all = new Set(paths)
  return [...all].filter((path) => !all.has(posix.dirname(path)) || path === '/').map(folderOf)
}

/** The folder that leave counts for; what lies in the home itself, alone. */
function folderOf(path: string): string {
  const folder = posix.dirname(path)
  return folder === '~' || folder === '/' || folder === '.' ? path : folder
}

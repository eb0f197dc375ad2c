import { posix } from 'node:path'
import type { CommandContext } from './context.js'
import { type Invocation, readOptions, texts } from './invocation.js'
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
])

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
  const { program } = invocation
  if (invocation.name === '' || /^\/(?:usr|opt)\//.test(program.text)) return []
  const input = unknownWords(invocation).flatMap((word) => [word, word.replace(/^(?:--?[\w-]+=|-\w|\w+=|@)/, '')])
  // In a folder outside every word may be a file there.
  const isAway = outsideWorkspace(['.'], invocation.context).length > 0
  const paths = input.filter((word) => /^(?:[/~]|\.\.?(?:\/|$))/.test(word) || (isAway && /^\w/.test(word)))
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

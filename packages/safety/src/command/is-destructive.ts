import { collectInvocations } from './collect.js'
import { type CommandContext, resolveShellPath } from './context.js'
import { hasOption, type Invocation, readOptions, texts } from './invocation.js'
import { gitCommand } from './rules-git.js'
import { writeTargets } from './write-targets.js'

const ALWAYS: ReadonlySet<string> = new Set([
  ...['rm', 'rmdir', 'unlink', 'cp', 'install', 'mv', 'rename', 'truncate', 'dd', 'shred', 'srm', 'ln', 'rsync'],
  ...['chmod', 'chown', 'chgrp', 'chattr', 'setfacl', 'patch', 'unzip', '7z', 'unrar', 'cpio', 'ed', 'ex'],
  ...['dos2unix', 'unix2dos', 'black', 'isort', 'autopep8', 'rustfmt', 'shfmt', 'clang-format', 'prettier', 'trash'],
])
const GIT_VERBS: ReadonlySet<string> = new Set([
  ...['reset', 'clean', 'checkout', 'restore', 'rm', 'mv', 'switch', 'stash', 'pull', 'merge', 'rebase', 'revert'],
  ...['cherry-pick', 'apply', 'am', 'read-tree', 'checkout-index', 'sparse-checkout', 'filter-branch', 'submodule'],
])
/** Programs that run code of any kind: a script, or text on the command line. */
const INTERPRETERS = /^(?:python[\d.]*|node|nodejs|deno|bun|tsx|perl|ruby|php|lua|Rscript|osascript|pwsh)$/
const RUNNERS: ReadonlySet<string> = new Set(['make', 'just', 'task', 'npm', 'pnpm', 'yarn', 'cargo', 'gradle', 'mvn'])
const TASK_THAT_DELETES = /clean|reset|purge|wipe|delete|remove|drop|prune|fix|fmt|format|migrate/
const IN_PLACE_FLAGS = ['--write', '--fix', '--in-place', '--inplace', '--delete', '--overwrite', '--force']

/**
 * Whether a command may delete or overwrite files, so that a checkpoint before it is worth its time: what removes, moves, copies over or
 * truncates, changes modes or links, edits in place or formats, unpacks, takes a working tree elsewhere in git, runs a script whose
 * doing is not known, or redirects over a file. Not a safety judgement.
 */
export function isDestructive(command: string): boolean {
  return collectInvocations(command, {}).invocations.some(overwrites)
}

/**
 * The paths that a destructive command names as its targets, absolute or beginning with `~` where that can be told. Patterns of the
 * shell are cut off at the last folder before them.
 */
export function destroyedPaths(command: string, context: CommandContext): readonly string[] {
  const targets = collectInvocations(command, context)
    .invocations.filter(overwrites)
    .flatMap((invocation) => writeTargets(invocation).map((path) => resolved(path, invocation.context)))
  return [...new Set(targets)]
}

function resolved(path: string, context: CommandContext): string {
  const pattern = path.search(/[*?[{]/)
  const known = pattern < 0 ? path : path.slice(0, path.lastIndexOf('/', pattern) + 1) || '.'
  return resolveShellPath(known, context)
}

function overwrites(invocation: Invocation): boolean {
  const { name, args, redirects } = invocation
  const replaces = redirects.some(
    ({ operator, target }) =>
      ['>', '>|', '&>', '>&'].includes(operator) && !/^(?:\d+-?|-|\/dev\/.*)$/.test(target.text),
  )
  return replaces || ALWAYS.has(name) || rewrites(name, args) || runsUnknownCode(name, args)
}

function rewrites(name: string, args: Invocation['args']): boolean {
  const options = readOptions(args)
  const words = texts(args)
  switch (name) {
    case 'sed':
    case 'gsed':
      return hasOption(options, 'i', 'in-place')
    case 'tee':
      return !hasOption(options, 'a', 'append')
    case 'find':
      return words.includes('-delete') || words.includes('-fprint')
    case 'tar':
    case 'bsdtar':
      return hasOption(options, 'x', 'extract', 'get') || /^[a-zA-Z]*x/.test(words[0] ?? '')
    case 'sort':
      return hasOption(options, 'o', 'output')
    case 'curl':
      return hasOption(options, 'oO', 'output', 'remote-name')
    case 'wget':
      return hasOption(options, 'O', 'output-document')
    case 'gofmt':
      return hasOption(options, 'w')
    case 'git':
      return GIT_VERBS.has(gitCommand(args).verb)
    default:
      return words.some((word) => IN_PLACE_FLAGS.includes(word))
  }
}

function runsUnknownCode(name: string, args: Invocation['args']): boolean {
  const words = texts(args)
  if (INTERPRETERS.test(name)) return words.some((word) => !/^--?(?:v|V|h|version|help)$/.test(word))
  return RUNNERS.has(name) && words.some((word) => TASK_THAT_DELETES.test(word))
}

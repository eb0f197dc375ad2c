import { collectInvocations } from './collect.js'
import { hasOption, type Invocation, readOptions } from './invocation.js'
import { gitCommand } from './rules-git.js'

const ALWAYS = Object.freeze(['rm', 'rmdir', 'unlink', 'cp', 'install', 'mv', 'truncate', 'dd', 'shred'])

/**
 * Whether a command may delete or overwrite files, so that a checkpoint before it is worth its time: `rm`, `rmdir`, `cp`, `install`,
 * `mv`, `sed -i`, `truncate`, `dd`, `shred`, `git reset/clean/checkout/restore`, an overwriting redirect. Not a safety judgement.
 */
export function isDestructive(command: string): boolean {
  return collectInvocations(command, {}).invocations.some(overwrites)
}

function overwrites({ name, args, redirects }: Invocation): boolean {
  const replaces = redirects.some(
    ({ operator, target }) =>
      ['>', '>|', '&>', '>&'].includes(operator) && !/^(?:\d+-?|-|\/dev\/.*)$/.test(target.text),
  )
  if (replaces || ALWAYS.includes(name)) return true
  if (name === 'sed' || name === 'gsed') return hasOption(readOptions(args), 'i', 'in-place')
  return name === 'git' && ['reset', 'clean', 'checkout', 'restore', 'rm'].includes(gitCommand(args).verb)
}

import type { Collected } from './command/collect.js'
import { sayLooks } from './command/looking-verbs.js'
import { expands, UNKNOWN_DIGEST } from './grants.js'

/**
 * Rules whose grant for a session is for more than the one action that was asked about, and what that is. Each names what it is about, and
 * the question says so; a grant for any other rule is for the same action alone.
 */
const BROAD: readonly (readonly [rule: RegExp, says: string | ((rule: string, name: string) => string)])[] =
  Object.freeze([
    [/^write-beyond:(.+)$/, 'every command that changes files in $1'],
    [/^files-in:(.+)$/, 'every file that is written in $1'],
    [/^unknown-program:(\S+) (.+)$/, '$1 with files in $2'],
    [/^(?:runs-later|outside-text-instructions):(.+)$/, 'every change of $1'],
    [/^network-(?!beside-)([^-]\S*?)-([\w-]+(?:\.[\w-]+)+)$/, '$1 to $2'],
    [/^unisolated-git:(.+)$/, 'git $1, whatever the branch'],
    [/^unisolated-looks:(.+)$/, (_, program) => sayLooks(program)],
    [/^unisolated-looks-in:(.+)$/, (_, place) => `${place} with any command that only looks`],
    [/^outside-workspace$/, 'every file that is read outside the workspace'],
  ])

/** What a grant for the session says, for the rules where it is for more than the same action; empty where it is for that alone. */
export function broadGrants(rules: readonly string[]): readonly string[] {
  return rules.flatMap((rule) => {
    const found = BROAD.find(([pattern]) => pattern.test(rule))
    return found ? [rule.replace(found[0], found[1] as string)] : []
  })
}

/** Whether a grant for the rule is for all that its name says. */
function isBroad(rule: string): boolean {
  return BROAD.some(([pattern]) => pattern.test(rule))
}

/** Whether the same line does the same again: all of its words are known, and so is what its files hold. */
export function isRepeatable(collected: Collected | null, digest: string | null): boolean {
  if (collected === null) return true
  const { invocations, forkBombs, complete } = collected
  if (!complete || forkBombs.length > 0 || digest === UNKNOWN_DIGEST) return false
  return invocations.every(({ program, args, redirects, variables }) => {
    const words = [program, ...args, ...redirects.map(({ target }) => target), ...variables.map(({ value }) => value)]
    return !words.some(({ dynamic }) => dynamic) && !redirects.some(expands)
  })
}

/** The name under which a grant for a rule is kept. */
export function grantName(rule: string, key: string): string {
  return isBroad(rule) ? rule : `${rule} @ ${key}`
}

/** Whether what is allowed for good by name covers a rule; a program without its words stands for all of them. */
export function isListed(names: ReadonlySet<string>, rule: string): boolean {
  return names.has(rule) || names.has(rule.replace(/^(unisolated-git):.*$|^(unisolated-)looks:/, '$1$2'))
}

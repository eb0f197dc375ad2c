// Programs of skills of others: which command runs one, and what it has to be asked for or denied then.
import { posix } from 'node:path'
import type { ActingSkill, Action, StartedLine, Subject } from '@hermes/contracts/policy'
import { collectInvocations } from './command/collect.js'
import { type Invocation, texts } from './command/invocation.js'
import { onlyLooks } from './command/only-looks.js'
import { commandText } from './describe-action.js'
import { HUB, isHashed, skillsReached } from './skill-reach.js'

/** Skills of others in a command line. */
export interface SkillsInCommand {
  /** Those whose folder it names, may reach or runs in: it has to see them. */
  readonly named: readonly ActingSkill[]
  /** The one it acts as; of several all at once, with what all of them may. `null` where it only looks at their files or copies them. */
  readonly acting: ActingSkill | null
}

/** What hands on the bytes of a file, or does nothing with it, whatever the file says. */
const HANDS_ON = new Set(['cd', 'cp', 'cat', 'echo', 'mkdir', 'printf', 'pwd', 'test', '['])
const KEEPS_IN_GIT = new Set(['add', 'mv', 'rm'])

const NONE: SkillsInCommand = { named: [], acting: null }

/**
 * The skills in a command line that starts in the absolute `cwd`. `isHeld`: isolation shows it those alone that it names, so others do not
 * count but those that are open; default true. Pure; never throws.
 */
export function skillsInCommand(
  command: string,
  {
    cwd,
    skills,
    isHeld = true,
  }: { readonly cwd: string; readonly skills: readonly ActingSkill[]; readonly isHeld?: boolean },
): SkillsInCommand {
  const isOutOfSight = ({ folder, isOpen, links }: ActingSkill) =>
    isHeld &&
    isOpen !== true &&
    links === undefined &&
    !`${command}\n${cwd}/`.includes(folder.slice(folder.lastIndexOf('/') + 1))
  if (skills.every(isOutOfSight)) return NONE
  const collected = collectInvocations(command, { cwd })
  const { invocations, complete } = collected
  // Quotes within a word do not hide it.
  const words = invocations.flatMap(({ program, args }) => [program.text, ...texts(args)])
  const folders = [cwd, ...invocations.flatMap(({ context }) => context.cwd ?? [])].map((path) =>
    posix.resolve(cwd, path),
  )
  const line = { words: [command, ...words].join('\n'), cwd, folders, isWhole: complete }
  const named = skills.filter((skill) => isNamed(skill, line))
  const others = skills.filter((skill) => !named.includes(skill) && (skill.isOpen === true || !isHeld))
  const reached = skillsReached(command, collected, {
    cwd,
    skills: others,
    isHeld,
    isOfHub: named.length === 0 && HUB.test(command),
  })
  const isRun =
    reached.length > 0 || (named.length > 0 && (!complete || invocations.some((one) => isActing(one, named))))
  const all = [...named, ...reached]
  return { named: all, acting: isRun ? together(all) : null }
}

interface Line {
  /** All that it says, as it was written and without quotes. */
  readonly words: string
  /** Where it starts. */
  readonly cwd: string
  /** Where it works. */
  readonly folders: readonly string[]
  /** Whether all of it could be followed. */
  readonly isWhole: boolean
}

/** Whether a line leads into a skill by links, or the parts of its folder stand in it. The last one of an installed skill ends in a hash: whatever stands around it means that folder. */
function isNamed({ folder, links }: ActingSkill, { words, cwd, folders, isWhole }: Line): boolean {
  if (links !== undefined) return true
  const parts = folder.split('/').slice(-3)
  const name = parts.at(-1)!
  const line = `${words}\n${cwd}/`
  if (!line.includes(name)) return false
  if (isHashed(folder)) return true
  if (!parts.every((part) => hasPart(line, part))) return false
  // Beside a folder named test, `npm test` means no folder.
  const isInside = folders.some((path) => `${path}/`.startsWith(`${folder}/`))
  return isInside || !isWhole || parts.every((part) => hasPart(words, part)) || standsAsPath(words, name)
}

/** What puts words together to others. */
const COMPUTES = /[$`]|\bxargs\b/

/** Whether a name is part of a path, quoted in code, or anywhere where words are computed. */
function standsAsPath(words: string, name: string): boolean {
  if (COMPUTES.test(words)) return hasPart(words, name)
  for (let at = words.indexOf(name); at !== -1; at = words.indexOf(name, at + 1)) {
    const [before, after] = [words.slice(0, at), words[at + name.length] ?? '']
    const isEnd = !/[\w-]/.test(after)
    if (isEnd && before.endsWith('/')) return true
    if (after === '/' && !/[\w.-]$/.test(before)) return true
    if (/["']$/.test(before) && after === before.at(-1) && /[(,[+]\s*["']$/.test(before.slice(-20))) return true
  }
  return false
}

function hasPart(line: string, part: string): boolean {
  for (let at = line.indexOf(part); at !== -1; at = line.indexOf(part, at + 1))
    if (!/[\w.-]/.test(line[at - 1] ?? '') && !/[\w-]/.test(line[at + part.length] ?? '')) return true
  return false
}

/** Whether a program of the line may run what a skill says: all that stands beside one on a line can. */
function isActing({ name, program, args, written, variables, context }: Invocation, named: readonly ActingSkill[]) {
  const path = `${context.cwd ?? ''}/${program.text}`
  if (program.text.includes('/') && named.some(({ folder }) => path.includes(markOf(folder)))) return true
  if (program.text.includes('/') && named.some(({ links }) => links?.includes(posix.resolve(path)))) return true
  const isKept = name === 'git' && KEEPS_IN_GIT.has(args[0]?.text ?? '')
  const handsOn = (name === '' || isKept || HANDS_ON.has(name)) && variables.length === 0
  return !handsOn && !onlyLooks(written)
}

const markOf = (folder: string) =>
  isHashed(folder) ? folder.slice(folder.lastIndexOf('/') + 1) : `/${folder.split('/').slice(-2).join('/')}/`

function together(skills: readonly ActingSkill[]): ActingSkill {
  const [first, ...others] = skills
  if (others.length === 0) return first!
  const inAll = <T>(list: (skill: ActingSkill) => readonly T[]) =>
    list(first!).filter((one) => others.every((other) => list(other).includes(one)))
  return {
    name: skills.map(({ name }) => name).join('+'),
    folder: first!.folder,
    capabilities: inAll(({ capabilities }) => capabilities),
    variables: inAll(({ variables }) => variables),
  }
}

/** The line of a command or program. */
export const lineOf = (action: Extract<Action, { readonly type: 'spawn' }>): StartedLine => ({
  command: commandText(action),
  cwd: action.cwd,
})

/**
 * The skill that an action is done as; `null` for none. Where nothing holds the command, one that may reach a skill without naming it is of it
 * too. On other machines there are no skills of others.
 */
export function skillOf(
  action: Action,
  skills: readonly ActingSkill[],
  { writable }: Pick<Subject, 'writable'>,
): ActingSkill | null {
  if (action.type !== 'spawn' || action.backend !== 'local' || skills.length === 0) return null
  const isHeld = writable !== undefined && action.outside !== true
  return skillsInCommand(commandText(action), { cwd: action.cwd, skills, isHeld }).acting
}

/** Why the program of a skill may not do what its skill has not declared; `null` when it may. */
export function undeclaredBySkill(action: Action, { skill }: Subject): string | null {
  if (skill === undefined || action.type !== 'spawn' || action.network !== 'on') return null
  return skill.capabilities.includes('network')
    ? null
    : `programs of the skill ${skill.name} have no network, which it has not declared; run what needs it in a command of its own`
}

/** What is asked about the program of a skill, however often it ran before where nothing holds it. */
export function skillAsks(
  action: Action,
  { skill, writable }: Subject,
): readonly { readonly rule: string; readonly reason: string }[] {
  if (skill === undefined || action.type !== 'spawn') return []
  const { name, capabilities } = skill
  const declared = capabilities.length === 0 ? 'has declared nothing' : `has declared ${capabilities.join(', ')}`
  if (writable === undefined || action.outside === true)
    return [
      {
        rule: 'skill-unheld',
        reason: `it is a program of the skill ${name}, which ${declared}, and nothing holds it here`,
      },
    ]
  return capabilities.includes('exec')
    ? []
    : [{ rule: `skill-exec-${name}`, reason: `the skill ${name} has not declared that it runs programs` }]
}

// Programs of installed skills: which command runs one, and what it has to be asked for or denied then.
import type { ActingSkill, Action, Subject } from '@hermes/contracts/policy'
import { collectInvocations } from './command/collect.js'
import type { Invocation } from './command/invocation.js'
import { onlyLooks } from './command/only-looks.js'
import { commandText } from './describe-action.js'
import { skillsReached } from './skill-reach.js'

/** Installed skills in a command line. */
export interface SkillsInCommand {
  /** Those whose folder it names or runs in: it has to see them. */
  readonly named: readonly ActingSkill[]
  /** The one it acts as; of several all at once, with what all of them may. `null` where it only looks at their files or copies them. */
  readonly acting: ActingSkill | null
}

/** What hands on the bytes of a file, or does nothing with it, whatever the file says. */
const HANDS_ON = new Set(['cd', 'cp', 'cat', 'echo', 'mkdir', 'printf', 'pwd', 'test', '['])

const NONE: SkillsInCommand = { named: [], acting: null }

/**
 * The installed skills in a command line that starts in the absolute `cwd`. `isHeld`: isolation shows it those alone that it names, so others
 * do not count; default true. Pure; never throws.
 */
export function skillsInCommand(
  command: string,
  {
    cwd,
    skills,
    isHeld = true,
  }: { readonly cwd: string; readonly skills: readonly ActingSkill[]; readonly isHeld?: boolean },
): SkillsInCommand {
  // The last part of such a folder ends in a hash: whatever stands around it means that folder.
  const parts = skills.map((skill) => ({ skill, mark: skill.folder.slice(skill.folder.lastIndexOf('/') + 1) }))
  const named = parts.filter(({ mark }) => `${command}\n${cwd}/`.includes(mark))
  if (named.length === 0) {
    const reached = isHeld ? [] : skillsReached(command, { cwd, skills })
    return reached.length === 0 ? NONE : { named: reached, acting: together(reached) }
  }
  const { invocations, complete } = collectInvocations(command, { cwd })
  const marks = named.map(({ mark }) => mark)
  const all = named.map(({ skill }) => skill)
  return { named: all, acting: !complete || invocations.some((one) => isActing(one, marks)) ? together(all) : null }
}

/** Whether a program of the line may run what a skill says: all that stands beside one on a line can. */
function isActing({ name, program, written, variables, context }: Invocation, marks: readonly string[]): boolean {
  const isOf = (path: string) => marks.some((mark) => path.includes(mark))
  if (program.text.includes('/') && isOf(`${context.cwd ?? ''}/${program.text}`)) return true
  const handsOn = (name === '' || HANDS_ON.has(name)) && variables.length === 0
  return !handsOn && !onlyLooks(written)
}

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

/**
 * The skill that an action is done as; `null` for none. Where nothing holds the command, one that may reach a skill without naming it is of it
 * too. On other machines there are no installed skills.
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

// A failure that was met three times is worth more than a note: it becomes a pitfall of the skill that is about it.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { errorLine, HermesError } from '@hermes/contracts'
import { SKILL_FILE, SKILL_NAME, type Skill } from '../format/skill.js'
import type { SkillWriter } from '../library/skill-writer.js'
import type { SkillLibrary } from '../skill-library.js'
import type { OftenMet } from '../skills-home.js'

/** Met as often as this. */
const OFTEN = 3
const MOST_AT_A_TIME = 5
/** Codes of errors that another time may not meet. */
const PASSING = /^(?:files\.|skills\.(?:changed|too_many_staged)$)/
const HEADING = /^##+ Pitfalls[^\n]*\n/im
const WORD = /[\p{L}\p{N}][\p{L}\p{N}_.-]*/gu

/** Puts what was met three times into skills of the home; gives a line for each. A skill that the person wrote waits for their yes. Rejects as the store does. */
export async function addPitfalls(library: SkillLibrary, writer: SkillWriter): Promise<readonly string[]> {
  const { home, records } = library
  const known = new Set(records.read().pitfalls)
  const often = (await home.learnt.often(OFTEN)).filter(({ id }) => !known.has(id))
  const done: string[] = []
  let settled = 0
  for (const learning of often) {
    if (settled === MOST_AT_A_TIME) break
    try {
      const line = await addPitfall(learning, library, writer)
      // Another change of that skill waits: it is this one's turn once that was answered.
      if (line === null) continue
      done.push(line)
    } catch (error) {
      home.logger.info('A failure became no pitfall of a skill.', { id: learning.id, error: errorLine(error) })
      if (error instanceof HermesError && PASSING.test(error.code)) break
      // It reads like an order, holds a secret, or its skill is damaged: another look would find the same.
    }
    settled++
    await records.change(({ pitfalls }) => ({ pitfalls: [...pitfalls, learning.id].slice(-1_000) }))
  }
  return done
}

/** `null` where another change of the skill waits for the person. */
async function addPitfall(learning: OftenMet, library: SkillLibrary, writer: SkillWriter): Promise<string | null> {
  const { home, records } = library
  const { skills } = await library.index(home.cwd)
  const own = [...skills.values()].filter(({ source }) => source === 'user')
  const skill = about(learning, own)
  const line = `- ${oneLine(learning.pattern)}: ${oneLine(learning.fix)}`
  const wanting = { cwd: home.cwd, sessionId: 'learnings', by: 'look back', taintedBy: learning.taintedBy } as const
  if (skill === null) {
    const program = nameOf(learning)
    const name = `${program}-pitfalls`
    if (await writer.waits(name)) return null
    const description = `What goes wrong with ${program} on this machine, and what helps. Load it before a task that needs ${program}.`
    const content = `## When to use it\n\nBefore work with ${program}; not for other tools.\n\n## Pitfalls\n\n${line}\n`
    await writer.request({ action: 'create', name, description, content, force: true }, wanting)
    return `${name}: ${line.slice(2)}`
  }
  if (await writer.waits(skill.name)) return null
  const text = await readFile(join(skill.folder!, SKILL_FILE), 'utf8')
  const change = { action: 'edit', name: skill.name, content: withPitfall(text, line) } as const
  const why = `met ${OFTEN} times: ${oneLine(learning.pattern).slice(0, 80)}`
  const isPinned = records.read().skills[skill.name]?.isPinned === true
  if (!isPinned && (await library.isSelfWritten(skill))) await writer.request(change, wanting)
  else if ((await writer.propose(change, { ...wanting, why, before: text })) === null) return null
  return `${skill.name}: ${line.slice(2)}`
}

/** The skill whose name or description names the program; `null` where none does. */
function about({ subject }: OftenMet, skills: readonly Skill[]): Skill | null {
  const [program] = wordsOf(subject)
  if (program === undefined) return null
  const named = skills.filter(({ name, description }) =>
    wordsOf(`${name.replaceAll('-', ' ')} ${description}`).includes(program),
  )
  const whole = named.find(({ description, name }) =>
    wordsOf(subject).every((word) => wordsOf(`${name.replaceAll('-', ' ')} ${description}`).includes(word)),
  )
  return whole ?? named[0] ?? null
}

const wordsOf = (text: string): readonly string[] =>
  [...text.toLowerCase().matchAll(WORD)].map(([word]) => word.replace(/[.]+$/, ''))

/** A name for a skill of its own. */
function nameOf({ subject, pattern }: OftenMet): string {
  const [word = 'shell'] = wordsOf(subject.includes('/') ? 'files' : subject || pattern)
  const name = word
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 40)
  return SKILL_NAME.test(name) ? name : 'shell'
}

/** At the end of the section, or with one of its own at the end. */
function withPitfall(text: string, line: string): string {
  const found = HEADING.exec(text)
  if (!found) return `${text.trimEnd()}\n\n## Pitfalls\n\n${line}\n`
  const start = found.index + found[0].length
  const next = text.slice(start).search(/^#/m)
  const end = next < 0 ? text.length : start + next
  const section = text.slice(start, end).trimEnd()
  const rest = text.slice(end)
  return `${text.slice(0, start)}${section}\n${line}\n${rest === '' ? '' : `\n${rest}`}`
}

const oneLine = (text: string) => text.replace(/\s+/g, ' ').trim().slice(0, 400)

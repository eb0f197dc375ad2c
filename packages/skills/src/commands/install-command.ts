// What `/skills` does with skills of others.

import { join } from 'node:path'
import { HermesError, type JsonObject } from '@hermes/contracts'
import type { CommandContext, CommandOutput, CommandResult } from '@hermes/contracts/extension'
import { visibleText } from '@hermes/safety'
import type { SkillCapability, SkillHead } from '../format/skill.js'
import { PER_PAGE } from '../install/hub.js'
import type { OfferedSkill, SkillInstaller } from '../install/installer.js'
import { shownPath } from '../install/plain.js'
import { scanSkill } from '../install/scan-skill.js'
import { searchSkills } from '../install/search.js'
import type { SkillLibrary } from '../skill-library.js'

interface Parts {
  readonly library: SkillLibrary
  readonly installer: SkillInstaller
}

/** Fetches a source, and shows what it is; it waits for a yes. */
export async function install(
  from: string,
  args: JsonObject,
  { cwd, signal }: CommandContext,
  { installer }: Parts,
  expected?: Readonly<Record<string, string>>,
): Promise<CommandResult> {
  const id = args['id']
  const offer = await installer.offer(from, {
    ...{ cwd, signal },
    ...(typeof id === 'string' && id !== '' ? { id } : {}),
    ...(expected === undefined ? {} : { expected }),
  })
  switch (offer.type) {
    case 'several': {
      const rows = offer.skills.map(({ name, from: one }) => ({
        cells: [shownPath(name), one === '' ? UNNAMEABLE : `hermes skills install ${one}`],
        data: { name, from: one },
      }))
      return [say('There are several skills in it. Name one:'), { type: 'table', rows, empty: '' }]
    }
    case 'same':
      return say(`${offer.name} is installed as it is there.`)
    case 'one':
      // What nobody may install need not wait for anybody.
      if (isBlocked(offer.offered)) await installer.discard(offer.offered.id)
      return shown(offer.offered)
    default:
      return offer satisfies never
  }
}

const UNNAMEABLE = 'cannot be installed alone: git cannot get it, or its name is more than a word in a command'

const isBlocked = ({ scanned }: OfferedSkill) => scanned.findings.some(({ severity }) => severity === 'blocked')

function shown(offered: OfferedSkill): readonly CommandOutput[] {
  const { id, name, from, pin, scanned, installed, warnings } = offered
  const { head, files, bytes, findings } = scanned
  const high = warnings.length > 0 || findings.some(({ severity }) => severity === 'high')
  const changes = installed === null ? [] : changesBetween(installed.files, files)
  const lines = [
    `${name}: ${head.description.slice(0, 300)}`,
    `from ${from}${pin === null ? '' : ` at ${pin.slice(0, 12)}`}`,
    `files (${Object.keys(files).length}, ${Math.ceil(bytes / 1024)} KB): ${Object.keys(files).map(shownPath).join(', ')}`,
    ...(changes.length > 0 ? [`since the installed one: ${changes.join(', ')}`] : []),
    `its programs: ${mayDo(head, installed?.head.capabilities)}`,
    ...(head.variables.length > 0 ? [wants(head)] : []),
    ...warnings.map((text) => `LOOK: ${text}`),
    ...findings.map(
      ({ severity, text }) =>
        `${severity === 'note' ? 'note' : severity === 'high' ? 'LOOK' : 'NOT INSTALLED'}: ${text}`,
    ),
  ]
  const answer = `skills accept ${id}${high ? ' --force' : ''}`
  const text = say(visibleText(lines.join('\n')))
  if (isBlocked(offered)) return [text, { type: 'text', text: `${name} is not installed.`, isProblem: true }]
  return [
    text,
    say(`It does nothing yet. To install it: hermes ${answer}`),
    {
      type: 'choice',
      question: `Install ${name}?`,
      options: [
        { label: 'Install', line: `/${answer}` },
        { label: 'No', line: `/skills discard ${id}` },
      ],
    },
  ]
}

/** What is held back from its programs, and what an update would newly let them do. */
function mayDo({ capabilities }: SkillHead, before: SkillHead['capabilities'] = capabilities): string {
  const isNew = (one: SkillCapability) => (before.includes(one) ? '' : ' (new)')
  const has = (one: SkillCapability) => capabilities.includes(one)
  return [
    has('exec') ? `run${isNew('exec')}` : 'run only after a yes',
    has('network') ? `use the network${isNew('network')}` : 'no network',
    has('secrets') ? `get the variables it wants${isNew('secrets')}` : 'no keys',
  ].join(', ')
}

function wants({ capabilities, variables }: SkillHead): string {
  const none = capabilities.includes('secrets') ? '' : ', and gets none: it has not declared secrets'
  return `wants the variables: ${variables.join(', ')}${none}`
}

function changesBetween(before: Readonly<Record<string, string>>, after: Readonly<Record<string, string>>) {
  const all = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort()
  return all.flatMap((path) =>
    before[path] === after[path]
      ? []
      : [
          `${shownPath(path)} ${before[path] === undefined ? 'is new' : after[path] === undefined ? 'is gone' : 'is another one'}`,
        ],
  )
}

/** Puts what was shown in place. */
export async function accept(id: string, args: JsonObject, { library, installer }: Parts): Promise<CommandResult> {
  const { name } = await installer.accept(id, { force: args['force'] === true })
  const first = (await library.index(library.home.cwd)).skills.get(name)
  const hidden = first !== undefined && first.source !== 'installed'
  return say(
    hidden
      ? `Installed ${name}, but the ${first.source} skill of that name counts before it.`
      : `Installed ${name}. New sessions know it; here: /skill ${name}`,
  )
}

/** Looks whether installed skills are as they were agreed to, and scans them anew. */
export async function audit({ library }: Parts): Promise<CommandResult> {
  const { lock } = library
  const findings = await Promise.all(
    Object.entries(await lock.read()).map(async ([name, entry]) => {
      const problem = await lock.problemOf(name, entry)
      if (problem !== null) return [{ level: 'fail', text: problem } as const]
      const scanned = await scanSkill(join(lock.directory, entry.folder), name)
      const fresh = scanned.findings.filter(
        ({ severity, text }) => severity !== 'note' && !entry.findings.includes(text),
      )
      const at = `${name} from ${entry.from}${entry.pin === null ? '' : ` at ${entry.pin.slice(0, 12)}`}`
      return [
        { level: 'ok', text: `${at}: as it was installed, ${Object.keys(entry.files).length} files` } as const,
        ...fresh.map(({ text }) => ({ level: 'warn', text: `${name}: ${text}` }) as const),
      ]
    }),
  )
  const all = findings.flat()
  return all.length === 0
    ? say('No skill is installed. To install one: hermes skills install SOURCE')
    : { type: 'findings', findings: all }
}

/** Fetches installed skills anew; what differs is shown and waits for a yes. */
export async function update(words: readonly string[], context: CommandContext, parts: Parts): Promise<CommandResult> {
  const all = await parts.library.lock.read()
  const names = words.length > 0 ? words : Object.keys(all)
  if (names.length === 0) return say('No skill is installed.')
  const outputs: CommandOutput[] = []
  for (const name of names) {
    const entry = all[name]
    if (!entry) throw new HermesError(`No skill ${name.slice(0, 64)} is installed.`, { code: 'skills.unknown' })
    try {
      outputs.push(...[await install(entry.from, {}, context, parts)].flat())
    } catch (error) {
      if (!HermesError.isInstance(error)) throw error
      outputs.push({ type: 'text', text: `${name} stays as it is: ${error.message}`, isProblem: true })
    }
  }
  return outputs
}

/** Looks for skills of others. */
export async function search(
  words: readonly string[],
  args: JsonObject,
  { signal }: CommandContext,
  { library }: Parts,
): Promise<CommandResult> {
  const page = typeof args['page'] === 'number' ? args['page'] : 1
  const source = typeof args['source'] === 'string' ? { source: args['source'] } : {}
  const { fetch } = library.home
  const { found, total } = await searchSkills(words.join(' '), { ...source, fetch, signal, page })
  const rows = found.map(({ from, about, liked }) => ({ cells: [from, liked, about], data: { from, about, liked } }))
  const more =
    total > Math.max(found.length, page * PER_PAGE) ? [say(`${total} in all; more with --page ${page + 1}`)] : []
  return [{ type: 'table', rows, empty: 'Nothing was found.' }, ...more]
}

const say = (text: string): CommandOutput => ({ type: 'text', text })

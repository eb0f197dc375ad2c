// `/skills`, which `hermes skills` is too.
import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { errorLine, HermesError, type JsonObject, nearestName } from '@hermes/contracts'
import type { CommandContext, CommandOutput, CommandResult } from '@hermes/contracts/extension'
import { BUNDLED } from '../bundled.js'
import type { Curator } from '../curator/curator.js'
import { SKILL_FILE, type Skill } from '../format/skill.js'
import type { SkillInstaller } from '../install/installer.js'
import { sourceTrust } from '../install/source-trust.js'
import { MOST_SHARE } from '../learning/skill-share.js'
import { describeChange, type SkillWriter } from '../library/skill-writer.js'
import { loadSkill, loadSkillFile } from '../load-skill.js'
import type { PackInstaller } from '../packs/pack-installer.js'
import type { SkillLibrary } from '../skill-library.js'
import { accept, audit, install, search, uninstall, update } from './install-command.js'
import { mayDo } from './offers.js'
import { packsCommand } from './packs-command.js'
import { publishSkill } from './publish-command.js'
import { snapshot } from './snapshot-command.js'
import { VERBS } from './verbs.js'

/** What the command works on. */
export interface SkillsCommandParts {
  readonly library: SkillLibrary
  readonly writer: SkillWriter
  readonly installer: SkillInstaller
  readonly packs: PackInstaller
  readonly curator: Curator
}

/** Does what the words say. */
export async function runSkillsCommand(
  args: JsonObject,
  context: CommandContext,
  parts: SkillsCommandParts,
): Promise<CommandResult> {
  const [verb = 'list', ...words] = args['words'] as readonly string[]
  switch (verb) {
    case 'list':
      return list(words, context, parts)
    case 'inspect':
      return inspect(words, context, parts)
    case 'create':
      return create(words, args, context, parts)
    case 'edit':
      return edit(one(verb, words), args, context, parts)
    case 'delete': {
      const { kept } = await parts.writer.make({ action: 'delete', name: one(verb, words) }, context.cwd)
      return say(`Deleted ${words[0]}. A copy is kept in ${kept}.`)
    }
    case 'config':
      return config(words, context, parts)
    case 'pending':
      return pending(parts)
    case 'approve':
    case 'reject':
    case 'diff':
      return answer(verb, words, context, parts)
    case 'install':
      return install(one(verb, words), args, context, parts)
    case 'accept':
      return accept(one(verb, words), args, parts)
    case 'discard':
      await parts.packs.discard(one(verb, words))
      return say('Nothing was installed.')
    case 'audit':
      return audit(parts)
    case 'update':
      return update(words, context, parts)
    case 'uninstall':
      return uninstall(one(verb, words), parts)
    case 'packs':
      return packsCommand(words, context, parts)
    case 'snapshot':
      return snapshot(words, context, parts)
    case 'publish':
      return publishSkill(words, args, context, parts)
    case 'search':
      return search(words, args, context, parts)
    case 'stats':
      return stats(context, parts)
    default:
      throw usage(`There is no "skills ${verb.slice(0, 40)}". It can be ${VERBS.join(', ')}.`)
  }
}

async function list(
  words: readonly string[],
  { cwd }: CommandContext,
  { library }: SkillsCommandParts,
): Promise<CommandResult> {
  const { skills, problems } = await library.index(cwd)
  const query = words.join(' ').toLowerCase()
  const rows = [...skills.values()]
    .filter(({ name, group, description }) => `${name} ${group} ${description}`.toLowerCase().includes(query))
    .map(({ name, source, group, description, folder, origin }) => ({
      cells: [name, source, group, description],
      isDim: source === 'bundled',
      data: { name, source, group, description, folder, ...(origin === undefined ? {} : { origin }) },
    }))
  const verb = rows.length === 0 ? nearestName(words[0] ?? '', VERBS) : undefined
  if (verb) throw usage(`No skill has these words. Did you mean skills ${verb}?`)
  const table = { type: 'table', rows, empty: 'No skill has these words.' } as const
  return problems.length === 0 ? table : [table, { type: 'text', text: problems.join('\n'), isProblem: true }]
}

async function inspect(
  [name, path]: readonly string[],
  { cwd }: CommandContext,
  { library }: SkillsCommandParts,
): Promise<CommandResult> {
  const skill = library.require(await library.index(cwd), name ?? '')
  if (path !== undefined) return say((await loadSkillFile(skill, path, library)).text)
  const { text, files, notes } = await loadSkill(skill, library)
  const { source, folder, origin, description, variables, platforms } = skill
  const facts: readonly (readonly [string, string])[] = [
    ['source', origin === undefined ? source : `${source} from ${origin}`],
    ['trust', await trustOf(skill, library)],
    ['folder', folder ?? ''],
    ['for', description],
    ['systems', platforms.join(', ')],
    [
      'needs',
      variables.map((variable) => `${variable}${library.home.hasVariable(variable) ? '' : ' (not set)'}`).join(', '),
    ],
    ['its programs', source === 'installed' ? mayDo(skill) : ''],
    ['files', files.join(', ')],
  ]
  const head = facts.filter(([, value]) => value !== '').map(([key, value]) => `${key}: ${value}`)
  return say([skill.name, ...head, ...notes, '', text.trim()].join('\n'))
}

/** How far it is trusted; empty where whose it is says that. */
async function trustOf(skill: Skill, library: SkillLibrary): Promise<string> {
  switch (skill.source) {
    case 'bundled':
      return 'built in'
    case 'installed':
      return sourceTrust(skill.origin ?? '', library.home.settings.trusted_sources)
    case 'user':
      return (await library.isSelfWritten(skill)) ? 'written by an agent' : ''
    default:
      return ''
  }
}

const TEMPLATE = `## When to use it

Say when, and when not.

## Steps

1. …

## Check

What shows that it worked.`

async function create(
  [name = '', ...more]: readonly string[],
  args: JsonObject,
  context: CommandContext,
  { writer }: SkillsCommandParts,
): Promise<CommandResult> {
  const description = typeof args['description'] === 'string' ? args['description'] : more.join(' ')
  const content = await fileOf(args, context)
  if (name === '' || (description === '' && !/^\s*---\n/.test(content ?? '')))
    throw usage('Use: hermes skills create NAME WHAT IT IS FOR, with --file FILE for what it says.')
  const change = {
    action: 'create',
    name,
    description,
    content: content ?? TEMPLATE,
    force: args['force'] === true,
  } as const
  const { planned } = await writer.make(change, context.cwd)
  return say(
    content === null
      ? `Made ${planned.file}. Write into it what to do: hermes skills edit ${name}`
      : `Made ${planned.file}. New sessions know it; this one finds it by its name.`,
  )
}

async function edit(
  name: string,
  args: JsonObject,
  context: CommandContext,
  { writer, library }: SkillsCommandParts,
): Promise<CommandResult> {
  const content = await fileOf(args, context)
  if (content === null) {
    const skill = library.require(await library.index(context.cwd), name)
    if (skill.source === 'user')
      return say(
        `Edit ${join(skill.folder!, SKILL_FILE)}, or give its new text: hermes skills edit ${name} --file FILE`,
      )
    throw usage(
      `${name} is a ${skill.source} skill; only your own change. Make one of that name: hermes skills create ${name}`,
    )
  }
  const { planned } = await writer.make({ action: 'edit', name, content }, context.cwd)
  return say(`Changed ${planned.file}.`)
}

async function fileOf(args: JsonObject, { cwd }: CommandContext): Promise<string | null> {
  const file = args['file']
  if (typeof file !== 'string') return null
  return readFile(resolve(cwd, file), 'utf8').catch(() => {
    throw usage(`${file} cannot be read.`)
  })
}

async function config(
  [verb, name]: readonly string[],
  { cwd }: CommandContext,
  { library }: SkillsCommandParts,
): Promise<CommandResult> {
  if ((verb === 'enable' || verb === 'disable') && name !== undefined) {
    const { skills } = await library.index(cwd)
    const isKnown = skills.has(name) || library.disabled.has(name) || BUNDLED.some((skill) => skill.name === name)
    if (!isKnown) library.require({ skills, problems: [] }, name)
    await library.setDisabled(name, verb === 'disable')
    return say(`${name} is ${verb === 'disable' ? 'off' : 'on'} in new sessions.`)
  }
  if (verb !== undefined) throw usage('Use: hermes skills config [enable|disable NAME]')
  const { settings } = library.home
  const rows = [
    ['off', [...library.disabled].join(', ') || 'none'],
    ['skills.write_approval', String(settings.write_approval)],
    ['skills.project_discovery', String(settings.project_discovery)],
    ['skills.external_dirs', settings.external_dirs.join(', ') || 'none'],
  ]
  return { type: 'table', rows: rows.map((cells) => ({ cells })), empty: '' }
}

const NONE_WAITS = 'No change of a skill waits for you.'

async function pending({ writer }: SkillsCommandParts): Promise<CommandResult> {
  const rows = (await writer.staged.list()).map((staged) => ({
    cells: [staged.id, describeChange(staged.change), staged.why],
    data: staged,
  }))
  return { type: 'table', rows, empty: NONE_WAITS }
}

async function answer(
  verb: 'approve' | 'reject' | 'diff',
  words: readonly string[],
  { cwd }: CommandContext,
  { writer }: SkillsCommandParts,
): Promise<CommandResult> {
  if (words.length === 0) throw usage(`Use: hermes skills ${verb} ID…, or all. What waits: hermes skills pending`)
  const changes = await writer.staged.named(words)
  if (changes.length === 0) return say(NONE_WAITS)
  const outputs: CommandOutput[] = []
  const failures: unknown[] = []
  for (const staged of changes) {
    const about = describeChange(staged.change)
    if (verb === 'diff') {
      outputs.push({ type: 'text', text: `${staged.id}: ${about} (${staged.why})` })
      outputs.push({ type: 'text', format: 'diff', text: await writer.diff(staged, cwd) })
    } else if (verb === 'reject') {
      await writer.staged.remove(staged.id)
      outputs.push(say(`Rejected: ${about}.`))
    } else {
      try {
        const { planned } = await writer.approve(staged, cwd)
        outputs.push(say(`Done: ${about}. ${planned.file}`))
      } catch (error) {
        // Those after it are answered all the same.
        failures.push(error)
        outputs.push(say(`Not done: ${about}. ${errorLine(error)}`))
      }
    }
  }
  if (failures.length > 0 && failures.length === outputs.length) throw failures[0]
  return outputs
}

/** What came of skills: used, with an answer at the end, and corrected by the person afterwards. */
async function stats({ cwd }: CommandContext, { library, curator }: SkillsCommandParts): Promise<CommandResult> {
  const { skills } = await library.index(cwd)
  const states = new Map((await curator.skills()).map(({ name, state }) => [name, state]))
  const rows = [...library.usage.all()]
    .sort(([, one], [, other]) => other.used - one.used)
    .map(([name, use]) => {
      const { used, completed, corrected, lastUsedMs } = use
      const source = skills.get(name)?.source ?? 'gone'
      const state = states.get(name)
      const last = lastUsedMs === 0 ? '' : new Date(lastUsedMs).toISOString().slice(0, 10)
      const stands = state === undefined ? source : `${source}, ${state}`
      const counts = [`${used}×`, `${completed} completed`, `${corrected} corrected`]
      return { cells: [name, ...counts, last, stands], data: { name, ...use, source, state: state ?? null } }
    })
  const table = { type: 'table', rows, empty: 'No skill was used yet.' } as const
  const { skillBytes, resultBytes } = library.records.read()
  if (resultBytes === 0) return table
  const share = (100 * skillBytes) / resultBytes
  const text = `Skills are ${share.toFixed(1)} % of what tools gave to the model in runs that had one; below ${100 * MOST_SHARE} % is well.`
  return [table, { type: 'text', text }]
}

function one(verb: string, [word, ...more]: readonly string[]): string {
  if (word !== undefined && more.length === 0) return word
  throw usage(`Use: hermes skills ${verb} NAME`)
}

const say = (text: string): CommandOutput => ({ type: 'text', text })
const usage = (line: string) => new HermesError(line, { code: 'commands.usage' })

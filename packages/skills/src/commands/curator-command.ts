// `/curator`, which `hermes curator` is too.
import { HermesError, nearestName } from '@hermes/contracts'
import type { Command, CommandContext, CommandOutput, CommandResult } from '@hermes/contracts/extension'
import type { Curator, CuratorRun } from '../curator/curator.js'
import type { SkillLibrary } from '../skill-library.js'

/** What can follow `/curator`. */
const VERBS = ['status', 'run', 'pause', 'resume', 'pin', 'unpin', 'archive', 'restore', 'list-archived'] as const

/** What the command works on. */
interface CuratorParts {
  readonly library: SkillLibrary
  readonly curator: Curator
}

/** `/curator [status | run | pin NAME …]`. */
export function curatorCommand(parts: CuratorParts): Command {
  return {
    name: 'curator',
    summary: 'keep the skills of the home in order: what is stale, archived, pinned',
    usage: '[status | run | pause | resume | pin|unpin|archive|restore NAME | list-archived]',
    duringRun: 'allowed',
    needsSession: false,
    parameters: {
      type: 'object',
      properties: {
        words: { type: 'array', items: { type: 'string' }, default: [], description: VERBS.join(', ') },
        'dry-run': { type: 'boolean', default: false, description: 'run: only say what would be done' },
      },
    },
    complete: async (words) =>
      words.length === 0 ? VERBS : words.length === 1 ? (await parts.curator.skills()).map(({ name }) => name) : [],
    run: (args, context) => run(args['words'] as readonly string[], args['dry-run'] === true, context, parts),
  }
}

async function run(
  [verb = 'status', ...words]: readonly string[],
  isDry: boolean,
  { signal }: CommandContext,
  { library, curator }: CuratorParts,
): Promise<CommandResult> {
  switch (verb) {
    case 'status':
      return status(library, curator)
    case 'run':
      return shown(await curator.run({ isDry, signal }), isDry)
    case 'pause':
    case 'resume':
      await curator.pause(verb === 'pause')
      return say(
        verb === 'pause'
          ? 'The curator does nothing by itself until: hermes curator resume'
          : 'The curator works again.',
      )
    case 'pin':
    case 'unpin':
      await curator.pin(one(verb, words), verb === 'pin')
      return say(verb === 'pin' ? `${words[0]} stays as it is.` : `${words[0]} is looked after again.`)
    case 'archive':
      return say(
        `${one(verb, words)} lies in ${await curator.archive(words[0]!)}. Back again: hermes curator restore ${words[0]}`,
      )
    case 'restore':
      return say(`${one(verb, words)} is back, as your own: ${await curator.restore(words[0]!)}`)
    case 'list-archived': {
      const rows = [...(await curator.archived())].map(([name, { atMs, folder }]) => ({
        cells: [name, new Date(atMs).toISOString().slice(0, 10), folder],
        data: { name, atMs, folder },
      }))
      return { type: 'table', rows, empty: 'Nothing is archived.' }
    }
    default: {
      const near = nearestName(verb, VERBS)
      throw usage(
        `There is no "curator ${verb.slice(0, 40)}". ${near ? `Did you mean ${near}?` : `It can be ${VERBS.join(', ')}.`}`,
      )
    }
  }
}

async function status({ records, home }: SkillLibrary, curator: Curator): Promise<CommandResult> {
  const { isPaused, lastRunMs } = records.read()
  const { enabled, interval_hours: hours } = home.curator
  const when = lastRunMs === null ? 'never ran' : `ran last on ${new Date(lastRunMs).toISOString().slice(0, 10)}`
  const how = !enabled ? 'off (curator.enabled)' : isPaused ? 'paused' : `every ${hours} hours, when a session was left`
  const rows = (await curator.skills()).map((skill) => {
    const { name, state, use, archive, isSelfWritten } = skill
    const last = use.lastUsedMs === 0 ? 'never used' : new Date(use.lastUsedMs).toISOString().slice(0, 10)
    const by = isSelfWritten ? 'of an agent' : 'yours'
    return { cells: [name, state, `${use.used}×`, last, by, archive === null ? '' : `goes: ${archive}`], data: skill }
  })
  const archived = (await curator.archived()).size
  return [
    say(`The curator works ${how}; it ${when}. ${archived} archived.`),
    { type: 'table', rows, empty: 'There are no skills of your own yet.' },
  ]
}

function shown({ stale, archived, proposed, problems }: CuratorRun, isDry: boolean): CommandResult {
  const lines = [
    ...archived.map(({ name, why }) => `${isDry ? 'would be archived' : 'archived'}: ${name} (${why})`),
    ...(stale.length > 0 ? [`stale: ${stale.join(', ')}`] : []),
    ...(proposed.length > 0 ? [`proposals to merge wait: hermes skills diff ${proposed.join(' ')}`] : []),
  ]
  const text = say(lines.length === 0 ? 'All skills are in order.' : lines.join('\n'))
  return problems.length === 0 ? text : [text, { type: 'text', text: problems.join('\n'), isProblem: true }]
}

function one(verb: string, [word, ...more]: readonly string[]): string {
  if (word !== undefined && more.length === 0) return word
  throw usage(`Use: hermes curator ${verb} NAME`)
}

const say = (text: string): CommandOutput => ({ type: 'text', text })
const usage = (line: string) => new HermesError(line, { code: 'commands.usage' })

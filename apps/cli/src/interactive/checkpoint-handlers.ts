import type { Checkpoint } from '@hermes/checkpoints'
import { UsageError } from '../errors.js'
import { clip } from '../render/style.js'
import type { Talk } from './talk.js'

const SHOWN = 10
const SHOWN_PATHS = 40
const SHOWN_CHARS = 60

/** `/checkpoint [NAME]`: keeps the files, and where the conversation is. */
export async function checkpoint(talk: Talk, args: string): Promise<void> {
  const { opened, root } = await workspace(talk)
  const { sessionId } = talk.seat.agent
  const entries = await (await talk.runtime.storage()).log.entries(sessionId)
  const taken = await opened.checkpoints.take(root, {
    kind: 'manual',
    reason: 'asked for',
    label: args === '' ? undefined : args,
    sessionId,
    undoFromSeq: (entries.at(-1)?.seq ?? 0) + 1,
  })
  talk.say(`Checkpoint ${taken.number}${args === '' ? '' : ` (${args})`}: ${taken.files} files of ${root}.`)
}

/** `/rollback`: lists; with a number or name brings files and conversation back; with files only those. */
export async function rollback(talk: Talk, args: string): Promise<void> {
  const words = args.split(/\s+/).filter((word) => word !== '')
  const force = words.includes('--all')
  const [first, ...rest] = words.filter((word) => word !== '--all')
  if (first === undefined) return list(talk)
  if (first === 'diff') return diff(talk, rest[0])
  const { opened, root, cwd, commands } = await workspace(talk)
  const { reportLines } = await import('@hermes/checkpoints')
  const target = opened.checkpoints
    .list(root)
    .findLast(({ number, label }) => String(number) === first || label === first)
  const paths = rest.map((path) => (path.startsWith('/') ? path : `${cwd}/${path}`))
  const { sessionId } = talk.seat.agent
  const report = await commands.restoreFiles(talk.runtime, root, { wanted: first, paths, force, sessionId })
  talk.say(reportLines(report, `To replace those too: /rollback ${first} --all`).join('\n'))
  if (target && paths.length === 0) await undoConversation(talk, target)
}

/** The conversation goes back to where it was, when it is this one. */
async function undoConversation(talk: Talk, { sessionId, undoFromSeq }: Checkpoint): Promise<void> {
  const { agent } = talk.seat
  if (undoFromSeq === null || sessionId !== agent.sessionId) return
  const undone = await agent.undo({ fromSeq: undoFromSeq })
  if (undone) talk.say(`The conversation is back too, before “${clip(undone.text, SHOWN_CHARS)}”.`)
}

async function list(talk: Talk): Promise<void> {
  const { opened, root, commands } = await workspace(talk)
  const records = opened.checkpoints.list(root).toReversed().slice(0, SHOWN)
  if (records.length === 0) return talk.say('There is no checkpoint of this folder yet.')
  for (const record of records) talk.output.write(`${commands.checkpointLine(record, talk.output)}\n`)
}

async function diff(talk: Talk, wanted: string | undefined): Promise<void> {
  if (wanted === undefined) throw new UsageError('It needs a checkpoint: /rollback diff N')
  const { opened, root } = await workspace(talk)
  const { printableName } = await import('@hermes/checkpoints')
  const changes = await opened.checkpoints.changes(root, wanted)
  if (changes.length === 0) return talk.say('Nothing is different.')
  const lines = changes.slice(0, SHOWN_PATHS).map(({ path, change }) => `${change.padEnd(8)} ${printableName(path)}`)
  const more = changes.length - SHOWN_PATHS
  talk.output.write(`${[...lines, ...(more > 0 ? [`… ${more} more`] : [])].join('\n')}\n`)
}

async function workspace({ runtime, seat }: Talk) {
  const commands = await import('../commands/checkpoints.js')
  const opened = await runtime.checkpoints.open()
  const { cwd } = seat
  return { opened, cwd, commands, root: commands.requireRoot(opened, cwd) }
}

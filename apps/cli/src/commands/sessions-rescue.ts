import type { Message, NewEntry } from '@hermes/contracts/conversation'
import { bringIn, findRescueFiles, type RescueFile, type RescueOutcome } from '@hermes/storage'
import { EXIT, UsageError } from '../errors.js'
import type { Io } from '../io.js'
import { withRuntime } from '../open-cli.js'
import { clip, printable } from '../render/style.js'

/** Flags of `hermes sessions rescue`. */
interface RescueFlags {
  readonly all?: boolean
  readonly json?: boolean
}

/**
 * `hermes sessions rescue [SESSION…]`: lists what was rescued, or brings back that of the named sessions. What is listed lay in a folder
 * that other programs may write too, so it is shown before it is taken in.
 */
export async function rescueSessions(io: Io, names: readonly string[], { all, json }: RescueFlags): Promise<number> {
  return withRuntime(io, async (runtime) => {
    const { files, refused } = await findRescueFiles(runtime.rescueDirs)
    for (const { path, problem } of refused)
      io.stderr.write(`${printable(path)} is left where it is: ${printable(problem)}\n`)
    const chosen = all
      ? files
      : files.filter(({ sessionId, path }) => names.includes(sessionId) || names.includes(path))
    const unknown = names.find((name) => !files.some(({ sessionId, path }) => sessionId === name || path === name))
    if (unknown !== undefined) throw new UsageError(`Nothing was rescued of "${unknown}". See: hermes sessions rescue`)
    if (files.length === 0) {
      io.stderr.write('Nothing was rescued: the store took all that was said.\n')
      return EXIT.ok
    }
    if (!all && names.length === 0) {
      for (const file of files) io.stdout.write(json ? `${JSON.stringify(inShort(file))}\n` : describe(io, file))
      if (!json) io.stderr.write('Bring it back with: hermes sessions rescue SESSION, or --all\n')
      return EXIT.ok
    }
    const storage = await runtime.storage()
    let failed = false
    for (const file of chosen) {
      const outcome = await bringIn(storage, file)
      failed ||= outcome.type !== 'brought-in' || outcome.stays !== null
      if (json) io.stdout.write(`${JSON.stringify({ file: file.path, ...outcome })}\n`)
      else tell(io, file, outcome)
    }
    return failed ? EXIT.failed : EXIT.ok
  })
}

function inShort({ path, sessionId, entries, leftOut, damaged }: RescueFile) {
  return { file: path, sessionId, messages: texts({ entries, leftOut }), atMs: entries[0]?.atMs ?? null, damaged }
}

/** Every entry that would come back, and in brackets the kinds that would not. */
function texts({ entries, leftOut }: Pick<RescueFile, 'entries' | 'leftOut'>): readonly string[] {
  const others = [...new Set(leftOut)]
  return [
    ...entries.map(({ entry }) => textOf(entry)),
    ...(others.length > 0 ? [`(does not come back: ${others.join(', ')})`] : []),
  ]
}

function textOf(entry: NewEntry): string {
  if (entry.type === 'call-start') return `call begun: ${entry.toolName}`
  if (entry.type === 'note' && 'text' in entry.data) return `user: ${String(entry.data['text'])}`
  if (entry.type !== 'message') return entry.type === 'note' ? `note ${entry.kind}` : entry.type
  return `${entry.message.role}: ${entry.message.content.map(partText).join(' ')}`
}

/** Text that a conversation hides is shown too: an agent reads it. */
function partText(part: Message['content'][number]): string {
  if (part.type === 'text' || part.type === 'reasoning') return part.text
  return part.type === 'tool-call' ? `→ ${part.name} ${part.rawArgs}` : `[${part.type}]`
}

function describe(io: Io, file: RescueFile): string {
  const at = new Date(file.entries[0]?.atMs ?? 0).toISOString().slice(0, 16).replace('T', ' ')
  const width = Math.max(io.stdout.columns() - 4, 20)
  const lines = texts(file).map((text) => `  ${clip(printable(text.replace(/\s+/g, ' ')), width)}\n`)
  return `${file.sessionId}  ${at}  ${printable(file.path)}\n${lines.join('')}`
}

function tell(io: Io, file: RescueFile, outcome: RescueOutcome): void {
  const path = printable(file.path)
  switch (outcome.type) {
    case 'brought-in': {
      const { sessionId, isCopy, added, present, sentAgain, stays } = outcome
      const parts = [
        ...(added > 0 ? [`${count(added)} brought back`] : []),
        ...(present > 0 ? [`${count(present)} there already`] : []),
        ...(sentAgain > 0 ? [`${count(sentAgain)} not added: you sent it again yourself`] : []),
      ]
      io.stdout.write(`${sessionId}  ${parts.join(', ') || 'nothing to bring back'}\n`)
      if (isCopy)
        io.stderr.write(
          `${file.sessionId} went on meanwhile, so this copy of how it was then has the rescued messages.\n`,
        )
      if (stays !== null) {
        const why =
          file.damaged > 0
            ? `${file.damaged} of its lines cannot be read.`
            : 'more was written to it meanwhile. Run the command again.'
        io.stderr.write(`${printable(stays)} stays: ${why}\n`)
      }
      return
    }
    case 'unknown-session':
      io.stderr.write(
        `${file.sessionId} is no session of this home. To make one of it: hermes sessions import ${path}\n`,
      )
      return
    case 'problem':
      io.stderr.write(`${path}: ${printable(outcome.problem)}\n`)
      return
    default:
      outcome satisfies never
  }
}

const count = (messages: number): string => `${messages} ${messages === 1 ? 'message' : 'messages'}`

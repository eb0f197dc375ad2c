import { EXIT } from '../errors.js'
import type { Io } from '../io.js'
import type { PromptPart } from '../prompt-parts.js'
import { renderDiff } from '../render/diff.js'
import { createStyle } from '../render/style.js'
import { partsOfSession } from './prompt.js'

/** How one part of two prompts compares. */
type Change =
  | { readonly type: 'only-first' | 'only-second'; readonly part: PromptPart }
  | { readonly type: 'moved'; readonly part: PromptPart }
  | { readonly type: 'changed'; readonly first: PromptPart; readonly second: PromptPart }

/** `hermes prompt diff A B`: the parts in which two sessions differ, and from which byte on a cache could not serve both. */
export async function promptDiff(
  io: Io,
  [a, b]: readonly [string, string],
  { json }: { readonly json?: boolean },
): Promise<number> {
  const [first, second] = [await promptOf(io, a), await promptOf(io, b)]
  const changes = compare(first, second)
  const sameBytes = sharedBytes(first, second)
  if (json) io.stdout.write(`${JSON.stringify({ sameBytes, changes })}\n`)
  else if (changes.length === 0) io.stdout.write('Both sessions were told the same, byte for byte.\n')
  else {
    io.stdout.write(`Tools and system text, in this order, are the same for the first ${sameBytes} bytes.\n`)
    for (const change of changes) io.stdout.write(`\n${await describe(io, change)}\n`)
  }
  return EXIT.ok
}

/** What messages say changes all the time, and no cache minds. */
async function promptOf(io: Io, session: string): Promise<readonly PromptPart[]> {
  return (await partsOfSession(io, session)).filter(({ kind }) => kind !== 'message')
}

const keyOf = ({ kind, name }: PromptPart, index: number, all: readonly PromptPart[]) =>
  `${kind}\0${name}\0${all.slice(0, index).filter((part) => part.kind === kind && part.name === name).length}`

function compare(first: readonly PromptPart[], second: readonly PromptPart[]): readonly Change[] {
  const [before, after] = [first, second].map(
    (parts) => new Map(parts.map((part, at) => [keyOf(part, at, parts), part])),
  )
  const changes: Change[] = []
  for (const [key, part] of before!) {
    const other = after!.get(key)
    if (!other) changes.push({ type: 'only-first', part })
    else if (other.text !== part.text) changes.push({ type: 'changed', first: part, second: other })
  }
  for (const [key, part] of after!) if (!before!.has(key)) changes.push({ type: 'only-second', part })
  if (changes.length > 0) return changes
  const orders = [...before!.keys()]
  const moved = [...after!.entries()].find(([key], index) => orders[index] !== key)
  return moved ? [{ type: 'moved', part: moved[1] }] : []
}

/** As requests are laid out for a cache: tools before the system text. */
function sharedBytes(first: readonly PromptPart[], second: readonly PromptPart[]): number {
  const [one, two] = [first, second].map((parts) =>
    Buffer.from([...parts.filter(isTool), ...parts.filter((part) => !isTool(part))].map(({ text }) => text).join('\n')),
  )
  let at = 0
  while (at < one!.length && one![at] === two![at]) at++
  return at
}

const isTool = ({ kind }: PromptPart) => kind === 'tool'

async function describe(io: Io, change: Change): Promise<string> {
  const style = createStyle(io.stdout)
  const title = ({ kind, name, source }: PromptPart) => (kind === 'tool' ? `the tool ${name}` : `${name} (${source})`)
  switch (change.type) {
    case 'only-first':
      return `${style.bold(title(change.part))}: only in the first, ${change.part.bytes} bytes.`
    case 'only-second':
      return `${style.bold(title(change.part))}: only in the second, ${change.part.bytes} bytes.`
    case 'moved':
      return `${style.bold(title(change.part))}: in another place.`
    case 'changed': {
      const { first, second } = change
      const from = first.source === second.source ? '' : `, from ${second.source} instead of ${first.source}`
      const diff = await lineDiff(first, second)
      const body = renderDiff(diff, { style, columns: io.stdout.columns() })
      return `${style.bold(title(first))}: ${first.bytes} bytes became ${second.bytes}${from}.\n${body}`
    }
    default:
      return change satisfies never
  }
}

/** Definitions of tools are one long line of JSON, which is read in lines. */
async function lineDiff(first: PromptPart, second: PromptPart): Promise<string> {
  const { createTwoFilesPatch, FILE_HEADERS_ONLY } = await import('diff')
  const [before, after] = [first, second].map((part) =>
    isTool(part) ? JSON.stringify(JSON.parse(part.text), null, 2) : part.text,
  )
  const options = { context: 1, maxEditLength: 1_000, headerOptions: FILE_HEADERS_ONLY }
  return (
    createTwoFilesPatch('first', 'second', `${before}\n`, `${after}\n`, undefined, undefined, options) ??
    'Too much is different to show.'
  )
}

import {
  describeUsage,
  type EntrySource,
  MEMORY_TARGETS,
  type Memory,
  type MemoryChange,
  type MemoryState,
  type MemoryTarget,
  orderIn,
  sourcesOf,
} from '@hermes/memory'
import { EXIT, UsageError } from '../errors.js'
import type { Io } from '../io.js'
import { openCli } from '../open-cli.js'
import { clip, createStyle, printable } from '../render/style.js'

const ORIGIN = 'command line'
const SHOWN_CHARS = 60

/** Which store a command is about. */
interface MemoryFlags {
  /** USER.md instead of MEMORY.md. */
  readonly user?: boolean
  readonly json?: boolean
}

/**
 * `hermes memory list`: what is remembered, how full the stores are, and where entries come from. A store that cannot be read leaves the
 * other to be shown. @throws HermesError `memory.unreadable` once that is done.
 */
export function memoryList(io: Io, { json }: MemoryFlags): Promise<number> {
  return withMemory(io, async (open) => {
    const found = await Promise.allSettled(MEMORY_TARGETS.map((target) => listing(open, target)))
    const listings = found.flatMap((one) => (one.status === 'fulfilled' && one.value ? [one.value] : []))
    if (json) io.stdout.write(`${JSON.stringify(listings)}\n`)
    else for (const one of listings) showListing(io, one)
    const failed = found.find((one) => one.status === 'rejected')
    if (failed) throw failed.reason
    return EXIT.ok
  })
}

type Listing = MemoryState & { readonly sources: readonly EntrySource[] }

async function listing(open: Open, target: MemoryTarget): Promise<Listing | null> {
  const memory = await open(target)
  if (!memory) return null
  const state = await memory.read(target)
  return { ...state, sources: sourcesOf(state, await memory.history()) }
}

function showListing(io: Io, state: Listing): void {
  const style = createStyle(io.stdout)
  const sources = new Map(state.sources.map((source) => [source.entry, source]))
  io.stdout.write(`${style.bold(state.target)} ${style.dim(describeUsage(state))}\n`)
  for (const entry of state.entries) {
    const source = sources.get(entry)
    const waiting = state.unconfirmed.find((one) => one.entry === entry)
    const mark = waiting ? style.yellow(` unconfirmed, because of ${printable(waiting.because.join(', '))}`) : ''
    const made = source ? ` (${new Date(source.atMs).toISOString().slice(0, 10)}, ${printable(source.origin)})` : ''
    io.stdout.write(`  ${printable(entry).replaceAll('\n', '\n  ')}${style.dim(made)}${mark}\n`)
  }
}

/** `hermes memory add TEXT`. */
export function memoryAdd(io: Io, content: string, flags: MemoryFlags): Promise<number> {
  return change(io, flags, [{ action: 'add', content }])
}

/** `hermes memory edit OLD NEW`: the entry that has the words OLD becomes NEW; without them a store is opened in an editor. */
export function memoryEdit(
  io: Io,
  oldText: string | undefined,
  content: string | undefined,
  flags: MemoryFlags,
): Promise<number> {
  if (oldText === undefined) return editInEditor(io, flags)
  if (content === undefined) throw new UsageError('Say what the entry becomes: hermes memory edit WORDS TEXT')
  return change(io, flags, [{ action: 'replace', oldText, content }])
}

function editInEditor(io: Io, { user }: MemoryFlags): Promise<number> {
  return withMemory(io, async (open) => {
    const target = user ? 'user' : 'memory'
    const memory = await open(target)
    if (!memory) throw new UsageError(`The store "${target}" is switched off in config.yaml (section memory).`)
    const { entries } = await memory.read(target)
    const { editEntries } = await import('./memory-edit.js')
    const changes = await editEntries(io, entries, user ? 'USER.md' : 'MEMORY.md')
    refuseOrders(changes, ' Nothing was changed.')
    const outcome = await memory.change(target, changes, ORIGIN)
    if (outcome.type === 'refused') throw new UsageError(`${outcome.reason} Nothing was changed.`)
    const text = outcome.type === 'changed' ? 'Saved.' : 'Nothing was changed.'
    io.stdout.write(`${text} ${target}: ${describeUsage(outcome.state)}.\n`)
    return EXIT.ok
  })
}

/** `hermes memory remove WORDS`. */
export function memoryRemove(io: Io, oldText: string, flags: MemoryFlags): Promise<number> {
  return change(io, flags, [{ action: 'remove', oldText }])
}

/**
 * `hermes memory confirm [WORDS]`: a person takes entries as theirs that tainted sessions wrote: the one that has the words, else each that
 * they say yes to. @throws UsageError where nobody can be asked.
 */
export function memoryConfirm(
  io: Io,
  words: string | undefined,
  { yes = false }: { readonly yes?: boolean },
): Promise<number> {
  return withMemory(io, async (open) => {
    const states = await Promise.all(MEMORY_TARGETS.map(async (target) => (await open(target))?.read(target)))
    const all = states.flatMap((state) => state?.unconfirmed ?? [])
    const found = all.filter(({ entry }) => entry.toLowerCase().includes((words ?? '').toLowerCase()))
    if (words !== undefined && found.length === 0)
      throw new UsageError(`No unconfirmed entry has the words "${words}".`)
    const { confirm } = await import('../confirm.js')
    const confirmed: string[] = []
    for (const { entry, because } of found) {
      const title = `${entry}\n(written after this was read: ${because.join(', ')})\nIs it right?`
      if (yes || (await confirm(io, printable(title), 'yes'))) confirmed.push(entry)
    }
    const memory = (await open('memory')) ?? (await open('user'))
    await memory!.confirm(confirmed)
    const left = all.length - confirmed.length
    const rest = left > 0 ? ` ${left} not confirmed: hermes memory edit or remove.` : ''
    io.stdout.write(all.length === 0 ? 'Nothing waits to be confirmed.\n' : `Confirmed: ${confirmed.length}.${rest}\n`)
    return EXIT.ok
  })
}

/** `hermes memory undo`: takes the newest change of either store back. */
export function memoryUndo(io: Io): Promise<number> {
  return withMemory(io, async (open) => {
    const memory = (await open('memory')) ?? (await open('user'))
    const undone = await memory!.undo()
    if (!undone) throw new UsageError('No change is left to undo.')
    const { target, origin, atMs } = undone.record
    const made = `made ${new Date(atMs).toISOString()} by ${origin}`
    if (undone.type === 'edited')
      throw new UsageError(
        `What the newest change of ${target} (${made}) wrote was changed by hand since: nothing was undone.`,
      )
    io.stdout.write(`Undone: the change of ${target} ${made}.\n`)
    return EXIT.ok
  })
}

/** `hermes memory export`: both stores as JSON, for `import`. */
export function memoryExport(io: Io): Promise<number> {
  return withMemory(io, async (open) => {
    const stores = await Promise.all(
      MEMORY_TARGETS.map(
        async (target) => [target, (await (await open(target))?.read(target))?.entries ?? []] as const,
      ),
    )
    io.stdout.write(`${JSON.stringify(Object.fromEntries(stores), null, 2)}\n`)
    return EXIT.ok
  })
}

/** `hermes memory import FILE`: adds the entries of an export; what is there stays. */
export function memoryImport(io: Io, file: string): Promise<number> {
  return withMemory(io, async (open) => {
    const { readMemoryExport } = await import('./memory-export.js')
    const stores = await readMemoryExport(file, io.cwd)
    if (MEMORY_TARGETS.every((target) => stores[target].length === 0)) io.stdout.write('There is nothing in it.\n')
    const additions = (target: MemoryTarget) =>
      stores[target].map((content): MemoryChange => ({ action: 'add', content }))
    refuseOrders(MEMORY_TARGETS.flatMap(additions), ' Nothing was imported.')
    for (const target of MEMORY_TARGETS) {
      const changes = additions(target)
      const memory = changes.length === 0 ? null : await open(target)
      if (!memory) continue
      const outcome = await memory.change(target, changes, ORIGIN)
      if (outcome.type === 'refused') throw new UsageError(`${target}: ${outcome.reason}`)
      io.stdout.write(`${target}: ${describeUsage(outcome.state)}.\n`)
    }
    return EXIT.ok
  })
}

/** What the agent may not remember as it is worded, nobody writes into its memory here. */
function refuseOrders(changes: readonly MemoryChange[], rest = ''): void {
  for (const change of changes) {
    const order = change.action === 'remove' ? null : orderIn(change.content)
    if (order === null || change.action === 'remove') continue
    const which = changes.length === 1 ? '' : `"${clip(printable(change.content).replace(/\s+/g, ' '), SHOWN_CHARS)}": `
    throw new UsageError(`${which}${order}${rest}`)
  }
}

function change(io: Io, { user }: MemoryFlags, changes: readonly MemoryChange[]): Promise<number> {
  refuseOrders(changes)
  return withMemory(io, async (open) => {
    const target = user ? 'user' : 'memory'
    const memory = await open(target)
    if (!memory) throw new UsageError(`The store "${target}" is switched off in config.yaml (section memory).`)
    const outcome = await memory.change(target, changes, ORIGIN)
    if (outcome.type === 'refused')
      throw new UsageError(`${outcome.reason}${outcome.isFull ? oldest(outcome.state) : ''}`)
    const text = outcome.type === 'changed' ? 'Saved.' : 'Nothing to change: that is remembered already.'
    io.stdout.write(`${clip(`${text} ${target}: ${describeUsage(outcome.state)}.`, io.stdout.columns())}\n`)
    return EXIT.ok
  })
}

/** What may have to go: new entries come last. */
function oldest({ entries }: MemoryState): string {
  const named = entries.slice(0, 2).map((entry) => `"${clip(printable(entry).replace(/\s+/g, ' '), SHOWN_CHARS)}"`)
  return named.length === 0 ? '' : ` The oldest: ${named.join(', ')}.`
}

type Open = (target: MemoryTarget) => Promise<Memory | null>

/** Stores that config.yaml switches off are `null`. */
async function withMemory(io: Io, work: (open: Open) => Promise<number>): Promise<number> {
  const runtime = await openCli(io, { yolo: false })
  try {
    const { memory } = runtime
    if (!memory) throw new UsageError('Memory is switched off in config.yaml (section memory).')
    return await work(async (target) => (memory.isOn(target) ? memory.open(target) : null))
  } finally {
    await runtime.close()
  }
}

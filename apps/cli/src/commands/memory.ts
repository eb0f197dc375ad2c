import { readFile } from 'node:fs/promises'
import { errorLine } from '@hermes/contracts'
import { describeUsage, MEMORY_TARGETS, type Memory, type MemoryChange, type MemoryTarget } from '@hermes/memory'
import { EXIT, UsageError } from '../errors.js'
import type { Io } from '../io.js'
import { openCli } from '../open-cli.js'
import { clip, createStyle, printable } from '../render/style.js'

const ORIGIN = 'command line'

/** Which store a command is about. */
export interface MemoryFlags {
  /** USER.md instead of MEMORY.md. */
  readonly user?: boolean
  readonly json?: boolean
}

/** `hermes memory list`: what is remembered, and how full the stores are. */
export function memoryList(io: Io, { json }: MemoryFlags): Promise<number> {
  return withMemory(io, async (open) => {
    const states = await Promise.all(MEMORY_TARGETS.map(async (target) => (await open(target))?.read(target) ?? null))
    if (json) {
      io.stdout.write(`${JSON.stringify(states.filter((state) => state !== null))}\n`)
      return EXIT.ok
    }
    const style = createStyle(io.stdout)
    for (const state of states) {
      if (!state) continue
      io.stdout.write(`${style.bold(state.target)} ${style.dim(describeUsage(state))}\n`)
      for (const entry of state.entries) io.stdout.write(`  ${printable(entry).replaceAll('\n', '\n  ')}\n`)
    }
    return EXIT.ok
  })
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
    const outcome = await memory.change(target, changes, ORIGIN)
    if (outcome.type === 'refused') throw new UsageError(`${outcome.reason} Nothing was changed.`)
    const said = outcome.type === 'changed' ? 'Saved.' : 'Nothing was changed.'
    io.stdout.write(`${said} ${target}: ${describeUsage(outcome.state)}.\n`)
    return EXIT.ok
  })
}

/** `hermes memory remove WORDS`. */
export function memoryRemove(io: Io, oldText: string, flags: MemoryFlags): Promise<number> {
  return change(io, flags, [{ action: 'remove', oldText }])
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
    const stores = await readExport(file)
    for (const target of MEMORY_TARGETS) {
      const changes = stores[target].map((content): MemoryChange => ({ action: 'add', content }))
      const memory = changes.length === 0 ? null : await open(target)
      if (!memory) continue
      const outcome = await memory.change(target, changes, ORIGIN)
      if (outcome.type === 'refused') throw new UsageError(`${target}: ${outcome.reason}`)
      io.stdout.write(`${target}: ${describeUsage(outcome.state)}.\n`)
    }
    return EXIT.ok
  })
}

async function readExport(file: string): Promise<Readonly<Record<MemoryTarget, readonly string[]>>> {
  const form = 'It has to be what hermes memory export prints: {"memory": [texts], "user": [texts]}.'
  let parsed: unknown
  try {
    parsed = JSON.parse(await readFile(file, 'utf8'))
  } catch (error) {
    throw new UsageError(`Cannot read ${file}: ${errorLine(error)}. ${form}`)
  }
  const list = (target: MemoryTarget): readonly string[] => {
    const entries: unknown = (parsed as Record<string, unknown> | null)?.[target] ?? []
    if (!Array.isArray(entries) || entries.some((entry) => typeof entry !== 'string'))
      throw new UsageError(`"${target}" in ${file} is not a list of texts. ${form}`)
    return entries
  }
  return { memory: list('memory'), user: list('user') }
}

function change(io: Io, { user }: MemoryFlags, changes: readonly MemoryChange[]): Promise<number> {
  return withMemory(io, async (open) => {
    const target = user ? 'user' : 'memory'
    const memory = await open(target)
    if (!memory) throw new UsageError(`The store "${target}" is switched off in config.yaml (section memory).`)
    const outcome = await memory.change(target, changes, ORIGIN)
    if (outcome.type === 'refused') throw new UsageError(outcome.reason)
    const said = outcome.type === 'changed' ? 'Saved.' : 'Nothing to change: that is remembered already.'
    io.stdout.write(`${clip(`${said} ${target}: ${describeUsage(outcome.state)}.`, io.stdout.columns())}\n`)
    return EXIT.ok
  })
}

type Open = (target: MemoryTarget) => Promise<Memory | null>

/** Stores that config.yaml switches off are `null`. */
async function withMemory(io: Io, work: (open: Open) => Promise<number>): Promise<number> {
  const runtime = await openCli(io, { surface: 'cli', yolo: false })
  try {
    const { memory } = runtime
    if (!memory) throw new UsageError('Memory is switched off in config.yaml (section memory).')
    return await work(async (target) => (memory.isOn(target) ? memory.open(target) : null))
  } finally {
    await runtime.close()
  }
}

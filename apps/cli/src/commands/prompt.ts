import { findSession } from '@hermes/commands'
import { EXIT, UsageError } from '../errors.js'
import type { Io } from '../io.js'
import { openCli, withStorage } from '../open-cli.js'
import { messageParts, type PromptPart, part, storedParts, toolParts } from '../prompt-parts.js'
import { clip, createStyle, printable } from '../render/style.js'

/** Flags of `hermes prompt show`. */
interface PromptShowFlags {
  readonly text?: boolean
  readonly model?: string
  readonly toolsets?: string
  readonly json?: boolean
}

/** `hermes prompt show [SESSION]`: the layers of the system text and the tools, with size and source. */
export async function promptShow(io: Io, session: string | undefined, flags: PromptShowFlags): Promise<number> {
  const { parts, later = '' } =
    session === undefined ? await newParts(io, flags) : { parts: await partsOfSession(io, session) }
  const total = parts.reduce((sum, { bytes }) => sum + bytes, 0)
  if (flags.json)
    io.stdout.write(`${JSON.stringify({ bytes: total, parts: parts.map((each) => shown(each, flags)) })}\n`)
  else if (flags.text) io.stdout.write(`${parts.map(({ text }) => safe(io, text)).join('\n\n')}\n`)
  else io.stdout.write(`${table(io, parts)}${later}`)
  return EXIT.ok
}

/** The parts of what a session was told, what its newest message says of the surroundings last. @throws UsageError when it has none yet. */
export function partsOfSession(io: Io, name: string): Promise<readonly PromptPart[]> {
  return withStorage(io, async (storage) => {
    const session = await findSession(storage, name)
    const entries = await storage.log.entries(session.id)
    const parts = storedParts(entries)
    if (parts) return [...parts, ...messageParts(entries)]
    throw new UsageError(`The session ${session.id} asked no model yet, so it has no prompt.`)
  })
}

const LATER =
  '\nMessages after the first also say what changed in git, in the background and in the shell (agent.coding_context).\n'

/** The parts of a new session, and what it would be told later on. */
async function newParts(
  io: Io,
  { model, toolsets }: PromptShowFlags,
): Promise<{ readonly parts: readonly PromptPart[]; readonly later?: string }> {
  const runtime = await openCli(io, { yolo: false })
  try {
    const { system, tools } = await runtime.prompt({
      ...(model === undefined ? {} : { model }),
      ...(toolsets === undefined ? {} : { toolsets: toolsets.split(',').map((name) => name.trim()) }),
    })
    for (const problem of system.problems ?? []) io.stderr.write(`hermes: ${printable(problem)}\n`)
    const layers = system.layers.map(({ name, source, text }) => part('system', name, source, text))
    const parts = [...layers, ...toolParts(tools)]
    return runtime.config.agent.coding_context === 'off' ? { parts } : { parts, later: LATER }
  } finally {
    await runtime.close()
  }
}

function shown({ text, ...facts }: PromptPart, { text: withText }: PromptShowFlags) {
  return withText ? { ...facts, text } : facts
}

function safe({ stdout }: Io, text: string): string {
  return stdout.isTTY ? printable(text) : text
}

function table(io: Io, parts: readonly PromptPart[]): string {
  const style = createStyle(io.stdout)
  const width = Math.max(...parts.map(({ name }) => name.length), 'system text'.length)
  const line = (name: string, bytes: number, tokens: number, source: string) => {
    const head = `${name.padEnd(width)}  ${String(bytes).padStart(7)} bytes  ${String(tokens).padStart(6)} tokens  `
    return `${head}${style.dim(clip(source, Math.max(10, io.stdout.columns() - head.length)))}\n`
  }
  const sum = (kind: PromptPart['kind'] | null, key: 'bytes' | 'tokens') =>
    parts.filter((each) => kind === null || each.kind === kind).reduce((total, each) => total + each[key], 0)
  const total = (name: string, kind: PromptPart['kind'] | null) =>
    line(name, sum(kind, 'bytes'), sum(kind, 'tokens'), '')
  return [
    ...parts.map(({ name, bytes, tokens, source }) => line(name, bytes, tokens, source)),
    '\n',
    total('system text', 'system'),
    total('tools', 'tool'),
    total('together', null),
  ].join('')
}

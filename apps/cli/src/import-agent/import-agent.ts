import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { writtenConfig } from '@hermes/config'
import { confirm } from '../confirm.js'
import { EXIT, UsageError } from '../errors.js'
import type { Io } from '../io.js'
import { homeOf } from '../open-cli.js'
import { clip, printable } from '../render/style.js'
import { AGENTS, type Agent, type ImportItem } from './item.js'
import { undoImport, writeImport } from './journal.js'
import { type ImportPlan, planImport } from './plan.js'
import { readSource, usualHome } from './sources.js'

/** Flags of `hermes import-agent`. */
export interface ImportFlags {
  readonly source?: string
  readonly secrets?: boolean
  readonly overwrite?: boolean
  readonly dryRun?: boolean
  readonly yes?: boolean
  readonly json?: boolean
}

/** `hermes import-agent [AGENT]`: shows what would be taken over, asks, and keeps what it takes to undo it. Without an agent: which are here. */
export async function importAgent(io: Io, agent: Agent | undefined, flags: ImportFlags): Promise<number> {
  if (agent === undefined) return listAgents(io, flags)
  const home = homeOf(io)
  const folder = flags.source === undefined ? await usualHome(agent, io) : resolve(io.cwd, flags.source)
  if (folder === null) throw new UsageError(`Cannot find the folder of ${agent}. Say where it is: --source FOLDER`)
  if (!(await stat(folder).catch(() => null))?.isDirectory())
    throw new UsageError(`${folder} is not a folder. Say where the folder of ${agent} is: --source FOLDER`)
  if (folder === home)
    throw new UsageError(`This Hermes itself uses ${folder}. Name the folder of another agent: --source FOLDER`)
  return takeOver(io, { items: await readSource(agent, folder, io), from: folder, agent }, flags)
}

interface Offer {
  readonly items: readonly ImportItem[]
  /** The folder or files, as the person is told. */
  readonly from: string
  /** Whose they are, as the journal has it. */
  readonly agent: string
}

/** Shows what would be taken over, asks, writes it, and keeps what it takes to undo it. */
export async function takeOver(io: Io, { items, from, agent }: Offer, flags: ImportFlags): Promise<number> {
  const home = homeOf(io)
  const { fault } = await writtenConfig(home)
  if (fault !== null) throw new UsageError(`${fault} Fix it first.`)
  const { secrets = false, overwrite = false } = flags
  const plan = await planImport(home, items, { secrets, overwrite, tempDir: io.tempDir })
  show(io, from, plan, flags)
  if (flags.dryRun) return EXIT.ok
  if (plan.files.size === 0) {
    io.stderr.write('Nothing was changed.\n')
    return EXIT.ok
  }
  if (
    !flags.yes &&
    !(await confirm(io, `Take ${plan.taken.length} things over into ${home}?`, 'yes, take them over'))
  ) {
    io.stderr.write('Nothing was changed.\n')
    return EXIT.failed
  }
  await writeImport(home, { from: agent, files: plan.files, nowMs: Date.now() })
  if (!flags.json)
    io.stdout.write(`Took ${plan.taken.length} things over. To take that back: hermes import-agent undo\n`)
  return EXIT.ok
}

async function listAgents(io: Io, { json }: ImportFlags): Promise<number> {
  const found = await Promise.all(AGENTS.map(async (agent) => ({ agent, folder: await usualHome(agent, io) })))
  const here = found.filter(({ folder }) => folder !== null)
  for (const { agent, folder } of here)
    io.stdout.write(json ? `${JSON.stringify({ agent, folder })}\n` : `${agent.padEnd(12)}${folder}\n`)
  if (here.length === 0)
    io.stderr.write(`No home of ${AGENTS.join(', ')} is where it usually is. Name one: --source FOLDER\n`)
  else if (!json) io.stderr.write(`What would be taken over: hermes import-agent ${here[0]!.agent} --dry-run\n`)
  return EXIT.ok
}

function show(io: Io, folder: string, { taken, left, files }: ImportPlan, { json }: ImportFlags): void {
  if (json) {
    const report = { folder, taken, left: left.map(([name, why]) => ({ name, why })), files: [...files.keys()] }
    io.stdout.write(`${JSON.stringify(report)}\n`)
    return
  }
  const line = (text: string) => {
    // What a server would be started with is never cut: what is not shown cannot be agreed to.
    const isServer = text.startsWith('config.yaml: mcp_servers.')
    io.stdout.write(`  ${isServer ? printable(text) : clip(printable(text), io.stdout.columns() - 2)}\n`)
  }
  io.stdout.write(`From ${folder}: ${taken.length} things are taken over\n`)
  for (const name of taken) line(name)
  io.stdout.write(`${left.length} stay there\n`)
  for (const [name, why] of left) line(`${name}: ${why}`)
  io.stdout.write(`${files.size} files of this home change\n`)
}

/** `hermes import-agent undo`: exit code 1 where something was changed since and stays. */
export async function undo(io: Io, { force = false }: { readonly force?: boolean }): Promise<number> {
  const undone = await undoImport(homeOf(io), { force })
  if (undone === null) throw new UsageError('Nothing was taken over that could be taken back.')
  const { from, restored, changed } = undone
  io.stdout.write(`Took back what came from ${from}: ${restored.length} files are as they were.\n`)
  if (changed.length === 0) return EXIT.ok
  io.stderr.write(
    `Changed since, and left: ${changed.join(', ')}. To take these back too: hermes import-agent undo --force\n`,
  )
  return EXIT.failed
}

import { writeFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { callCommand, findCommand } from '@hermes/commands'
import { homeLayout, loadSecrets, writtenConfig } from '@hermes/config'
import { errorLine } from '@hermes/contracts'
import type { CommandOutput } from '@hermes/contracts/extension'
import { type Runtime, secretsOfHome } from '@hermes/runtime'
import { createRedactor } from '@hermes/safety'
import { hideSecrets } from '../commands/config.js'
import { EXIT, UsageError } from '../errors.js'
import { type Io, withoutNotices } from '../io.js'
import { homeOf, withRuntime } from '../open-cli.js'
import { printable } from '../render/style.js'
import { describeLogLine, findLogs, readLog } from './log-lines.js'
import { versionFacts } from './version.js'

/** Flags of `hermes dump`. */
interface DumpFlags {
  readonly output?: string
  readonly lines: number
  readonly json?: boolean
}

/** Parts of the report by name, each of lines. */
type Report = Readonly<Record<string, readonly string[]>>

/** `hermes dump`: what somebody needs who looks into a mistake. Values of keys, and what looks like one, are replaced; also where the home is broken. */
export async function dump(io: Io, { output, lines, json }: DumpFlags): Promise<number> {
  if (!Number.isInteger(lines) || lines < 0) throw new UsageError('--lines takes a whole number of at least 0.')
  const home = homeOf(io)
  const { secretNames } = await loadSecrets({ home, env: io.env })
  const redactor = createRedactor({ secrets: await secretsOfHome({ home, env: io.env }) })
  const clean = (text: string) => redactor.redact(printable(text)).replaceAll(io.userHome, '~')
  const raw: Report = {
    version: Object.entries(versionFacts(io)).map(([name, value]) => `${name} ${value}`),
    keys: secretNames.map((name) => `${name} is set`),
    ...(await partsOfHome(io)),
    'config.yaml': await configLines(home),
    log: await logLines(home, lines),
  }
  const report = Object.fromEntries(Object.entries(raw).map(([name, of]) => [name, of.map(clean)]))
  const text = json ? `${JSON.stringify(report)}\n` : describe(report)
  if (output === undefined) io.stdout.write(text)
  else await keep(io, resolve(io.cwd, output), text)
  return EXIT.ok
}

function describe(report: Report): string {
  return Object.entries(report)
    .map(([name, lines]) => `## ${name}\n\n${lines.length === 0 ? '(nothing)' : lines.join('\n')}\n`)
    .join('\n')
}

async function keep(io: Io, file: string, text: string): Promise<void> {
  try {
    await writeFile(file, text, { mode: 0o600, flag: 'wx' })
  } catch (error) {
    const isThere = (error as NodeJS.ErrnoException).code === 'EEXIST'
    throw new UsageError(isThere ? `${file} is there already. Name another: -o FILE` : errorLine(error))
  }
  io.stdout.write(`${file}\n`)
}

/** What commands of the home tell, each part by itself: one that fails says why. */
async function partsOfHome(io: Io): Promise<Report> {
  try {
    return await withRuntime(withoutNotices(io), async (runtime) => ({
      status: await linesOf(io, runtime, 'status'),
      doctor: await linesOf(io, runtime, 'doctor', { offline: true }),
      extensions: [...new Set(runtime.extensions.list('command').map(({ owner }) => owner))],
    }))
  } catch (error) {
    return { home: [`cannot be opened: ${errorLine(error)}`] }
  }
}

async function linesOf(io: Io, runtime: Runtime, name: string, args = {}): Promise<readonly string[]> {
  const commands = runtime.extensions.list('command').map(({ item }) => item)
  const caller = { platform: 'cli', user: io.user, isOwner: true, changes: [] }
  const context = {
    caller,
    session: null,
    cwd: io.cwd,
    commands,
    notice: () => undefined,
    signal: AbortSignal.timeout(60_000),
  }
  try {
    return (await callCommand(findCommand(commands, name)!, args, context)).flatMap(toLines)
  } catch (error) {
    return [errorLine(error)]
  }
}

function toLines(output: CommandOutput): readonly string[] {
  if (output.type === 'findings') return output.findings.map(({ level, text }) => `${level}  ${text}`)
  if (output.type === 'table') return output.rows.map(({ cells }) => cells.join('  '))
  return output.type === 'text' ? [output.text] : []
}

/** The file as it is, but for values of keys that hold secrets; comments are left out, since anything may be in them. */
async function configLines(home: string): Promise<readonly string[]> {
  const { value, fault } = await writtenConfig(home)
  return fault === null ? JSON.stringify(value, hideSecrets, 2).split('\n') : [fault]
}

async function logLines(home: string, count: number): Promise<readonly string[]> {
  const logs = await findLogs(homeLayout(home).logs)
  const read = await Promise.all(logs.map((log) => readLog(log, 'tail')))
  const lines = read.flatMap((one) => one.lines).sort((a, b) => (a.atMs ?? 0) - (b.atMs ?? 0))
  return count === 0 ? [] : lines.slice(-count).map(describeLogLine)
}

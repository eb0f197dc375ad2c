import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock } from '@hermes/contracts'
import type { Isolate } from '../isolation/isolated-program.js'
import type { OrphanGuard } from '../local/orphan-guard.js'
import { CapturedOutput } from './captured-output.js'
import type { CodeRequest } from './code-request.js'
import { type CodeResult, type Watched, watch } from './code-result.js'
import type { Interpreters } from './interpreters.js'
import { ProgramCalls } from './program-calls.js'
import { makeProgramFolder, type ProgramFolder } from './program-folder.js'
import { RpcServer } from './rpc-server.js'
import { type ScriptEnd, ScriptProcess } from './script-process.js'
import { TimeLimit } from './time-limit.js'

/** After the time limit a program has this long to clean up. */
export const TIMEOUT_GRACE_MS = 5_000
/** A person who interrupts does not wait that long. */
export const INTERRUPT_GRACE_MS = 2_000

/** What all programs of a host have in common. */
export interface ProgramSettings {
  readonly tempDir: string
  readonly outputDir: string
  readonly env: Readonly<Record<string, string>>
  readonly timeoutMs: number
  readonly maxCalls: number
  readonly clock: Clock
  readonly interpreters: Interpreters
  readonly guard: OrphanGuard
  readonly isolate: Isolate | null
}

/** Runs a program in a process of its own, which ends with it, as does all it started. */
export async function runProgram(settings: ProgramSettings, request: CodeRequest): Promise<CodeResult> {
  const { language, tools, cwd } = request
  const interpreter = await settings.interpreters.find(language, cwd)
  const folder = await makeProgramFolder({ tempDir: settings.tempDir, language, definitions: tools.definitions })
  const limit = new TimeLimit(settings.timeoutMs, settings.clock)
  const calls = new ProgramCalls({ tools, maxCalls: settings.maxCalls, progress: request.progress, limit })
  let server: RpcServer | null = null
  try {
    server = await RpcServer.listen(folder.socket, calls.handle)
    const file = join(folder.path, language === 'python' ? 'program.py' : 'program.mjs')
    await writeFile(file, request.code.toWellFormed())
    const output = new CapturedOutput(settings)
    const startedMs = settings.clock.now()
    const process = await startIn(folder, settings, { ...interpreter, argv: [...interpreter.argv, file], cwd })
    process.stdout.on('data', (chunk: Buffer) => output.stdout.push(chunk))
    process.stderr.on('data', (chunk: Buffer) => output.stderr.push(chunk))
    const watched = await watch(process.exit, { limit, signal: request.signal })
    calls.stop()
    if (watched.type !== 'ended') await process.stop(watched.type === 'timeout' ? TIMEOUT_GRACE_MS : INTERRUPT_GRACE_MS)
    await process.settle()
    return toResult(watched, { output, calls, timeoutMs: settings.timeoutMs, tookMs: settings.clock.now() - startedMs })
  } finally {
    limit.stop()
    calls.stop()
    server?.close()
    await folder.remove()
  }
}

/** Starts a program that finds its tools through `folder`. */
export function startIn(
  folder: ProgramFolder,
  settings: Pick<ProgramSettings, 'env' | 'guard' | 'isolate' | 'clock'>,
  program: { readonly argv: readonly string[]; readonly cwd: string; readonly maxMemoryBytes: number },
): Promise<ScriptProcess> {
  const env = { ...settings.env, HERMES_RPC_SOCKET: folder.socket, PWD: program.cwd }
  return ScriptProcess.start({ ...settings, ...program, folder: folder.path, env })
}

/** What the end of a program and its outputs come to. */
export function toResult(
  watched: Watched<ScriptEnd>,
  of: {
    readonly output: CapturedOutput
    readonly calls: ProgramCalls
    readonly timeoutMs: number
    readonly tookMs: number
  },
): CodeResult {
  const { errors, ...output } = of.output.end()
  const common = {
    ...output,
    toolCallsMade: of.calls.made,
    durationMs: of.tookMs,
    sources: of.calls.sources,
    note: null,
  }
  const failed = (status: CodeResult['status'], why: string): CodeResult => ({
    ...common,
    status,
    errors: [errors.trimEnd(), why].filter(Boolean).join('\n'),
  })
  switch (watched.type) {
    case 'timeout':
      return failed('timeout', `Stopped after ${of.timeoutMs / 1000} s: the program takes too long or does not end.`)
    case 'interrupted':
      return failed('interrupted', 'The user interrupted the program.')
    case 'ended': {
      const { exitCode, signal } = watched.value
      if (exitCode === 0) return { ...common, status: 'success', errors: '' }
      const ending = signal === null ? `exit ${exitCode}` : `ended by ${signal}`
      return failed('error', errors.trim() === '' || signal !== null ? ending : '')
    }
    default:
      return watched satisfies never
  }
}

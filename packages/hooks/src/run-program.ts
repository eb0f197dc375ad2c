import { errorLine, HermesError } from '@hermes/contracts'
import { type Environment, programLine, type RunningProgram } from '@hermes/contracts/environment'
import type { Action, Policy, Subject } from '@hermes/contracts/policy'
import type { HookRun } from './answer.js'
import type { HookForm } from './event-table.js'
import { splitWords } from './split-words.js'

/** What runs the programs of hooks. */
export interface ProgramServices {
  /** Where they run: this machine, as its person does. */
  environment(): Promise<Environment>
  readonly policy: Pick<Policy, 'decide'>
  /** Absolute. */
  readonly userHome: string
}

/** One run of a hook's program. */
interface ProgramCall {
  readonly form: HookForm
  readonly command: string
  readonly shell?: 'bash'
  /** Absolute. */
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  readonly stdin: string
  readonly timeoutMs: number
  readonly signal: AbortSignal
  readonly subject: Omit<Subject, 'origin' | 'toolName' | 'tainted'>
}

const MAX_OUTPUT_BYTES = 1_000_000
/** Where the yes of a person is kept, as the audit trail names it. */
const AGREED = 'shell-hooks-allowlist.json'

/**
 * Runs the program of a hook that a person agreed to. What the policy denies does not run: the hard floor, `approvals.deny` and rules hold for
 * hooks too. Never rejects.
 */
export async function runProgram(services: ProgramServices, call: ProgramCall): Promise<HookRun> {
  try {
    return await run(services, call)
  } catch (error) {
    return { exitCode: null, stdout: '', stderr: '', timedOut: false, problem: errorLine(error) }
  }
}

async function run(services: ProgramServices, call: ProgramCall): Promise<HookRun> {
  const environment = await services.environment()
  const argv = argvOf(call, services.userHome)
  const action: Action = { type: 'spawn', command: programLine(argv), cwd: call.cwd, backend: environment.backend }
  const subject: Subject = { ...call.subject, origin: 'operator', toolName: 'hooks', tainted: false }
  const decision = await services.policy.decide(action, subject, { agreed: AGREED })
  if (decision.type !== 'allow')
    throw new HermesError(decision.type === 'deny' ? decision.reason : 'The policy wants a person asked.', {
      code: 'hooks.denied',
    })
  if (!environment.startProgram)
    throw new HermesError('Programs cannot be started here.', { code: 'hooks.no_programs' })
  const program = await environment.startProgram(decision.permit, { argv, cwd: call.cwd, env: call.env })
  return talk(program, call)
}

/** The reference system's form starts the program itself, the others give the line to a shell. */
function argvOf({ form, command, shell }: ProgramCall, userHome: string): readonly [string, ...string[]] {
  if (form !== 'hermes') return [shell ?? '/bin/sh', '-c', command]
  const [program = '', ...args] = splitWords(command).map((word) => word.replace(/^~(?=\/|$)/, () => userHome))
  return [program, ...args]
}

async function talk(program: RunningProgram, { stdin, timeoutMs, signal }: ProgramCall): Promise<HookRun> {
  let timedOut = false
  let problem: string | undefined
  const stop = () => void program.kill()
  const timer = setTimeout(() => {
    timedOut = true
    stop()
  }, timeoutMs)
  if (signal.aborted) stop()
  else signal.addEventListener('abort', stop, { once: true })
  const tooMuch = () => {
    problem = `it wrote more than ${MAX_OUTPUT_BYTES} bytes.`
    stop()
  }
  const output = Promise.all([collect(program.stdout, tooMuch), collect(program.stderr, tooMuch)])
  // A hook need not read what it is told.
  program.stdin.on('error', () => undefined)
  program.stdin.end(stdin)
  try {
    const [stdout, stderr] = await output
    const { exitCode } = await program.ended
    if (signal.aborted) problem ??= 'the run was stopped.'
    return { exitCode, stdout, stderr, timedOut, ...(problem === undefined ? {} : { problem }) }
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', stop)
  }
}

async function collect(stream: RunningProgram['stdout'], tooMuch: () => void): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      size += chunk.length
      if (size <= MAX_OUTPUT_BYTES) chunks.push(chunk)
      else tooMuch()
    }
  } catch {
    // What came before it broke off is what there is.
  }
  return Buffer.concat(chunks).toString('utf8')
}

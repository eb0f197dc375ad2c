import { randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import type { JsonObject, JsonValue } from '@hermes/contracts'
import type { TextSource } from '@hermes/contracts/conversation'
import { CapturedOutput } from './captured-output.js'
import type { CodeRequest } from './code-request.js'
import type { CodeResult, Watched } from './code-result.js'
import { watch } from './code-result.js'
import { joinSources, ProgramCalls } from './program-calls.js'
import type { ProgramFolder } from './program-folder.js'
import { makeProgramFolder } from './program-folder.js'
import { RpcServer } from './rpc-server.js'
import type { ProgramSettings } from './run-program.js'
import { INTERRUPT_GRACE_MS, startIn, TIMEOUT_GRACE_MS, toResult } from './run-program.js'
import type { ScriptEnd, ScriptProcess } from './script-process.js'
import { TimeLimit } from './time-limit.js'

const LOST = 'The interpreter ended too: what earlier programs left in it is gone.'

/** An interpreter that runs one program after the other, each among what the earlier ones left. */
export class KeptInterpreter {
  readonly #settings: ProgramSettings
  readonly #folder: ProgramFolder
  readonly #ask = `next ${randomBytes(16).toString('hex')}`
  #server: RpcServer | null = null
  #process: ScriptProcess | null = null
  #streams: { readonly stdout: MarkedStream; readonly stderr: MarkedStream } | null = null
  #calls: ProgramCalls | null = null
  #requested = Promise.withResolvers<(job: JsonObject) => void>()
  #finish: (ok: boolean) => void = () => undefined
  #isOver = false
  #sources: readonly TextSource[] | null = []
  #ok = true
  /** Where the agent worked when the latest program began. */
  #cwd: string

  private constructor(settings: ProgramSettings, folder: ProgramFolder, cwd: string) {
    this.#settings = settings
    this.#folder = folder
    this.#cwd = cwd
  }

  /** @throws HermesError as `runProgram` does. */
  static async start(settings: ProgramSettings, request: CodeRequest): Promise<KeptInterpreter> {
    const { language, tools, cwd } = request
    const interpreter = await settings.interpreters.find(language, cwd)
    const folder = await makeProgramFolder({ tempDir: settings.tempDir, language, definitions: tools.definitions })
    const kept = new KeptInterpreter(settings, folder, cwd)
    try {
      const [name, kernel] = language === 'python' ? ['kernel.py', PYTHON_KERNEL] : ['kernel.mjs', JAVASCRIPT_KERNEL]
      const file = join(folder.path, name)
      await writeFile(file, kernel)
      kept.#server = await RpcServer.listen(folder.socket, (tool, args) => kept.#answer(tool, args))
      const argv = [...interpreter.argv, file, kept.#ask]
      kept.#process = await startIn(folder, settings, { ...interpreter, argv, cwd })
      const { stdout, stderr, exit } = kept.#process
      kept.#streams = { stdout: new MarkedStream(stdout), stderr: new MarkedStream(stderr) }
      void exit.then(() => (kept.#isOver = true))
      return kept
    } catch (error) {
      await kept.close()
      throw error
    }
  }

  /** Whether it has ended. */
  get isOver(): boolean {
    return this.#isOver
  }

  async run(request: CodeRequest): Promise<CodeResult> {
    const { timeoutMs, maxCalls, clock } = this.#settings
    const { tools, progress, signal } = request
    const process = this.#process!
    const limit = new TimeLimit(timeoutMs, clock)
    const calls = new ProgramCalls({ tools, maxCalls, progress, limit })
    const output = new CapturedOutput(this.#settings)
    const startedMs = clock.now()
    this.#calls = calls
    const ended = Promise.race([this.#execute(request, output), process.exit])
    const watched = await watch(ended, { limit, signal })
    this.#calls = null
    calls.stop()
    const isOver = watched.type !== 'ended' || watched.value !== RAN
    if (isOver) await this.#end(watched)
    const tookMs = clock.now() - startedMs
    // What an earlier program got from outside may be in what it left.
    this.#sources = joinSources(this.#sources, calls.sources)
    const result = toResult(this.#verdict(watched), { output, calls, timeoutMs, tookMs })
    return { ...result, sources: this.#sources, note: isOver ? LOST : null }
  }

  async close(): Promise<void> {
    this.#isOver = true
    await this.#process?.stop(INTERRUPT_GRACE_MS)
    await this.#process?.settle()
    this.#server?.close()
    await this.#folder.remove()
  }

  /** Hands the code over; resolves once it ran and both outputs are read up to their marks. */
  async #execute({ code, cwd }: CodeRequest, output: CapturedOutput): Promise<typeof RAN> {
    const mark = `\0${randomBytes(16).toString('hex')}\0`
    const streams = this.#streams!
    const read = [
      streams.stdout.read(mark, (chunk) => output.stdout.push(chunk)),
      streams.stderr.read(mark, (chunk) => output.stderr.push(chunk)),
    ]
    const finished = new Promise<boolean>((resolve) => (this.#finish = resolve))
    const give = await this.#requested.promise
    this.#requested = Promise.withResolvers()
    // Where the agent has moved the interpreter moves too; else it stays where the last program left it.
    give({ code: code.toWellFormed(), mark, cwd: cwd === this.#cwd ? null : cwd })
    this.#cwd = cwd
    this.#ok = await finished
    await Promise.all(read)
    return RAN
  }

  async #end(watched: Watched<ScriptEnd>): Promise<void> {
    const grace = watched.type === 'timeout' ? TIMEOUT_GRACE_MS : INTERRUPT_GRACE_MS
    if (watched.type !== 'ended') await this.#process!.stop(grace)
    await this.#process!.settle()
    this.#streams!.stdout.flush()
    this.#streams!.stderr.flush()
    await this.close()
  }

  #verdict(watched: Watched<ScriptEnd>): Watched<ScriptEnd> {
    if (watched.type !== 'ended' || watched.value !== RAN) return watched
    return { type: 'ended', value: { exitCode: this.#ok ? 0 : 1, signal: null } }
  }

  #answer(tool: string, args: JsonObject): Promise<JsonValue> {
    if (tool === this.#ask) return this.#next(args)
    return this.#calls?.handle(tool, args) ?? Promise.resolve({ error: 'No program is under way.' })
  }

  /** The interpreter is done with one piece of code and waits for another. */
  #next({ ok }: JsonObject): Promise<JsonValue> {
    return new Promise((give) => {
      this.#requested.resolve(give)
      if (typeof ok === 'boolean') this.#finish(ok)
    })
  }
}

/** The program ran and the interpreter is still there. */
const RAN: ScriptEnd = Object.freeze({ exitCode: 0, signal: null })

/** One output of a program that stays: what it writes goes to whoever reads, up to a mark. */
class MarkedStream {
  #buffered: Buffer = Buffer.alloc(0)
  #reader: { readonly mark: Buffer; readonly push: (chunk: Buffer) => void; readonly end: () => void } | null = null

  constructor(stream: Readable) {
    stream.on('data', (chunk: Buffer) => this.#take(chunk))
    stream.on('error', () => undefined)
  }

  /** Gives everything before `mark` to `push`; resolves at the mark. */
  read(mark: string, push: (chunk: Buffer) => void): Promise<void> {
    return new Promise((resolve) => {
      this.#reader = { mark: Buffer.from(mark), push, end: resolve }
      this.#take(Buffer.alloc(0))
    })
  }

  /** Gives what was held back in case it was the start of the mark. */
  flush(): void {
    this.#reader?.push(this.#buffered)
    this.#buffered = Buffer.alloc(0)
    this.#reader = null
  }

  #take(chunk: Buffer): void {
    const reader = this.#reader
    // What comes between two programs is nobody's.
    if (!reader) return
    const bytes = this.#buffered.length === 0 ? chunk : Buffer.concat([this.#buffered, chunk])
    const at = bytes.indexOf(reader.mark)
    if (at !== -1) {
      reader.push(bytes.subarray(0, at))
      this.#buffered = Buffer.alloc(0)
      this.#reader = null
      reader.end()
      return
    }
    const sure = Math.max(0, bytes.length - reader.mark.length + 1)
    if (sure > 0) reader.push(bytes.subarray(0, sure))
    this.#buffered = bytes.subarray(sure)
  }
}

// The programs that stay: each asks for the next piece of code as if that were a tool, runs it among what earlier pieces left, and
// ends both outputs with a mark.

/** Its first argument is the name to ask under. */
const PYTHON_KERNEL = `import builtins
import linecache
import os
import sys
import traceback
from hermes_tools import _call

_ask, sys.argv = sys.argv[1], [""]


def _serve():
    names = {"__name__": "__main__", "__builtins__": builtins}
    done, count, own = {}, 0, os.getpid()
    while True:
        job = _call(_ask, done)
        count += 1
        file, code = "<program %d>" % count, job["code"]
        linecache.cache[file] = (len(code), None, code.splitlines(True), file)
        ok = True
        try:
            if job["cwd"] is not None:
                os.chdir(job["cwd"])
            exec(compile(code, file, "exec"), names)
        except SystemExit as end:
            ok = end.code in (None, 0)
            if not ok:
                print(end.code, file=sys.stderr)
        except BaseException:
            ok = False
            kind, error, trace = sys.exc_info()
            traceback.print_exception(kind, error, trace.tb_next)
        sys.stdout.flush()
        sys.stderr.flush()
        if os.getpid() != own:
            os._exit(0 if ok else 1)
        os.write(1, job["mark"].encode())
        os.write(2, job["mark"].encode())
        done = {"ok": ok}


_serve()
`

// The inspector's evaluation is the one that awaits at top level and lets a name be declared again. It knows no import statements.
const JAVASCRIPT_KERNEL = `import { Session } from 'node:inspector'
import { createRequire } from 'node:module'
import { inspect } from 'node:util'
import { _call } from 'hermes_tools'

const ask = process.argv[2]
process.argv.length = 1
const session = new Session()
session.connect()
globalThis.require = createRequire(process.cwd() + '/')
globalThis.__import = (name) => import(name)

const names = (list) => list.replace(/\\b(\\w+)\\s+as\\s+(\\w+)/g, '$1: $2')
const withoutStatements = (code) =>
  code
    .replace(/^([ \\t]*)import\\s*(["'][^"'\\n]+["'])/gm, '$1await __import($2)')
    .replace(/^([ \\t]*)import\\s+\\*\\s+as\\s+(\\w+)\\s+from\\s*(["'][^"'\\n]+["'])/gm, '$1const $2 = await __import($3)')
    .replace(/^([ \\t]*)import\\s+(\\w+)\\s+from\\s*(["'][^"'\\n]+["'])/gm, '$1const { default: $2 } = await __import($3)')
    .replace(/^([ \\t]*)import\\s*(\\{[^}]*\\})\\s*from\\s*(["'][^"'\\n]+["'])/gm, (_, space, list, from) => space + 'const ' + names(list) + ' = await __import(' + from + ')')
    .replace(/(?<![\\w$.])import\\s*\\(/g, '__import(')

let ok = true
process.on('uncaughtException', (error) => {
  ok = false
  console.error(inspect(error))
})

const evaluate = (expression) =>
  new Promise((resolve) =>
    session.post('Runtime.evaluate', { expression, replMode: true, awaitPromise: true }, (error, answer) => {
      const problem = error?.message ?? answer?.exceptionDetails?.exception?.description ?? answer?.exceptionDetails?.text
      if (problem !== undefined) {
        ok = false
        console.error(problem)
      }
      resolve()
    }),
  )
const write = (stream, text) => new Promise((resolve) => stream.write(text, resolve))

for (let done = {}; ; done = { ok }) {
  const { code, mark, cwd } = await _call(ask, done)
  ok = true
  try {
    if (cwd !== null) process.chdir(cwd)
  } catch (error) {
    ok = false
    console.error(error.message)
  }
  if (ok) await evaluate(withoutStatements(code))
  await Promise.all([write(process.stdout, mark), write(process.stderr, mark)])
}
`

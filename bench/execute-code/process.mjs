// node process.mjs '{"directory":…}': runs programs as execute_code does and prints what they measured of themselves, beside a bare
// socket that echoes lines and bare interpreters.
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import { join } from 'node:path'

const { codeAction, createCodeHost } = await import('../../packages/sandbox/src/execute-code/index.ts')
const { createPermit } = await import('../../packages/safety/src/index.ts')

const CALLS = 4_000
const { directory } = JSON.parse(process.argv[2])
const host = createCodeHost({
  tempDir: directory,
  outputDir: join(directory, 'outputs'),
  workspace: directory,
  home: directory,
  env: { PATH: process.env.PATH },
  maxCalls: Number.POSITIVE_INFINITY,
})
const definition = {
  name: 'read_file',
  description: 'Reads.',
  parameters: { type: 'object', properties: { path: {} } },
}
const tools = {
  definitions: [definition],
  call: async (_, args) => ({ content: [], data: args, isError: false }),
}

const PROGRAMS = {
  python: `import time
from hermes_tools import read_file
start = time.perf_counter()
for n in range(${CALLS}): read_file("notes.txt")
print(${CALLS} / (time.perf_counter() - start))`,
  javascript: `import { read_file } from 'hermes_tools'
const start = performance.now()
for (let n = 0; n < ${CALLS}; n++) await read_file('notes.txt')
console.log(${CALLS} / (performance.now() - start) * 1000)`,
  promises: `import { read_file } from 'hermes_tools'
const start = performance.now()
for (let n = 0; n < ${CALLS}; n += 16) await Promise.all(Array.from({ length: 16 }, () => read_file('notes.txt')))
console.log(${CALLS} / (performance.now() - start) * 1000)`,
}
const FIRST_LINE = {
  python: 'import time\nfrom hermes_tools import read_file\nprint(time.time() * 1000)',
  javascript: "import { read_file } from 'hermes_tools'\nconsole.log(performance.timeOrigin + performance.now())",
}

// The first program of a host also looks for the interpreter.
await run('python', 'pass')
await run('javascript', '0')
const result = {
  echo: await echoRate(),
  python: await run('python', PROGRAMS.python),
  javascript: await run('javascript', PROGRAMS.javascript),
  promises: await run('javascript', PROGRAMS.promises),
  pythonStart: await firstLine('python'),
  javascriptStart: await firstLine('javascript'),
  barePython: bare('python3', ['-c', 'import sys; print(sys.executable)']),
  bareNode: bare(process.execPath, ['-e', 'console.log(1)']),
}
await host.close()
console.log(JSON.stringify(result))

async function run(language, code) {
  const request = { language, code, cwd: directory, sessionId: 'bench', tools, signal: AbortSignal.timeout(60_000) }
  const outcome = await host.run(createPermit(codeAction(request)), { ...request, progress: () => undefined })
  if (outcome.status !== 'success') throw new Error(outcome.errors)
  return Number(outcome.output)
}

async function firstLine(language) {
  const startedMs = performance.timeOrigin + performance.now()
  return (await run(language, FIRST_LINE[language])) - startedMs
}

/** The interpreter itself: what manages versions on this machine is not measured. */
function bare(program, args) {
  const real = program === 'python3' ? spawnSync(program, args, { encoding: 'utf8' }).stdout.trim() : program
  const startedMs = performance.now()
  spawnSync(real, args)
  return performance.now() - startedMs
}

/** Lines a second over a Unix socket between this process and itself, one at a time. */
async function echoRate() {
  const path = join(directory, 'echo.sock')
  const server = createServer((socket) => socket.pipe(socket)).listen(path)
  await once(server, 'listening')
  const socket = connect(path)
  const line = Buffer.from('{"id":1,"tool":"read_file","args":{"path":"notes.txt"}}\n')
  const startedMs = performance.now()
  for (let call = 0; call < CALLS; call++) {
    socket.write(line)
    await once(socket, 'data')
  }
  const rate = (CALLS / (performance.now() - startedMs)) * 1000
  socket.destroy()
  server.close()
  return rate
}

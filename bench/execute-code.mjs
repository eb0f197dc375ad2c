// Programs that call tools: how fast the calls are, how soon a program runs, and what it saves of a model's input.
import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { CONTESTANTS, runNode } from './measure.mjs'
import { atLeast, atMost, row } from './report.mjs'

const loader = join(import.meta.dirname, '../packages/sandbox/src/__fixtures__/resolve-sources.mjs')
const FILES = 2_000
const OVERDUE_EVERY = 223
const BYTES_PER_TOKEN = 4

/** @param {{ rounds: number, workspace: { directory: string, cwd: string }, server: object }} options */
export async function executeCode({ rounds, workspace, server }) {
  const samples = Array.from({ length: rounds }, () => measureCalls(workspace.directory))
  const of = (name) => samples.map((sample) => sample[name])
  const { plain, program } = await compare({ workspace, server })
  return [
    row('a bare socket that echoes lines', '1/s', of('echo')),
    row('calls of a Python program', '1/s', of('python'), atLeast(5_000)),
    row('calls of a JavaScript program', '1/s', of('javascript'), atLeast(5_000)),
    row('  16 at a time', '1/s', of('promises'), atLeast(5_000)),
    row('bare python3', 'ms', of('barePython')),
    row('start to first line, Python', 'ms', of('pythonStart'), atMost(80)),
    row('bare node', 'ms', of('bareNode')),
    row('start to first line, JavaScript', 'ms', of('javascriptStart'), atMost(60)),
    row('2,000 files, ten calls: requests', '', [plain.requests]),
    row('  input', 'tokens', [plain.tokens]),
    row('  wall time', 'ms', [plain.wallMs]),
    row('2,000 files, one program: requests', '', [program.requests]),
    row('  input', 'tokens', [program.tokens]),
    row('  wall time', 'ms', [program.wallMs]),
    row('  input saved', '%', [100 * (1 - program.tokens / plain.tokens)], atLeast(70)),
  ]
}

function measureCalls(directory) {
  const script = join(import.meta.dirname, 'execute-code', 'process.mjs')
  const args = ['--conditions=@hermes/source', `--import=${loader}`, script, JSON.stringify({ directory })]
  return JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' }))
}

/** The same work twice: find the overdue invoices, read each, keep the large ones. */
async function compare({ workspace, server }) {
  const overdue = fill(join(workspace.cwd, 'invoices'))
  const search = { pattern: 'OVERDUE', path: 'invoices', output_mode: 'files_only', limit: 100 }
  const calls = [
    { tool: 'search_files', args: search },
    ...overdue.map((path) => ({ tool: 'read_file', args: { path } })),
  ]
  const code = `import re
from hermes_tools import search_files, read_file
for name in sorted(search_files("OVERDUE", path="invoices", output_mode="files_only", limit=100)["files"]):
  total = int(re.search(r"total: (\\d+)", read_file(name)["content"]).group(1))
  if total > 1000: print(name, total)`
  const run = async (script) => {
    await server.script({ ...script, turns: script.calls.length, text: 'Four are large.' })
    const more = ['-t', 'hermes-cli,code_execution']
    const { wallMs } = await runNode(CONTESTANTS.hermes(server.baseUrl, ...more), { workspace })
    const requests = await server.requests()
    const bytes = requests.reduce((sum, { body }) => sum + Buffer.byteLength(body), 0)
    if (requests.length !== script.calls.length + 1) throw new Error(`got ${requests.length} requests`)
    if (!JSON.parse(requests.at(-1).body).messages.at(-1).content.includes(script.proof))
      throw new Error('wrong answer')
    return { requests: requests.length, tokens: Math.round(bytes / BYTES_PER_TOKEN), wallMs }
  }
  const plain = await run({ calls, proof: 'OVERDUE' })
  return {
    plain,
    program: await run({ calls: [{ tool: 'execute_code', args: { code } }], proof: '[success · 10 tool' }),
  }
}

/** @returns {string[]} the nine invoices that are overdue */
function fill(directory) {
  mkdirSync(directory, { recursive: true })
  const overdue = []
  for (let number = 0; number < FILES; number++) {
    const name = `${String(number).padStart(4, '0')}.txt`
    const isOverdue = number % OVERDUE_EVERY === 0
    const lines = Array.from(
      { length: 120 },
      (_, line) => `position ${line}: ${(number * 31 + line * 7) % 997} pieces, paid on time`,
    )
    lines.push(`total: ${(number * 37) % 2_000}`, `status: ${isOverdue ? 'OVERDUE' : 'settled'}`)
    writeFileSync(join(directory, name), `${lines.join('\n')}\n`)
    if (isOverdue) overdue.push(join('invoices', name))
  }
  return overdue
}

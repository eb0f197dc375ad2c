// Programs that call tools: how fast the calls are, how soon a program runs, and what it saves of a model's input.
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { CONTESTANTS, runNode } from './measure.mjs'
import { atLeast, atMost, row } from './report.mjs'

const loader = join(import.meta.dirname, '../packages/testkit/src/__fixtures__/load-sources.mjs')
const FILES = 2_000
const OVERDUE_EVERY = 223
const PAGES = 20
const PAGE_BYTES = 30_000
const BYTES_PER_TOKEN = 4

/** @param {{ rounds: number, workspace: { directory: string, cwd: string }, server: object }} options */
export async function executeCode({ rounds, workspace, server }) {
  const samples = Array.from({ length: rounds }, () => measureCalls(workspace.directory))
  const of = (name) => samples.map((sample) => sample[name])
  const files = await compare({ workspace, server }, searchOfFiles(workspace))
  const site = await servePages()
  const pages = await compare({ workspace, server }, extractionOfPages(site.address)).finally(() => site.close())
  return [
    row('a bare socket that echoes lines', '1/s', of('echo')),
    row('calls of a Python program', '1/s', of('python'), atLeast(5_000)),
    row('calls of a JavaScript program', '1/s', of('javascript'), atLeast(5_000)),
    row('  16 at a time', '1/s', of('promises'), atLeast(5_000)),
    row('bare python3', 'ms', of('barePython')),
    row('start to first line, Python', 'ms', of('pythonStart'), atMost(80)),
    row('bare node', 'ms', of('bareNode')),
    row('start to first line, JavaScript', 'ms', of('javascriptStart'), atMost(60)),
    ...rowsOf('2,000 files', files),
    ...rowsOf('20 pages', pages),
  ]
}

function rowsOf(task, { plain, program }) {
  const each = (how, { requests, tokens, wallMs }) => [
    row(`${task}, ${how}: requests`, '', [requests]),
    row('  input', 'tokens', [tokens]),
    row('  wall time', 'ms', [wallMs]),
  ]
  const saved = row('  input saved', '%', [100 * (1 - program.tokens / plain.tokens)], atLeast(70))
  return [...each(`${plain.requests - 1} calls`, plain), ...each('one program', program), saved]
}

function measureCalls(directory) {
  const script = join(import.meta.dirname, 'execute-code', 'process.mjs')
  const args = ['--conditions=@hermes/source', `--import=${loader}`, script, JSON.stringify({ directory })]
  return JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' }))
}

/** Find the overdue invoices, read each, keep the large ones. */
function searchOfFiles(workspace) {
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
  return { calls, proof: 'OVERDUE', code, programProof: '[success · 10 tool' }
}

/** Fetch each page, keep what is in stock. */
function extractionOfPages(address) {
  const urls = Array.from({ length: PAGES }, (_, page) => `${address}/${page}`)
  const calls = urls.map((url) => ({ tool: 'terminal', args: { command: `curl -s ${url}` } }))
  const code = `import re
from hermes_tools import terminal
for page in range(${PAGES}):
  html = terminal(f"curl -s ${address}/{page}")["output"]
  for name, price in re.findall(r'<b class="in-stock">(.*?)</b> <i>(.*?)</i>', html): print(name, price)`
  return { calls, proof: 'in-stock', code, programProof: '[success · 20 tool' }
}

/** Pages of a shop, 30 KB each. */
async function servePages() {
  const pageOf = (page) => {
    const items = Array.from({ length: 400 }, (_, item) => {
      const state = item % 100 === page ? 'in-stock' : 'sold-out'
      return `<li><b class="${state}">Article ${page}-${item}</b> <i>${(page * 37 + item) % 90}.00</i></li>`
    })
    return `<ul>\n${items.join('\n')}\n</ul>`.padEnd(PAGE_BYTES)
  }
  const server = createServer((request, response) => response.end(pageOf(Number(request.url.slice(1)))))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { address: `http://127.0.0.1:${server.address().port}`, close: () => server.close() }
}

/** The same work twice: call by call, and by one program. */
async function compare({ workspace, server }, { calls, proof, code, programProof }) {
  const run = async (script) => {
    await server.script({ ...script, turns: script.calls.length, text: 'Done.' })
    const more = ['-t', 'hermes-cli,code_execution']
    const { wallMs } = await runNode(CONTESTANTS.hermes(server.baseUrl, ...more), { workspace })
    const requests = await server.requests()
    const bytes = requests.reduce((sum, { body }) => sum + Buffer.byteLength(body), 0)
    if (requests.length !== script.calls.length + 1) throw new Error(`got ${requests.length} requests`)
    if (!JSON.parse(requests.at(-1).body).messages.at(-1).content.includes(script.proof))
      throw new Error('wrong answer')
    return { requests: requests.length, tokens: Math.round(bytes / BYTES_PER_TOKEN), wallMs }
  }
  const plain = await run({ calls, proof })
  const program = await run({ calls: [{ tool: 'execute_code', args: { code } }], proof: programProof })
  return { plain, program }
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

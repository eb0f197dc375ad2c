// node examples/execute-code/run.mjs [OPTIONS OF hermes chat]: see README.md beside this file. Needs a built CLI (`npx -y pnpm@12 demo`
// builds it). Without options the model is a stand-in that always writes the same program; all else is real.
// Exit codes: those of hermes chat.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runHermes } from '../stand-in.mjs'

const TASK =
  'Which invoices in the folder invoices are OVERDUE and come to more than 1000? Write one program that finds them, and list them with their totals.'

const PROGRAM = `import re
from concurrent.futures import ThreadPoolExecutor
from hermes_tools import search_files, read_file

def total(name):
    return int(re.search(r"total: (\\d+)", read_file(name)["content"]).group(1))

names = sorted(search_files("OVERDUE", path="invoices", output_mode="files_only", limit=100)["files"])
with ThreadPoolExecutor(4) as pool:
    for name, amount in zip(names, pool.map(total, names)):
        if amount > 1000:
            print(name, amount)`

const folder = mkdtempSync(join(tmpdir(), 'hermes-example-'))
try {
  writeInvoices(join(folder, 'invoices'))
  process.exitCode = await runHermes({ task: TASK, folder, options: process.argv.slice(2), answer })
} finally {
  rmSync(folder, { recursive: true, force: true })
}

/** 2,000 invoices of some 120 lines; nine are overdue. */
function writeInvoices(directory) {
  mkdirSync(directory)
  for (let number = 0; number < 2_000; number++) {
    const lines = Array.from({ length: 120 }, (_, line) => `position ${line}: ${(number * 31 + line * 7) % 997} pieces`)
    lines.push(`total: ${(number * 37) % 2_000}`, `status: ${number % 223 === 0 ? 'OVERDUE' : 'settled'}`)
    writeFileSync(join(directory, `${String(number).padStart(4, '0')}.txt`), `${lines.join('\n')}\n`)
  }
}

/** The stand-in: the program first, then what it printed. */
function answer(messages) {
  const last = messages.at(-1)
  if (last.role !== 'tool') return { calls: [{ name: 'execute_code', args: { code: PROGRAM } }] }
  return { text: `These are overdue and large:\n${last.content}` }
}

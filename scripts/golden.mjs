// node scripts/golden.mjs [--write] [NAME...]: compares the recorded sessions of tests/golden with what the apps do now, or records them anew.
// Bundles the apps before. A NAME is a part of a session's name, such as `approval`; without one all are compared. Recording wants names.
// Exit codes: 0 the same, or recorded; 1 something differs, did not build or did not go through; 2 for an unknown option, and for
// --write without a name.
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { bundle } from './build.mjs'
import { readOptions } from './options.mjs'

const { values, positionals } = readOptions(
  import.meta.filename,
  { write: { type: 'boolean', default: false } },
  { allowPositionals: true },
)
const root = resolve(import.meta.dirname, '..')
const [wires, parts] = ['wires', 'parts'].map((name) => join(root, 'tests/golden', name))

if (values.write && positionals.length === 0) {
  console.error('golden: name the sessions to record, for example: pnpm golden --write a-run-is-steered')
  process.exit(2)
}
process.exitCode = main(positionals.map((name) => name.replaceAll('-', ' ')))

function main(names) {
  if (!bundle(root)) return 1
  const { status } = spawnSync(
    join(root, 'node_modules/.bin/vitest'),
    ['run', 'tests/golden', ...(names.length > 0 ? ['-t', names.join('|')] : [])],
    { cwd: root, stdio: 'inherit', env: { ...process.env, HERMES_GOLDEN: values.write ? 'write' : 'compare' } },
  )
  if (values.write) removeUnusedParts()
  return status ?? 1
}

/** Removes texts that no golden file names any more. */
function removeUnusedParts() {
  if (!existsSync(wires) || !existsSync(parts)) return
  const texts = readdirSync(wires, { recursive: true, withFileTypes: true })
    .filter((file) => file.isFile())
    .map((file) => readFileSync(join(file.parentPath, file.name), 'utf8'))
  for (const file of readdirSync(parts)) {
    const name = file.replace(/\.txt$/, '').replace('-', ' ')
    if (!texts.some((text) => text.includes(`<${name}>`))) rmSync(join(parts, file))
  }
}

// node scripts/boundaries.mjs [ROOT]: checks who imports whom and who touches the outside world.
// Exit codes: 0 no violation, 1 violations (one line each), 2 nothing was read, or a wrong option.
import { resolve } from 'node:path'
import { checkBoundaries } from './boundaries/check.mjs'
import { RULES } from './boundaries/rules.mjs'
import { readOptions } from './options.mjs'

const { positionals } = readOptions(import.meta.filename, {}, { allowPositionals: true })
const root = resolve(positionals[0] ?? `${import.meta.dirname}/..`)
const { files, packages, violations } = checkBoundaries({ root, rules: RULES })

if (files === 0) {
  console.error(`boundaries: read no TypeScript file under ${root}`)
  process.exit(2)
}
for (const { file, line, rule, message } of violations) console.error(`${file}:${line} ${rule}: ${message}`)
console.log(`boundaries: ${files} files in ${packages} packages, ${violations.length || 'no'} violations`)
process.exit(violations.length > 0 ? 1 : 0)

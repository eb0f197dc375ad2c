// node scripts/statements.mjs [ROOT]: finds statements that are written by hand in the folders of both dialects of packages/storage.
// What both need is written once: built in `stores/`, or as text in `shared/`. Exit codes: 0 none, 1 some (one line each), 2 nothing was read, or
// a wrong option.
import { resolve } from 'node:path'
import { readOptions } from './options.mjs'
import { findStatements, inBoth } from './statements/find.mjs'

const { positionals } = readOptions(import.meta.filename, {}, { allowPositionals: true })
const root = resolve(positionals[0] ?? `${import.meta.dirname}/..`)
const [sqlite, postgres] = ['sqlite', 'postgres'].map((dialect) =>
  findStatements(root, `packages/storage/src/${dialect}`),
)

if (sqlite.length === 0 || postgres.length === 0) {
  console.error(`statements: read no statement of one dialect under ${root}`)
  process.exit(2)
}
const found = inBoth(sqlite, postgres)
for (const { text, left, right } of found) console.error(`${left} and ${right} have the same statement: ${text}`)
console.log(`statements: ${sqlite.length} and ${postgres.length}, ${found.length || 'none'} in both dialects`)
process.exit(found.length > 0 ? 1 : 0)

// node scripts/dependency-age.mjs: fails when pnpm-lock.yaml names a version less than a week old, or less well attested than versions before. The
// versions in scripts/young-dependencies.json may be younger, and so may those of a registry that gives no dates; a release lets neither pass.
// Exit codes: 0 fit, 1 not fit, 2 wrong option.
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { readOptions } from './options.mjs'
import { problemOfDependencies } from './publishable.mjs'

readOptions(import.meta.filename, {})
const { accepted } = JSON.parse(readFileSync(join(import.meta.dirname, 'young-dependencies.json'), 'utf8'))
const problem = problemOfDependencies(resolve(import.meta.dirname, '..'), accepted)
if (problem !== null) {
  console.error(`dependency-age: not fit to build with.\n${problem}`)
  process.exit(1)
}
console.log(`dependency-age: none is younger than a week but for those of the ${accepted.length} listed`)

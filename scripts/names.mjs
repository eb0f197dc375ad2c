// node scripts/names.mjs [--check | --apply [--dry]] [ROOT]: holds the repository to the words of scripts/names.json.
// --check lists old words with their place and the new word; --apply renames, twice the same as once, on any branch; --dry only says what it
// would do. A name that would collide or mean another declaration is refused, and nothing is written.
// Exit codes: 0 nothing to say, 1 old words or a refused rename, 2 names.json is wrong, or a wrong option.
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { checkNames } from './names/check.mjs'
import { createMatcher } from './names/match.mjs'
import { readOptions } from './options.mjs'

const { values, positionals } = readOptions(
  import.meta.filename,
  { check: { type: 'boolean' }, apply: { type: 'boolean' }, dry: { type: 'boolean' } },
  { allowPositionals: true },
)
const root = resolve(positionals[0] ?? `${import.meta.dirname}/..`)
/** The words themselves, what tests them, recorded wires, and what a generator writes. */
const SKIPPED =
  /(^|\/)(scripts\/names(\.json|\.mjs|\/.*)|tests\/scripts\/names\.test\.ts|generated\/.*|pnpm-lock\.yaml)$/
const isCode = (file) => /\.(ts|mjs|js)$/.test(file)
const isText = (file) => isCode(file) || /\.(md|json|jsonc|ya?ml|sh)$/.test(file) || file === '.ci/run'

const names = JSON.parse(readFileSync(join(root, 'scripts/names.json'), 'utf8'))
const matcher = createMatcher(names)
if (matcher.problems.length > 0) fail(2, matcher.problems)
const files = readFiles()

if (values.apply) await apply()
else check()

function check() {
  const hits = checkNames({ files, matcher, isCode })
  for (const hit of hits) console.error(`${hit.file}:${hit.line} ${hit.kind} '${hit.found}': say '${hit.say}'`)
  const unused = matcher
    .unused()
    .map(({ name, kind }) => `scripts/names.json: the exception '${name}' (${kind}) excepts nothing`)
  for (const line of unused) console.error(line)
  console.log(`names: ${files.size} files, ${hits.length || 'no'} old words`)
  process.exitCode = hits.length + unused.length > 0 ? 1 : 0
}

async function apply() {
  const { applyNames } = await import('./names/apply.mjs')
  const { files: changed, moved, refused } = applyNames({ files, matcher, isCode })
  if (refused.length > 0) for (const line of refused) console.error(line)
  console.log(`names: ${changed.size} files changed, ${moved.size} moved, ${refused.length || 'nothing'} refused`)
  if (refused.length > 0) process.exitCode = 1
  if (refused.length > 0 || values.dry) return
  for (const [file, text] of changed) writeFileSync(join(root, file), text)
  for (const [from, to] of moved) {
    mkdirSync(dirname(join(root, to)), { recursive: true })
    renameSync(join(root, from), join(root, to))
  }
}

/** Everything that git knows or would take, deleted files excepted. */
function readFiles() {
  const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: root,
    encoding: 'utf8',
  })
  const paths = [...new Set(listed.split('\0'))].filter(
    (file) => file && isText(file) && !SKIPPED.test(file) && existsSync(join(root, file)),
  )
  return new Map(paths.sort().map((file) => [file, readFileSync(join(root, file), 'utf8')]))
}

function fail(code, lines) {
  for (const line of lines) console.error(`scripts/names.json: ${line}`)
  process.exit(code)
}

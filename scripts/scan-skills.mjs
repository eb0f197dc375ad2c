// pnpm exec node scripts/scan-skills.mjs FOLDER…: reads and scans each folder with a SKILL.md below these, as an install would, and says what of them is not read, blocked or
// asked about, and how long it took. For heaps of skills that other people published: nothing of them is kept.
// Exit code 1 where one crashes.
import { spawnSync } from 'node:child_process'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'

const SKILLS = join(import.meta.dirname, '../packages/skills/src')
const IS_CHILD = 'HERMES_SCAN_SKILLS'

if (process.env[IS_CHILD] === undefined) {
  const loader = join(SKILLS, '../../testkit/src/__fixtures__/load-sources.mjs')
  const args = ['--conditions=@hermes/source', `--import=${loader}`, import.meta.filename, ...process.argv.slice(2)]
  process.exit(
    spawnSync(process.execPath, args, { stdio: 'inherit', env: { ...process.env, [IS_CHILD]: '1' } }).status ?? 1,
  )
}

const folders = (await Promise.all(process.argv.slice(2).map(skillsBelow))).flat()
if (folders.length === 0) {
  console.error('Use: node scripts/scan-skills.mjs FOLDER…, each with skills below it.')
  process.exit(1)
}
const { scanSkill } = await import(`${SKILLS}/install/scan-skill.ts`)
/** By kind: a line for each skill. @type {Record<string, string[]>} */
const lines = { crashed: [], refused: [], blocked: [], high: [], plain: [] }
let slowest = { ms: 0, folder: '' }
for (const { folder, name } of folders) {
  const beganMs = performance.now()
  const { kind, why } = await verdictOn(folder, name)
  lines[kind].push(`${folder}: ${why}`)
  const ms = performance.now() - beganMs
  if (ms > slowest.ms) slowest = { ms, folder }
}
for (const kind of ['crashed', 'refused', 'blocked', 'high'])
  for (const line of lines[kind]) console.log(`${kind}: ${line}`)
const share = (kind) => `${kind} ${lines[kind].length} (${((100 * lines[kind].length) / folders.length).toFixed(1)} %)`
console.log(
  `${folders.length} skills: ${Object.keys(lines).map(share).join(', ')}; slowest ${slowest.ms.toFixed(0)} ms, ${slowest.folder}`,
)
process.exit(lines.crashed.length > 0 ? 1 : 0)

async function verdictOn(folder, name) {
  try {
    const { findings } = await scanSkill(folder, name)
    const of = (severity) => findings.filter((one) => one.severity === severity).map(({ text }) => text)
    const kind = of('blocked').length > 0 ? 'blocked' : of('high').length > 0 ? 'high' : 'plain'
    return { kind, why: of(kind).join('; ') }
  } catch (error) {
    const isKnown = typeof error?.code === 'string' && error.code.startsWith('skills.')
    return { kind: isKnown ? 'refused' : 'crashed', why: String(isKnown ? error.message : error?.stack) }
  }
}

async function skillsBelow(root) {
  const entries = await readdir(root, { withFileTypes: true, recursive: true }).catch((error) => {
    console.error(`${root} cannot be looked through: ${error.message}`)
    process.exit(1)
  })
  return entries
    .filter((entry) => entry.isFile() && entry.name === 'SKILL.md')
    .map(({ parentPath }) => ({ folder: parentPath, name: parentPath.split('/').at(-1) }))
}

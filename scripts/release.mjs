// node scripts/release.mjs [--dry-run]: publishes the versions that `changeset version` wrote; with --dry-run only shows what would go.
// Exit codes: 0 done, 1 a manifest or a dependency is not fit to publish with, the build or the publishing failed, 2 wrong option.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { build } from './build.mjs'
import { readOptions } from './options.mjs'
import { publicPackages } from './packing.mjs'
import { problemOfDependencies } from './publishable.mjs'

const { values } = readOptions(import.meta.filename, { 'dry-run': { type: 'boolean' } })
const root = resolve(import.meta.dirname, '..')
const packages = publicPackages()

const problems = packages.flatMap(({ name, dir, manifest }) =>
  problemsOf(dir, manifest).map((problem) => `${name}: ${problem}`),
)
const versions = new Set(packages.map(({ manifest }) => manifest.version))
if (packages.length === 0) problems.push('no public package')
if (versions.size > 1) problems.push(`all packages share one version, found ${[...versions].join(', ')}`)
for (const problem of problems) console.error(`release: ${problem}`)
if (problems.length > 0) process.exit(1)

// On the way out none may be young, not even those that CI lets pass.
const unfit = values['dry-run'] ? null : problemOfDependencies(root)
if (unfit) console.error(`release: the dependencies are not fit to publish with.\n${unfit}`)
if (unfit || !build(root)) process.exit(1)
if (values['dry-run']) must('npx', ['-y', 'pnpm@12', 'publish', '-r', '--dry-run', '--no-git-checks'])
else must('changeset', ['publish'])

function problemsOf(dir, manifest) {
  const needed = {
    'publishConfig.access is public': manifest.publishConfig?.access === 'public',
    'publishConfig.provenance is on': manifest.publishConfig?.provenance === true,
    'repository.directory is its folder': manifest.repository?.directory === dir,
    'engines.node is set': Boolean(manifest.engines?.node),
    'license is MIT': manifest.license === 'MIT',
    'description is set': Boolean(manifest.description),
    'files lists what ships': Array.isArray(manifest.files),
    'there is a README.md': existsSync(join(root, dir, 'README.md')),
  }
  return Object.entries(needed).flatMap(([rule, holds]) => (holds ? [] : [`broken rule: ${rule}`]))
}

function must(command, args) {
  const local = join(root, 'node_modules/.bin', command)
  const { status, error } = spawnSync(existsSync(local) ? local : command, args, { cwd: root, stdio: 'inherit' })
  if (error) console.error(`Cannot start ${command}: ${error.message}`)
  if (status !== 0) process.exit(1)
}

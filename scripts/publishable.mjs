// What keeps a package from being published: judged by its tarball, and by the age and origin of what the workspace depends on.
import { execFileSync, spawnSync } from 'node:child_process'
import { posix } from 'node:path'
import { cleanEnvironment } from './packing.mjs'

const MIN_AGE_MINUTES = 7 * 24 * 60
const LIFECYCLE = ['preinstall', 'install', 'postinstall', 'prepublish', 'preprepare', 'prepare', 'postprepare']
const DEPENDENCIES = ['dependencies', 'optionalDependencies', 'peerDependencies']

/**
 * What is wrong with a tarball, one line for each: scripts that would run on the machine of whoever installs it, ranges that only the
 * workspace understands, and files that the manifest names and the tarball lacks.
 * @param {string} tarball path of a `.tgz`
 * @returns {string[]}
 */
export function problemsOfTarball(tarball) {
  const read = (...args) => execFileSync('tar', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
  const files = new Set(
    read('-tzf', tarball)
      .trim()
      .split('\n')
      .map((name) => name.replace(/^package\//, '')),
  )
  const manifest = JSON.parse(read('-xzOf', tarball, 'package/package.json'))
  const scripts = LIFECYCLE.filter((name) => manifest.scripts?.[name])
  const ranges = DEPENDENCIES.flatMap((kind) => Object.entries(manifest[kind] ?? {})).filter(([, range]) =>
    /^(?:workspace|catalog|file|link|portal|git|https?)[:+]/.test(range),
  )
  const missing = namedFiles(manifest).filter((path) => !path.includes('*') && !files.has(path))
  return [
    ...scripts.map((name) => `the script "${name}" would run on the machine of whoever installs it`),
    ...ranges.map(([name, range]) => `it depends on ${name} by "${range}", which no registry understands`),
    ...missing.map((path) => `its manifest names ${path}, which is not in it`),
  ]
}

/** Every file that a manifest points at. */
function namedFiles({ main, types, bin, exports }) {
  const leaves = (value) => (value && typeof value === 'object' ? Object.values(value).flatMap(leaves) : [value])
  return [main, types, ...leaves(bin), ...leaves(exports)]
    .filter((path) => typeof path === 'string')
    .map((path) => posix.normalize(path))
}

/**
 * Why what a workspace has locked is not to be published with, in pnpm's own words, or `null`: a version is less than a week old, or its
 * publisher proves less about where it comes from than for versions before. Asks the registry; changes nothing.
 * @param {string} root of the workspace
 * @param {readonly string[]} [accepted] versions that may be younger, as `NAME@VERSION`; with the list, so may all of a registry that gives
 *   no dates. Default: none, and dates are needed.
 * @returns {string | null}
 */
export function problemOfDependencies(root, accepted) {
  const policies = [
    `--config.minimumReleaseAge=${MIN_AGE_MINUTES}`,
    `--config.minimumReleaseAgeIgnoreMissingTime=${accepted !== undefined}`,
    '--config.trustPolicy=no-downgrade',
  ]
  // pnpm itself is found from here: what a workspace says of registries is meant for its dependencies.
  const args = ['-y', 'pnpm@12', '-C', root, 'install', '--lockfile-only', '--frozen-lockfile', ...policies]
  const exclude = accepted?.length > 0 ? { pnpm_config_minimum_release_age_exclude: JSON.stringify(accepted) } : {}
  const env = { ...cleanEnvironment(), CI: 'true', ...exclude }
  const { status, stdout, stderr, error } = spawnSync('npx', args, { cwd: import.meta.dirname, env, encoding: 'utf8' })
  return status === 0 ? null : `${stdout ?? ''}${stderr ?? error?.message}`.trim()
}

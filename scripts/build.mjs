// Builds with turbo and stays silent unless that fails.
// Two ways: `build` makes everything that is published, libraries and declarations included; `bundle` makes only the runnable apps,
// each in one go from the sources of all packages, which is what `pnpm hermes`, `pnpm demo`, the tests and the bench need.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'

/**
 * Builds all packages, or one with everything it needs. What went wrong goes to stderr.
 * @param {string} root of the workspace
 * @param {string} [name] of the package
 * @returns {boolean} whether it worked
 */
export function build(root, name) {
  return turbo(root, 'build', name)
}

/**
 * Bundles all apps, or one. What went wrong goes to stderr.
 * @param {string} root of the workspace
 * @param {string} [name] of the app
 * @returns {boolean} whether it worked
 */
export function bundle(root, name) {
  return turbo(root, 'bundle', name)
}

function turbo(root, task, name) {
  const filter = name ? [`--filter=${name}`] : []
  const { status, stdout, stderr, error } = spawnSync(
    join(root, 'node_modules/.bin/turbo'),
    ['run', task, '--output-logs=errors-only', '--log-order=grouped', ...filter],
    {
      cwd: root,
      encoding: 'utf8',
      maxBuffer: 2 ** 28,
      env: { ...process.env, TURBO_TELEMETRY_DISABLED: '1', TURBO_NO_UPDATE_NOTIFIER: '1' },
    },
  )
  if (status === 0) return true
  console.error(
    `${stdout ?? ''}${stderr ?? ''}${error ? `Cannot start turbo: ${error.message}\n` : ''}The build failed; its output is above.`,
  )
  return false
}

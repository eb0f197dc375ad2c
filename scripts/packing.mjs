// Packs the public packages and installs the tarballs as a stranger would: with plain npm, into an empty folder.
import { execFileSync } from 'node:child_process'
import { existsSync, globSync, lstatSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join, resolve } from 'node:path'

const root = resolve(import.meta.dirname, '..')

/** @returns {{ name: string, dir: string, manifest: any }[]} every package that is not private, by name */
export function publicPackages() {
  return globSync(['packages/*/package.json', 'packages/platforms/*/package.json', 'apps/*/package.json'], {
    cwd: root,
  })
    .map((path) => ({ dir: dirname(path), manifest: JSON.parse(readFileSync(join(root, path), 'utf8')) }))
    .filter(({ manifest }) => !manifest.private)
    .map(({ dir, manifest }) => ({ name: manifest.name, dir, manifest }))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
}

/**
 * Packs the built packages.
 * @returns {Map<string, string>} package name to absolute path of its tarball
 */
export function packAll(packages, destination) {
  const filters = packages.flatMap(({ name }) => ['--filter', name])
  run('npx', ['-y', 'pnpm@12', ...filters, 'pack', '--pack-destination', destination], { cwd: root })
  return new Map(
    packages.map(({ name, manifest }) => [
      name,
      join(destination, `${name.replace('@', '').replace('/', '-')}-${manifest.version}.tgz`),
    ]),
  )
}

/**
 * Installs `names` from their tarballs, and whatever of ours they need from tarballs too.
 * @param {{ directory: string, names: string[], tarballs: Map<string, string>, extra?: Record<string, string>, path?: string }} options
 *   `extra` are further dependencies, `path` is put first on PATH
 */
export function installTarballs({ directory, names, tarballs, extra = {}, path }) {
  const direct = Object.fromEntries(names.map((name) => [name, `file:${tarballs.get(name)}`]))
  const others = [...tarballs].filter(([name]) => !names.includes(name)).map(([name, file]) => [name, `file:${file}`])
  mkdirSync(directory, { recursive: true })
  writeFileSync(
    join(directory, 'package.json'),
    JSON.stringify({
      private: true,
      type: 'module',
      dependencies: { ...direct, ...extra },
      overrides: { ...Object.fromEntries(names.map((name) => [name, `$${name}`])), ...Object.fromEntries(others) },
    }),
  )
  // A cache of its own beside it: what is on this machine by chance must not stand in for what a stranger gets.
  const cache = join(dirname(directory), 'npm-cache')
  run('npm', ['install', '--cache', cache, '--no-audit', '--no-fund', '--loglevel=error'], { cwd: directory, path })
}

/** @returns {{ packages: string[], bytes: number }} what an installed folder holds, links not followed */
export function measureInstall(directory) {
  const packages = globSync('**/node_modules/{*,@*/*}/package.json', { cwd: directory })
  return { packages: packages.map(dirname).sort(), bytes: bytesOf(join(directory, 'node_modules')) }
}

function bytesOf(path) {
  const stat = lstatSync(path)
  if (!stat.isDirectory()) return stat.size
  return readdirSync(path).reduce((sum, name) => sum + bytesOf(join(path, name)), 0)
}

/**
 * The folder of a Node binary of this range, from npm, kept in node_modules/.cache.
 * @param {string} range such as `^22.22`
 */
export function nodeFolder(range) {
  const directory = join(root, 'node_modules/.cache/hermes', `node-${range.replace('^', '')}`)
  const folder = join(directory, 'node_modules/node/bin')
  if (!existsSync(join(folder, 'node'))) {
    mkdirSync(directory, { recursive: true })
    writeFileSync(join(directory, 'package.json'), '{ "private": true }')
    run('npm', ['install', '--no-audit', '--no-fund', '--loglevel=error', `node@${range}`], { cwd: directory })
  }
  return folder
}

/**
 * Runs a command and returns its stdout. The environment has no trace of the pnpm script around it.
 * @param {{ cwd: string, path?: string, env?: Record<string, string> }} options
 * @throws with stdout and stderr in the message when it fails
 */
export function run(command, args, { cwd, path, env }) {
  try {
    return execFileSync(command, args, {
      cwd,
      env: { ...cleanEnvironment(path), ...env },
      encoding: 'utf8',
      stdio: 'pipe',
    })
  } catch (error) {
    throw new Error(`${command} ${args.join(' ')} failed\n${error.stdout ?? ''}${error.stderr ?? error.message}`)
  }
}

/** The caller's environment without npm_* variables and, with `path`, without the workspace's own binaries. */
export function cleanEnvironment(path) {
  const entries = Object.entries(process.env).filter(([name]) => !/^(npm_|INIT_CWD$|NODE_OPTIONS$)/i.test(name))
  const env = Object.fromEntries(entries)
  const own = (env.PATH ?? '').split(delimiter)
  if (path) env.PATH = [path, ...own.filter((folder) => !folder.startsWith(root))].join(delimiter)
  return env
}

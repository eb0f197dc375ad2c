// The workspace as data: every package with its manifest and parsed source files.
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import { parseFile } from './parse.mjs'

const FOLDERS = ['packages', 'packages/platforms', 'apps']
const SKIPPED = new Set(['node_modules', 'dist', '.turbo', 'coverage', 'kits'])

/**
 * @typedef {object} SourceFile
 * @property {string} path relative to the workspace root, with `/`
 * @property {boolean} isTest a test, a fixture or outside src: may import test-only packages and dev dependencies, never ships
 * @property {boolean} isTesting part of a public `./testing` suite
 * @property {import('./parse.mjs').Import[]} imports
 * @property {import('./parse.mjs').Use[]} uses
 * @property {string} [error] why it could not be parsed
 *
 * @typedef {object} Package
 * @property {string} id folder name; `platform-NAME` under packages/platforms
 * @property {string} dir relative to the root
 * @property {string} name
 * @property {boolean} isApp
 * @property {any} manifest
 * @property {SourceFile[]} files
 */

/** @param {string} root @returns {{ packages: Package[], rootManifest: any }} */
export function readWorkspace(root) {
  const packages = FOLDERS.flatMap((folder) =>
    listDirectory(join(root, folder))
      .filter((entry) => entry.isDirectory() && isFile(join(root, folder, entry.name, 'package.json')))
      .map((entry) => readPackage(root, `${folder}/${entry.name}`)),
  )
  return { packages, rootManifest: readJson(join(root, 'package.json')) }
}

function readPackage(root, dir) {
  const manifest = readJson(join(root, dir, 'package.json'))
  const isPlatform = dir.startsWith('packages/platforms/')
  return {
    id: isPlatform ? `platform-${basename(dir)}` : basename(dir),
    dir,
    name: manifest.name,
    isApp: dir.startsWith('apps/'),
    manifest,
    files: sourceFiles(join(root, dir)).map((path) =>
      readSource(root, relative(root, path).replaceAll('\\', '/'), dir),
    ),
  }
}

function readSource(root, path, dir) {
  const inside = path.slice(dir.length + 1)
  const isFixture = inside.includes('/__fixtures__/')
  const facts = parseFile(path, readFileSync(join(root, path), 'utf8'))
  // A fixture may be broken on purpose.
  if (isFixture) delete facts.error
  return {
    path,
    isTest: isFixture || /\.test(-d)?\.[cm]?tsx?$/.test(path) || !inside.startsWith('src/'),
    isTesting: inside.startsWith('src/testing/'),
    ...facts,
  }
}

function sourceFiles(directory) {
  return listDirectory(directory).flatMap((entry) => {
    const path = join(directory, entry.name)
    if (entry.isDirectory()) return SKIPPED.has(entry.name) ? [] : sourceFiles(path)
    return /\.[cm]?tsx?$/.test(entry.name) ? [path] : []
  })
}

/** The file a relative specifier means, among `known` paths; `./x.js` is written as `./x.ts`. */
export function resolveRelative(from, specifier, known) {
  const path = join(dirname(from), specifier).replaceAll('\\', '/')
  const candidates = [path, path.replace(/\.js$/, '.ts'), path.replace(/\.js$/, '.tsx'), path.replace(/\.mjs$/, '.mts')]
  return { path, file: candidates.find((candidate) => known.has(candidate)) ?? null }
}

/** The source file behind `exports[subpath]`, relative to the root, or null. */
export function exportSource(pkg, subpath) {
  const target = pkg.manifest.exports?.[subpath]
  const source = typeof target === 'string' ? target : target?.['@hermes/source']
  return source ? join(pkg.dir, source).replaceAll('\\', '/') : null
}

function listDirectory(directory) {
  try {
    return readdirSync(directory, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1))
  } catch (error) {
    if (error.code === 'ENOENT') return []
    throw error
  }
}

function isFile(path) {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false
}

function readJson(path) {
  return JSON.parse(readFileSync(path, 'utf8'))
}

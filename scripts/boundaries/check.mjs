// The rules applied to a workspace. Pure over what ./workspace.mjs read.
import { builtinModules } from 'node:module'
import { dirname, matchesGlob } from 'node:path'
import { findCycles } from './cycles.mjs'
import { exportSource, readWorkspace, resolveRelative } from './workspace.mjs'

/**
 * @typedef {{ file: string, line: number, rule: string, message: string }} Violation
 * @typedef {{ files: number, packages: number, violations: Violation[] }} Outcome
 */

/**
 * Reads the workspace at `root` and applies `rules` (shaped like `RULES` in ./rules.mjs).
 * @param {{ root: string, rules: any }} options
 * @returns {Outcome}
 */
export function checkBoundaries({ root, rules }) {
  const { packages, rootManifest } = readWorkspace(root)
  const workspace = {
    packages,
    rules,
    rootManifest,
    byName: new Map(packages.map((pkg) => [pkg.name, pkg])),
    files: new Map(packages.flatMap((pkg) => pkg.files.map((file) => [file.path, file]))),
    violations: [],
  }
  for (const pkg of packages) checkPackage(workspace, pkg)
  for (const pkg of packages) checkRootLoads(workspace, pkg)
  checkCycles(workspace)
  checkGlobalsAndSinks(workspace)
  return { files: workspace.files.size, packages: packages.length, violations: workspace.violations }
}

function checkPackage(workspace, pkg) {
  const report = reporter(workspace)
  const manifest = `${pkg.dir}/package.json`
  if (pkg.files.length === 0) report(manifest, 1, 'empty', 'package has no TypeScript file; delete it or fill it')
  const isKnown = pkg.id in workspace.rules.rows || workspace.rules.testOnly.includes(pkg.id)
  if (!isKnown && !pkg.id.startsWith('platform-'))
    report(manifest, 1, 'row', `package ${pkg.id} has no row; add it to scripts/boundaries/rules.mjs and AGENTS.md`)
  for (const file of pkg.files) {
    if (file.error) report(file.path, 1, 'parse', file.error)
    for (const entry of file.imports) checkImport(workspace, pkg, file, entry)
  }
  checkUnusedDependencies(workspace, pkg)
}

function checkImport(workspace, pkg, file, entry) {
  const report = (rule, message) => reporter(workspace)(file.path, entry.line, rule, message)
  const { specifier } = entry
  if (specifier.startsWith('.')) {
    const { path, file: target } = resolveRelative(file.path, specifier, workspace.files)
    // A build configuration beside the manifest may share one at the root of the workspace.
    if (dirname(file.path) === pkg.dir && dirname(path) === '.') return
    if (!path.startsWith(`${pkg.dir}/`))
      report('relative', `${specifier} leaves the package; import it by package name`)
    else if (!target && /\.[cm]?js$/.test(specifier)) report('relative', `${specifier} names no source file`)
    else if (target && !file.isTest && workspace.files.get(target).isTest)
      report('relative', `${specifier} is for tests and does not ship`)
    const crossed = workspace.rules.rooms.find(({ room, not }) => file.path.startsWith(room) && path.startsWith(not))
    if (crossed && !file.isTest) report('room', `${crossed.room} imports nothing of ${crossed.not}`)
    return
  }
  if (specifier.startsWith('/') || specifier.startsWith('file:'))
    return report('relative', `${specifier} is an absolute path`)
  if (specifier.startsWith('node:')) return
  if (builtinModules.includes(specifier)) return report('builtin', `write node:${specifier}`)

  const name = packageName(specifier)
  const target = workspace.byName.get(name)
  if (target) checkWorkspaceImport(workspace, pkg, file, entry, target, report)
  if (target !== pkg && !isDeclared(workspace, pkg, file, name))
    report(
      'undeclared',
      `${name} is not in ${file.isTest ? 'any dependency list' : 'dependencies'} of ${pkg.dir}/package.json`,
    )
}

function checkWorkspaceImport(workspace, pkg, file, entry, target, report) {
  const subpath = `.${entry.specifier.slice(target.name.length)}`
  if (!(subpath in (target.manifest.exports ?? {})))
    report('deep', `${entry.specifier} is no declared export of ${target.name}`)
  if (target === pkg) return
  const reason = whyForbidden(workspace.rules, pkg, target, entry, file)
  if (reason) report('row', reason)
}

/** Why `from` may not import `to` this way, or null. */
function whyForbidden(rules, from, to, entry, file) {
  if (rules.testOnly.includes(to.id))
    return file.isTest || rules.testOnly.includes(from.id) ? null : `${to.name} is for tests only`
  if (rules.testOnly.includes(from.id)) return to.isApp ? `${from.name} may not import an app` : null
  const exception = rules.exceptions.find((item) => item.from === from.id && item.to === to.id)
  if (exception) {
    if (exception.typesOnly && entry.kind !== 'type' && !file.isTest)
      return `${from.name} takes only types from ${to.name}: write \`import type\``
    if (exception.dynamicOnly && entry.kind !== 'dynamic') return `${from.name} loads ${to.name} only by await import()`
    return null
  }
  if (to.isApp) return `nothing imports an app (${to.name})`
  if (to.id.startsWith('platform-')) return `${to.name} is found at run time, never imported`
  const only = rules.only[from.id]
  if (only && !only.includes(to.id)) return `${from.name} imports only ${only.join(', ')}`
  const [fromRow, toRow] = [rowOf(rules, from), rowOf(rules, to)]
  if (fromRow === toRow) return `${to.name} is in the same row (${toRow}); take what you need as a port`
  return fromRow > toRow ? null : `${to.name} (row ${toRow}) is above ${from.name} (row ${fromRow})`
}

function rowOf(rules, pkg) {
  return pkg.id.startsWith('platform-') ? 5 : (rules.rows[pkg.id] ?? -1)
}

function isDeclared(workspace, pkg, file, name) {
  const lists = ['dependencies', 'peerDependencies', 'optionalDependencies']
  // Apps are bundled and private packages never installed: what they build with may be a dev dependency.
  if (file.isTest || pkg.isApp || pkg.manifest.private) lists.push('devDependencies')
  if (lists.some((list) => name in (pkg.manifest[list] ?? {}))) return true
  return file.isTest && name in (workspace.rootManifest.devDependencies ?? {})
}

/** An app is bundled: what stays outside its bundle may be imported by any package in it. A peer of what is imported is used by that. */
function checkUnusedDependencies(workspace, pkg) {
  const bundled = pkg.isApp ? workspace.packages : [pkg]
  const files = bundled.flatMap((item) => item.files.filter((file) => !file.isTest))
  const imported = new Set(files.flatMap((file) => file.imports.map((entry) => packageName(entry.specifier))))
  const peers = workspace.packages
    .filter(({ name }) => imported.has(name))
    .flatMap(({ manifest }) => Object.keys(manifest.peerDependencies ?? {}))
  for (const name of Object.keys(pkg.manifest.dependencies ?? {}))
    if (!imported.has(name) && !peers.includes(name))
      reporter(workspace)(`${pkg.dir}/package.json`, 1, 'unused', `${name} is a dependency that no source file imports`)
}

/** Walks what loading a root entry (or a bin) evaluates, and reports every heavy package on the way. */
function checkRootLoads(workspace, pkg) {
  const optional = Object.keys(pkg.manifest.optionalDependencies ?? {})
  const heavy = [...workspace.rules.heavy, ...optional]
  for (const root of rootSources(pkg)) {
    const seen = new Map([[root, null]])
    for (const path of seen.keys()) {
      for (const entry of workspace.files.get(path)?.imports ?? []) {
        if (entry.kind !== 'value') continue
        const next = resolveImport(workspace, path, entry.specifier)
        if (next && !seen.has(next)) seen.set(next, path)
        const name = packageName(entry.specifier)
        if (!next && heavy.some((pattern) => matchesGlob(name, pattern)))
          reporter(workspace)(
            path,
            entry.line,
            'heavy',
            `${name} is loaded by ${chain(seen, path).join(' > ')}; use await import()`,
          )
      }
    }
  }
}

function rootSources(pkg) {
  const bins = typeof pkg.manifest.bin === 'string' ? [pkg.manifest.bin] : Object.values(pkg.manifest.bin ?? {})
  const fromBins = bins.map(
    (bin) =>
      `${pkg.dir}/${bin
        .replace(/^\.\//, '')
        .replace(/^dist\//, 'src/')
        .replace(/\.js$/, '.ts')}`,
  )
  return [exportSource(pkg, '.'), ...fromBins].filter((path) => path !== null)
}

function chain(seen, path) {
  const steps = [path]
  for (let at = seen.get(path); at; at = seen.get(at)) steps.unshift(at)
  return steps
}

function resolveImport(workspace, from, specifier) {
  if (specifier.startsWith('.')) return resolveRelative(from, specifier, workspace.files).file
  const target = workspace.byName.get(packageName(specifier))
  if (!target) return null
  const source = exportSource(target, `.${specifier.slice(target.name.length)}`)
  return source && workspace.files.has(source) ? source : null
}

function checkCycles(workspace) {
  const graph = new Map()
  for (const [path, file] of workspace.files) {
    const targets = file.imports.map((entry) => resolveImport(workspace, path, entry.specifier))
    graph.set(path, [...new Set(targets.filter((target) => target !== null))])
  }
  for (const cycle of findCycles(graph))
    reporter(workspace)(cycle[0], 1, 'cycle', `imports itself through ${[...cycle.slice(1), cycle[0]].join(' > ')}`)
}

function checkGlobalsAndSinks(workspace) {
  const { rules } = workspace
  const used = new Set()
  for (const pkg of workspace.packages) {
    for (const file of pkg.files) {
      if (file.isTest || file.isTesting) continue
      for (const { name, line, rule } of outsideUses(rules, pkg, file)) {
        const allowance = rules.allowed.find(
          (item) => item.uses.includes(name) && item.files.some((pattern) => matchesGlob(file.path, pattern)),
        )
        if (allowance) used.add(allowance)
        else reporter(workspace)(file.path, line, rule, `${name} is not allowed here; see scripts/boundaries/rules.mjs`)
      }
    }
  }
  for (const item of rules.allowed)
    if (!used.has(item))
      reporter(workspace)(item.files[0], 1, 'stale', `nothing uses the allowance for ${item.uses.join(', ')}`)
}

/** What `file` uses of the process or the outside world; apps own their process, so only sinks count there. */
function outsideUses(rules, pkg, file) {
  const sinks = file.imports
    .filter((entry) => entry.kind !== 'type')
    .flatMap(({ specifier, line }) => {
      const name = specifier.startsWith('node:') ? specifier : packageName(specifier)
      return rules.sinkModules.some((pattern) => matchesGlob(name, pattern)) ? [{ name, line, rule: 'sink' }] : []
    })
  const isGlobal = ({ name }) => name === 'console' || name.startsWith('process.')
  const uses = file.uses
    .filter((use) => !isGlobal(use) || !pkg.isApp)
    .map((use) => ({ ...use, rule: isGlobal(use) ? 'global' : 'sink' }))
  return [...sinks, ...uses]
}

function packageName(specifier) {
  return specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/')
}

function reporter(workspace) {
  return (file, line, rule, message) => {
    workspace.violations.push({ file, line, rule, message })
  }
}

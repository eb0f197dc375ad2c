// Loads on Node versions that the rest cannot load on, as old-node.ts does: Node's own modules are taken once the version is known.

/**
 * Has Node keep what it compiles in the home, below `cache/code`, where no command of an agent can write: the folder for temporary files is
 * everybody's, and what lies there would be run. Without a home, or where others could write to the folder, nothing is kept. `NODE_COMPILE_CACHE` and `NODE_DISABLE_COMPILE_CACHE`
 * count as ever. Never throws.
 */
export function keepCompiledCode({ env, getBuiltinModule, getuid }: NodeJS.Process): void {
  try {
    const { existsSync, mkdirSync, statSync } = getBuiltinModule('node:fs')
    const { isAbsolute, join } = getBuiltinModule('node:path')
    const userHome = () => getBuiltinModule('node:os').homedir()
    const home = env['HERMES_HOME'] ? env['HERMES_HOME'].replace(/^~(?=\/|$)/, userHome) : join(userHome(), '.hermes')
    if (!isAbsolute(home) || !existsSync(home)) return
    const folder = join(home, 'cache', 'code')
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    const { uid, mode } = statSync(folder)
    if (getuid && (uid !== getuid() || (mode & 0o022) !== 0)) return
    getBuiltinModule('node:module').enableCompileCache(folder)
  } catch {
    // A user without a home folder, or a home that cannot be written.
  }
}

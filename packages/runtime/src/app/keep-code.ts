// Loads on Node versions that the rest cannot load on, as old-node.ts does: Node's own modules are taken once the version is known.

/**
 * Has Node keep what it compiles in the home, below `cache/code`, where no command of an agent can write: the folder for temporary files is
 * everybody's, and what lies there would be run. Without a home nothing is kept. `NODE_COMPILE_CACHE` and `NODE_DISABLE_COMPILE_CACHE`
 * count as ever. Never throws.
 */
export function keepCompiledCode({ env, getBuiltinModule }: NodeJS.Process): void {
  try {
    const { existsSync } = getBuiltinModule('node:fs')
    const { isAbsolute, join } = getBuiltinModule('node:path')
    const userHome = () => getBuiltinModule('node:os').homedir()
    const home = env['HERMES_HOME'] ? env['HERMES_HOME'].replace(/^~(?=\/|$)/, userHome) : join(userHome(), '.hermes')
    if (isAbsolute(home) && existsSync(home))
      getBuiltinModule('node:module').enableCompileCache(join(home, 'cache', 'code'))
  } catch {
    // A user without a home folder: nothing is kept.
  }
}

// Imports a source of a package without a build. Used by what generate.mjs writes.
import { registerHooks } from 'node:module'
import { pathToFileURL } from 'node:url'

/** Sources name each other by what they are built to. */
export async function importSource(file) {
  const hooks = registerHooks({
    resolve: (specifier, context, next) => {
      const isOwn = /^\.\.?\//.test(specifier) && context.parentURL?.endsWith('.ts')
      return next(isOwn ? specifier.replace(/\.js$/, '.ts') : specifier, context)
    },
  })
  try {
    return await import(pathToFileURL(file).href)
  } finally {
    hooks.deregister()
  }
}

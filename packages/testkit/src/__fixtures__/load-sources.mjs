// Lets a plain Node process run the sources of packages: `./x.js` is read from `./x.ts` where there is one. What becomes of them is kept, for to
// read and compile all that the runtime is made of takes a second of processor time.
import { existsSync } from 'node:fs'
import { enableCompileCache, flushCompileCache, registerHooks } from 'node:module'
import { fileURLToPath } from 'node:url'

enableCompileCache(fileURLToPath(new URL('../../../../node_modules/.cache/compiled-sources', import.meta.url)))
// A process that is killed keeps nothing at its end.
setTimeout(flushCompileCache, 1_000).unref()

registerHooks({
  resolve(specifier, context, next) {
    if (specifier.startsWith('.') && specifier.endsWith('.js')) {
      const source = new URL(`${specifier.slice(0, -3)}.ts`, context.parentURL)
      if (existsSync(fileURLToPath(source))) return next(source.href, context)
    }
    return next(specifier, context)
  },
})

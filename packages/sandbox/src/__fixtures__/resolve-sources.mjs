// Lets plain Node run the sources: imports name the built `.js`, the files are `.ts`.
import { registerHooks } from 'node:module'

registerHooks({
  resolve(specifier, context, next) {
    if (specifier.startsWith('.') && specifier.endsWith('.js')) {
      try {
        return next(specifier.replace(/\.js$/, '.ts'), context)
      } catch {
        // A real JavaScript file.
      }
    }
    return next(specifier, context)
  },
})

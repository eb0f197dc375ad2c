// How apps are bundled: everything in lazy chunks, only what the manifest names as a dependency stays outside.
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import type { Options } from 'tsup'

// CommonJS packages inside an ES module bundle call require() for Node's own modules.
const banner = `import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);`

/** The build of the app in the current folder. `afterwards` runs once the bundle is written. */
export function appBundle(afterwards: () => void = () => undefined): Options {
  const { version, dependencies = {} } = JSON.parse(readFileSync('package.json', 'utf8')) as {
    version: string
    dependencies?: Record<string, string>
  }
  return {
    entry: ['src/bin.ts', 'src/main.ts'],
    format: 'esm',
    target: 'node22',
    platform: 'node',
    splitting: true,
    clean: true,
    dts: false,
    metafile: true,
    noExternal: [new RegExp(`^(?!(?:${Object.keys(dependencies).join('|')})$)`)],
    define: { __HERMES_VERSION__: JSON.stringify(version) },
    banner: { js: banner },
    esbuildOptions: (options) => {
      options.legalComments = 'none'
      // Errors of libraries are told apart by the names of their classes; `keepNames` would pay for that in every function at run time.
      options.minifySyntax = true
      options.minifyWhitespace = true
      options.conditions = ['@hermes/source']
    },
    onSuccess: async () => {
      writeLicences()
      rmSync('dist/metafile-esm.json')
      afterwards()
    },
  }
}

/** One file with the licence of every package that went into the bundle. */
function writeLicences(): void {
  const { inputs } = JSON.parse(readFileSync('dist/metafile-esm.json', 'utf8')) as { inputs: Record<string, unknown> }
  const folders = new Set(Object.keys(inputs).flatMap((input) => packageFolder(resolve(input)) ?? []))
  const texts = [...folders].map(licenceOf).sort((left, right) => left.localeCompare(right, 'en'))
  writeFileSync('dist/THIRD-PARTY-LICENSES.txt', texts.join(`\n${'-'.repeat(80)}\n\n`))
}

function packageFolder(file: string): string | null {
  const at = file.lastIndexOf('/node_modules/')
  if (at < 0) return null
  const [scope = '', name = ''] = file.slice(at + '/node_modules/'.length).split('/')
  return join(file.slice(0, at), 'node_modules', scope.startsWith('@') ? join(scope, name) : scope)
}

function licenceOf(folder: string): string {
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
    name: string
    version: string
    license?: string
  }
  const head = `${manifest.name} ${manifest.version} (${manifest.license ?? 'see text'})\n\n`
  for (const name of ['LICENSE', 'LICENSE.md', 'LICENSE.txt', 'license', 'LICENCE', 'License']) {
    try {
      return head + readFileSync(join(folder, name), 'utf8')
    } catch {}
  }
  return `${head}No licence text in ${dirname(folder).split('/').pop()}; licence as named above.\n`
}

import { realpathSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { RunningProgram } from '@hermes/contracts/environment'
import type { Capabilities } from '../package/manifest.js'
import type { PluginHost } from '../plugin-host.js'

const MAX_HEAP_MB = 512

/** Sources name the files that they become. */
const FROM_SOURCES = `import { registerHooks } from 'node:module'
registerHooks({ resolve: (name, context, next) => next(/^\\..*\\.js$/.test(name) && context.parentURL?.endsWith('.ts') && context.parentURL.startsWith(process.argv[2]) ? name.slice(0, -2) + 'ts' : name, context) })`

const RUN = `const { runChild } = await import(process.argv[1]); runChild()`

/** What the process of a plugin is started for. */
interface StartedPlugin {
  readonly name: string
  /** Absolute, without links. */
  readonly root: string
  readonly data: string
  readonly capabilities: Capabilities
}

/** Starts Node for a plugin: it reads its own files and Hermes' part of it, writes its data, and starts nothing. */
export async function startProcess(
  { name, root, data, capabilities }: StartedPlugin,
  host: PluginHost,
): Promise<RunningProgram> {
  await mkdir(data, { recursive: true, mode: 0o700 })
  const { childModule } = await import('../child/child.js')
  const file = realpathSync(fileURLToPath(childModule))
  const isSource = file.endsWith('.ts')
  const code = isSource ? dirname(dirname(file)) : dirname(file)
  const real = realpathSync(data)
  const network = capabilities.network === true
  const argv = [
    ...[process.execPath, '--permission', '--no-warnings', `--max-old-space-size=${MAX_HEAP_MB}`],
    ...[root, code, real].map((folder) => `--allow-fs-read=${join(folder, '*')}`),
    `--allow-fs-write=${join(real, '*')}`,
    ...(network && process.allowedNodeEnvironmentFlags.has('--allow-net') ? ['--allow-net'] : []),
    ...(isSource ? ['--import', `data:text/javascript,${encodeURIComponent(FROM_SOURCES)}`] : []),
    ...['--input-type=module', '--eval', RUN, pathToFileURL(file).href, pathToFileURL(code).href],
  ] as const
  const readable = [root, code, dirname(dirname(process.execPath))]
  return host.startProgram({ name, argv: argv as unknown as [string, ...string[]], readable, writable: real, network })
}

import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { errorLine, HermesError, isJsonObject } from '@hermes/contracts'
import { withoutLogin } from '@hermes/safety'
import type { Io } from '../io.js'

const PUBLIC_REGISTRY = 'https://registry.npmjs.org/'
const SCOPE = '@hermes'
const ANSWERS_WITHIN_MS = 10_000

/** The registry of packages that npm is set up for, and what says so: the environment, then the files `.npmrc` of the person and of npm. */
export async function findRegistry(
  io: Pick<Io, 'env' | 'userHome' | 'nodePath'>,
): Promise<{ readonly url: string; readonly from: string }> {
  const { env } = io
  const files = [
    env['npm_config_userconfig'] ?? env['NPM_CONFIG_USERCONFIG'] ?? join(io.userHome, '.npmrc'),
    env['npm_config_globalconfig'] ??
      env['NPM_CONFIG_GLOBALCONFIG'] ??
      join(dirname(dirname(io.nodePath)), 'etc', 'npmrc'),
  ]
  const sources = await Promise.all(files.map(async (file) => ({ from: file, values: await readNpmrc(file, env) })))
  const ofScope = sources.find(({ values }) => values[`${SCOPE}:registry`])
  if (ofScope) return { url: folderUrl(ofScope.values[`${SCOPE}:registry`]!), from: ofScope.from }
  const named = env['npm_config_registry'] ?? env['NPM_CONFIG_REGISTRY']
  if (named) return { url: folderUrl(named), from: 'npm_config_registry' }
  const found = sources.find(({ values }) => values['registry'])
  if (found) return { url: folderUrl(found.values['registry']!), from: found.from }
  return { url: PUBLIC_REGISTRY, from: 'default' }
}

async function readNpmrc(file: string, env: Io['env']): Promise<Readonly<Record<string, string>>> {
  const text = await readFile(file, 'utf8').catch(() => '')
  const pairs = text.split('\n').flatMap((line) => {
    const [, key, value] = /^\s*([^#;=\s][^=]*?)\s*=\s*(.*?)\s*$/.exec(line) ?? []
    return key === undefined ? [] : [[key, value!.replace(/\$\{(\w+)\}/g, (whole, name: string) => env[name] ?? whole)]]
  })
  return Object.fromEntries(pairs) as Record<string, string>
}

function folderUrl(text: string): string {
  if (!URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol))
    throw new HermesError(`npm is set up for the registry "${withoutLogin(text)}", which is no address.`, {
      code: 'cli.bad_registry',
    })
  return text.endsWith('/') ? text : `${text}/`
}

/**
 * The version that a registry gives to who names none.
 * @throws HermesError `cli.registry` where it does not answer, or does not know the package
 */
export async function latestVersion(registry: string, name: string, ask: typeof fetch): Promise<string> {
  const url = new URL(encodeURIComponent(name).replace('%40', '@'), registry)
  const problem = (why: string) =>
    new HermesError(`${withoutLogin(registry)} ${why}. Another registry: npm config set registry URL`, {
      code: 'cli.registry',
    })
  const response = await ask(url, {
    headers: { accept: 'application/vnd.npm.install-v1+json' },
    signal: AbortSignal.timeout(ANSWERS_WITHIN_MS),
  }).catch((error: unknown) => {
    throw problem(`does not answer: ${errorLine(error).replace(/\.$/, '')}`)
  })
  if (response.status === 404) throw problem(`does not know ${name}`)
  if (!response.ok) throw problem(`answers with status ${response.status}`)
  const body: unknown = await response.json().catch(() => null)
  const tags = isJsonObject(body) ? body['dist-tags'] : null
  const latest = isJsonObject(tags) ? tags['latest'] : null
  if (typeof latest !== 'string' || !/^\d+\.\d+\.\d+/.test(latest)) throw problem(`names no version of ${name}`)
  return latest
}

/** Whether version `one` comes after `other`; a preview comes before what it previews. Pure. */
export function isNewer(one: string, other: string): boolean {
  const [left, right] = [parts(one), parts(other)]
  for (const [at, number] of left.numbers.entries()) {
    const difference = number - (right.numbers[at] ?? 0)
    if (difference !== 0) return difference > 0
  }
  if (left.preview === '' || right.preview === '') return left.preview === '' && right.preview !== ''
  return left.preview.localeCompare(right.preview, 'en', { numeric: true }) > 0
}

function parts(version: string): { readonly numbers: readonly number[]; readonly preview: string } {
  const [core = '', ...preview] = version.replace(/\+.*$/, '').split('-')
  return { numbers: core.split('.').map(Number), preview: preview.join('-') }
}

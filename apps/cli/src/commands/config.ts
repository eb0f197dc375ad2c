import { type ConfigProblem, checkConfig, getConfigValue, homeLayout, loadConfig, setConfigValue } from '@hermes/config'
import { errorLine, isJsonObject } from '@hermes/contracts'
import { API_MODE_NAMES, TOOLSETS, takenKeys } from '@hermes/runtime'
import { PROVIDERS } from '@hermes/transports'
import { EXIT, UsageError } from '../errors.js'
import type { Io } from '../io.js'
import { homeOf, withRuntime } from '../open-cli.js'

const SECRET_KEY = /(?:^|[._-])(?:key|api[_-]?key|token|secret|password)$/i
/** A public key of a pack of skills, which people compare. */
const PUBLIC_KEY = /^ed25519:[\w-]{43}$/
/** Maps whose values may be secrets, whatever they are called. */
const SECRET_MAP = /(?:^|\.)(?:extra_headers|headers|env)$/
/** The password in an address such as `postgres://me:PASSWORD@host/database`, as parameter too. */
const PASSWORD_IN_URL =
  /(?<=^[a-z]+:\/\/[^/:@]*:)\S+(?=@)|(?<=^[a-z]+:\/\/.*[?&][\w-]*(?:password|token|key|secret)=)[^&]+/gi

/** `hermes config get [key]`. */
export async function configGet(io: Io, key: string | undefined): Promise<number> {
  const { config, problems } = await loadConfig({ home: homeOf(io), env: io.env })
  for (const problem of problems) io.stderr.write(`hermes: ${problem.message}\n`)
  const value = key === undefined ? config : getConfigValue(config, key)
  if (value === undefined)
    throw new UsageError(`config.yaml has no value for ${key}. Everything there is: hermes config get`)
  const shown = hideSecrets(key ?? '', value)
  io.stdout.write(`${typeof shown === 'string' ? shown : JSON.stringify(shown, hideSecrets, 2)}\n`)
  return EXIT.ok
}

/** A value as it may be shown: as replacer of `JSON.stringify`. */
export function hideSecrets(key: string, value: unknown): unknown {
  if (SECRET_MAP.test(key) && isJsonObject(value))
    return Object.fromEntries(Object.keys(value).map((name) => [name, '[hidden]']))
  if (typeof value !== 'string' || value === '' || PUBLIC_KEY.test(value)) return value
  const isOfMap = SECRET_MAP.test(key.slice(0, Math.max(0, key.lastIndexOf('.'))))
  return isOfMap || SECRET_KEY.test(key) ? '[hidden]' : value.replace(PASSWORD_IN_URL, '[hidden]')
}

/** `hermes config set KEY VALUE`. */
export async function configSet(io: Io, key: string, value: string): Promise<number> {
  await setConfigValue({ home: homeOf(io), key, value })
  io.stdout.write(`${key} = ${hideSecrets(key, value)}\n`)
  return /^model(?:\.default)?$/.test(key) ? tellWhatIsMissing(io) : EXIT.ok
}

/** A name alone does not say where the model is asked, and with which key. */
async function tellWhatIsMissing(io: Io): Promise<number> {
  return withRuntime(io, async (runtime) => {
    try {
      runtime.chooseModel({})
    } catch (error) {
      io.stderr.write(`hermes: This is kept, but not enough yet. ${errorLine(error)}\n`)
    }
    return EXIT.ok
  })
}

/** `hermes config path`. */
export async function configPath(io: Io): Promise<number> {
  io.stdout.write(`${homeLayout(homeOf(io)).config}\n`)
  return EXIT.ok
}

/** `hermes config check`: exit code 1 when something is wrong; a key without effect is named only. */
export async function configCheck(io: Io): Promise<number> {
  const known = {
    // A mixture of models is chosen like a provider.
    providers: [...PROVIDERS.flatMap(({ id, aliases }) => [id, ...aliases]), 'moa'],
    // That of the browser comes with its extension.
    toolsets: [...Object.keys(TOOLSETS), 'browser'],
    apiModes: API_MODE_NAMES,
  }
  const problems = await withoutThoseOfExtensions(io, await checkConfig({ home: homeOf(io), env: io.env, known }))
  for (const problem of problems) io.stdout.write(`${problem.message}\n`)
  const isFine = problems.every(({ isHarmless }) => isHarmless)
  if (isFine) io.stdout.write(`${homeLayout(homeOf(io)).config} is fine.\n`)
  return isFine ? EXIT.ok : EXIT.failed
}

/** A key that an extension has a meaning for is none without. What is wrong with its value was said as the home was opened. */
async function withoutThoseOfExtensions(io: Io, problems: readonly ConfigProblem[]): Promise<readonly ConfigProblem[]> {
  if (problems.every(({ unknownKey }) => unknownKey === undefined)) return problems
  const quiet = { ...io, stderr: { ...io.stderr, write: () => undefined } }
  return withRuntime(quiet, async ({ extensions, problems: ofHome }) => {
    const taken = takenKeys(extensions)
    const left = problems.filter(({ unknownKey }) => unknownKey === undefined || !taken.has(unknownKey))
    const file = homeLayout(homeOf(io)).config
    const mistakes = ofHome.filter((line) => line.startsWith(file) && problems.every(({ message }) => message !== line))
    return [...left, ...mistakes.map((message) => ({ message, file }))]
  })
}

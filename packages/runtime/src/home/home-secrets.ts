import { isJsonObject, type LogFields, type Logger } from '@hermes/contracts'

/** Names of settings and of entries in `auth.json` whose text is a secret. */
const SECRET_NAME =
  /(?:^|[_-])(?:key|secret|token|password|passphrase|credential)$|^(?:apikey|access|refresh|authorization|cookie)$/i
const HEADERS = /headers$/
const SECRET_HEADER = /auth|key|token|secret|cookie/i

/** Variables that config.yaml names as holding keys, however deep; of a model provider or not. */
export function keyVariableNames(value: unknown): readonly string[] {
  if (Array.isArray(value)) return value.flatMap(keyVariableNames)
  if (!isJsonObject(value)) return []
  return Object.entries(value).flatMap(([name, item]) => {
    if (name !== 'key_env' && name !== 'key_envs' && name !== 'secret_env') return keyVariableNames(item)
    return [item].flat().filter((variable): variable is string => typeof variable === 'string')
  })
}

/** Texts in `value` that stand under a name of secrets, however deep: in config.yaml keys, passwords, headers that carry them. */
export function secretsIn(value: unknown, isHeaders = false): readonly string[] {
  if (Array.isArray(value)) return value.flatMap((item) => secretsIn(item))
  if (!isJsonObject(value)) return []
  return Object.entries(value).flatMap(([name, item]) => {
    if (typeof item !== 'string') return secretsIn(item, HEADERS.test(name))
    const isSecret = isHeaders ? SECRET_HEADER.test(name) : SECRET_NAME.test(name)
    return isSecret && item !== '' ? [item] : []
  })
}

/** `logger` without the secrets that `redact` knows; that is asked for with the first line. */
export function redactingLogger(logger: Logger, redactor: () => (text: string) => string): Logger {
  let redact: ((text: string) => string) | null = null
  const clean = (text: string) => (redact ??= redactor())(text)
  const cleanFields = (fields: LogFields): LogFields =>
    Object.fromEntries(
      Object.entries(fields).map(([name, value]) => [name, typeof value === 'string' ? clean(value) : value]),
    )
  const line =
    (level: 'info' | 'warn' | 'error') =>
    (message: string, fields: LogFields = {}) =>
      logger[level](clean(message), cleanFields(fields))
  return {
    // Nobody keeps these lines but a test.
    debug: (message, fields) => logger.debug(message, fields),
    info: line('info'),
    warn: line('warn'),
    error: line('error'),
    ...(logger.flush ? { flush: () => logger.flush!() } : {}),
  }
}

import { holdsCredential } from '@hermes/safety/credentials'

/** What {@link filterEnvironment} takes away. */
interface EnvironmentFilter {
  /** Names of variables that children must not see, for example provider keys. */
  readonly secretNames: Iterable<string>
  /** Names that stay although `secretNames` has them. Default none. */
  readonly keep?: Iterable<string>
}

/** A copy of `env` without secrets and without unset values, fit to be given to `createLocalEnvironment`. Names match exactly. */
export function filterEnvironment(
  env: Readonly<Record<string, string | undefined>>,
  filter: EnvironmentFilter,
): Record<string, string> {
  const secret = new Set(filter.secretNames)
  for (const name of filter.keep ?? []) secret.delete(name)
  const kept: Record<string, string> = {}
  for (const [name, value] of Object.entries(env)) if (value !== undefined && !secret.has(name)) kept[name] = value
  return kept
}

/** Names in `env` whose name or value looks like a credential, but for those in `keep`. */
export function secretLooking(
  env: Readonly<Record<string, string | undefined>>,
  { keep = [] }: Pick<EnvironmentFilter, 'keep'> = {},
): readonly string[] {
  const kept = new Set(keep)
  return Object.entries(env).flatMap(([name, value]) =>
    value !== undefined && !kept.has(name) && looksSecret(name, value) ? [name] : [],
  )
}

/** Wherever they stand in a name without its lines. */
const SECRET_PARTS = /TOKEN(?!I[SZ])|SECRET|PASSWORD|PASSWD|PASSPHRASE|APIKEY|CREDENTIAL|WEBHOOK|PRIVATEKEY/
/** As the last word, or before what says which. */
const SECRET_ENDS =
  /(?:^|_)(?:[A-Z0-9]*KEYS?|PASS|PW|PAT|AUTH|DSN|JWT|COOKIES?|CREDS?|OTP|PIN)(?:_(?:ID|BASE64|B64|\d+))?$|_PWD$/
const NO_SECRET =
  /^(?:PATH|PWD|OLDPWD|HOME|LS_COLORS|SSH_AUTH_SOCK|XAUTHORITY|GIT_(?:AUTHOR|COMMITTER)_\w+)$|ASKPASS$|^(?:https?|all|ftp|no)_proxy$|KEYBOARD|XKB|_(?:PUBLIC|PUB)_KEY$/i
/** Switches and limits. */
const HARMLESS_VALUE = /^(?:\d{0,7}|true|false|yes|no|on|off|none|null|auto|disabled|enabled)$/i
/** The place of a file, which has rules of its own. */
const PLACE = /^(?:~|\.{0,2})\/(?!\/)[^\s:@]*$/
const CONNECTION_NAME = /(?:^|_)(?:DATABASE|DB|MONGO\w*|REDIS|POSTGRES\w*|PG|MYSQL|AMQP|RABBITMQ|BROKER)_(?:URL|URI)$/
const LOCAL_CONNECTION =
  /^(?:sqlite|file):|^[a-z][a-z0-9+.-]*:\/\/(?:localhost|127\.0\.0\.1|\[::1\])?(?::\d+)?(?:\/|$)/i
const SECRET_VALUE =
  /^[a-z][a-z0-9+.-]*:\/\/[^\s/@]{16,}@|\bhooks\.slack\.com\/|\bdiscord(?:app)?\.com\/api\/webhooks\/|\bwebhook\.office\.com\/|\bapi\.telegram\.org\/bot\d|[?&;](?:password|pwd|token|sig|key)=[^&;]{4,}/i

/** Whether a variable is called like what a secret is kept in, for example `GITHUB_TOKEN`, or its `value` looks like one. A guess. */
export function looksSecret(name: string, value = ''): boolean {
  if (NO_SECRET.test(name)) return false
  if (value !== '' && (SECRET_VALUE.test(value) || holdsCredential(value))) return true
  if (value !== '' && (HARMLESS_VALUE.test(value) || PLACE.test(value))) return false
  const upper = name.replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2').toUpperCase()
  if (CONNECTION_NAME.test(upper)) return !LOCAL_CONNECTION.test(value)
  return SECRET_PARTS.test(upper.replaceAll('_', '')) || SECRET_ENDS.test(upper)
}

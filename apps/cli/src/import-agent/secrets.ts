import { isJsonObject } from '@hermes/contracts'
import { createRedactor } from '@hermes/safety'

const SECRET_NAME =
  /(?:^|[_-]|(?<=[a-z]))(?:api_?key|key|token|secret|password|passwd|pass|pwd|pat|(?<!o)auth|credentials?|authorization|cookie)$/i
const REFERENCE = /\$\{(?:env:)?\w+\}/g

/** Whether a name is that of a secret. */
export function namesSecret(name: string): boolean {
  return SECRET_NAME.test(name)
}

/** Whether a text has a secret in it: one of `known`, or what looks like one. A reference to a variable is none. */
export function hasSecret(text: string, known: readonly string[]): boolean {
  const plain = text.replace(REFERENCE, '')
  return createRedactor({ secrets: known.filter((secret) => secret.length > 3) }).redact(plain) !== plain
}

/** `--api-key=VALUE`, `GITHUB_TOKEN=VALUE`, `x-api-key: VALUE`: one word, or two as in `Bearer VALUE`, and none that a shell would run. */
const NAMED = /^(-{0,2})([\w.-]+)(\s*[=:]\s*)((?:[\w-]+ )?[^\s;&|<>()`$'"\\]+)$/g
/** `?api_key=VALUE` of an address. */
const PARAMETER = /([?&])([\w.-]+)(=)([^&#]+)/g

/** A value without its secrets: each is a reference to a variable, and among the secrets by the name of that. Pure. */
export function withoutSecrets(
  value: unknown,
  prefix: string,
): { readonly value: unknown; readonly secrets: Readonly<Record<string, string>> } {
  const secrets: Record<string, string> = {}
  const keep = (secret: string, path: readonly string[]): string => {
    const plain = [prefix, ...path].join('_').toUpperCase()
    const name = plain.replace(/[^A-Z0-9]+/g, '_').replace(/^(?=\d)/, '_')
    secrets[name] = secret
    return `\${${name}}`
  }
  const text = (item: string, path: readonly string[], hides: boolean): string => {
    // `Bearer ${TOKEN}` is as it should be; what stands beside a reference may still be a secret.
    const rest = item.replace(REFERENCE, '')
    // What is run has to be seen: an argument of several words is never hidden, but held back where a secret is in it.
    const isScript = path[0] === 'args' && /\s/.test(item)
    if (hides && item !== '' && rest === item && !isScript) return keep(item, path)
    const named = item.replace(
      /^https?:/i.test(item) ? PARAMETER : NAMED,
      (found, before: string, name: string, sign: string, one: string) =>
        namesSecret(name) && one.replace(REFERENCE, '') === one
          ? `${before}${name}${sign}${keep(one, [...path, name])}`
          : found,
    )
    return !isScript && hasSecret(named, []) ? keep(item, path) : named
  }
  const walk = (item: unknown, path: readonly string[], hides: boolean): unknown => {
    if (Array.isArray(item))
      return item.map((one, at) => walk(one, [...path, String(at)], hides || isFlagOfSecret(item[at - 1])))
    if (isJsonObject(item))
      return Object.fromEntries(
        Object.entries(item).map(([name, one]) => [
          name,
          walk(one, [...path, name], hides || namesSecret(name) || /headers$/i.test(name)),
        ]),
      )
    return typeof item === 'string' ? text(item, path, hides) : item
  }
  return { value: walk(value, [], false), secrets }
}

/** `--api-key`, before its value. */
function isFlagOfSecret(item: unknown): boolean {
  return typeof item === 'string' && /^--?[\w-]+$/.test(item) && namesSecret(item)
}

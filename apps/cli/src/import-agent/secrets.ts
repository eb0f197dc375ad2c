import { isJsonObject } from '@hermes/contracts'
import { createRedactor } from '@hermes/safety'

const SECRET_NAME =
  /(?:^|[_-]|(?<=[a-z]))(?:api_?key|key|token|secret|password|passwd|credentials?|authorization|cookie)$/i
const REFERENCE = /^\$\{\w+\}$/

/** Whether a name is that of a secret. */
export function namesSecret(name: string): boolean {
  return SECRET_NAME.test(name)
}

/** Whether a text has a secret in it: one of `known`, or what looks like one. */
export function hasSecret(text: string, known: readonly string[]): boolean {
  return createRedactor({ secrets: known.filter((secret) => secret.length > 3) }).redact(text) !== text
}

/** A value without its secrets: each is a reference to a variable, and among the secrets by the name of that. Pure. */
export function withoutSecrets(
  value: unknown,
  prefix: string,
): { readonly value: unknown; readonly secrets: Readonly<Record<string, string>> } {
  const secrets: Record<string, string> = {}
  const walk = (item: unknown, path: readonly string[], hides: boolean): unknown => {
    if (Array.isArray(item)) return item.map((one, at) => walk(one, [...path, String(at)], hides))
    if (isJsonObject(item))
      return Object.fromEntries(
        Object.entries(item).map(([name, one]) => [
          name,
          walk(one, [...path, name], hides || namesSecret(name) || /headers$/i.test(name)),
        ]),
      )
    if (typeof item !== 'string' || item === '' || REFERENCE.test(item)) return item
    if (!hides && !hasSecret(item, [])) return item
    const name = [prefix, ...path]
      .join('_')
      .toUpperCase()
      .replace(/[^A-Z0-9]+/g, '_')
      .replace(/^(?=\d)/, '_')
    secrets[name] = item
    return `\${${name}}`
  }
  return { value: walk(value, [], false), secrets }
}

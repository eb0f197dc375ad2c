import { errorLine, isNestedTooDeep } from '@hermes/contracts'

/** JSON by name that may hold comments all the same. */
const WITH_COMMENTS = /(?:^|\/)(?:tsconfig[^/]*|jsconfig[^/]*|\.eslintrc|devcontainer|biome)\.json$|\/\.vscode\//

type Check = (text: string) => string | null | Promise<string | null>

const CHECKS: Readonly<Record<string, Check>> = Object.freeze({
  json: jsonError,
  ipynb: jsonError,
  yaml: yamlError,
  yml: yamlError,
  toml: tomlError,
})

/** What is wrong with `after` as the kind of file its name says, unless `before` was broken too; `null` when nothing is. */
export async function newSyntaxError(path: string, after: string, before: string | null): Promise<string | null> {
  const extension = path.slice(path.lastIndexOf('.') + 1)
  if (!Object.hasOwn(CHECKS, extension) || WITH_COMMENTS.test(path)) return null
  const check = CHECKS[extension]!
  const error = await check(after)
  return error !== null && (before === null || (await check(before)) === null) ? error : null
}

function jsonError(text: string): string | null {
  try {
    JSON.parse(text)
    return null
  } catch (error) {
    return errorLine(error)
  }
}

/** Longer ones are not looked at: the library reads some megabytes a second, and everything else waits. */
const MOST_YAML_CHARS = 64_000

/** Templates of other tools in files of that name are not YAML until they are filled in. */
async function yamlError(text: string): Promise<string | null> {
  if (text.length > MOST_YAML_CHARS || text.includes('{{') || text.includes('{%') || isNestedTooDeep(text)) return null
  const {
    default: { Composer, Parser },
  } = await import('yaml')
  const placed = (message: string, offset: number) => `${firstLine(message)} at ${placeOf(text, offset)}`
  // The library reads on after each mistake, in time by the square of their number: the first one is enough.
  for (const token of new Parser().parse(text)) if (token.type === 'error') return placed(token.message, token.offset)
  const composer = new Composer({ prettyErrors: false, logLevel: 'silent' })
  const mistakes: { readonly message: string; readonly offset: number }[] = []
  const onError = (source: Place, _code: string, message: string, isWarning?: boolean) => {
    if (isWarning) return
    // It is caught on the way, and told of once more.
    mistakes.push({ message, offset: offsetOf(source) })
    throw new Error(message)
  }
  Object.assign(composer, { onError })
  try {
    for (const { errors } of composer.compose(new Parser().parse(text), true, text.length))
      mistakes.push(...errors.map(({ message, pos }) => ({ message, offset: pos[0] })))
  } catch (error) {
    if (mistakes.length === 0) return errorLine(error)
  }
  const [first] = mistakes
  return first ? placed(first.message, first.offset) : null
}

function placeOf(text: string, offset: number): string {
  const before = text.slice(0, offset)
  return `line ${before.split('\n').length}, column ${offset - before.lastIndexOf('\n')}`
}

/** What the library says a mistake is at. */
type Place = number | readonly [number, number?] | { readonly offset: number }

function offsetOf(source: Place): number {
  return typeof source === 'number' ? source : 'offset' in source ? source.offset : source[0]
}

async function tomlError(text: string): Promise<string | null> {
  const { parse, TomlError } = await import('smol-toml')
  try {
    parse(text)
    return null
  } catch (error) {
    return error instanceof TomlError ? `${firstLine(error.message)} (line ${error.line})` : errorLine(error)
  }
}

/** Both libraries draw the place below their message. */
const firstLine = (text: string): string => text.split('\n', 1)[0]!.replace(/:$/, '')

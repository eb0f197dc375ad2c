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

/** Templates of other tools in files of that name are not YAML until they are filled in. */
async function yamlError(text: string): Promise<string | null> {
  if (text.includes('{{') || text.includes('{%') || isNestedTooDeep(text)) return null
  const { parseAllDocuments } = await import('yaml')
  const documents = parseAllDocuments(text, { logLevel: 'silent' })
  const [error] = [...documents].flatMap(({ errors }) => errors)
  return error ? firstLine(error.message) : null
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

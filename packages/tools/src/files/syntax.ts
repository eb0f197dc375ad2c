import { errorLine } from '@hermes/contracts'

/** JSON by name that may hold comments all the same. */
const WITH_COMMENTS = /(?:^|\/)(?:tsconfig[^/]*|jsconfig[^/]*|\.eslintrc|devcontainer|biome)\.json$|\/\.vscode\//

/** What is wrong with `after` as the kind of file its name says, unless `before` was broken too; `null` when nothing is. */
export function newSyntaxError(path: string, after: string, before: string | null): string | null {
  if (!path.endsWith('.json') || WITH_COMMENTS.test(path)) return null
  const error = jsonError(after)
  return error !== null && (before === null || jsonError(before) === null) ? error : null
}

function jsonError(text: string): string | null {
  try {
    JSON.parse(text)
    return null
  } catch (error) {
    return errorLine(error)
  }
}

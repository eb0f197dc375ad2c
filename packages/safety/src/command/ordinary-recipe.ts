/** What is done every day with a project. */
const ORDINARY =
  /^(?:|test|t|tst|start|build|check|lint|all|run(?:-script)? (?:test|build|check|lint|types?|typecheck|format|dev|start)(?:[:.-][\w:.-]+)?)$/
const FOLDER = /^(?:-C|--directory|--prefix|--dir|--cwd)(?:=(.*))?$/s

/**
 * Whether the words of `make` or a package manager are told a folder beside the workspace, by a path from here, and do nothing there but what
 * is done every day: it could be entered and told the same without that option.
 */
export function isOrdinaryRecipe(name: string, words: readonly string[]): boolean {
  if (!/^(?:g?make|npm|pnpm|yarn)$/.test(name)) return false
  const rest = [...words]
  const at = rest.findIndex((word) => FOLDER.test(word))
  const value = FOLDER.exec(rest[at] ?? '')?.[1]
  const [, next = ''] = rest.splice(at, value === undefined ? 2 : 1)
  return at !== -1 && /^(?:\.\.\/)+[^./]/.test(value ?? next) && ORDINARY.test(rest.join(' '))
}

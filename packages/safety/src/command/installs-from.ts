import { type Invocation, readOptions, texts } from './invocation.js'
import { PROGRAMS } from './program-tables.js'

const OTHER_INDEX =
  /^(?:--(?:extra-)?index-url|--registry|--source|--find-links|--index|--default-index|--git)(?:=|$)|^-[if]$/
const ADDRESS =
  /^(?:git\+|git@|git:|https?:\/\/|ssh:\/\/|github:|gitlab:|bitbucket:|gist:)|^[^@\s:/]+@[^:.\s/]+\.[^:\s/]+:./
/** A module of Go is named by the host that has it; those of the language itself come from no other. */
const MODULE = /^(?!golang\.org\/)[\w-]+(?:\.[\w-]+)+(?::\d+)?(?:[/@]|$)/
/** Where modules alone are named, and no files. */
const FETCHES_NAMED = /^(?:get|install|mod download)(?: |$)/
/** `OWNER/REPOSITORY` of GitHub, as package managers of JavaScript read it; `@scope/name` and `./folder` are none. */
const REPOSITORY = /^\w[\w.-]*\/[\w.-]+(?:#.*)?$/s

/** Options whose next word is a folder, a part of the project, or a name. */
const VALUED_OF_NPM = /^(?:--prefix|-C|-w|--workspace|--cache|--tag)$/
const VALUED = /^(?:--prefix|-C|--dir|--cwd|--filter|-F|--store-dir|--modules-folder|-p|--package)$/

/** Whether programs come from an address in the command itself, instead of from where the project gets them. */
export function installsFromAddress({ name, args }: Invocation): boolean {
  const words = texts(args)
  if (name === 'git') return words.includes('clone') || (words.includes('submodule') && words.includes('add'))
  if (/^python[\d.]*$/.test(name) && words[0] === '-m' && words[1] === 'pip') return namesAddress(words.slice(2))
  if (name === 'go') return namesAddress(words) || namesModule(args)
  return PROGRAMS.installers.includes(name) && (namesAddress(words) || namesRepository(name, words))
}

function namesRepository(name: string, words: readonly string[]): boolean {
  const valued = name === 'npm' ? VALUED_OF_NPM : VALUED
  const operands = words.filter((word, at) => !word.startsWith('-') && !valued.test(words[at - 1] ?? ''))
  const isNamed = words.some((word, at) => {
    const value = /^--package=(.*)$/s.exec(word)?.[1] ?? (/^(?:-p|--package)$/.test(words[at - 1] ?? '') ? word : '')
    return REPOSITORY.test(value)
  })
  if (isNamed) return /^(?:npx|bunx|npm|pnpm|yarn|bun)$/.test(name)
  if (/^(?:npx|bunx)$/.test(name)) return REPOSITORY.test(operands[0] ?? '')
  if (!/^(?:npm|pnpm|yarn|bun)$/.test(name)) return false
  const [verb = '', ...packages] = operands
  if (/^(?:exec|x|dlx|create|init)$/.test(verb)) return REPOSITORY.test(packages[0] ?? '')
  return (
    /^(?:i|in|ins|inst|install|isntall|add|link|update|up|upgrade)$/.test(verb) &&
    packages.some((one) => REPOSITORY.test(one))
  )
}

/** Whether Go comes for modules that are named: a build comes for those in `go.mod` alone, unless `-mod=mod` has it look further. */
function namesModule(args: Invocation['args']): boolean {
  const { operands } = readOptions(args)
  const form = operands.slice(0, 2).join(' ')
  if (FETCHES_NAMED.test(form)) return operands.some((word) => MODULE.test(word))
  const isFetched = /^(?:run|list)(?: |$)/.test(form) || addsModules(args)
  return isFetched && texts(args).some((word) => /[/@]/.test(word) && MODULE.test(word))
}

/** Whether a command of Go comes for modules that the project does not name yet. */
export const addsModules = (args: Invocation['args']): boolean =>
  args.some(({ text, dynamic }) => /^--?mod(?:=mod)?$/.test(text) || (dynamic && /^--?mod=/.test(text)))

function namesAddress(words: readonly string[]): boolean {
  return words.some((word) => ADDRESS.test(word) || /@(?:git\+)?https?:\/\//.test(word) || OTHER_INDEX.test(word))
}

import { isKeyFile } from '../credentials/names.js'
import { collectInvocations } from './collect.js'
import { type Invocation, texts } from './invocation.js'
import { onlyLooks } from './only-looks.js'
import { PROGRAMS } from './program-tables.js'
import { writeTargets } from './write-targets.js'

/** Options in front of the verb that say what is looked at. Those that name a server, a key or a file of settings are not among them. */
const SCOPES = /^(?:-n|--namespace|-R|--repo|-p|--project-name|--profile|--context)$/
/** Options that change who is asked, as whom or what is shown of keys, and what runs a program. */
const STEERS =
  /^(?:--kubeconfig|--server|--host|--config|--token|--user|--as|--as-[a-z]+|--raw|--web|-w?H|--tls\w*|--cluster|--url|--output-directory|--hostname|--file|--filename|--kustomize)(?:=|$)/
/** The letter for another server, which would get the login. */
const SERVER: Readonly<Record<string, RegExp>> = Object.freeze({ kubectl: /^-[a-zA-Z]*s/, oc: /^-[a-zA-Z]*s/ })
/** What is kept in a cluster as a secret. */
const SECRETS = /(?:^|,)secrets?(?:[,./]|$)/i

/**
 * Whether a program that needs the world around the workspace is told only to show something, in words that are all known: no wrapper, no
 * variable, no file it writes, no other server or login than by default.
 */
export function looksOutside(invocation: Invocation): boolean {
  const { name, args } = invocation
  if (!Object.hasOwn(PROGRAMS.showing, name) || !isPlain(invocation)) return false
  const words = texts(args)
  if (words.some((word) => STEERS.test(word) || SECRETS.test(word) || SERVER[name]?.test(word))) return false
  const spoken = withoutScopes(words)
  return PROGRAMS.showing[name]!.some((verbs) => verbs.every((choice, at) => choice.includes(spoken[at] ?? '')))
}

/** All in words that are known: no wrapper, no variable, no file it writes. */
function isPlain(invocation: Invocation): boolean {
  const { name, program, args, layers, variables, via, elevated } = invocation
  if (program.text !== name || via !== null || elevated || layers.length > 0 || variables.length > 0) return false
  if ([program, ...args].some(({ dynamic }) => dynamic)) return false
  return writeTargets(invocation).every((path) => path === '/dev/null')
}

/** The words in front of a command that runs elsewhere: they name where, and change nothing else. */
const ELSEWHERE =
  /^(?:(ssh (?:\w[\w.-]*@)?\w[\w.-]*)|((?:docker|podman|nerdctl|docker compose|docker-compose|podman-compose) exec )(?:-(?:[itT]|it|ti) )*(\w[\w.-]*))$/
/** Programs that show variables, which may be keys. */
const SHOWS_VARIABLES = /^(?:env|printenv|set|export|declare|typeset|ps)$/

/**
 * Where a program runs a command that only looks, on another machine or in a container: `ssh build`, `docker compose exec web`; `null` where
 * it does something else, or shows files of keys or variables.
 */
export function looksElsewhere(invocation: Invocation): string | null {
  if (!isPlain(invocation)) return null
  const words = [invocation.name, ...texts(invocation.args)]
  const at = words.findIndex((_, index) => ELSEWHERE.test(words.slice(0, index + 1).join(' ')))
  const [, host, engine = '', container = ''] = ELSEWHERE.exec(words.slice(0, at + 1).join(' ')) ?? []
  const rest = words.slice(at + 1)
  if (at === -1 || rest.length === 0) return null
  // ssh puts its words together for a shell; an engine hands them on as they are.
  const command = rest.map((word) => (host === undefined ? quoted(word) : word)).join(' ')
  const { invocations } = collectInvocations(command, {})
  if (!onlyLooks(command) || invocations.some(({ name }) => SHOWS_VARIABLES.test(name))) return null
  if (invocations.some(({ program, args }) => [program, ...args].some(({ dynamic }) => dynamic))) return null
  const files = invocations.flatMap(({ args, redirects }) => [...args, ...redirects.map(({ target }) => target)])
  if (texts(files).some(isKeyFile)) return null
  return host ?? `${engine}${container}`
}

const quoted = (word: string): string => `'${word.replaceAll("'", "'\\''")}'`

/** The words without scopes in front of the verb, and in front of that of `docker compose`. */
function withoutScopes(words: readonly string[]): readonly string[] {
  let at = 0
  while (/^--?[a-zA-Z]/.test(words[at] ?? '')) {
    const [option = '', value] = words[at]!.split('=')
    if (!SCOPES.test(option)) return []
    at += value === undefined ? 2 : 1
  }
  const [first, ...rest] = words.slice(at)
  if (first === undefined) return []
  return first === 'compose' ? [first, ...withoutScopes(rest)] : [first, ...rest]
}

/** What a grant for all that a program shows is for, for a person. */
export function sayLooks(name: string): string {
  const verbs = Object.hasOwn(PROGRAMS.showing, name) ? PROGRAMS.showing[name]! : []
  return verbs.map((choices) => [name, ...choices.map((words) => words.join('/'))].join(' ')).join(', ')
}

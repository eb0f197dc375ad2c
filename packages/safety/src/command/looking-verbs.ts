import { type Invocation, texts } from './invocation.js'
import { writeTargets } from './write-targets.js'

/** Words that are said one behind the other: one of the first list, one of the second. */
type Verbs = readonly (readonly string[])[]

const PODS: readonly Verbs[] = [
  [['ps', 'logs', 'inspect', 'images', 'stats', 'top', 'port', 'info', 'version']],
  [
    ['container', 'image', 'volume', 'network'],
    ['ls', 'inspect'],
  ],
]
const COMPOSE = ['ps', 'logs', 'images', 'top', 'port', 'ls']
const CLUSTER: readonly Verbs[] = [
  [['get', 'logs', 'describe', 'top', 'explain', 'version', 'api-resources']],
  [['rollout'], ['status', 'history']],
]

/** What programs that need the world around the workspace only show. */
const LOOKING: Readonly<Record<string, readonly Verbs[]>> = Object.freeze({
  docker: [...PODS, [['compose'], COMPOSE]],
  podman: PODS,
  nerdctl: PODS,
  'docker-compose': [[COMPOSE]],
  'podman-compose': [[COMPOSE]],
  kubectl: CLUSTER,
  oc: CLUSTER,
  gh: [
    [
      ['pr', 'issue', 'run', 'release', 'repo', 'workflow', 'label'],
      ['view', 'list', 'checks', 'watch', 'status', 'diff'],
    ],
    [['search'], ['prs', 'issues', 'repos', 'code', 'commits']],
    [['status']],
  ],
  glab: [
    [
      ['mr', 'issue', 'ci', 'release', 'repo'],
      ['view', 'list', 'status', 'diff'],
    ],
  ],
})

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
  const { name, program, args, layers, variables, via, elevated } = invocation
  if (!Object.hasOwn(LOOKING, name) || program.text !== name) return false
  if (via !== null || elevated || layers.length > 0 || variables.length > 0) return false
  if ([program, ...args].some(({ dynamic }) => dynamic)) return false
  if (writeTargets(invocation).some((path) => path !== '/dev/null')) return false
  const words = texts(args)
  if (words.some((word) => STEERS.test(word) || SECRETS.test(word) || SERVER[name]?.test(word))) return false
  const spoken = withoutScopes(words)
  return LOOKING[name]!.some((verbs) => verbs.every((choice, at) => choice.includes(spoken[at] ?? '')))
}

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
  const verbs = Object.hasOwn(LOOKING, name) ? LOOKING[name]! : []
  return verbs.map((choices) => [name, ...choices.map((words) => words.join('/'))].join(' ')).join(', ')
}

import { homePlaceOf, isKeyFile } from '../credentials/index.js'
import { matchGlob } from '../glob.js'
import { resolveShellPath } from './context.js'
import { type Invocation, texts } from './invocation.js'
import { PROGRAMS } from './program-tables.js'

const PUBLIC = /\.pub$|\/\.ssh\/(?:config|known_hosts(?:\.old)?|authorized_keys)$/
/** What a pattern such as `.e*` could mean. */
const TYPICAL = Object.freeze([
  '.env',
  '.env.local',
  '.env.production',
  '.npmrc',
  '.netrc',
  '.pgpass',
  'credentials.json',
  'id_rsa',
  'id_ed25519',
  'auth.json',
])

const WITHOUT_OPTION = /^(?:--?[\w-]+=@?|@|[a-z]\w*=@?)/

/** Whether a file is of the kind that holds keys or passwords, by its name. Absolute, or starting with `~`. */
export function isSecretPath(path: string): boolean {
  if (PUBLIC.test(path)) return false
  return isKeyFile(path) || (path.startsWith('~/') && homePlaceOf(path.slice(2)).type === 'credential')
}

/** Whether the invocation names such a file for its program to read. */
export function readsSecret(invocation: Invocation): boolean {
  const { name, args, redirects } = invocation
  const inputs = redirects.filter(({ operator }) => operator === '<').map(({ target }) => target.text)
  const words = PROGRAMS.namesOnly.includes(name) ? inputs : [...texts(args), ...inputs]
  return words.some((word) => namesSecret(word, invocation))
}

function namesSecret(word: string, { context }: Invocation): boolean {
  const path = word.replace(WITHOUT_OPTION, '')
  if (path === '' || path.length > 400) return false
  if (isSecretPath(resolveShellPath(path, context))) return true
  const base = path.slice(path.lastIndexOf('/') + 1)
  return /^[.\w][^*?[]*[*?[]/.test(base) && TYPICAL.some((typical) => matchGlob(base, typical))
}

/** Whether text of a program, or of a command that was not taken apart, names such a file. */
export function mentionsSecret(code: string): boolean {
  return [...code.matchAll(/(?:["'`]|<\s*)([\w~./-]{3,200})/g)].some(([, path = '']) => isSecretPath(path))
}

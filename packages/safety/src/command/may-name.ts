import { CREDENTIAL_PLACES } from '../credentials/index.js'
import { matchGlob } from '../glob.js'
import { type Protection, protectionOf } from '../path/protected.js'
import { type CommandContext, resolveShellPath } from './context.js'

/** Files of each kind that is protected, for patterns that could mean them. */
const EXAMPLES: readonly string[] = Object.freeze([
  ...['auth.json', '.env', 'permissions.yaml', 'state.db', 'config.yaml', 'mcp-tokens/x', 'hooks/x', 'plugins/x'].map(
    (file) => `@/${file}`,
  ),
  ...['id_rsa', 'id_ed25519', 'authorized_keys', 'config'].map((file) => `~/.ssh/${file}`),
  ...['.aws/credentials', '.kube/config', '.gnupg/private-keys-v1.d/x', '.netrc', '.git-credentials', '.pgpass'].map(
    (file) => `~/${file}`,
  ),
  ...['.pypirc', '.docker/config.json', '.config/gh/hosts.yml', '.bashrc', '.bash_profile', '.profile', '.zshrc'].map(
    (file) => `~/${file}`,
  ),
  ...['.zshenv', '.gitconfig', '.config/systemd/user/x.service', '.config/autostart/x.desktop'].map(
    (file) => `~/${file}`,
  ),
  ...['/etc/passwd', '/etc/shadow', '/etc/sudoers', '/etc/hosts', '.git/hooks/pre-commit', '.git/config', '.env'],
  ...CREDENTIAL_PLACES.map(({ path }) => `~/${path}`),
])
const GLOB = /[*?[]/
const MAX_CHARS = 400

/** The same in every context, and most of them. */
const AT_HOME = Object.freeze(EXAMPLES.filter((example) => example.startsWith('~/')))
const ELSEWHERE = Object.freeze(EXAMPLES.filter((example) => !example.startsWith('~/')))

function inPlace(example: string, context: CommandContext): readonly string[] {
  const homes = [context.home ?? '~/.hermes', '~/.hermes']
  const places = example.startsWith('@') ? homes.map((home) => `${home}${example.slice(1)}`) : [example]
  return places.map((place) => resolveShellPath(place, context))
}

/** A command line may have thousands of patterns, and each is held against every place. */
type Places = () => readonly string[]

/** The places of {@link EXAMPLES}, found out when the first pattern needs them. For all words of a command at once: it takes long. */
export function placesOf(context: CommandContext): Places {
  let places: readonly string[] | null = null
  return () => {
    places ??= [...ELSEWHERE.flatMap((example) => inPlace(example, context)), ...AT_HOME]
    return places
  }
}

/**
 * The protection of what a word of a command may name: the path itself, what a pattern in it could stand for, and with a part that is only
 * known later, the same name in the home folders.
 */
export function mayName(
  word: string,
  access: 'read' | 'write',
  context: CommandContext,
  places: Places = placesOf(context),
): Protection | null {
  if (word === '' || word.length > MAX_CHARS) return null
  const path = resolveShellPath(word, context)
  if (/^\/dev\//.test(path)) return null
  const own = protection(path, access, context)
  const pattern = patternOf(word, context)
  if (own || pattern === null) return own
  for (const file of places()) {
    if (!matchesShown(pattern, file)) continue
    const found = protection(file, access, context)
    if (found) return found
  }
  return null
}

/** What only file tools ask about: commands are kept from it by isolation, or see it as always. */
const FOR_TOOLS: readonly string[] = Object.freeze(['device', 'private-place', 'credential-name'])

function protection(path: string, access: 'read' | 'write', context: CommandContext): Protection | null {
  const { userHome } = context
  const full = userHome !== undefined && /^~(?:\/|$)/.test(path) ? `${userHome}${path.slice(1)}` : path
  const found = protectionOf(full, access, context)
  return found && access === 'read' && FOR_TOOLS.includes(found.rule) ? null : found
}

/** Whether a folder, resolved, has the home folder in it. */
export function holdsHome(folder: string, { userHome }: CommandContext): boolean {
  return folder === '/' || /^\/(?:home|Users)$/.test(folder) || (userHome?.startsWith(`${folder}/`) ?? false)
}

/** Whether a folder, as written, is one that holds credentials: the home folder or one around it, or a hidden one in it. */
export function holdsProtected(word: string, context: CommandContext): boolean {
  if (word === '' || word.length > MAX_CHARS) return false
  const folder = resolveShellPath(word.replace(/\/\*+$/, ''), context)
  if (holdsHome(folder, context)) return true
  const home = resolveShellPath(context.home ?? '~/.hermes', context)
  return EXAMPLES.some((example) => {
    const file = example.replace(/^@/, home)
    return /^[/~]/.test(file) && file.startsWith(`${folder}/`) && protection(file, 'read', context) !== null
  })
}

/** The word as a glob over resolved paths; `null` where nothing in it is open. */
function patternOf(word: string, context: CommandContext): string | null {
  const variable = /^\$(?:\{\w+[^}]*\}|\w+)(?=\/)/.exec(word)?.[0]
  // A name is told only by what is behind the variable, and many folders have a file called so.
  if (variable !== undefined)
    return /\/(?:config\.yaml|hooks?|plugins?)(?:\/|$)/.test(word) ? null : `**${word.slice(variable.length)}`
  return GLOB.test(word) ? resolveShellPath(word, context) : null
}

/** As a shell matches names: a wildcard at the beginning of one does not stand for a dot. */
function matchesShown(pattern: string, path: string): boolean {
  if (pattern.startsWith('**'))
    return path.startsWith('~') || path.startsWith('/etc/') ? path.endsWith(pattern.slice(2)) : false
  if (!beginsAlike(pattern, path)) return false
  const [wanted, parts] = [pattern.split('/'), path.split('/')]
  return (
    wanted.length === parts.length &&
    wanted.every((part, at) => {
      const name = parts[at]!
      if (/^[*?[]/.test(part) && name.startsWith('.') && !/^\[[^\]]*\.[^\]]*\]/.test(part)) return false
      return matchGlob(
        part.replace(/\[([^\]]*)\]/g, (_, signs: string) => (signs.length === 1 ? signs : '?')),
        name,
      )
    })
  )
}

/** Nearly all places are told apart by how they begin, up to the first sign that may stand for others. */
function beginsAlike(pattern: string, path: string): boolean {
  const open = pattern.search(/[*?[\\]/)
  return path.startsWith(open === -1 ? pattern : pattern.slice(0, open))
}

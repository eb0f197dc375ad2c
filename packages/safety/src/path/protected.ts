import { homePlaceOf } from '../credentials/index.js'

/** Why a path is protected, and whether a person may still agree. */
export interface Protection {
  readonly rule: string
  readonly reason: string
  /** `deny` has no way around; `ask` goes to a person. */
  readonly severity: 'deny' | 'ask'
}

interface ProtectedPath extends Protection {
  readonly pattern: RegExp
}

// Patterns see lower-case paths where `~` is the person's home, `@` a Hermes home (a profile's too) and `%` that of another profile.

const denied = (rule: string, reason: string, pattern: RegExp): ProtectedPath => ({
  rule,
  reason,
  severity: 'deny',
  pattern,
})
const askRule = (rule: string, reason: string, pattern: RegExp): ProtectedPath => ({
  rule,
  reason,
  severity: 'ask',
  pattern,
})

const SECRETS_OF_HERMES =
  /^@\/(?:auth\.json(?:\.[^/]*)?(?:\/.*)?|\.env|[^/]*oauth\.json|(?:honcho|mem0|supermemory)\.json|(?:mcp-tokens|pairing|auth)(?:\/.*)?)$/
const TOKEN_FILES = /^~\/\.(?:netrc|git-credentials|pgpass|pypirc|docker\/config\.json|config\/gh\/hosts\.yml)$/

const WRITE: readonly ProtectedPath[] = Object.freeze([
  denied('hermes-secrets', 'it holds credentials of Hermes', SECRETS_OF_HERMES),
  denied(
    'hermes-permissions',
    'it decides what Hermes may do',
    /^@\/(?:permissions\.yaml|(?:shell-hooks-allowlist|trust|installed-plugins)\.json)$/,
  ),
  denied(
    'hermes-permissions',
    'it says which skills a person has agreed to, or holds what waits for a yes',
    /^@\/(?:skills\/\.hub|pending)(?:\/.*)?$/,
  ),
  denied(
    'hermes-permissions',
    'Hermes starts with what is kept there',
    /^@\/(?:backups\/config|cache\/code)(?:\/.*)?$/,
  ),
  denied(
    'hermes-memory',
    'it says which notes no person has confirmed',
    /^@\/memories\/(?:users\/[^/]+\/)?\.unconfirmed\.json$/,
  ),
  denied('hermes-store', 'it is the database of Hermes', /^@\/state\.db(?:-wal|-shm)?$/),
  askRule(
    'hermes-config',
    'it changes how Hermes behaves',
    // Modules in the home may be its context engine, or what that one loads. A folder of them has a name of its own.
    /^@\/(?:config\.yaml|(?:hooks|agent-hooks|plugins|extensions|cron|node_modules)(?:\/.*)?|package\.json|(?!cache\/|sandboxes\/).+\.[cm]?[jt]s)$/,
  ),
  askRule(
    'hermes-config',
    'it is what skills were, are kept from being, or bring along',
    /^@\/(?:skill-bundles|skills\/\.(?:history|archive|curator\.json|usage\.json))(?:\/.*)?$/,
  ),
  askRule('hermes-config', 'Hermes starts with what is kept there', /^@\/(?:backups|cache)$/),
  askRule('other-profile', 'it belongs to another profile', /^%\/.+$/),
  askRule('ssh-config', 'it changes where ssh connects to', /^~\/\.ssh\/config$/),
  denied('credential-write', 'it holds keys or credentials', /^~\/\.(?:ssh|aws|kube|gnupg)(?:\/.*)?$/),
  denied('credential-write', 'it holds keys or credentials', TOKEN_FILES),
  denied('sudoers', 'it grants administrator rights', /^(?:\/private)?\/etc\/sudoers/),
  denied(
    'env-file',
    'environment files hold secrets',
    /\/\.env(?:rc|[._-](?!example$|sample$|template$|dist$)[^/]*)?$/,
  ),
  denied('device', 'it is a device or a view of the kernel', /^\/(?:dev|proc|sys)(?:\/.*)?$/),
  askRule(
    'shell-startup',
    'it runs whenever a shell or session starts',
    /^~\/\.(?:bashrc|bash_profile|bash_login|bash_logout|bash_aliases|profile|zshrc|zshenv|zprofile|zlogin|zlogout|kshrc|t?cshrc|login|xinitrc|xprofile|xsession(?:rc)?|pam_environment|config\/(?:fish|autostart|systemd|environment\.d)\/.*)$/,
  ),
  askRule(
    'shell-startup',
    'it runs by itself later',
    /^(?:~\/library\/launchagents|\/library\/launch(?:agents|daemons)|\/var\/spool\/cron)\/.*$/,
  ),
  askRule(
    'system-file',
    'it belongs to the system',
    /^(?:\/private)?\/(?:etc|boot|bin|sbin|lib(?:32|64|x32)?|system|usr\/(?:bin|sbin|lib|libexec|share|include))(?:\/.*)?$/,
  ),
  askRule('git-internals', 'git runs what is written there', /^~\/\.(?:gitconfig|config\/git\/(?:config|attributes))$/),
  askRule(
    'git-internals',
    'git runs what is written there',
    /\/\.git(?:\/(?:(?:modules|worktrees)\/.*\/)?(?:hooks(?:\/.*)?|config(?:\.worktree)?))?$/,
  ),
])

const READ: readonly ProtectedPath[] = Object.freeze([
  denied('hermes-secrets', 'it holds credentials of Hermes', SECRETS_OF_HERMES),
  denied(
    'credential-read',
    'it holds password hashes',
    /^(?:\/private)?\/etc\/(?:g?shadow-?|master\.passwd|sudoers.*)$/,
  ),
  denied('device', 'it is a device, which may never end', /^\/dev(?:\/.*)?$/),
  askRule('other-profile', 'it belongs to another profile', /^%\/.+$/),
  askRule(
    'rescue-file',
    'it holds what was said in a session of any project',
    /\/hermes-rescue-[^/]*\.jsonl(?:\.[^/]*)?$/,
  ),
  denied(
    'process-memory',
    'it shows memory, environment or files of a process',
    /^\/proc\/(?:kcore|kmem|[^/]+\/(?:task\/[^/]+\/)?(?:environ|mem|maps|auxv|fd|root|cwd)(?:\/.*)?)$/,
  ),
])

/** The folders that protected paths are relative to; absolute. */
export interface Homes {
  /** The Hermes home. */
  readonly home?: string
  readonly userHome?: string
  /** Absolute folders that are worked in: names of files there say nothing. Default none. */
  readonly workspace?: readonly string[]
  /** Absolute places that may be read although they are hidden by default. Default none. */
  readonly readable?: readonly string[]
}

/** The protection of an absolute, normalised path, or of one starting with `~`; `null` when there is none. */
export function protectionOf(path: string, access: 'read' | 'write', homes: Homes): Protection | null {
  const views = viewsOf(path.toLowerCase(), homes)
  const found = (access === 'read' ? READ : WRITE).find(({ pattern }) => views.some((view) => pattern.test(view)))
  if (found) {
    // Those of the project hold settings as often as keys. One that a shell runs stays closed, as do those elsewhere.
    const isOfProject = found.rule === 'env-file' && !path.endsWith('.envrc') && isInOneOf(path, homes.workspace ?? [])
    return { rule: found.rule, reason: found.reason, severity: isOfProject ? 'ask' : found.severity }
  }
  return access === 'read' ? protectionInHome(path, homes) : null
}

/** What of the home folder is read only after a question, or never. */
function protectionInHome(path: string, { home, userHome, workspace = [], readable = [] }: Homes): Protection | null {
  const inHome = path.startsWith('~/') ? path.slice(1) : relativeTo(path, userHome)
  if (inHome === null || inHome === '') return null
  const place = homePlaceOf(inHome.slice(1), { isMacOs: userHome?.startsWith('/Users/') ?? false })
  if (place.type === 'credential' && place.place.read === 'deny')
    return { rule: 'credential-read', reason: 'it holds keys or credentials', severity: 'deny' }
  if (place.type === 'plain' || isInOneOf(path, readable)) return null
  if (place.type === 'credential')
    return { rule: 'credential-file', reason: 'it is a place of keys, logins or what was typed', severity: 'ask' }
  // Those of Hermes have rules of their own.
  if (isInOneOf(path, [home, home?.replace(OF_PROFILE, ''), `${userHome}/.hermes`])) return null
  const worked = workspace.filter((root) => relativeTo(path, root) !== null)
  if (place.type === 'unknown') {
    // Who works in such a folder sees it; who works in the whole home folder does not for that.
    if (worked.some((root) => relativeTo(root, `${userHome}/${place.folder}`) !== null)) return null
    return {
      rule: 'private-place',
      reason: `nothing says that ~/${place.folder} holds no secrets (terminal.isolation_read can)`,
      severity: 'ask',
    }
  }
  if (worked.length > 0) return null
  return { rule: 'credential-name', reason: 'it is called like a file of keys or passwords', severity: 'ask' }
}

/** Whether a path is in a Hermes home, and neither in one of `places` nor in a folder of the home that is worked in. */
export function isOfOwner(path: string, places: readonly string[], { home, userHome, workspace = [] }: Homes): boolean {
  const homes = [home, home?.replace(OF_PROFILE, ''), userHome && `${userHome}/.hermes`]
  const worked = workspace.filter(
    (root) => isInOneOf(root, homes) && !homes.some((one) => relativeTo(root, one) === ''),
  )
  return isInOneOf(path, homes) && !isInOneOf(path, [...worked, ...places])
}

function isInOneOf(path: string, folders: readonly (string | undefined)[]): boolean {
  return folders.some((folder) => relativeTo(path.toLowerCase(), folder) !== null)
}

/** The path as it is, seen from the person's home, and seen from each Hermes home. */
function viewsOf(path: string, { home, userHome }: Homes): string[] {
  const fromUser = relativeTo(path, userHome)
  const inUser = fromUser === null ? (path.startsWith('~') ? path : null) : `~${fromUser}`
  const views = inUser === null ? [path] : [path, inUser]
  const own = relativeTo(path, home)
  const fromHermes = own ?? relativeTo(path, home?.replace(OF_PROFILE, '')) ?? relativeTo(inUser ?? '', '~/.hermes')
  if (fromHermes === null) return views
  const inHome = fromHermes.replace(/^\/profiles\/[^/]+(?=\/)/, '')
  const isOther = home !== undefined && (own === null || inHome !== own)
  return [...views, `@${inHome}`, ...(isOther ? [`%${inHome}`] : [])]
}

/** What the home of a profile has behind that of the profile without a name. */
const OF_PROFILE = /\/profiles\/[^/]+\/?$/

function relativeTo(path: string, folder: string | undefined): string | null {
  const base = folder?.toLowerCase().replace(/\/+$/, '') ?? ''
  if (base === '') return null
  const lower = path.toLowerCase()
  if (lower === base) return ''
  return lower.startsWith(`${base}/`) ? path.slice(base.length) : null
}

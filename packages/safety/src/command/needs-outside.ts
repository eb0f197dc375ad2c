import { type Collected, collectInvocations, MAX_COMMAND_CHARS } from './collect.js'
import type { CommandContext } from './context.js'
import { isIdle } from './harmless.js'
import { type Invocation, readOptions, texts } from './invocation.js'
import { type Payload, payloads } from './payloads.js'
import { PROGRAMS } from './program-tables.js'
import { gitCommand } from './rules-git.js'
import { isBeyond, writeTargets } from './write-targets.js'

/** A program that cannot do its work where commands are held to the workspace. */
interface Need {
  readonly programs: readonly string[]
  /** Why, for a person. */
  readonly reason: string
  /** Default: whatever it is told to do. */
  readonly when?: (invocation: Invocation) => boolean
}

const LOGINS = 'it uses your keys or logins'
const INSTALLS = 'it installs programs beyond the workspace'
const ENGINE = 'it talks to the container engine'
const SERVICES = 'it works on the services of this machine'
const RIGHTS = 'it takes administrator rights'
const HERMES = 'it works on the files of Hermes'

const operands = ({ args }: Invocation): readonly string[] => readOptions(args).operands
const isFirst =
  (...verbs: readonly string[]) =>
  (invocation: Invocation): boolean =>
    verbs.includes(operands(invocation)[0] ?? '')
const hasWord =
  (...words: readonly string[]) =>
  ({ args }: Invocation): boolean =>
    texts(args).some((word) => words.includes(word))

const isSshAddress = (word: string): boolean => /^(?:git\+)?ssh:\/\/|^[\w.-]+@[^/:\s]+:/.test(word)
/** `host:path` too. */
const isRemotePath = (word: string): boolean => isSshAddress(word) || /^[^/:\s]+:(?!\/\/)./.test(word)
const isLocalAddress = (word: string): boolean => /^(?:file:\/\/|\/|\.\.?(?:\/|$)|~)/.test(word)

/** What is pushed needs a login, whatever the way; what is fetched only over ssh. */
function usesGitLogin({ args }: Invocation): boolean {
  const { verb, rest } = gitCommand(args)
  const words = readOptions(rest).operands
  switch (verb) {
    case 'push':
      return words[0] === undefined || !isLocalAddress(words[0])
    case 'clone':
      return words.some(isRemotePath)
    default:
      return ['fetch', 'pull', 'ls-remote', 'submodule'].includes(verb) && words.some(isSshAddress)
  }
}

const NEEDS: readonly Need[] = Object.freeze([
  { programs: ['git'], reason: LOGINS, when: usesGitLogin },
  { programs: ['ssh', 'scp', 'sftp', 'mosh', 'ssh-add', 'ssh-copy-id', 'gpg', 'gpg2', 'pass'], reason: LOGINS },
  { programs: ['rsync'], reason: LOGINS, when: (invocation) => operands(invocation).some(isRemotePath) },
  { programs: ['gh', 'glab', 'aws', 'gcloud', 'gsutil', 'az', 'kubectl', 'helm', 'doctl', 'heroku'], reason: LOGINS },
  { programs: ['fly', 'flyctl', 'vercel', 'netlify', 'wrangler', 'firebase', 'rclone', 'op'], reason: LOGINS },
  {
    programs: ['terraform', 'tofu', 'pulumi'],
    reason: LOGINS,
    when: isFirst('plan', 'apply', 'destroy', 'import', 'refresh', 'up', 'preview', 'login'),
  },
  {
    programs: ['npm', 'pnpm', 'yarn', 'bun', 'cargo', 'twine', 'poetry', 'uv'],
    reason: LOGINS,
    when: isFirst('publish', 'unpublish', 'login', 'logout', 'whoami', 'token', 'owner', 'access', 'upload'),
  },
  {
    programs: ['docker', 'docker-compose', 'podman', 'podman-compose', 'nerdctl', 'buildah', 'minikube', 'kind'],
    reason: ENGINE,
  },
  { programs: ['npm', 'pnpm', 'bun'], reason: INSTALLS, when: hasWord('-g', '--global', '--location=global') },
  { programs: ['npm', 'pnpm', 'yarn', 'bun'], reason: INSTALLS, when: isFirst('link') },
  { programs: ['yarn'], reason: INSTALLS, when: isFirst('global') },
  { programs: ['pip', 'pip3'], reason: INSTALLS, when: hasWord('--user') },
  { programs: ['pipx', 'cargo', 'go', 'gem'], reason: INSTALLS, when: isFirst('install', 'uninstall', 'upgrade') },
  {
    programs: ['uv', 'dotnet'],
    reason: INSTALLS,
    when: (it) => /^tool (?:un)?install$/.test(operands(it).slice(0, 2).join(' ')),
  },
  {
    programs: ['rustup', 'pyenv', 'rbenv', 'sdk', 'asdf', 'mise'],
    reason: INSTALLS,
    when: isFirst('install', 'update', 'uninstall'),
  },
  {
    programs: ['apt', 'apt-get', 'dnf', 'yum', 'zypper', 'apk', 'brew', 'port', 'snap', 'flatpak', 'nix-env'],
    reason: INSTALLS,
    when: hasWord(
      'install',
      'add',
      'remove',
      'del',
      'purge',
      'upgrade',
      'update',
      'uninstall',
      'dist-upgrade',
      '-i',
      '-iA',
    ),
  },
  { programs: ['pacman'], reason: INSTALLS, when: ({ args }) => texts(args).some((word) => /^-[SRU]/.test(word)) },
  {
    programs: ['systemctl', 'journalctl', 'loginctl', 'launchctl', 'service', 'crontab', 'at', 'pm2', 'supervisorctl'],
    reason: SERVICES,
  },
  { programs: ['hermes'], reason: HERMES },
])

const NEEDING: ReadonlySet<string> = new Set([...NEEDS.flatMap(({ programs }) => programs), ...PROGRAMS.elevators])

/** Where commands run, as far as it is known. */
interface OutsideContext extends CommandContext {
  /** Folders that commands may write inside; with it, what is written elsewhere is a need too. Temporary folders are always among them. */
  readonly writable?: readonly string[]
}

/** Said of what writes elsewhere. */
export const WRITES = 'it writes outside the workspace'

/** What one program of a command line needs of the world around the workspace: `reason` is `null` where nothing is known. */
export interface OutsideNeed {
  readonly invocation: Invocation
  readonly reason: string | null
}

/** The programs of a command line that do something, with what they need. What `ssh` runs runs elsewhere. */
export function outsideNeeds({ invocations }: Collected, context: OutsideContext): readonly OutsideNeed[] {
  const needs: OutsideNeed[] = []
  for (let at = 0; at < invocations.length; at++) {
    const invocation = invocations[at]!
    const { name, written, redirects, elevated } = invocation
    if (name === 'ssh') at += programsOf(payloads(invocation))
    // A variable by itself counts: the programs after it may be others by it, as with `PATH=.:$PATH`.
    if (name === '' && written === '' && redirects.length === 0) continue
    if (!isIdle(invocation) || elevated || redirects.length > 0)
      needs.push({ invocation, reason: needOf(invocation, context) })
  }
  return needs
}

function programsOf(found: readonly Payload[]): number {
  const lines = found.flatMap((payload) => (payload.type === 'text' ? [payload.text] : []))
  return lines.flatMap((line) => collectInvocations(line, {}).invocations).length
}

function needOf(invocation: Invocation, { writable, ...context }: OutsideContext): string | null {
  if (invocation.elevated || PROGRAMS.elevators.includes(invocation.name)) return RIGHTS
  const need = NEEDS.find(({ programs, when }) => programs.includes(invocation.name) && (when?.(invocation) ?? true))
  if (need) return need.reason
  const place = { ...context, ...invocation.context }
  return writable && writeTargets(invocation).some((path) => isBeyond(path, writable, place)) ? WRITES : null
}

/** Whether a command is known to need more than the workspace, by its form. Cheap where nothing in it looks like that. */
export function needsOutside(command: string, context: OutsideContext = {}): boolean {
  if (command.length > MAX_COMMAND_CHARS) return false
  const words = command.match(/[\w.-]+/g) ?? []
  const mayWrite = context.writable !== undefined && /[/~]|\.\./.test(command)
  if (!mayWrite && !words.some((word) => NEEDING.has(word))) return false
  return outsideNeeds(collectInvocations(command, context), context).some(({ reason }) => reason !== null)
}

import { type Collected, collectInvocations } from './collect.js'
import type { CommandContext } from './context.js'
import { isIdle, LOOKS } from './harmless.js'
import { installsFromAddress } from './installs-from.js'
import { type Invocation, readOptions, texts } from './invocation.js'
import { gitCommand } from './rules-git.js'

/** What a package manager does with its registries alone, as `PROGRAM VERB`: they are reached without a question where the network is off. */
export const REGISTRY_COMMANDS: readonly string[] = Object.freeze([
  ...['npm ci', 'npm install', 'npm i', 'npm add', 'npm update', 'npm outdated', 'npm audit', 'npm view'],
  ...['pnpm install', 'pnpm i', 'pnpm add', 'pnpm update', 'pnpm fetch', 'yarn', 'yarn add', 'yarn install'],
  ...[
    'bun install',
    'bun add',
    'deno cache',
    'deno install',
    'pip install',
    'pip download',
    'pip3 install',
    'pip3 download',
  ],
  ...['uv sync', 'uv lock', 'uv add', 'uv pip', 'poetry install', 'poetry add', 'poetry lock', 'poetry update'],
  ...['pdm install', 'pipenv install', 'cargo build', 'cargo test', 'cargo check', 'cargo fetch', 'cargo add'],
  ...['cargo update', 'cargo clippy', 'cargo bench', 'cargo doc', 'go build', 'go test', 'go get', 'go mod', 'go vet'],
  ...['bundle install', 'bundle update', 'composer install', 'composer update', 'composer require', 'mvn compile'],
  ...[
    'mvn test',
    'mvn package',
    'mvn verify',
    'mvnw test',
    'mvnw package',
    'mvnw verify',
    'gradle build',
    'gradle test',
  ],
  ...[
    'gradle check',
    'gradlew build',
    'gradlew test',
    'gradlew check',
    'dotnet restore',
    'dotnet build',
    'dotnet test',
  ],
  ...['dotnet add', 'swift build', 'swift test', 'mix deps.get', 'dart pub', 'flutter pub'],
])
/** Tests and builds that go on without a network, and may have it behind an installation on the same line. */
const BESIDE: ReadonlySet<string> = new Set([
  ...[
    'npm test',
    'npm t',
    'npm run',
    'pnpm test',
    'pnpm run',
    'yarn test',
    'yarn run',
    'bun test',
    'bun run',
    'uv run',
  ],
  ...['pytest', 'tox', 'make'],
])
const REGISTRY: ReadonlySet<string> = new Set(REGISTRY_COMMANDS)

/** Programs that do nothing without a network. */
const CLIENTS: ReadonlySet<string> = new Set([
  ...[
    'curl',
    'wget',
    'http',
    'https',
    'xh',
    'aria2c',
    'ping',
    'ping6',
    'traceroute',
    'dig',
    'nslookup',
    'host',
    'whois',
  ],
  ...['nc', 'ncat', 'netcat', 'socat', 'telnet', 'ftp', 'lftp', 'ssh', 'scp', 'sftp', 'rsync', 'mosh', 'npx', 'pnpx'],
  ...[
    'bunx',
    'uvx',
    'pipx',
    'gh',
    'glab',
    'aws',
    'gcloud',
    'az',
    'kubectl',
    'helm',
    'psql',
    'mysql',
    'redis-cli',
    'mongosh',
  ],
  ...['yt-dlp', 'huggingface-cli', 'hf', 'ollama'],
])
const REMOTE_GIT: readonly string[] = Object.freeze(['clone', 'fetch', 'pull', 'push', 'ls-remote', 'submodule', 'lfs'])
const LOOPBACK = /^(?:localhost|127(?:\.\d+){3}|\[::1\]|0\.0\.0\.0)$/i

/** What one program of a command line needs of the network. */
interface NetworkNeed {
  readonly name: string
  /** Where it goes, when the command names that. */
  readonly host: string | null
  /** `registry`: a package manager at its registries; `beside`: what usually follows one; `none`: its code would get what another one asks for. */
  readonly kind: 'registry' | 'beside' | 'far' | 'none'
}

/** What the programs of a command line that do something need of the network. */
export function networkNeeds({ invocations }: Collected): readonly NetworkNeed[] {
  return invocations.flatMap((invocation, at): NetworkNeed[] => {
    const { name, written } = invocation
    if (name === '' && written === '') return []
    // What a package manager runs was listed with it.
    const before = invocations[at - 1]
    if (before && BESIDE.has(formOf(before)) && before.written.endsWith(written)) return []
    if (isIdle(invocation) || LOOKS.has(name)) return []
    const host = hostOf(invocation)
    if (isRegistryCommand(invocation)) return [{ name, host: null, kind: 'registry' }]
    if (BESIDE.has(formOf(invocation)) || BESIDE.has(name)) return [{ name, host: null, kind: 'beside' }]
    const isRemote = isClient(invocation) && !(host !== null && LOOPBACK.test(host))
    return [{ name, host, kind: isRemote ? 'far' : 'none' }]
  })
}

/** Whether a command is known to need more of the network than this machine, by its form. */
export function needsNetwork(command: string, context: CommandContext = {}): boolean {
  return networkNeeds(collectInvocations(command, context)).some(({ kind }) => kind === 'registry' || kind === 'far')
}

function isClient(invocation: Invocation): boolean {
  const { name, args } = invocation
  if (name === 'git') return REMOTE_GIT.includes(gitCommand(args).verb)
  if (['npm', 'pnpm', 'yarn', 'bun', 'pip', 'pip3', 'uv', 'cargo', 'go'].includes(name))
    return installsFromAddress(invocation)
  return CLIENTS.has(name)
}

function isRegistryCommand(invocation: Invocation): boolean {
  const { args } = invocation
  if (!REGISTRY.has(formOf(invocation))) return false
  // One at an address of the command's own is none of the registries'.
  return (
    !installsFromAddress(invocation) &&
    !texts(args).some((word) => /^(?:--?(?:index-url|extra-index-url|registry|find-links|i|f))(?:=|$)|:\/\//.test(word))
  )
}

function formOf({ name, args }: Invocation): string {
  const isModule = /^python[\d.]*$/.test(name) && args[0]?.text === '-m' && args[1] !== undefined
  const [program, words] = isModule ? [args[1]!.text, args.slice(2)] : [name, args]
  const [verb] = readOptions(words).operands
  return verb === undefined ? program : `${program} ${verb}`
}

function hostOf({ args }: Invocation): string | null {
  for (const word of texts(args)) {
    const address = /^[a-z][a-z0-9+.-]*:\/\//i.test(word) ? word : null
    if (address !== null && URL.canParse(address)) return new URL(address).hostname
    const named = /^(?:[\w.-]+@)?((?:[\w-]+\.)+[a-z]{2,}|localhost|\d+(?:\.\d+){3})(?::|\/|$)/i.exec(word)?.[1]
    if (named !== undefined) return named
  }
  return null
}

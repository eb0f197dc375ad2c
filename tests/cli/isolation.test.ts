// Commands of this machine as everybody gets them, without a word in config.yaml: held to the workspace, with a way out that is asked for. One run
// has a tenth of the probes that packages/sandbox tries without a model, drawn by HERMES_TEST_SEED; with HERMES_TEST_RUNS, all.
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { homedir, userInfo } from 'node:os'
import { dirname, join } from 'node:path'
import { missingPrograms, needs, startSshServer } from '@hermes/testkit/daemons'
import {
  AFTER_PROBE,
  ESCAPED,
  EVERYDAY_COMMANDS,
  READING_PROBES,
  WRITING_PROBES,
} from '@hermes/testkit/isolation-corpus'
import { afterEach, beforeEach, expect, it, onTestFinished } from 'vitest'
import { runCli } from '../support/cli.js'
import { useScene } from '../support/scene.js'

const SEED = Number(process.env['HERMES_TEST_SEED'] ?? 0)
const PROBES = [...WRITING_PROBES, ...READING_PROBES].filter(
  (_, index) => process.env['HERMES_TEST_RUNS'] !== undefined || (index + SEED) % 10 === 0,
)

const scene = useScene()
let root: string
const at = (...parts: string[]) => join(root, ...parts)
const home = () => at('home/.hermes')
const cwd = () => at('home/work')

/** A home directory that is not below a temporary folder, where commands may write. */
beforeEach(async () => {
  root = await realpath(await mkdtemp(join(homedir(), '.hermes-isolation-')))
  for (const folder of ['home/work', 'home/.ssh', 'home/.hermes']) await mkdir(at(folder), { recursive: true })
  await writeFile(at('home/.ssh/id_ed25519'), 'the private key')
  await writeFile(at('home/.netrc'), 'the password')
  await writeFile(at('home/notes.txt'), 'may be read')
  await writeFile(at('home/.hermes/.env'), '# the api key\n')
  await writeFile(
    at('home/.hermes/config.yaml'),
    'model_overrides:\n  m:\n    context_window: 200000\nauxiliary:\n  title_generation:\n    enabled: false\nagent:\n  verify_on_stop: off\n',
  )
})
afterEach(() => rm(root, { recursive: true, force: true }))

/** What `terminal` answers to each of these calls, made in one message of the model. */
async function terminal(
  calls: readonly (string | { readonly command: string; readonly outside?: boolean })[],
  {
    flags = [],
    env = {},
  }: { readonly flags?: readonly string[]; readonly env?: Readonly<Record<string, string>> } = {},
): Promise<readonly string[]> {
  const { server } = scene
  const toolCalls = calls.map((call) => ({
    name: 'terminal',
    args: typeof call === 'string' ? { command: call } : call,
  }))
  server.enqueue({ toolCalls }, { text: 'Done.' })
  const args = ['chat', '-q', 'Go.', '--base-url', server.baseUrl, '-m', 'm', '--max-turns', '200', ...flags]
  const result = await runCli(args, { home: home(), cwd: cwd(), env })
  expect(result).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('Done.') })
  const { messages } = server.requests.at(-1)!.body as unknown as { messages: { role: string; content: unknown }[] }
  return messages.filter(({ role }) => role === 'tool').map(({ content }) => String(content))
}

/** Parts of everyday commands, one for each kind; all of them run in packages/tools. */
const OF_ALL_KINDS = [
  '> list.txt && cat',
  'mktemp &&',
  'run.sh && ./run.sh',
  'git init',
  'git commit -qm first',
  'npm init',
  '127.0.0.1:PORT',
  'server.log',
]

needs(missingPrograms('bwrap', 'git'))('with the settings everybody starts with', () => {
  it('everyday commands work, and none of them asks', { timeout: 90_000 }, async () => {
    const server = createServer((_request, response) => response.end('served'))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void server.close())
    const { port } = server.address() as AddressInfo
    // What is dangerous anywhere would ask too. It is no grant to go outside.
    await writeFile(at('home/.hermes/permissions.yaml'), "'terminal.*': allow\n")
    const fill = (command: string) =>
      command.replaceAll('PORT', String(port)).replaceAll('NODE', dirname(process.execPath))
    const isLocal = (command: string) => command.includes('PORT')
    const some = EVERYDAY_COMMANDS.filter((command) => OF_ALL_KINDS.some((part) => command.includes(part)))
    // A server of the machine is reached until text from elsewhere was read, in a project that is trusted.
    const texts = [...some.filter(isLocal), ...some.filter((command) => !isLocal(command))].map(fill)
    const answers = await terminal(texts, { flags: ['--trust'] })
    expect(answers).toHaveLength(OF_ALL_KINDS.length)
    const failed = answers.flatMap((answer, index) =>
      /\[exit \d|Not permitted|\[isolated commands/.test(answer) ? [`${texts[index]}\n${answer}`] : [],
    )
    expect(failed).toEqual([])
    expect(existsSync(at('home/.cache'))).toBe(false)
  })

  it('no probe gets out, and what the policy allows is held all the same', { timeout: 90_000 }, async () => {
    await writeFile(at('home/.hermes/permissions.yaml'), "'terminal.*': allow\n")
    await symlink(home(), at('home/alias'))
    const probes = PROBES.map((probe) =>
      probe.replaceAll('ROOT', root).replaceAll('OUTPUTS', at('home/.hermes/cache/terminal')),
    )
    // Some write outside by their form, and would ask for that.
    const answers = await terminal(
      probes.flatMap((probe) => [probe, 'true', AFTER_PROBE].map((command) => ({ command, outside: false }))),
    )
    expect(answers).toHaveLength(3 * probes.length)
    expect(answers.filter((answer) => ESCAPED.test(answer))).toEqual([])
    expect(await readdir(root)).toEqual(['home'])
  })

  it('a command that needs more asks, runs where a rule allows it, and is told how where nobody answers', async () => {
    const { port, identityFile, knownHostsFile, ...ssh } = await startSshServer()
    onTestFinished(() => ssh.stop())
    const bare = at('far.git')
    execFileSync('git', ['init', '-q', '--bare', '-b', 'main', bare])
    await rm(at('home/.ssh/id_ed25519'))
    execFileSync('cp', ['-p', identityFile, at('home/.ssh/id_ed25519')])
    const git = (...args: string[]) =>
      execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args], { cwd: cwd() })
    git('init', '-q', '-b', 'main')
    git('commit', '-q', '--allow-empty', '-m', 'first')
    git('remote', 'add', 'origin', `ssh://${userInfo().username}@127.0.0.1:${port}${bare}`)
    const options = `-F none -i ${at('home/.ssh/id_ed25519')} -o IdentitiesOnly=yes -o BatchMode=yes -o UserKnownHostsFile=${knownHostsFile}`
    const env = { GIT_SSH_COMMAND: `ssh ${options}` }
    const push = 'git push -q origin main && echo pushed'

    const [denied, inside] = await terminal([push, { command: push, outside: false }], { env })
    expect(denied).toContain(
      'Not permitted (unisolated-git:push origin): It has to leave the isolation because it uses your keys or logins.',
    )
    expect(denied).toContain('pass --yolo, or add `terminal_outside(git push')
    expect(inside).toMatch(/Permission denied[\s\S]*\[isolated commands cannot see \S+id_ed25519\. .*outside=true/)

    await writeFile(at('home/.hermes/permissions.yaml'), "'terminal_outside(git push *)': allow\n")
    expect(await terminal([push], { env })).toEqual(['pushed'])
    const head = git('rev-parse', 'HEAD').toString()
    expect(execFileSync('git', ['--git-dir', bare, 'rev-parse', 'main']).toString()).toBe(head)
    const audit = await runCli(['audit', 'list'], { home: home(), cwd: cwd() })
    expect(audit.stdout).toMatch(
      /deny {4}Run outside the isolation: git push[\s\S]*allow {3}Run outside the isolation: git push/,
    )
  })

  it('a global install asks, and works once it may', async () => {
    const command = 'npm install --global --silent --offline ./dep && echo done'
    await mkdir(at('home/work/dep'))
    await writeFile(at('home/work/dep/package.json'), '{"name":"dep","version":"1.0.0","bin":"./dep.js"}')
    await writeFile(at('home/work/dep/dep.js'), '#!/usr/bin/env node\n')
    const env = { npm_config_prefix: at('home/npm') }
    expect((await terminal([command], { env }))[0]).toMatch(
      /^Not permitted \(unisolated-npm\): .* installs programs beyond/,
    )
    await writeFile(at('home/.hermes/permissions.yaml'), "'terminal_outside(npm i*)': allow\n")
    await terminal([command], { env })
    expect(existsSync(at('home/npm/lib/node_modules/dep/package.json'))).toBe(true)
  })

  it('what a command could not do is said with the way out, which --yolo opens', async () => {
    const write = 'echo made > ../made'
    const [blocked] = await terminal([{ command: write, outside: false }])
    const [denied] = await terminal([write])
    expect(blocked).toMatch(
      /Read-only file system[\s\S]*\[isolated commands cannot write outside the workspace .*outside=true/,
    )
    expect(denied).toMatch(/^Not permitted .*It has to leave the isolation because it writes outside the workspace\./)
    const [requested] = await terminal([{ command: './any.sh', outside: true }])
    expect(requested).toMatch(
      /^Not permitted .*It asks to leave the isolation, with all your files and keys in reach\./,
    )
    expect(existsSync(at('home/made'))).toBe(false)
    expect(await terminal([write], { flags: ['--yolo'] })).toEqual(['(no output)'])
    expect(existsSync(at('home/made'))).toBe(true)
  })

  it('files are written where commands may write, and elsewhere only with leave', async () => {
    const { server } = scene
    const write = async (path: string) => {
      server.enqueue({ toolCalls: [{ name: 'write_file', args: { path, content: 'made' } }] }, { text: 'Done.' })
      const args = ['chat', '-q', 'Go.', '--base-url', server.baseUrl, '-m', 'm']
      expect(await runCli(args, { home: home(), cwd: cwd() })).toMatchObject({ exitCode: 0 })
      return String(server.requests.at(-1)!.body.messages.at(-1)?.content)
    }
    expect(await write('inside.txt')).not.toContain('Not permitted')
    expect(await write('../outside.txt')).toMatch(
      /^Not permitted \(files-in:.*\): .*it writes outside the workspace\. .*add `file\.write\(.*outside\.txt\): allow` to permissions\.yaml/i,
    )
    expect((await readdir(at('home'))).includes('outside.txt')).toBe(false)
    const explained = await runCli(['permissions', 'explain', 'write ../outside.txt'], { home: home(), cwd: cwd() })
    expect(explained.stdout).toMatch(/^ask {2}.*outside\.txt\n {2}it writes outside the workspace\n/i)
    await writeFile(at('home/.hermes/permissions.yaml'), `'file.write(${at('home')}/*.txt)': allow\n`)
    expect(await write('../outside.txt')).not.toContain('Not permitted')
    expect(existsSync(at('home/outside.txt'))).toBe(true)
  })

  it('doctor and permissions explain say how it is', async () => {
    const hermes = (...args: string[]) => runCli(args, { home: home(), cwd: cwd() })
    expect((await hermes('doctor', '--offline')).stdout).toMatch(
      /Terminal backend local \(chosen\): ready, commands are isolated; those of a session are ended beyond 2048 processes and [\d.]+ GB of memory/,
    )
    expect((await hermes('permissions', 'explain', 'docker ps')).stdout).toMatch(
      /^ask {2}Run outside the isolation: docker ps\n {2}it has to leave the isolation because it talks to the container engine\n/,
    )
    expect((await hermes('permissions', 'explain', 'outside ./x')).stdout).toMatch(
      /^ask {2}Run outside the isolation: \.\/x\n/,
    )
    const copying = await hermes('permissions', 'explain', 'cp a ~/b')
    expect(copying.stdout).toContain('because it writes outside the workspace')
    expect((await hermes('permissions', 'explain', 'ls')).stdout).toMatch(/^allow {2}Run ls\n/)
  })

  it('terminal.isolation: off leaves commands as they are', async () => {
    await writeFile(at('home/.hermes/config.yaml'), 'terminal:\n  isolation: off\nagent:\n  verify_on_stop: off\n')
    await writeFile(at('home/.hermes/permissions.yaml'), "'terminal(cat ../notes.txt; echo made > ../made)': allow\n")
    expect(await terminal(['cat ../notes.txt; echo made > ../made'])).toEqual(['may be read'])
    expect(existsSync(at('home/made'))).toBe(true)
  })
})

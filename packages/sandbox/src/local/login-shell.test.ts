import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '@hermes/contracts'
import { missingPrograms, needs } from '@hermes/testkit/daemons'
import { describe, expect, it } from 'vitest'
import { probeIsolation } from '../isolation/index.js'
import { harness } from '../testing/harness.js'
import { createLocalEnvironment, type LocalEnvironmentOptions } from './local-environment.js'
import { type SharedLogins, withLogin } from './login-shell.js'

const isolationMissing = await probeIsolation()
const PATH = '/usr/local/bin:/usr/bin:/bin'

/** A home with the start-up files given, opened by somebody who wants them read. */
async function setUp(files: Readonly<Record<string, string>>, options: Partial<LocalEnvironmentOptions> = {}) {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'hermes-login-')))
  const [cwd, home] = [join(root, 'work'), join(root, 'home')]
  for (const folder of [cwd, home]) await mkdir(folder)
  for (const [name, text] of Object.entries(files)) await writeFile(join(home, name), text)
  const basic = { cwd, home, outputDir: join(root, 'output'), env: { PATH, HOME: home }, login: {} }
  const environment = createLocalEnvironment({ ...basic, ...options })
  const dispose = async () => {
    await environment.close()
    await rm(root, { recursive: true, force: true })
  }
  return { home, ...(await harness(async () => ({ environment, dispose }))) }
}

describe('start-up files of the user', () => {
  it('give commands their folders and variables, also where they are for interactive shells alone', async () => {
    const { run, home } = await setUp({
      '.profile': 'export PYENV_ROOT="$HOME/.pyenv"; PATH="$PYENV_ROOT/bin:$PATH"; . ~/.bashrc',
      '.bashrc': 'case $- in *i*) ;; *) return;; esac; export PATH="$HOME/.nvm/bin:$PATH"; echo greeting',
    })
    const { output } = await run('echo "$PATH"; echo "$PYENV_ROOT"')
    const [path = '', root] = output.split('\n')
    expect(path.split(':').slice(0, 2)).toEqual([`${home}/.nvm/bin`, `${home}/.pyenv/bin`])
    expect(root).toBe(`${home}/.pyenv`)
  })

  it('are read once, before the first command or process', async () => {
    const { run, start } = await setUp({ '.profile': 'echo read >> ~/times; export NAME=here' })
    const process = await start('echo "$NAME"; cat ~/times')
    await process.wait()
    expect(process.output()).toBe('here\nread\n')
    await run('export NAME=mine')
    expect((await run('echo "$NAME"; cat ~/times')).output).toBe('mine\nread\n')
  })

  it('change nothing that was there: values stay, and folders of a virtual environment come first', async () => {
    const { run, home } = await setUp(
      { '.profile': 'export KEPT=theirs; PATH="$HOME/bin:/usr/bin:/bin"; export PATH TERM=odd OLDPWD=/x PS1=x' },
      { env: { PATH: '/venv/bin:/usr/bin:/bin', KEPT: 'ours' } },
    )
    const { output } = await run('echo "$PATH|$KEPT|$TERM|$OLDPWD|$PS1"')
    expect(output).toBe(`/venv/bin:${home}/bin:/usr/bin:/bin|ours|dumb||\n`)
  })

  it('add no variable that is not let in', async () => {
    const withholds = (name: string) => name === 'MY_TOKEN'
    const files = { '.profile': 'export MY_TOKEN=t0ken MY_NAME=ada' }
    const { run, environment } = await setUp(files, { withholds })
    expect((await run('echo "$MY_TOKEN|$MY_NAME"')).output).toBe('|ada\n')
    expect(environment.capabilities.withheld).toEqual(['MY_TOKEN'])
  })

  it.each([
    ['that go wrong in an interactive shell', 'case $- in *i*) exit 3;; esac; export FOUND=yes', 'yes'],
    ['that become another program', 'case $- in *i*) exec cat;; esac; export FOUND=yes', 'yes'],
    ['that never let a shell begin', 'export FOUND=yes; exit 1', ''],
    ['that cannot be understood', 'export FOUND=yes\nif then (', 'yes'],
  ])('%s do not keep commands from running', async (_, profile, found) => {
    const { run } = await setUp({ '.profile': profile })
    expect(await run('echo "$FOUND"')).toMatchObject({ exitCode: 0, output: `${found}\n` })
  })

  it('that wait for ever are ended with all they started', async () => {
    const slow = 'case $- in *i*) echo $$ > ~/waiting; sleep 600;; esac; export FOUND=yes'
    const clock = { ...systemClock, sleep: (ms: number, signal?: AbortSignal) => systemClock.sleep(ms / 20, signal) }
    const { run, gone } = await setUp({ '.profile': slow }, { clock })
    const [found = '', pid = ''] = (await run('echo "$FOUND"; cat ~/waiting')).output.split('\n')
    expect(found).toBe('yes')
    expect(await gone(pid)).toBe(true)
  })

  it('keep nobody waiting who works beside the shell, and count from then on', async () => {
    const { run } = await setUp({ '.profile': 'echo read >> ~/times; export NAME=here' })
    expect((await run('echo "[$NAME]"; cat ~/times 2>&1', { aside: true })).output).toMatch(
      /^\[\]\ncat: .*No such file/,
    )
    expect((await run('echo "$NAME"; cat ~/times')).output).toBe('here\nread\n')
    expect((await run('echo "$NAME"', { aside: true })).output).toBe('here\n')
  })

  it('do not hold up who stops the first command, or closes', async () => {
    const controller = new AbortController()
    const { run, environment } = await setUp({ '.profile': 'sleep 600' })
    const running = run('echo never', { signal: controller.signal })
    controller.abort()
    expect(await running).toMatchObject({ canceled: true, output: '' })
    await environment.close()
  })

  it('are not read by who does not ask for them', async () => {
    const { run } = await setUp({ '.profile': 'export FOUND=yes' }, { login: undefined as never })
    expect((await run('echo "[$FOUND]"')).output).toBe('[]\n')
  })

  needs(missingPrograms('zsh'))('of zsh', () => {
    it('give their folders', async () => {
      const { run, home } = await setUp(
        { '.zshrc': 'export PATH="$HOME/my tools:$PATH"' },
        { login: { shell: '/usr/bin/zsh' } },
      )
      expect((await run('echo "$PATH"')).output).toMatch(new RegExp(`^${home}/my tools:`))
    })
  })

  needs(isolationMissing)('with isolation', () => {
    it('are read inside its bounds, and count outside of it too', async () => {
      const files = { '.profile': 'echo caught > ~/written; export PATH="$HOME/bin:$PATH" SEEN="$(ls -A ~/.ssh)"' }
      const { run, home } = await setUp(files, { isolation: {}, temp: [] })
      await mkdir(join(home, '.ssh'))
      await writeFile(join(home, '.ssh/id'), 'key')
      const { output } = await run('echo "$PATH|$SEEN"; ls ~/written')
      expect(output).toMatch(new RegExp(`^${home}/bin:[^|]*\\|\\n.*No such file`))
    })
  })
})

it('keeps what start-up files came to for a minute, not for as long as sessions come and go', async () => {
  const shared: SharedLogins = new Map()
  const open = (session: number) =>
    withLogin(
      { shared },
      {
        ...{ commandShell: '/bin/bash', home: '/home/ada', env: { HERMES_SESSION_ID: `${session}` } },
        ...{ circumstances: [], nowMs: session * 20_000 },
        capture: async () => ({ cwd: '/', env: {} }) as never,
      },
    )
  for (let session = 0; session < 100; session++) await open(session)
  expect(shared.size).toBe(3)
})

it('are read once for sessions that open together, each with an id of its own', async () => {
  const shared: SharedLogins = new Map()
  const seen: unknown[] = []
  for (let session = 0; session < 50; session++) {
    const env = { HERMES_SESSION_ID: `${session}`, LANG: 'C' }
    const capture = async ({ env }: { readonly env: Readonly<Record<string, string>> }) => {
      seen.push(env)
      return { cwd: '/', env: { ADDED: 'yes' } } as never
    }
    const at = { commandShell: '/bin/bash', home: '/home/ada', env, capture, circumstances: [], nowMs: session }
    const found = await withLogin({ shared, unshared: ['HERMES_SESSION_ID'] }, at)
    expect(found).toMatchObject({ ADDED: 'yes', HERMES_SESSION_ID: `${session}` })
  }
  expect(seen).toEqual([{ HOME: '/home/ada', LANG: 'C', TERM: 'dumb' }])
})

import { existsSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { probeIsolation } from '@hermes/sandbox/isolation'
import { needs } from '@hermes/testkit/daemons'
import { expect, it, onTestFinished } from 'vitest'
import { open, PATH, requestFor, run } from '../__fixtures__/opened-environment.js'
import { homeEnvironments } from './home-environments.js'
import { openEnvironment } from './open-environment.js'
import { passedOn } from './remote-options.js'

it('opens no cloud whose client would connect past a proxy', async () => {
  const logins = {
    ...{ MODAL_TOKEN_ID: 'a', MODAL_TOKEN_SECRET: 'b', DAYTONA_API_KEY: 'c' },
    ...{ VERCEL_TOKEN: 'd', VERCEL_TEAM_ID: 'e', VERCEL_PROJECT_ID: 'f' },
  }
  const refused = (backend: string, proxy: string) =>
    open(`  backend: ${backend}\n`, { ...logins, HTTPS_PROXY: proxy }).then(
      () => 'opened',
      ({ message }: Error) => message,
    )
  for (const backend of ['modal', 'daytona', 'vercel_sandbox'])
    expect(await refused(backend, 'socks5h://me:secret@p.test:1080')).toMatch(
      /^The client of \w+ cannot use the proxy socks5h:\/\/p\.test:1080 and would connect past it\. Put \S+ into NO_PROXY/,
    )
  expect(await refused('vercel_sandbox', 'http://p.test')).toMatch(/^The client of vercel cannot use the proxy/)
})

it('is this machine, isolated where it can be, when config.yaml says nothing else', async () => {
  const isIsolated = (await probeIsolation()) === null
  const { environment } = await open('  timeout: 5\n')
  expect(environment).toMatchObject({ backend: 'local', capabilities: { isolated: isIsolated, outside: isIsolated } })
  const { environment: held } = await open('  isolation: off\n')
  expect(held.capabilities.isolated).toBe(false)
})

it('has commands find what the start-up files of the shell set, but for secrets, unless config.yaml says no', async () => {
  const profile = 'export PATH="$HOME/tools:$PATH" COLOUR=blue OTHER_TOKEN=x MY_TOKEN=y PASSED_KEY=z'
  const shown = async (settings: string) => {
    const { request, root } = await requestFor(`  isolation: off\n  env_passthrough: [PASSED_KEY]\n${settings}`)
    await writeFile(join(root, 'user/.profile'), profile)
    const environment = await openEnvironment(request)
    onTestFinished(() => environment.close())
    const { output } = await run(environment, 'echo "$PATH|$COLOUR|$OTHER_TOKEN|$MY_TOKEN|$PASSED_KEY"')
    return output.replaceAll(root, '')
  }
  expect(await shown('')).toMatch(/^\/user\/tools:.*\|blue\|\|\|z\n$/)
  expect(await shown('  login_shell: false\n')).toBe(`${PATH}||||\n`)
})

it('tells programs that an agent runs them, and for which session, here and elsewhere', async () => {
  const { request, root } = await requestFor('  isolation: off\n  login_shell: false\n')
  const environment = await homeEnvironments(() => request, root).open(root, { task: 's1' })
  onTestFinished(() => environment.close())
  expect((await run(environment, 'echo $AI_AGENT $HERMES_AGENT $HERMES_SESSION_ID')).output).toBe('hermes true s1\n')
  expect(passedOn({ ...request, env: { AI_AGENT: 'hermes', OTHER: 'x' } }, [])).toEqual({ AI_AGENT: 'hermes' })
})

it('keeps variables that look like credentials from commands, unless config.yaml passes them on', async () => {
  const env = {
    DATABASE_URL: 'postgres://ada:hunter22@db.example.com/x',
    MY_PAT: 'abcdefgh',
    PLAIN: 'seen',
    NEED_KEY: 'k1k2k3k4',
  }
  const { environment } = await open('  isolation: off\n  login_shell: false\n  env_passthrough: [NEED_KEY]\n', env)
  const { output } = await run(environment, 'echo "$DATABASE_URL|$MY_PAT|$PLAIN|$NEED_KEY"')
  expect(output).toBe('||seen|k1k2k3k4\n')
  expect(environment.capabilities.withheld).toEqual(['DATABASE_URL', 'MY_PAT'])
})

it('says which backends there are, and which setting is missing', async () => {
  await expect(open('  backend: cloud9\n')).rejects.toMatchObject({
    code: 'runtime.unknown_backend',
    message:
      'terminal.backend is "cloud9" in config.yaml; it can be local, ssh, docker, singularity, modal, daytona, vercel_sandbox.',
  })
  await expect(open('  backend: ssh\n')).rejects.toMatchObject({ code: 'runtime.backend_config' })
})

needs(await probeIsolation())('with isolation', () => {
  it('holds commands to the workspace and hides the home, but for what config.yaml names', async () => {
    const { environment, root } = await open(
      '  isolation: on\n  isolation_write: [~/.bashrc]\n  isolation_network: false\n',
    )
    expect(environment.capabilities.isolated).toBe(true)
    const { output } = await run(
      environment,
      `cat ${root}/user/.hermes/config.yaml; test -w /usr || echo read-only; echo x > ok && ls; grep -c : /proc/net/dev`,
    )
    expect(output).toMatch(/^cat: .*(No such file or directory|Permission denied)\nread-only\nok\n1\n$/)
  })

  it('lets commands run the scripts of skills, those written later too, and write none', async () => {
    const { request, root } = await requestFor('  isolation: on\n')
    const external_dirs = ['~/.more/skills']
    const folders = ['.hermes/skills', '.agents/skills', '.more/skills'].map((folder) => join(root, 'user', folder))
    const of = (folder: string) => ({ name: 'tides', folder: join(folder, 'tides'), capabilities: [], variables: [] })
    const environment = await openEnvironment({
      ...request,
      config: { ...request.config, skills: { ...request.config.skills, external_dirs } },
      skills: async () => folders.slice(1).map(of),
    })
    onTestFinished(() => environment.close())
    for (const folder of folders) {
      await mkdir(join(folder, 'tides'), { recursive: true })
      await writeFile(join(folder, 'tides/moon.sh'), 'echo full')
      await writeFile(join(folder, '../key'), 'SECRET')
    }
    const lines = folders.map(
      (at) => `sh ${at}/tides/moon.sh; cat ${at}/../key; echo evil > ${at}/tides/moon.sh; mkdir ${at}/x`,
    )
    const { output } = await run(environment, lines.join('; '))
    expect(output.match(/^full$/gm)).toHaveLength(3)
    expect(output).not.toContain('SECRET')
    for (const folder of folders) {
      expect(await readFile(join(folder, 'tides/moon.sh'), 'utf8')).toBe('echo full')
      expect(existsSync(join(folder, 'x'))).toBe(false)
    }
  })
})

// Sessions on PostgreSQL instead of a file in the home, as a person meets them.
import { once } from 'node:events'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { needs, type PostgresServer, postgresMissing, startPostgresServer } from '@hermes/testkit/daemons'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { runCli, startCli } from '../support/cli.js'
import { useScene } from '../support/scene.js'

const PASSWORD = 'p@ss/word'
const WHO = { user: 'keeper', password: PASSWORD }

needs(postgresMissing())('sessions on PostgreSQL', () => {
  const scene = useScene()
  let postgres: PostgresServer
  let made = 0
  let database: string

  beforeAll(async () => {
    postgres = await startPostgresServer()
    await postgres.sql(`CREATE ROLE keeper LOGIN PASSWORD '${PASSWORD}'`)
  })
  afterAll(() => postgres?.stop())
  beforeEach(async () => {
    await mkdir(scene.home, { recursive: true })
    database = `sessions${++made}`
    await postgres.createDatabase(database)
    await postgres.sql(`ALTER DATABASE ${database} OWNER TO keeper`)
    await writeFile(join(scene.home, 'config.yaml'), `storage:\n  url: \${SESSIONS_URL}\n`)
    await writeFile(join(scene.home, '.env'), `SESSIONS_URL=${postgres.url(database, WHO)}\n`, { mode: 0o600 })
  })

  const chat = (...args: readonly string[]) => ['chat', ...args, '--base-url', scene.server.baseUrl, '-m', 'm']
  const hermes = (args: readonly string[]) => runCli(args, scene)
  const address = () => `postgres://keeper@127.0.0.1:${postgres.port}/${database}`
  const filesOfHome = async () =>
    (await readdir(scene.home, { recursive: true })).filter((file) => file.includes('state'))

  it('go on where they were, are found and listed, and leave no file in the home', async () => {
    scene.server.enqueue({ text: 'The kettle is on the stove.' })
    expect(await hermes(chat('-q', 'Where is the kettle?'))).toMatchObject({ exitCode: 0, stderr: '' })
    scene.server.enqueue({ text: 'Still there.' })
    expect(await hermes(chat('-c', '-q', 'And now?'))).toMatchObject({ exitCode: 0, stderr: '' })
    expect(JSON.stringify(scene.server.requests.at(-1)!.body)).toContain('The kettle is on the stove.')
    expect((await hermes(['sessions', 'list'])).stdout).toContain('Where is the kettle?')
    expect((await hermes(['sessions', 'search', 'kettle'])).stdout).toContain('The kettle is on the stove.')
    expect((await hermes(['sessions', 'stats'])).stdout).toMatch(/^1 sessions, 4 messages/)
    expect(await filesOfHome()).toEqual([])
  })

  it('come from the file in the home by an import, and go on here', async () => {
    await writeFile(join(scene.home, 'config.yaml'), '')
    scene.server.enqueue({ text: 'In the file.' })
    await hermes(chat('-q', 'Where are you?'))
    await writeFile(join(scene.home, 'config.yaml'), `storage:\n  url: \${SESSIONS_URL}\n`)
    expect((await hermes(['sessions', 'list'])).stdout).not.toContain('Where are you?')
    const imported = await hermes(['sessions', 'import', join(scene.home, 'state.db')])
    expect(imported).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/ {2}2 messages from \S+state\.db\n/) })
    scene.server.enqueue({ text: 'On the server.' })
    await hermes(chat('-c', '-q', 'And now?'))
    expect(JSON.stringify(scene.server.requests.at(-1)!.body)).toContain('In the file.')
  })

  it('are written by one process at a time: the other is told by whom', async () => {
    scene.server.enqueue({ text: 'Begun.' })
    await hermes(chat('-q', 'begin'))
    let answer = (): void => undefined
    const held = new Promise<void>((resolve) => (answer = resolve))
    scene.server.setHandler(() => held.then(() => ({ text: 'Too late.' })))
    const first = startCli(chat('-c', '-q', 'go on', '--json'), scene)
    await scene.server.waitForRequests(2)
    const second = await hermes(chat('-c', '-q', 'me too'))
    expect(second).toMatchObject({ exitCode: 1, stdout: '' })
    expect(second.stderr).toMatch(new RegExp(`hermes: Session \\S+ is in use by .*\\(process ${first.pid}@[^\\n]+\\n`))
    first.kill('SIGKILL')
    await once(first, 'close')
    answer()
    scene.server.enqueue({ text: 'Mine now.' })
    expect(await hermes(chat('-c', '-q', 'me again'))).toMatchObject({ exitCode: 0 })
    expect(JSON.stringify(scene.server.requests.at(-1)!.body)).toContain('go on')
  })

  it('say in one line what is wrong with the server, never with the password', async () => {
    const wrong = { user: 'keeper', password: 'guessed' }
    const cases = [
      [postgres.url(database, wrong), /refuses the password of "keeper"/],
      [postgres.url('nowhere', WHO), /There is no database "nowhere"/],
      [
        `postgres://keeper:${encodeURIComponent(PASSWORD)}@127.0.0.1:1/x`,
        /No PostgreSQL server answers at 127\.0\.0\.1:1/,
      ],
      [`keeper:${PASSWORD}`, /is no address of a PostgreSQL database/],
    ] as const
    for (const [url, reason] of cases) {
      await writeFile(join(scene.home, '.env'), `SESSIONS_URL=${url}\n`)
      const result = await hermes(chat('-q', 'hello'))
      expect(result).toMatchObject({ exitCode: 1, stdout: '' })
      expect(result.stderr).toMatch(/^hermes: [^\n]+\n$/)
      expect(result.stderr).toMatch(reason)
      expect(result.stderr).not.toContain(PASSWORD)
      expect(result.stderr).not.toContain(encodeURIComponent(PASSWORD))
    }
    const doctor = await hermes(['doctor'])
    expect(doctor.stdout).toMatch(/^fail {2}Sessions: /m)
    expect(doctor.stdout + doctor.stderr).not.toContain(PASSWORD)
    expect(scene.server.requests).toHaveLength(0)
  })

  it('keep what was said when the server goes away in the middle, and say so in one line', async () => {
    scene.server.enqueue({ text: 'Begun.' })
    await hermes(chat('-q', 'begin'))
    scene.server.setHandler(async () => {
      await postgres.halt()
      return { text: 'An answer that nobody took.' }
    })
    const result = await runCli(chat('-c', '-q', 'go on'), { ...scene, env: { TMPDIR: scene.cwd } })
    await postgres.start()
    expect(result.exitCode).toBe(1)
    expect(result.stderr).toMatch(
      /^hermes: [^\n]+ What was said is kept in [^\n]+hermes-rescue-[^\n]+\.jsonl; hermes sessions rescue brings it back\.\n/,
    )
    expect(result.stderr).not.toContain(encodeURIComponent(PASSWORD))
    const listed = await hermes(['sessions', 'rescue'])
    expect(listed.stdout).toMatch(/hermes-rescue-\S+\.jsonl\n(?: {2}.*\n)* {2}assistant: An answer that nobody took\./)
    const id = listed.stdout.split(' ')[0]!
    expect((await hermes(['doctor'])).stdout).toMatch(
      new RegExp(`^warn {2}Words of ${id} were rescued to .*: hermes sessions rescue`, 'm'),
    )
    expect((await hermes(['sessions', 'rescue', id])).stdout).toMatch(/^\S+ {2}1 message brought back\n$/)
    expect((await hermes(['sessions', 'rescue', '--all'])).stderr).toMatch(/^Nothing was rescued/)
    expect((await hermes(['doctor'])).stdout).not.toContain('rescued')
    expect((await hermes(['sessions', 'search', 'nobody took'])).stdout).toContain('An answer that nobody took.')
  }, 120_000)

  it('are checked by doctor, backed up by pg_dump, and their url is shown without its password', async () => {
    const doctor = await hermes(['doctor'])
    expect(doctor.stdout).toContain(
      `Sessions in ${address()} are sound. There is no daily backup of them; make your own with pg_dump`,
    )
    for (const args of [
      ['backup', 'create'],
      ['backup', 'restore', '-y'],
      ['backup', 'list'],
    ]) {
      const result = await hermes(args)
      expect(result).toMatchObject({ exitCode: 2, stdout: '' })
      expect(result.stderr).toBe(
        `hermes: The sessions are in ${address()}, not in a file, and have no daily backup here; copy them with pg_dump --format=custom and go back with pg_restore --clean.\n`,
      )
    }
    const shown = await hermes(['config', 'get', 'storage.url'])
    expect(shown.stdout).toBe(`postgres://keeper:[hidden]@127.0.0.1:${postgres.port}/${database}\n`)
    const log = await readFile(join(scene.home, 'logs', 'agent.log'), 'utf8').catch(() => '')
    expect(log).not.toContain(encodeURIComponent(PASSWORD))
  })
})

import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '@hermes/contracts'
import { userText } from '@hermes/contracts/conversation'
import { needs, type PostgresServer, postgresMissing, startPostgresServer } from '@hermes/testkit/daemons'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { openStorage, type PostgresOptions } from '../../index.js'

const say = (text: string) => ({ type: 'message', message: userText(text) }) as const
/** Waits for a server are as short as they can be. */
const clock = { now: systemClock.now, sleep: async () => undefined }

it.each([
  ['mysql://a@b/c', 'is no address'],
  ['not a url', 'is no address'],
  ['postgres://:secret@localhost/db', 'names no user'],
  ['postgres://a:secret@localhost/db?sslmode=perhaps', 'sslmode'],
  ['postgres://a:secret@localhost/db?sslmode=require&sslrootcert=/nowhere/ca.pem', 'cannot be read'],
])('refuses %s in one line without its password', async (url, reason) => {
  const refused = openStorage({ url })
  await expect(refused).rejects.toMatchObject({ code: 'store.bad_url', message: expect.stringContaining(reason) })
  await expect(refused).rejects.not.toMatchObject({ message: expect.stringMatching(/secret|\n/) })
})

it('says in one line that no server answers', async () => {
  await expect(openStorage({ url: 'postgres://a:secret@127.0.0.1:1/db', clock })).rejects.toMatchObject({
    code: 'store.unreachable',
    retryable: true,
    message: 'No PostgreSQL server answers at 127.0.0.1:1 (ECONNREFUSED); start it or check the url.',
  })
})

needs(postgresMissing())('a server', () => {
  let server: PostgresServer
  let made = 0
  beforeAll(async () => {
    server = await startPostgresServer()
    await server.createDatabase('made')
    await (await openStorage({ url: server.socketUrl('made') })).close()
  })
  afterAll(() => server?.stop())

  const database = async () => {
    const name = `db${++made}`
    await server.createDatabase(name)
    return name
  }
  /** One that has its tables. */
  const madeDatabase = async () => {
    const name = `db${++made}`
    await server.createDatabase(name, 'made')
    return name
  }
  const open = async (options: PostgresOptions) => {
    const store = await openStorage(options)
    onTestFinished(() => store.close())
    return store
  }
  const lineOf = async (url: string) => {
    const error = await openStorage({ url, clock }).then(
      () => null,
      (thrown: { readonly code: string; readonly message: string }) => thrown,
    )
    return { code: error?.code, message: error?.message.replaceAll(String(server.port), 'PORT') }
  }

  describe('that refuses', () => {
    it('a wrong or missing password, an unknown user or database, in one line', async () => {
      expect(await lineOf(server.url('postgres', { user: 'hermes', password: 'wr:ong' }))).toEqual({
        code: 'store.refused',
        message: 'postgres://hermes@127.0.0.1:PORT/postgres refuses the password of "hermes"; check it in the url.',
      })
      expect(await lineOf(server.url('postgres', { user: 'hermes', password: '' }))).toEqual({
        code: 'store.refused',
        message: 'postgres://hermes@127.0.0.1:PORT/postgres wants a password; put it into the url.',
      })
      expect(await lineOf(server.url('nowhere'))).toEqual({
        code: 'store.no_database',
        message:
          'There is no database "nowhere" on postgres://hermes@127.0.0.1:PORT/nowhere; make it: createdb nowhere',
      })
    })

    it('tables or the extension to a user without the right', async () => {
      const name = await database()
      await server.sql("CREATE ROLE guest LOGIN PASSWORD 'guest'")
      const url = server.url(name, { user: 'guest', password: 'guest' })
      await server.sql(`REVOKE CREATE, TEMPORARY ON DATABASE ${name} FROM PUBLIC`)
      expect(await lineOf(url)).toEqual({
        code: 'store.missing_extension',
        message: expect.stringMatching(
          /lacks the extension pg_trgm: "guest" may not add it; .*: CREATE EXTENSION pg_trgm\.$/,
        ),
      })
      await server.sql('CREATE EXTENSION pg_trgm; REVOKE CREATE ON SCHEMA public FROM PUBLIC', name)
      expect(await lineOf(url)).toEqual({
        code: 'store.unwritable',
        message: expect.stringContaining('"guest" may not write to'),
      })
    })
  })

  describe('that encrypts', () => {
    it('is asked to where the url says so, and only believed when somebody vouches for it', async () => {
      const name = await madeDatabase()
      const url = (parameters: string) => `${server.url(name)}?${parameters}`
      expect(await lineOf(url('sslmode=require'))).toEqual({
        code: 'store.refused',
        message: expect.stringMatching(
          /^The certificate of postgres:[^\n]+ is not trusted \(self-signed certificate\); [^\n]+\.$/,
        ),
      })
      for (const parameters of ['sslmode=no-verify', `sslmode=verify-full&sslrootcert=${server.certificate}`]) {
        const store = await openStorage({ url: url(parameters) })
        const encrypted =
          "SELECT DISTINCT ssl FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE application_name = 'hermes'"
        expect(await server.sql(`${encrypted} AND datname = '${name}'`)).toBe('t')
        await store.close()
      }
    })

    it('is missed where it does not', async () => {
      // All that a server without TLS says to who asks for it.
      const plain = createServer((socket) => socket.once('data', () => socket.write('N')))
      await new Promise<void>((resolve) => plain.listen(0, '127.0.0.1', resolve))
      onTestFinished(() => void plain.close())
      const { port } = plain.address() as AddressInfo
      await expect(
        openStorage({ url: `postgres://a:b@127.0.0.1:${port}/db?sslmode=require`, clock }),
      ).rejects.toMatchObject({
        code: 'store.refused',
        message: expect.stringMatching(/does not encrypt; take sslmode=disable/),
      })
    })
  })

  describe('whose database', () => {
    it('is made once by several who open it at the same time', async () => {
      const url = server.url(await database())
      const stores = await Promise.all(Array.from({ length: 4 }, () => open({ url })))
      await stores[0]!.sessions.create({ id: 's', source: 'cli' })
      expect(await stores[3]!.sessions.get('s')).toMatchObject({ id: 's' })
    })

    it('is of a newer Hermes or of another program is refused and left as it is', async () => {
      const [newer, foreign] = [await madeDatabase(), await database()]
      await server.sql("INSERT INTO hermes_migrations (name, timestamp) VALUES ('9999_later', 'now')", newer)
      expect(await lineOf(server.url(newer))).toEqual({
        code: 'store.newer_schema',
        message: expect.stringContaining('newer Hermes (9999_later); update Hermes'),
      })
      await server.sql('CREATE TABLE messages (id integer)', foreign)
      expect(await lineOf(server.url(foreign))).toEqual({
        code: 'store.foreign',
        message: expect.stringContaining('holds the tables of another program'),
      })
      expect(await server.sql('SELECT count(*) FROM pg_extension', foreign)).toBe('1')
    })

    it('lacks most characters is refused', async () => {
      await server.sql("CREATE DATABASE narrow ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0")
      expect(await lineOf(server.url('narrow'))).toEqual({
        code: 'store.bad_encoding',
        message: expect.stringContaining('is encoded in LATIN1'),
      })
    })

    it('cannot take all tables is left as it was', async () => {
      const name = await database()
      await server.sql('CREATE TABLE hermes_summaries (id integer)', name)
      expect(await lineOf(server.url(name))).toMatchObject({
        code: 'store.failed',
        message: expect.stringContaining('"hermes_summaries" already exists'),
      })
      expect(await server.sql("SELECT to_regclass('sessions') IS NULL", name)).toBe('t')
      await server.sql('DROP TABLE hermes_summaries', name)
      expect(await (await open({ url: server.url(name) })).sessions.list()).toEqual([])
    })

    it('is upgraded from where it is, with what it holds', async () => {
      const name = await madeDatabase()
      const url = server.url(name)
      await (await open({ url })).sessions.create({ id: 's', source: 'cli' })
      await server.sql(
        `DELETE FROM hermes_migrations WHERE name > '0001_first'; DROP TABLE hermes_jobs, hermes_partials, hermes_questions, hermes_outbox;
         ALTER TABLE hermes_usage DROP COLUMN estimated; ALTER TABLE hermes_learnings DROP COLUMN person`,
        name,
      )
      expect(await (await open({ url })).sessions.get('s')).toMatchObject({ id: 's' })
      const done = await server.sql('SELECT max(name) FROM hermes_migrations', name)
      expect(done).toMatch(/^\d{4}_/)
      expect(done).not.toBe('0001_first')
    })

    it('does not agree with itself is said to be so', async () => {
      const name = await madeDatabase()
      const store = await open({ url: server.url(name) })
      await store.sessions.create({ id: 's', source: 'cli' })
      await server.sql('UPDATE sessions SET message_count = 7', name)
      expect(await store.maintenance.check()).toEqual(['session s does not have the messages it counts'])
    })

    it('is read-only takes nothing and is read', async () => {
      const name = await madeDatabase()
      const url = server.url(name)
      await (await open({ url })).sessions.create({ id: 's', source: 'cli' })
      await server.sql(`ALTER DATABASE ${name} SET default_transaction_read_only = on`)
      const store = await open({ url })
      expect(await store.sessions.get('s')).toMatchObject({ id: 's' })
      await expect(store.sessions.create({ id: 't', source: 'cli' })).rejects.toMatchObject({
        code: 'store.unwritable',
      })
    })
  })

  describe('that goes away', () => {
    it('keeps what was said beside it, and goes on once it is back', async () => {
      const rescueDir = mkdtempSync(join(tmpdir(), 'hermes-rescue-'))
      onTestFinished(() => rmSync(rescueDir, { recursive: true }))
      const store = await open({ url: server.url(await madeDatabase()), clock, rescueDirs: [rescueDir] })
      await store.sessions.create({ id: 's', source: 'cli' })
      const lease = await store.leases.acquire('s', { owner: 'me' })
      const [first] = await store.log.append('s', [say('before')], { lease })
      await server.halt()
      const file = join(rescueDir, 'hermes-rescue-s.jsonl')
      await expect(store.log.append('s', [say('meanwhile')], { lease })).rejects.toMatchObject({
        code: 'store.unreachable',
        message: expect.stringMatching(
          /^[^\n]+What was said is kept in [^\n]+hermes-rescue-s\.jsonl; hermes sessions rescue brings it back\.$/,
        ),
      })
      expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ sessionId: 's', ...say('meanwhile') })
      await server.start()
      expect(await store.log.append('s', [say('after')], { lease })).toEqual([expect.any(Number)])
      const entries = await store.log.entries('s')
      expect(entries).toMatchObject([say('before'), say('after')])
      expect(entries[0]!.seq).toBe(first)
    })

    it('in the middle of a statement is asked again for what is read, never for what is written', async () => {
      const name = await madeDatabase()
      const store = await open({ url: server.url(name), clock })
      await store.sessions.create({ id: 's', source: 'cli' })
      const other = new pg.Client({ connectionString: server.url(name) })
      await other.connect()
      onTestFinished(() => other.end())
      await other.query('BEGIN; LOCK TABLE sessions')
      const cutOnce = async () => {
        const waiting = `FROM pg_stat_activity WHERE datname = '${name}' AND wait_event_type = 'Lock'`
        while ((await server.sql(`SELECT count(*) ${waiting}`)) !== '1');
        await server.sql(`SELECT pg_terminate_backend(pid) ${waiting}`)
      }
      const written = store.sessions.create({ id: 't', source: 'cli' })
      await Promise.all([
        cutOnce(),
        expect(written).rejects.toMatchObject({
          code: 'store.unreachable',
          message: expect.stringMatching(/^The connection to postgres:\/\/hermes@[^\n]+ was lost/),
        }),
      ])
      const read = store.sessions.get('s')
      await cutOnce()
      await other.query('ROLLBACK')
      expect(await read).toMatchObject({ id: 's' })
      expect(await store.sessions.get('t')).toBeNull()
    })
  })

  it('says so once its store is closed, also twice', async () => {
    const store = await openStorage({ url: server.url(await madeDatabase()), clock })
    await store.close()
    await store.close()
    await expect(store.sessions.get('s')).rejects.toMatchObject({ code: 'store.closed' })
  })
})

import { type NewEntry, userText } from '@hermes/contracts/conversation'
import Database from 'better-sqlite3'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { temporaryPath, temporaryStore } from '../../__fixtures__/temporary-store.js'
import { openStorage } from '../../index.js'
import { AnyWords } from '../../shared/any-words.js'
import { parseSearchQuery } from '../../shared/search-query.js'

const say = (text: string): NewEntry => ({ type: 'message', message: userText(text) })

describe('search', () => {
  it('finds by a long prefix the same as by gathering all that begins with it', async () => {
    const word = fc.constantFrom(
      ...'deploy deployment Déployer dépôt depth deputy redeploy toDeployNow DEPLOYS deploy_key 部署deploy x.depl épée'.split(
        ' ',
      ),
    )
    const store = await temporaryStore()
    await store.sessions.create({ id: 's', source: 'cli' })
    const lease = await store.leases.acquire('s', { owner: 'me' })
    const texts = fc.sample(fc.array(word, { minLength: 1, maxLength: 3 }), { numRuns: 300, seed: 1 })
    await store.log.append(
      's',
      [...texts, ['deputies'], ['depth', 'redeploy'], ...texts, ['depth', 'redeploy']].map((words) =>
        say(words.join(' ')),
      ),
      { lease },
    )
    // Until then it is searched in memory.
    await store.search.find('word', { order: 'relevance' })
    const seqs = async (query: string, limit: number) =>
      (await store.search.find(query, { limit })).map(({ seq }) => seq)
    for (const prefix of ['depl', 'deploy', 'deploye', 'depot', 'deputi', 'DEPU', 'depx']) {
      for (const limit of [1, 7, 100]) {
        const gathered = await seqs(`${prefix}* OR unheard`, limit)
        expect(await seqs(`${prefix}*`, limit), prefix).toEqual(gathered)
        expect(await seqs(`dep* ${prefix}* NOT unheard*`, limit), prefix).toEqual(gathered)
      }
    }
    expect(await seqs('deputi*', 100)).toHaveLength(1)
  })

  it('finds by a part of a word all that have it, whatever came since its words were read', async () => {
    const path = temporaryPath()
    const store = await temporaryStore({ path })
    await store.sessions.create({ id: 's', source: 'cli' })
    const lease = await store.leases.acquire('s', { owner: 'me' })
    const texts: string[] = []
    const word = fc.string({ unit: fc.constantFrom(...'abcé'), minLength: 1, maxLength: 8 })
    const part = fc.string({ unit: fc.constantFrom(...'abc'), minLength: 3, maxLength: 4 })
    const plain = (text: string) => text.normalize('NFD').replace(/[\u0300-\u036f]/g, '')
    await fc.assert(
      fc.asyncProperty(
        fc.array(word, { minLength: 1, maxLength: 4 }),
        part,
        fc.boolean(),
        async (words, text, isEnd) => {
          await store.log.append('s', [say(words.join(' '))], { lease })
          texts.push(plain(words.join(' ')))
          const has = texts.filter((one) => one.split(' ').some((w) => (isEnd ? w.endsWith(text) : w.includes(text))))
          const hits = await store.search.find(isEnd ? `*${text}` : `*${text}*`, { limit: 100 })
          expect(hits).toHaveLength(Math.min(100, has.length))
        },
      ),
      { numRuns: Number(process.env['HERMES_TEST_RUNS'] ?? 40) },
    )
    const another = await temporaryStore({ path })
    for (const query of ['*abc*', '*bca', '*ccc*'])
      expect(await another.search.find(query)).toEqual(await store.search.find(query))
  })

  it('asks a thread of its own in a large store, and gives up with it', async () => {
    const path = temporaryPath()
    await (await openStorage({ path })).close()
    const database = new Database(path)
    database.exec("UPDATE sqlite_sequence SET seq = 1000 WHERE name = 'messages'")
    const store = await openStorage({ path })
    await store.sessions.create({ id: 's', source: 'cli' })
    const lease = await store.leases.acquire('s', { owner: 'me' })
    await store.log.append('s', [say('the first word')], { lease })
    database.exec("UPDATE sqlite_sequence SET seq = 500000 WHERE name = 'messages'")
    database.close()
    await store.log.append('s', [say('the second word is a word'), say('wordless')], { lease })
    const find = async (query: string, options = {}) => (await store.search.find(query, options)).map(({ seq }) => seq)
    expect(await find('word')).toEqual([500_001, 1_001])
    expect(await find('word', { order: 'relevance' })).toEqual([500_001, 1_001])
    expect(await find('word')).toEqual([500_001, 1_001])
    expect(await find('word*', { source: 'cli', role: 'user' })).toEqual([500_002, 500_001, 1_001])
    expect(await find('"first word"', { beforeMs: Date.now() + 1_000 })).toEqual([1_001])
    const [best, other] = await store.search.find('what was the second of words', { order: 'relevance', role: 'user' })
    expect([best?.seq, other?.seq]).toEqual([500_001, 1_001])
    expect(best).toMatchObject({
      snippet: '>>>the<<< >>>second<<< >>>word<<< is a >>>word<<<',
      before: { seq: 1_001, role: 'user', text: 'the first word' },
      after: { seq: 500_002 },
    })
    expect(await find('what was the second of words', { order: 'relevance', role: 'assistant' })).toEqual([])
    const underWay = expect(store.search.find('word')).rejects.toMatchObject({ code: 'store.closed' })
    await store.close()
    await underWay
    await expect(store.search.find('word')).rejects.toMatchObject({ code: 'store.closed' })
  })
})

it('gives others their turn while it ranks long messages', async () => {
  const words = new AnyWords([{ term: { expression: '"word"', forms: ['word'] }, ids: [300] }], { low: 1, high: 300 })
  const content = 'aWord anotherWord '.repeat(300)
  const messages = Array.from({ length: 300 }, (_, at) => ({ id: at + 1, content, tool_name: null, tool_calls: null }))
  let hadTurn = false
  setImmediate(() => void (hadTurn = true))
  expect((await words.rank(messages))[0]).toBe(300)
  expect(hadTurn).toBe(true)
})

describe('parseSearchQuery', () => {
  it.each([
    ['docker deployment', '"docker" AND "deployment"'],
    ['"exact phrase" more', '"exact phrase" AND "more"'],
    ['unmatched "quote', '"unmatched" AND "quote"'],
    ['chat-send', '"chat-send"'],
    ['hello AND', '"hello"'],
    ['OR hello', '"hello"'],
    ['a AND OR b', '"a" OR "b"'],
    ['deploy*', '"deploy"*'],
    ['d*', '"d"'],
    ['content:x ^y (z)', '"content:x" AND "^y" AND "(z)"'],
    ['and or not', '"and" AND "or" AND "not"'],
    ['部署失败', '"部署 署失 失败"'],
    ['部', '"部"*'],
    ['"docker 部署" x', '("docker " AND "部署") AND "x"'],
    ['\ue000user', '"user"'],
    ['*ploy* *ploy', '"ploy"* AND "ploy"'],
    ['!!! ??? *', null],
    ['', null],
  ])('turns %j into %j', (query, expression) => {
    expect(parseSearchQuery(query)?.expression ?? null).toBe(expression)
  })

  it.each([
    ['deploy*', '"dep"*', ['deploy']],
    ['Deploy* NOT python*', '"Dep"* NOT "python"*', ['deploy']],
    ['dep*', undefined, undefined],
    ['deploy* OR python', undefined, undefined],
    ['dépl*', undefined, undefined],
  ])('answers %j more easily by %j', (query, expression, prefixes) => {
    const { loose } = parseSearchQuery(query)!
    expect([loose?.expression, loose?.prefixes]).toEqual([expression, prefixes])
  })

  it.each([
    ['*ploym* AND x', '("deploys" OR "employs") AND "x"'],
    ['*ploy-se*', '("deploys se"* OR "employs se"*)'],
    ['*ploy-se', '("deploys se" OR "employs se")'],
    ['NOT *ploym*', '("deploys" OR "employs")'],
    ['*部署*', '"部署"'],
    ['*pl*', '"pl"*'],
    ['"*ploym*"', '"*ploym*"'],
  ])('turns %j into %j once the words with the part are known', (query, expression) => {
    const { parts } = parseSearchQuery(query)!
    const words = new Map(parts.map(({ key }) => [key, ['deploys', 'employs']]))
    expect(parseSearchQuery(query, words)?.expression.replace(/\("pl" OR .*\)/, '"pl"*')).toBe(expression)
    expect(parseSearchQuery(query, new Map(parts.map(({ key }) => [key, []])))?.size).toBeGreaterThan(0)
  })

  it('guesses at parts of words only for plain words of three letters and more', () => {
    const guesses = (query: string) => parseSearchQuery(query)!.guesses.map(({ typed }) => typed)
    expect(guesses('ploym slow')).toEqual(['ploym', 'slow'])
    expect(guesses('"ploym" plo* pl 部署 *ploy* x NOT slow')).toEqual([])
  })

  it('looks for a prefix of two letters as prefixes of three', () => {
    expect(parseSearchQuery('ch*')?.expression).toMatch(/^\("ch" OR "cha"\* OR .* OR "ch9"\*\)$/)
  })
})

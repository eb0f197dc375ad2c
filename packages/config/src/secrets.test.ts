import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { homeLayout, loadSecrets, parseEnv, setSecret } from './index.js'

let home = ''
let file = ''
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'hermes-config-'))
  file = homeLayout(home).env
})
afterEach(() => rm(home, { recursive: true }))

describe('parseEnv', () => {
  it('reads names, quotes, escapes, comments and several lines', () => {
    const text = [
      '\uFEFF# A=commented',
      'export PLAIN = a b # said',
      'HASH=a#b',
      'EMPTY=',
      'NOTE= # nothing',
      `SINGLE='a\\n"b" # c' # d`,
      'DOUBLE="a\\n\\"b\\" \\$x \\q"',
      'LINES="one',
      'INSIDE=two"',
      'no assignment',
      '1BAD=x',
      'OPEN="a',
    ].join('\r\n')
    expect(parseEnv(text)).toEqual({
      PLAIN: 'a b',
      HASH: 'a#b',
      EMPTY: '',
      NOTE: '',
      SINGLE: 'a\\n"b" # c',
      DOUBLE: 'a\n"b" $x \\q',
      LINES: 'one\nINSIDE=two',
      OPEN: '"a',
    })
  })

  it('counts the last of several equal names and takes __proto__ for a name', () => {
    expect(parseEnv('A=1\nA=2\n__proto__=x\n')).toEqual(
      Object.fromEntries([
        ['A', '2'],
        ['__proto__', 'x'],
      ]),
    )
  })
})

describe('loadSecrets', () => {
  it('lays the environment over .env, but nothing over something', async () => {
    await writeFile(file, 'MINE=file\nBOTH=file\nKEPT=file\n', { mode: 0o600 })
    const env = { BOTH: 'env', KEPT: '', OPENAI_API_KEY: 'k', PATH: '/bin', GONE: undefined, gh_token: 't', BARE: '' }
    expect(await loadSecrets({ home, env })).toEqual({
      values: { MINE: 'file', BOTH: 'env', KEPT: 'file', OPENAI_API_KEY: 'k', PATH: '/bin', gh_token: 't', BARE: '' },
      secretNames: ['OPENAI_API_KEY', 'gh_token'],
      problems: [],
    })
  })

  it('says when others can read .env and how to fix it', async () => {
    await writeFile(file, 'A=1\n', { mode: 0o644 })
    const { problems } = await loadSecrets({ home, env: {} })
    expect(problems).toEqual([{ message: `Others can read ${file}. Run: chmod 600 ${file}`, file }])
  })

  it('is quiet where there is no .env', async () => {
    expect(await loadSecrets({ home, env: {} })).toEqual({ values: {}, secretNames: [], problems: [] })
  })
})

describe('setSecret', () => {
  it('changes the value alone, and makes the file private', async () => {
    await writeFile(file, '# head\nexport A=1 # one\nB="x\ny"\nC=3', { mode: 0o644 })
    await setSecret({ home, name: 'A', value: 'new' })
    await setSecret({ home, name: 'B', value: "it's" })
    await setSecret({ home, name: 'D', value: 'a b' })
    expect(await readFile(file, 'utf8')).toBe(`# head\nexport A=new # one\nB="it's"\nC=3\nD='a b'\n`)
    expect((await stat(file)).mode & 0o777).toBe(0o600)
  })

  it('refuses what is no name without showing the value', async () => {
    const attempt = setSecret({ home, name: 'A B', value: 'hidden-value' })
    await expect(attempt).rejects.toMatchObject({ code: 'config.bad_name' })
    await expect(attempt).rejects.not.toThrow('hidden-value')
  })

  it('gives back any value that was set, beside what was there', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'binary' }), fc.string(), async (value, second) => {
        await writeFile(file, '# note\nFIRST=1\n')
        await setSecret({ home, name: 'KEY', value })
        await setSecret({ home, name: 'KEY', value: second })
        await setSecret({ home, name: 'OTHER', value })
        const text = await readFile(file, 'utf8')
        expect(parseEnv(text)).toEqual({ FIRST: '1', KEY: second, OTHER: value.toWellFormed() })
        expect(text).toContain('# note')
      }),
      { numRuns: Number(process.env['HERMES_TEST_RUNS'] ?? 60) },
    )
  })
})

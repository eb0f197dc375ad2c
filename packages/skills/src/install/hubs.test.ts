// Hubs of skills and marketplaces, over HTTP and from real repositories. What each answers has the form that its own client takes:
//   ClawHub       npm clawhub 0.23.3, dist/schema: ApiV1SkillResponse, ApiV1SkillVersionResponse, ApiV1SearchResponse
//   skills.sh     npm skills 1.7.4: SkillDownloadResponse of src/blob.ts, the search of src/find.ts
//   LobeHub       npm @lobehub/market-sdk 0.39.2: MarketSkillService
//   marketplaces  SchemaStore, claude-code-marketplace.json of 2026-04-23
//   MCP servers   SEP-2640 as of protocol 2026-07-28, served by the official SDK: server-skills.test.ts of @hermes/mcp
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readdir, rm, symlink } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { openScene, type Scene, skillText } from '../__fixtures__/scene.js'
import { skillPrograms } from './skill-programs.js'

/** By path, with the query where that matters. */
const pages = new Map<
  string,
  { readonly status?: number; readonly body: string | Uint8Array; readonly cut?: boolean }
>()
const requests: string[] = []
let server: Server
let scene: Scene
let site: string

beforeAll(async () => {
  server = createServer(({ url = '' }, response) => {
    requests.push(url)
    const {
      status = 200,
      body,
      cut = false,
    } = pages.get(url) ?? pages.get(url.split('?')[0]!) ?? { status: 404, body: '' }
    response.writeHead(status, { 'content-length': Buffer.byteLength(body) + (cut ? 100 : 0) })
    if (cut) response.write(body, () => response.destroy())
    else response.end(body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  site = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => new Promise((resolve) => server.close(resolve)))
beforeEach(async () => {
  pages.clear()
  requests.length = 0
  scene = await openScene({ site })
})
afterEach(() => scene.remove())

const json = (path: string, value: unknown) => void pages.set(path, { body: JSON.stringify(value) })
const idIn = (text: string) => /hermes skills accept (\w+)/.exec(text)![1]!
const installed = async () => (await skillPrograms(scene.home.directory)).map(({ name }) => name)

describe('ClawHub', () => {
  /** A skill there; `over` replaces parts of what the hub says. */
  const publish = (
    files: Readonly<Record<string, string>>,
    over: { skill?: object; version?: object; digest?: string } = {},
  ) => {
    const named = { slug: 'tides', displayName: 'Tides' }
    const made = { createdAt: 1_790_000_000_000, changelog: 'First.' }
    json('/api/v1/skills/tides', {
      skill: {
        ...named,
        summary: 'Tells the tides.',
        tags: { latest: '1.2.0' },
        stats: {},
        createdAt: 1,
        updatedAt: 2,
      },
      latestVersion: { ...made, version: '1.2.0', license: 'MIT-0' },
      metadata: { setup: [{ key: 'MOON', required: true }], os: ['linux'], systems: null },
      owner: { handle: 'ada', displayName: 'Ada', image: null },
      moderation: {
        isSuspicious: false,
        isMalwareBlocked: false,
        verdict: 'clean',
        reasonCodes: [],
        engineVersion: '1',
      },
      ...over.skill,
    })
    const listed = Object.entries(files).map(([path, text]) => ({
      ...{ path, size: text.length, contentType: 'text/markdown' },
      sha256: over.digest ?? createHash('sha256').update(text).digest('hex'),
    }))
    json('/api/v1/skills/tides/versions/1.2.0', {
      version: { ...made, version: '1.2.0', changelogSource: 'user', files: listed, ...over.version },
      skill: named,
    })
    for (const [path, body] of Object.entries(files)) {
      const query = new URLSearchParams({ path, version: '1.2.0' })
      pages.set(`/api/v1/skills/tides/file?${query}`, { body })
    }
  }
  const files = { 'SKILL.md': skillText('tides'), 'scripts/moon phase.sh': 'echo full\n' }

  it('gives a skill file by file, of one version, which is installed and got anew', async () => {
    publish(files)
    const offer = await scene.type('skills install clawhub:ada/tides')
    expect(offer).toContain('from clawhub:ada/tides at 1.2.0\n')
    await scene.type(`skills accept ${idIn(offer)}`)
    expect(await scene.call('skill_view', { name: 'tides' })).toContain('Do tides.')
    expect(await scene.type('skills update')).toBe('tides is installed as it is there.')
    expect(await scene.type('skills install clawhub:tides@1.2.0').catch((error: Error) => error.message)).toContain(
      'There is an installed skill tides already, from clawhub:ada/tides',
    )
  })

  it.each<[string, Parameters<typeof publish>[1], string]>([
    ['says another SHA-256', { digest: 'a'.repeat(64) }, 'another SHA-256'],
    ['says none', { digest: '' }, 'no SHA-256 of SKILL.md'],
    ['gives another version', { version: { version: '1.3.0' } }, 'another version than 1.2.0'],
    ['lists no files', { version: { files: null } }, 'it has no SKILL.md'],
    [
      'lists files that climb',
      { version: { files: [{ path: '../x', sha256: 'a'.repeat(64) }] } },
      'files that no skill has',
    ],
    ['gave it another name', { skill: { skill: { slug: 'tides-2' } } }, 'ClawHub calls it tides-2 now'],
    ['has it of another owner', { skill: { owner: { handle: 'eve' } } }, 'is of eve, not of ada'],
    ['has blocked it', { skill: { moderation: { isMalwareBlocked: true } } }, 'has blocked tides as harmful'],
    ['says no version', { skill: { latestVersion: null } }, 'says no version of tides'],
  ])('that %s installs nothing', async (_, over, why) => {
    publish(files, over)
    await expect(scene.type('skills install clawhub:ada/tides')).rejects.toThrow(why)
    expect(await installed()).toEqual([])
  })

  it('that gives other files as a version that is installed is shown up', async () => {
    publish(files)
    await scene.type(`skills accept ${idIn(await scene.type('skills install clawhub:tides'))}`)
    publish({ ...files, 'SKILL.md': skillText('tides', 'Tides.', 'Do something else.') })
    const offer = await scene.type('skills update')
    expect(offer).toContain('LOOK: its source says that this is 1.2.0, which is installed, and gives other files')
    await expect(scene.type(`skills accept ${idIn(offer)}`)).rejects.toThrow('is not installed without --force')
    expect(await scene.call('skill_view', { name: 'tides' })).toContain('Do tides.')
  })

  it('is searched, page by page', async () => {
    const results = Array.from({ length: 60 }, (_, at) => ({
      ...{ id: `k${at}`, source: 'clawhub', slug: `s${at}`, displayName: `S${at}`, summary: `S ${at}` },
      ...{ ownerHandle: at ? null : 'ada', version: '1.0.0', score: 0.5, downloads: 3, updatedAt: 2 },
    }))
    json('/api/v1/search?q=tides+now&limit=30&nonSuspiciousOnly=true', { results: results.slice(0, 30) })
    json('/api/v1/search?q=tides+now&limit=60&nonSuspiciousOnly=true', {
      results: [...results.slice(0, 35), { slug: '../x' }, 3, { ...results[35], source: 'skills-sh' }],
    })
    const first = await scene.type('skills search tides now', { source: 'clawhub' })
    expect(first).toMatch(/^clawhub:ada\/s0 \| 1\.0\.0 \| S 0\nclawhub:s1 \|/)
    expect(first).toMatch(/31 in all; more with --page 2$/)
    const second = await scene.type('skills search tides now', { source: 'clawhub', page: 2 })
    expect(second.split('\n').map((line) => line.split(' ')[0])).toEqual(
      ['s30', 's31', 's32', 's33', 's34'].map((one) => `clawhub:${one}`),
    )
    await expect(scene.type('skills search x', { source: 'clawhup' })).rejects.toThrow(
      '--source is one of github, clawhub, skills.sh, lobehub. Did you mean clawhub?',
    )
  })
})

describe('skills.sh', () => {
  const path = '/api/download/ada/sea/tides'

  it('gives a skill with its files, by name and by the address of its page', async () => {
    const text = skillText('tides')
    json(path, {
      hash: 'ab12cd34ef',
      files: [
        { path: 'SKILL.md', contents: text },
        { path: 'rules/a.md', contents: 'a' },
      ],
    })
    for (const from of ['skills.sh:ada/sea/tides', 'https://www.skills.sh/ada/sea/tides'])
      expect(await scene.type(`skills install ${from}`)).toContain(
        'from skills.sh:ada/sea/tides at ab12cd34ef\nfiles (2, 1 KB): SKILL.md, rules/a.md',
      )
  })

  it.each<[string, unknown, string]>([
    ['no files', { hash: 'x' }, 'it has no SKILL.md'],
    [
      'a file twice',
      {
        files: [
          { path: 'SKILL.md', contents: '' },
          { path: 'SKILL.md', contents: '' },
        ],
      },
      'names a file twice',
    ],
    [
      'a path that climbs',
      {
        files: [
          { path: 'SKILL.md', contents: '' },
          { path: 'a/../../b', contents: '' },
        ],
      },
      'files that no skill has',
    ],
    [
      'a hidden file',
      {
        files: [
          { path: 'SKILL.md', contents: '' },
          { path: '.bashrc', contents: '' },
        ],
      },
      'files that no skill has',
    ],
    ['no text', { files: [{ path: 'SKILL.md', contents: { a: 1 } }] }, 'sent nothing of SKILL.md'],
    ['a list', [], 'skills.sh gave no list'],
  ])('that gives %s installs nothing', async (_, value, why) => {
    json(path, value)
    await expect(scene.type('skills install skills.sh:ada/sea/tides')).rejects.toThrow(why)
  })

  it('that gives other files with the same hash is shown up', async () => {
    json(path, { hash: 'ab12cd34ef', files: [{ path: 'SKILL.md', contents: skillText('tides') }] })
    await scene.type(`skills accept ${idIn(await scene.type('skills install skills.sh:ada/sea/tides'))}`)
    json(path, { hash: 'ab12cd34ef', files: [{ path: 'SKILL.md', contents: skillText('tides', 'Other.') }] })
    expect(await scene.type('skills update')).toContain('LOOK: its source says that this is ab12cd34ef')
  })

  it('is searched', async () => {
    json('/api/search?q=tides&limit=30', {
      skills: [
        { id: 'ada/sea/tides', name: 'tides', source: 'ada/sea', installs: 12 },
        { id: 'no', name: 'x' },
      ],
    })
    expect(await scene.type('skills search tides', { source: 'skills.sh' })).toBe(
      'skills.sh:ada/sea/tides | 12 installs | tides of ada/sea',
    )
    const skills = Array.from({ length: 60 }, (_, at) => ({ id: `ada/sea/s${at}`, name: `s${at}`, source: 'ada/sea' }))
    json('/api/search?q=many&limit=30', { skills: skills.slice(0, 30) })
    json('/api/search?q=many&limit=60', { skills: skills.slice(0, 40) })
    expect(await scene.type('skills search many', { source: 'skills.sh' })).toMatch(/\n31 in all; more with --page 2$/)
    const second = (await scene.type('skills search many', { source: 'skills.sh', page: 2 })).split('\n')
    expect([second[0], second.length]).toEqual(['skills.sh:ada/sea/s30 |  | s30 of ada/sea', 10])
  })
})

describe('LobeHub', () => {
  const id = 'github.ada.sea.tides'
  const files = { 'SKILL.md': skillText('tides'), 'scripts/moon phase.sh': 'echo full\n' }
  const sha256 = (text: string | Uint8Array) => createHash('sha256').update(text).digest('hex')

  /** An archive as git makes it. */
  async function zipped(texts: Readonly<Record<string, string>>, change?: (folder: string) => Promise<unknown>) {
    const folder = join(scene.root, 'zip')
    await rm(folder, { recursive: true, force: true })
    for (const [path, text] of Object.entries(texts)) await scene.put(`zip/${path}`, text)
    await change?.(folder)
    const git = (...args: readonly string[]) =>
      execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', '-C', folder, ...args], { stdio: 'pipe' })
    git('init', '-q')
    git('add', '-A')
    git('commit', '-qm', 'x')
    return git('archive', '--format=zip', 'HEAD')
  }

  /** The skill there; `over` replaces parts of what the hub says. */
  async function publish({ version = '1.2.0', texts = files, over = {}, archive }: Published = {}) {
    const { 'SKILL.md': _, ...others } = texts
    const resources = Object.entries(others).map(([path, text]) => [
      path,
      { fileHash: sha256(text), size: text.length },
    ])
    json(`/api/v1/skills/${id}`, {
      ...{ identifier: id, name: 'Tides', version, resources: Object.fromEntries(resources), ...over },
    })
    pages.set(`/api/v1/skills/${id}/download?version=${version}`, { body: archive ?? (await zipped(texts)) })
  }
  interface Published {
    readonly version?: string
    readonly texts?: Readonly<Record<string, string>>
    readonly over?: object
    readonly archive?: Uint8Array
  }

  it('gives a skill by its archive, by name and by the address of its page, which is installed and got anew', async () => {
    await publish()
    const offer = await scene.type(`skills install https://lobehub.com/zh-CN/skills/${id}`)
    expect(offer).toContain(`from lobehub:${id} at 1.2.0\nfiles (2, 1 KB): SKILL.md, "scripts/moon phase.sh"`)
    await scene.type(`skills accept ${idIn(offer)}`)
    expect(await scene.call('skill_view', { name: 'tides', file_path: 'scripts/moon phase.sh' })).toContain('echo full')
    expect(await scene.type('skills update')).toBe('tides is installed as it is there.')
    await publish({ version: '1.3.0', texts: { 'SKILL.md': skillText('tides', 'Tides.', 'Do it.') } })
    expect(await scene.type('skills update')).toContain('SKILL.md is another one, "scripts/moon phase.sh" is gone')
    await publish({ texts: { ...files, 'SKILL.md': skillText('tides', 'Tides.', 'Do something else.') } })
    expect(await scene.type('skills update')).toContain('LOOK: its source says that this is 1.2.0')
  })

  it.each<[string, string, Published, string]>([
    [
      'says another SHA-256',
      id,
      { over: { resources: { 'scripts/moon phase.sh': { fileHash: 'a'.repeat(64) } } } },
      'another SHA-256',
    ],
    ['says none', id, { over: { resources: { 'a.md': { size: 3 } } } }, 'LobeHub says no SHA-256 of a.md'],
    [
      'keeps a file back',
      id,
      { over: { resources: { 'b.md': { fileHash: 'a'.repeat(64) } } } },
      'its archive lacks b.md, which LobeHub lists',
    ],
    ['gives another skill', id, { over: { identifier: 'x' } }, `another skill than ${id}`],
    ['gives another version', `${id}@1.1.0`, {}, 'another version than 1.1.0'],
    ['says no version', id, { over: { version: null } }, 'says no version of'],
    ['has no SKILL.md', id, { texts: { 'readme.md': 'x' } }, 'it has no SKILL.md'],
    ['has hidden files', id, { texts: { ...files, '.bashrc': 'x' } }, 'names files that no skill has'],
    [
      'has too many',
      id,
      { texts: { ...files, ...Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`f${n}`, ''])) } },
      'more than 50 files',
    ],
    ['has too much', id, { texts: { ...files, 'a.md': 'x'.repeat(5_300_000) } }, 'more than 5120 KB'],
    ['sends no archive', id, { archive: Buffer.from('<html>Sorry.</html>'.repeat(9)) }, 'no whole ZIP archive'],
    ['is named by no identifier', 'a/b', {}, 'is no lobehub:IDENTIFIER'],
  ])('that %s installs nothing', async (_, name, published, why) => {
    await publish(published)
    const error = await scene.type(`skills install lobehub:${name}`).catch((thrown: Error) => thrown.message)
    expect(error).toContain(why)
    expect(error).not.toContain('\n')
    expect(await installed()).toEqual([])
  })

  it.each<[string, (archive: Buffer) => Uint8Array, string]>([
    ['half of it', (archive) => archive.subarray(0, archive.length / 2), 'no whole ZIP archive'],
    ['its end alone', (archive) => archive.subarray(-60), 'no whole ZIP archive'],
    ['a file with another sum', (archive) => patched(archive, 16, 7), 'is not what its list says'],
    ['a file that is larger than it says', (archive) => patched(archive, 24, 1), 'is not what its list says'],
    ['an encrypted file', (archive) => patched(archive, 8, 1), 'a file of it is encrypted'],
    ['a file that is packed in another way', (archive) => patched(archive, 10, 12), 'packed in a way'],
    ['a file on another disk', (archive) => patched(archive, 34, 1), 'lies on another disk'],
    ['an end on another disk', (archive) => endPatched(archive, 4), 'lies on another disk'],
    ['a list on another disk', (archive) => endPatched(archive, 6), 'lies on another disk'],
    ['a list of which a part is elsewhere', (archive) => endPatched(archive, 8), 'lies on another disk'],
    ['two files of one name', (archive) => renamed(archive, archive.length), 'two files of it have one name'],
    ['a file that calls itself otherwise', (archive) => renamed(archive, 1), 'is not what its list says'],
  ])('that sends an archive with %s installs nothing', async (_, change, why) => {
    await publish({ archive: change(await zipped({ ...files, 'OTHER.md': 'Another one.\n' })) })
    await expect(scene.type(`skills install lobehub:${id}`)).rejects.toThrow(why)
  })

  it('that sends a link in an archive installs nothing', async () => {
    await publish({ archive: await zipped(files, (folder) => symlink('/etc/passwd', join(folder, 'a.md'))) })
    await expect(scene.type(`skills install lobehub:${id}`)).rejects.toThrow('a file of it is a link')
  })

  it('is searched, page by page', async () => {
    const list = (page: number) => `/api/v1/skills?q=tides+now&sort=relevance&locale=en-US&page=${page}&pageSize=30`
    const item = (identifier: string) => ({
      ...{
        identifier,
        name: 'T',
        description: 'Tells\ntides.',
        version: '1.0.0',
        installCount: 12,
        github: { stars: 7 },
      },
    })
    json(list(1), {
      items: [item('a.b'), item('../x'), 3],
      currentPage: 1,
      pageSize: 30,
      totalCount: 31,
      totalPages: 2,
    })
    json(list(2), { items: [item('c.d')], currentPage: 2, pageSize: 30, totalCount: 31, totalPages: 2 })
    const first = await scene.type('skills search tides now', { source: 'lobehub' })
    expect(first).toMatch(/^lobehub:a\.b \| 1\.0\.0, 12 installs, 7 stars \| Tells tides\.\n/)
    expect(first).toContain('more with --page 2')
    expect(await scene.type('skills search tides now', { source: 'lobehub', page: 2 })).toMatch(/^lobehub:c\.d \|/)
    json(list(1), { error: 'x' })
    await expect(scene.type('skills search tides now', { source: 'lobehub' })).rejects.toThrow('LobeHub gave no list')
  })
})

const HUBS_THERE: readonly (readonly [string, string, from: string | null, search: string, skill: string])[] = [
  ['GitHub', 'github', null, '/search/repositories', ''],
  ['ClawHub', 'clawhub', 'clawhub:tides', '/api/v1/search', '/api/v1/skills/tides'],
  ['skills.sh', 'skills.sh', 'skills.sh:ada/sea/tides', '/api/search', '/api/download/ada/sea/tides'],
  ['LobeHub', 'lobehub', 'lobehub:a.b', '/api/v1/skills', '/api/v1/skills/a.b'],
]
const FAILURES: readonly (readonly [
  string,
  { readonly status?: number; readonly body: string; readonly cut?: true },
  string,
])[] = [
  ['a limit', { status: 429, body: 'Rate limit exceeded' }, 'takes no more requests for now; try again in a minute'],
  ['another limit', { status: 403, body: '{"message":"API rate limit exceeded"}' }, 'takes no more requests for now'],
  ['a refusal', { status: 401, body: '' }, 'wants a login for it'],
  ['nothing', { status: 404, body: '' }, 'has no such skill'],
  ['no more of it', { status: 410, body: '' }, 'has no such skill'],
  ['half an answer', { body: '{"skills": [{"na' }, 'gave half an answer; try again'],
  ['something else', { body: '["skills"]' }, 'gave no list'],
  ['a body that breaks off', { body: '{"skills"', cut: true }, ''],
  ['a trouble of its own', { status: 502, body: '<html>Bad gateway</html>' }, 'answered 502'],
]

describe.each(HUBS_THERE)('%s', (hub, source, from, search, skill) => {
  it.each(FAILURES)('with %s says so in one line, and leaves nothing', async (_, page, why) => {
    pages.set(search, page)
    pages.set(skill, page)
    const expected = why.startsWith('answered') || why === '' ? why : `${hub} ${why}`
    const line = (prefix: string) => new RegExp(`^${prefix}: [^\\n<{]*${expected.replaceAll('.', '\\.')}[^\\n<{]*\\.$`)
    await expect(scene.type('skills search tides', { source })).rejects.toThrow(line('Nothing was found out'))
    if (from === null) return
    await expect(scene.type(`skills install ${from}`)).rejects.toThrow(line('The skill could not be fetched'))
    expect(await installed()).toEqual([])
    expect(await readdir(join(scene.home.directory, '.hub/quarantine'))).toEqual([])
  })
})

describe('a site with a list of its own', () => {
  const list = '/.well-known/agent-skills/index.json'
  const LISTED = {
    name: 'rain',
    type: 'skill-md',
    description: 'Rain.',
    url: 'rain/SKILL.md',
    digest: `sha256:${'a'.repeat(64)}`,
  }

  it('of any length is shown by pages, and each of it can be installed', async () => {
    const text = skillText('rain')
    const digest = `sha256:${createHash('sha256').update(text).digest('hex')}`
    const others = Array.from({ length: 1_199 }, (_, n) => ({ ...LISTED, name: `drop-${n}` }))
    json(list, { skills: [...others, { ...LISTED, digest }] })
    pages.set('/.well-known/agent-skills/rain/SKILL.md', { body: text })
    const first = (await scene.type(`skills search ${site}`)).split('\n')
    expect([first.length, first.at(-1)]).toEqual([31, '1200 in all; more with --page 2'])
    const last = (await scene.type(`skills search ${site}`, { page: 40 })).split('\n')
    expect([last.length, last.at(-1)]).toEqual([30, `${site}#rain |  | Rain.`])
    await scene.type(`skills accept ${idIn(await scene.type(`skills install ${site}#rain`))}`)
    expect(await installed()).toEqual(['rain'])
  })

  it.each(FAILURES)('with %s says so in one line, and leaves nothing', async (_, page, why) => {
    const expected = /no such skill/.test(why) ? 'no list of skills is there' : why
    for (const at of [list, '/.well-known/agent-skills/rain/SKILL.md', '/docs/dew/SKILL.md']) {
      pages.clear()
      if (at !== list) json(list, { skills: [LISTED] })
      pages.set(at, page)
      const from = at.startsWith('/docs') ? `${site}${at}` : `${site}#rain`
      const error: Error = await scene.type(`skills install ${from}`).then(
        () => new Error('installed'),
        (thrown) => thrown,
      )
      expect(error.message).toMatch(/^[^\n]+$/)
      expect(error.message).not.toBe('installed')
      if (at === list || page.status !== undefined) expect(error.message).toContain(at === list ? expected : why)
      expect(await installed()).toEqual([])
      expect(await readdir(join(scene.home.directory, '.hub/quarantine'))).toEqual([])
    }
  })
})

/** Changes a number in what the list of an archive says of its first file. */
function patched(archive: Buffer, at: number, value: number): Uint8Array {
  const changed = Buffer.from(archive)
  changed.writeUInt16LE(value, changed.indexOf(Buffer.from('504b0102', 'hex')) + at)
  return changed
}

/** As {@link patched}, in its last record. */
function endPatched(archive: Buffer, at: number): Uint8Array {
  const changed = Buffer.from(archive)
  changed.writeUInt16LE(1, changed.lastIndexOf(Buffer.from('504b0506', 'hex')) + at)
  return changed
}

/** Gives `OTHER.md` the name of another file, at most so many times from its beginning: in the file itself, then in the list. */
function renamed(archive: Buffer, times: number): Uint8Array {
  const changed = Buffer.from(archive)
  for (let n = 0, at = changed.indexOf('OTHER.md'); n < times && at >= 0; n++, at = changed.indexOf('OTHER.md'))
    changed.write('SKILL.md', at)
  return changed
}

describe('a marketplace of plugins', () => {
  const market = async (
    plugins: readonly unknown[],
    files: Readonly<Record<string, string>> = {},
    more: object = {},
  ) => {
    const all = {
      '.claude-plugin/marketplace.json': JSON.stringify({ name: 'm', owner: { name: 'a' }, plugins, ...more }),
      ...files,
    }
    for (const [path, text] of Object.entries(all)) await scene.put(`tree/${path}`, text)
    const [tree, bare] = [join(scene.root, 'tree'), join(scene.root, 'market.git')]
    const git = (...args: readonly string[]) =>
      execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', '-C', tree, ...args], { stdio: 'pipe' })
    git('init', '-q')
    git('add', '-A')
    git('commit', '-qm', 'x')
    await rm(bare, { recursive: true, force: true })
    execFileSync('git', ['clone', '-q', '--bare', tree, bare])
    return `file://${bare}`
  }

  it('gives the skills of its plugins, those that its entries name and those of plugins that lie elsewhere', async () => {
    const from = await market(
      [
        { name: 'sea', source: './plugins/sea' },
        { name: 'docs', source: './', strict: false, skills: ['./extra/pdf', './extra/gone'] },
        { name: 'rooted', source: 'rooted' },
        { name: 'far', source: { source: 'github', repo: 'ada/far', ref: 'v1', sha: 'a'.repeat(40) } },
        { name: 'url', source: { source: 'url', url: 'https://gitlab.com/a/b.git', ref: 'main' } },
        { name: 'sub', source: { source: 'git-subdir', url: 'https://github.com/a/mono', path: 'tools/x' } },
        { name: 'short', source: { source: 'git-subdir', url: 'ada/mono', path: 'tools/y', ref: 'v2' } },
        { name: 'npm', source: { source: 'npm', package: 'x' } },
        { name: 'odd', source: { source: 'url', url: 'https://x.y/$(touch z)' } },
        { name: '../climbs', source: './plugins/sea' },
        { name: 'up', source: './../../..' },
        7,
      ],
      {
        'plugins/sea/skills/tides/SKILL.md': skillText('tides'),
        'plugins/sea/.claude-plugin/plugin.json': JSON.stringify({ name: 'sea', skills: './more' }),
        'plugins/sea/more/moon/SKILL.md': skillText('moon'),
        'extra/pdf/SKILL.md': skillText('pdf'),
        'inner/rooted/skills/deep/SKILL.md': skillText('deep'),
      },
      { metadata: { pluginRoot: './inner' } },
    )
    const lines = (await scene.type(`skills install ${from}`)).split('\n')
    const install = (way: string) => `hermes skills install ${way}`
    expect(lines.slice(1).sort()).toEqual(
      [
        `tides | ${install(`${from}//plugins/sea/skills/tides`)}`,
        `moon | ${install(`${from}//plugins/sea/more/moon`)}`,
        `pdf | ${install(`${from}//extra/pdf`)}`,
        `deep | ${install(`${from}//inner/rooted/skills/deep`)}`,
        `far | ${install(`https://github.com/ada/far.git#${'a'.repeat(40)}`)}`,
        `url | ${install('https://gitlab.com/a/b.git#main')}`,
        `sub | ${install('https://github.com/a/mono.git//tools/x')}`,
        `short | ${install('https://github.com/ada/mono.git//tools/y#v2')}`,
        'npm | cannot be installed alone: git cannot get it, or its name is more than a word in a command',
        'odd | cannot be installed alone: git cannot get it, or its name is more than a word in a command',
      ].sort(),
    )
    const offer = await scene.type(`skills install ${from}//extra/pdf`)
    await scene.type(`skills accept ${idIn(offer)}`)
    expect(await installed()).toEqual(['pdf'])
    // What is offered of a repository can be got, whatever its name ends in.
    const plain = `file://${join(scene.root, 'tree')}`
    const moon = `${plain}//plugins/sea/more/moon`
    expect(await scene.type(`skills install ${plain}`)).toContain(moon)
    expect(await scene.type(`skills install ${moon}`)).toContain(`moon: Does moon.\nfrom ${moon}`)
  })

  it.each<[string, string, string]>([
    ['is no JSON', '{', 'marketplace.json in it is no JSON'],
    ['lists no plugins', '{}', 'lists no plugins'],
  ])('that %s is one line', async (_, text, why) => {
    await scene.put('work/m/.claude-plugin/marketplace.json', text)
    await expect(scene.type('skills install m')).rejects.toThrow(why)
  })
})

describe('an MCP server', () => {
  const skill = (name: string, files: Readonly<Record<string, string>>, size = { files: 2, bytes: 100 }) => ({
    ...{ name, description: 'x', size },
    read: async () => Object.entries(files).map(([path, text]) => ({ path, bytes: Buffer.from(text) })),
  })
  const withSkills = async (...skills: readonly ReturnType<typeof skill>[]) => {
    await scene.remove()
    scene = await openScene({
      ofServer: async (server) => {
        if (server !== 'sea') throw new Error(`There is no MCP server "${server}".`)
        return skills
      },
    })
  }

  it('gives its skills by name', async () => {
    await withSkills(
      skill('tides', { 'SKILL.md': skillText('tides') }),
      skill('moon', { 'SKILL.md': skillText('moon') }),
    )
    expect(await scene.type('skills install mcp:sea')).toBe(
      'There are several skills in it. Name one:\ntides | hermes skills install mcp:sea/tides\nmoon | hermes skills install mcp:sea/moon',
    )
    await scene.type(`skills accept ${idIn(await scene.type('skills install mcp:sea/moon'))}`)
    expect(await installed()).toEqual(['moon'])
    expect(await scene.type('skills update')).toBe('moon is installed as it is there.')
  })

  it.each<[string, string, Parameters<typeof skill>, string]>([
    ['is not there', 'mcp:lake', ['tides', {}], 'There is no MCP server "lake"'],
    ['has no such skill', 'mcp:sea/dew', ['tides', {}], 'the MCP server sea has no skill dew'],
    ['has files that climb', 'mcp:sea', ['tides', { 'SKILL.md': '', '../x': '' }], 'files that no skill has'],
    ['says that it has too much', 'mcp:sea', ['tides', {}, { files: 2, bytes: 9e9 }], 'more than a skill may have'],
    ['has skills without a name alone', 'mcp:sea', ['../x', {}], 'the MCP server sea has no skills'],
  ])('that %s gives one line', async (_, from, one, why) => {
    await withSkills(skill(...one))
    await expect(scene.type(`skills install ${from}`)).rejects.toThrow(why)
  })
})

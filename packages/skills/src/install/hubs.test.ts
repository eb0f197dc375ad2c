// Hubs of skills and marketplaces, over HTTP and from real repositories.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { openScene, type Scene, skillText } from '../__fixtures__/scene.js'
import { skillPrograms } from './skill-programs.js'

/** By path, with the query where that matters. */
const pages = new Map<string, { readonly status?: number; readonly body: string; readonly cut?: boolean }>()
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
    json('/api/v1/skills/tides', {
      ...{ skill: { slug: 'tides' }, latestVersion: { version: '1.2.0' }, owner: { handle: 'ada' }, ...over.skill },
    })
    const listed = Object.entries(files).map(([path, text]) => ({
      ...{ path, size: text.length },
      sha256: over.digest ?? createHash('sha256').update(text).digest('hex'),
    }))
    json('/api/v1/skills/tides/versions/1.2.0', { version: { version: '1.2.0', files: listed, ...over.version } })
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

  it.each([
    ['a limit', { status: 429, body: 'Rate limit exceeded' }, 'ClawHub takes no more requests for now'],
    ['a refusal', { status: 403, body: '' }, 'ClawHub takes no more requests for now'],
    ['nothing', { status: 404, body: '' }, 'ClawHub has no such skill'],
    ['half an answer', { body: '{"skill": {"sl' }, 'ClawHub gave half an answer'],
    ['a body that breaks off', { body: '{"skill"', cut: true }, 'could not be fetched'],
    ['a trouble of its own', { status: 502, body: '' }, 'answered 502'],
  ])('with %s leaves one line', async (_, page, why) => {
    pages.set('/api/v1/skills/tides', page)
    const error = await scene.type('skills install clawhub:tides').catch((thrown: Error) => thrown.message)
    expect(error).toContain(why)
    expect(error).not.toContain('\n')
  })

  it('is searched, page by page', async () => {
    const results = Array.from({ length: 60 }, (_, at) => ({
      slug: `s${at}`,
      ownerHandle: at ? null : 'ada',
      summary: `S ${at}`,
      version: '1.0.0',
    }))
    json('/api/v1/search?q=tides+now&limit=30&nonSuspiciousOnly=true', { results: results.slice(0, 30) })
    json('/api/v1/search?q=tides+now&limit=60&nonSuspiciousOnly=true', {
      results: [...results.slice(0, 35), { slug: '../x' }, 3],
    })
    const first = await scene.type('skills search tides now', { source: 'clawhub' })
    expect(first).toMatch(/^clawhub:ada\/s0 \| 1\.0\.0 \| S 0\nclawhub:s1 \|/)
    expect(first).toMatch(/31 in all; more with --page 2$/)
    const second = await scene.type('skills search tides now', { source: 'clawhub', page: 2 })
    expect(second.split('\n').map((line) => line.split(' ')[0])).toEqual(
      ['s30', 's31', 's32', 's33', 's34'].map((one) => `clawhub:${one}`),
    )
    await expect(scene.type('skills search x', { source: 'clawhup' })).rejects.toThrow(
      '--source is one of github, clawhub, skills.sh. Did you mean clawhub?',
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
  })
})

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
        'npm | cannot be installed alone: git cannot get it, or its name is more than a word in a command',
        'odd | cannot be installed alone: git cannot get it, or its name is more than a word in a command',
      ].sort(),
    )
    const offer = await scene.type(`skills install ${from}//extra/pdf`)
    await scene.type(`skills accept ${idIn(offer)}`)
    expect(await installed()).toEqual(['pdf'])
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

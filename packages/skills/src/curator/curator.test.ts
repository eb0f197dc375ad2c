import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { systemClock } from '@hermes/contracts'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openScene, type Scene, skillText } from '../__fixtures__/scene.js'
import { SkillLibrary } from '../skill-library.js'

const DAY = 86_400_000
let nowMs = Date.UTC(2030, 0, 1)
let scene: Scene
let answer = '{}'
const requested: string[] = []
const clock = { ...systemClock, now: () => nowMs }

beforeEach(async () => {
  nowMs = Date.now()
  requested.length = 0
  answer = '{}'
  scene = await openScene({
    clock,
    ask: async ({ text }) => {
      requested.push(text)
      return answer
    },
  })
})
afterEach(() => scene.remove())

const own = (name: string, description?: string, body?: string) =>
  scene.put(`home/skills/${name}/SKILL.md`, skillText(name, description, body))
/** As an agent saves it. */
const written = (name: string, description = `Does ${name} for ${name} people.`) =>
  scene.call('skill_manage', { action: 'create', name, description, content: `Do ${name} well.`, force: true })
const use = async (name: string, times: number, { corrected = 0 } = {}) => {
  const shown = `# Skill: ${name} (user)\n\nDo it.`
  for (let time = 0; time < times; time++) {
    await scene.call('skill_view', { name })
    const turn = (text: string, seq: number) => [
      { type: 'message', seq, message: { role: 'user', content: [{ type: 'text', text }] } },
      {
        type: 'message',
        seq: seq + 1,
        message: { role: 'tool', callId: 'c', toolName: 'skill_view', content: [{ type: 'text', text: shown }] },
      },
    ]
    const session = {
      id: 's',
      entries: turn('Do it.', 1),
      prompt: () => ({ tools: [{ name: 'skill_view' }] }),
      state: { scratch: (_: string, make: () => unknown) => make() },
    }
    await scene.fire('run-end', { status: 'completed', session })
    if (time < corrected) await scene.fire('input', { input: 'No, that is wrong.', session })
  }
  await scene.fire('run-end', { status: 'completed' })
}
const names = async () => (await readdir(scene.home.directory)).filter((name) => !name.startsWith('.'))

describe('the curator', () => {
  it('archives a skill of an agent that helped in less than half of five uses, and keeps one that helped', async () => {
    await written('useless')
    await written('useful')
    await use('useless', 4, { corrected: 4 })
    await use('useful', 5, { corrected: 1 })
    expect(await scene.type('curator run')).toBe('All skills are in order.')
    await use('useless', 1, { corrected: 1 })
    const stats = await scene.type('skills stats')
    expect(stats).toMatch(/^useless \| 5× \| 5 completed \| 5 corrected \| [\d-]+ \| user, trial$/m)
    expect(stats).toMatch(/^useful \| 5× \| 5 completed \| 1 corrected \| [\d-]+ \| user, kept$/m)
    expect(await scene.type('curator run', { 'dry-run': true })).toBe(
      'would be archived: useless (it helped 0 of 5 times)',
    )
    expect(await names()).toEqual(['useful', 'useless'])
    expect(await scene.type('curator run')).toBe('archived: useless (it helped 0 of 5 times)')
    expect(await names()).toEqual(['useful'])
    expect(await scene.type('curator list-archived')).toMatch(/^useless \| /)
    expect(await scene.type('curator restore useless')).toContain('useless is back, as your own')
    expect(await scene.call('skill_view', { name: 'useless' })).toContain('Do useless well.')
    await use('useless', 5, { corrected: 5 })
    expect(await scene.type('curator run')).toBe('All skills are in order.')
  })

  it('archives it as soon as the session of its fifth use was left, unless it is pinned or the curator rests', async () => {
    const leave = () =>
      scene.skills.afterSession({
        ...{ sessionId: 's', platform: 'cli', person: null, entries: [], taintedBy: [], cwd: scene.home.cwd },
        signal: new AbortController().signal,
      })
    await written('useless')
    await use('useless', 4, { corrected: 4 })
    await leave()
    await use('useless', 1, { corrected: 1 })
    await scene.type('curator pin useless')
    await leave()
    await scene.type('curator unpin useless')
    await scene.type('curator pause')
    await leave()
    await scene.type('curator resume')
    expect(await names()).toEqual(['useless'])
    expect(await leave()).toBe(false)
    expect(await names()).toEqual([])
    expect(await scene.type('curator list-archived')).toMatch(/^useless \| /)
    expect(requested).toEqual([])
  })

  it('judges a skill by runs that came to an answer, not by how often it was loaded', async () => {
    await written('theirs')
    for (let time = 0; time < 5; time++) await scene.call('skill_view', { name: 'theirs' })
    await use('theirs', 1)
    expect(await scene.type('skills stats')).toMatch(/^theirs \| 6× \| 1 completed \| 0 corrected \| .*, trial$/m)
    expect(await scene.type('curator run')).toBe('All skills are in order.')
  })

  it('does not count a correction against a skill where the run came to no answer', async () => {
    await written('theirs')
    await use('theirs', 1)
    const kept = new Map<string, unknown>()
    const scratch = (key: string, make: () => unknown) => {
      if (!kept.has(key)) kept.set(key, make())
      return kept.get(key)
    }
    const part = { type: 'text', text: '# Skill: theirs (user)\n\nDo it.' }
    const message = { role: 'tool', callId: 'c', toolName: 'skill_view', content: [part] }
    const requested = { role: 'user', content: [{ type: 'text', text: 'Do it.' }] }
    const entries = [requested, message].map((message, index) => ({ type: 'message', seq: index + 1, message }))
    const session = { id: 's', entries, prompt: () => ({ tools: [{ name: 'skill_view' }] }), state: { scratch } }
    const corrected = async (status: string) => {
      await scene.fire('run-end', { status, session })
      await scene.fire('input', { input: 'No, that is wrong.', session })
      await scene.fire('run-end', { status: 'interrupted' })
      return / (\d+ completed \| \d+ corrected)/.exec(await scene.type('skills stats'))![1]
    }
    expect(await corrected('interrupted')).toBe('1 completed | 0 corrected')
    expect(await corrected('completed')).toBe('2 completed | 1 corrected')
  })

  it('takes a skill that the person wrote over for theirs, and goes by nothing that was undone', async () => {
    await written('theirs')
    await scene.call('skill_manage', { action: 'patch', name: 'theirs', old_string: 'well', new_string: 'fast' })
    await scene.type(`journey undo ${(await scene.type('journey')).split('\n')[1]!.split(' ')[0]}`)
    expect(await scene.type('curator status')).toMatch(/^theirs \| trial \|.*\| of an agent \|/m)
    await own('theirs', 'Mine by now.')
    nowMs += 60 * DAY
    expect(await scene.type('curator run')).toBe('stale: theirs')
    await scene.call('skill_manage', { action: 'patch', name: 'theirs', old_string: 'Do', new_string: 'Never do' })
    expect(await scene.type('curator status')).toMatch(/^theirs \| stale \|.*\| yours \|/m)

    await written('gone')
    await scene.type(`journey undo ${(await scene.type('journey')).split('\n').at(-1)!.split(' ')[0]}`)
    await own('gone')
    expect(await scene.type('curator status')).toMatch(/^gone \|.*\| yours \|/m)
    const { records } = new SkillLibrary(scene.home)
    expect(Object.keys(records.read().skills)).toEqual(['theirs'])
  })

  it('goes by who wrote a skill first where it was noted before texts were', async () => {
    await own('old')
    await new SkillLibrary(scene.home).records.changeSkill('old', { isSelfWritten: true })
    nowMs += 60 * DAY
    expect(await scene.type('curator run')).toContain('archived: old (not used for ')
  })

  it('names what was not used for long, archives only what an agent wrote, and leaves pinned skills alone', async () => {
    await own('mine')
    await written('theirs')
    await written('pinned')
    expect(await scene.type('curator pin pinned')).toBe('pinned stays as it is.')
    nowMs += 15 * DAY
    expect(await scene.type('curator run')).toBe('stale: mine, theirs')
    nowMs += 20 * DAY
    expect(await scene.type('curator run')).toBe('archived: theirs (not used for 35 days)\nstale: mine')
    expect(await scene.type('curator status')).toMatch(
      /^mine \| stale \| 0× \| never used \| yours \|[\s\S]*^pinned \| pinned \|/m,
    )
    expect(await scene.call('skill_manage', { action: 'delete', name: 'pinned' })).toMatch(
      /^error: pinned is pinned by the user/,
    )
    await scene.type('curator unpin pinned')
    expect(await scene.type('curator run')).toContain('archived: pinned')
    await expect(scene.type('curator pin git-bisect')).rejects.toThrow('is a bundled skill')
    await expect(scene.type('curator restore nothing')).rejects.toThrow('nothing is not archived')
  })

  it('has a model propose what to merge; the parts go into the archive with a yes, and come back', async () => {
    await own('deploy-shop', 'Puts the web shop online on the server by rsync.')
    await own('release-shop', 'Puts the web shop online on the server and checks it by rsync.')
    await own('make-tea', 'Boils water.')
    answer = `Here: {"merges": [{"name": "deploy-shop", "absorbs": ["release-shop"], "description": "Puts the shop online.", "content": "1. rsync\\n2. check"}, {"name": "make-tea", "absorbs": ["git-bisect"], "description": "x", "content": "y"}]}`
    const ran = await scene.type('curator run')
    expect(requested[0]).toContain('## deploy-shop: ')
    expect(requested[0]).not.toContain('make-tea')
    const [, id] = /proposals to merge wait: hermes skills diff ([0-9a-f]{6})$/.exec(ran)!
    expect(await names()).toEqual(['deploy-shop', 'make-tea', 'release-shop'])
    expect(await scene.type(`skills diff ${id}`)).toMatch(
      /-\(the skill release-shop goes into \.archive\)[\s\S]*\+2\. check/,
    )
    await scene.type(`skills approve ${id}`)
    expect(await names()).toEqual(['deploy-shop', 'make-tea'])
    const [merged, gone] = (await scene.type('journey')).split('\n')
    expect(merged).toMatch(
      / \| skill \| curator, curator \| edit deploy-shop \(says the same kind of thing as release-shop\)$/,
    )
    await scene.type(`journey undo ${gone!.split(' ')[0]}`)
    await scene.type(`journey undo ${merged!.split(' ')[0]}`)
    expect(await scene.call('skill_view', { name: 'deploy-shop' })).toContain('Do deploy-shop.')
    expect(await scene.call('skill_view', { name: 'release-shop' })).toContain('Do release-shop.')
  })

  it('has the head of the skill that stays kept, and merges none that was changed meanwhile or is longer than the model is shown', async () => {
    const says = 'Puts the web shop online on the server by rsync'
    const head = `name: deploy-shop\ndescription: ${says}.\nlicense: MIT\nmetadata:\n  author: me\n  hermes-platforms: linux\n  hermes:\n    capabilities: [network]\n    variables: [SET]`
    await scene.put('home/skills/deploy-shop/SKILL.md', `---\n${head}\n---\n\nDo it.\n`)
    await own('release-shop', `${says} with checks.`)
    await own('long-shop', `${says} at length.`, 'Do it. '.repeat(2_000))
    const merge = (absorbs: readonly string[]) =>
      JSON.stringify({
        merges: [{ name: 'deploy-shop', absorbs, description: 'Puts it online.', content: '1. rsync' }],
      })
    answer = merge(['long-shop'])
    expect(await scene.type('curator run')).toBe('All skills are in order.')
    expect(requested[0]).toMatch(/## deploy-shop: [\s\S]*## release-shop: /)
    expect(requested[0]).not.toContain('long-shop')
    answer = merge(['release-shop'])
    const [, id] = /hermes skills diff ([0-9a-f]{6})$/.exec(await scene.type('curator run'))!
    const file = join(scene.home.directory, 'deploy-shop/SKILL.md')
    const old = await readFile(file, 'utf8')
    await scene.put('home/skills/deploy-shop/SKILL.md', `${old}Mine.\n`)
    await expect(scene.type(`skills approve ${id}`)).rejects.toThrow('was changed since this was proposed')
    expect(await names()).toContain('release-shop')
    await scene.put('home/skills/deploy-shop/SKILL.md', old)
    const absorbed = join(scene.home.directory, 'release-shop/SKILL.md')
    const taken = await readFile(absorbed, 'utf8')
    await scene.put('home/skills/release-shop/SKILL.md', `${taken}Mine.\n`)
    await expect(scene.type(`skills approve ${id}`)).rejects.toThrow('release-shop was changed since this was proposed')
    expect(await readFile(file, 'utf8')).toBe(old)
    await scene.put('home/skills/release-shop/SKILL.md', taken)
    await scene.type(`skills approve ${id}`)
    expect(await readFile(file, 'utf8')).toBe(
      '---\nname: deploy-shop\ndescription: "Puts it online."\nlicense: "MIT"\nmetadata:\n  hermes-platforms: "linux"\n  hermes-variables: "SET"\n  hermes-capabilities: "network"\n  author: "me"\n---\n\n1. rsync\n',
    )
  })

  it('works by itself once in an interval after a session was left, and not while it is paused', async () => {
    await written('theirs')
    const left = {
      sessionId: 's',
      platform: 'cli',
      person: null,
      entries: [],
      taintedBy: [],
      cwd: scene.home.cwd,
      signal: new AbortController().signal,
    }
    nowMs += 60 * DAY
    await scene.skills.afterSession(left)
    expect(await names()).toEqual(['theirs'])
    await scene.type('curator pause')
    nowMs += 8 * DAY
    await scene.skills.afterSession(left)
    expect(await names()).toEqual(['theirs'])
    await scene.type('curator resume')
    await scene.skills.afterSession(left)
    expect(await names()).toEqual([])
    expect(await readdir(join(scene.home.directory, '.archive'))).toHaveLength(1)
  })
})

it('bundles bring several skills along under one command', async () => {
  await own('tests')
  await own('notes')
  await expect(scene.type('bundles create ship tests nothing')).rejects.toThrow('There is no skill "nothing"')
  await scene.type('bundles create ship tests notes', { description: 'Ships it.', instruction: 'Be quick.' })
  expect(await scene.type('bundles list')).toBe('/ship | tests, notes | Ships it.')
  expect(await scene.type('ship', { words: 'to staging' })).toBe('Use the skills tests, notes. Be quick. to staging')
  expect((await scene.send('Use the skills tests, notes. Be quick.')).map(({ type }) => type)).toEqual(['text', 'text'])
  await scene.type('bundles create ship notes', { description: 'Ships it.', instruction: 'Be slow.', force: true })
  expect(await scene.type('ship')).toBe('Use the skill notes. Be slow.')
  await expect(scene.type('bundles create ship tests')).rejects.toThrow('There is a bundle ship already')
  await scene.put('home/skill-bundles/odd.yaml', 'skills: [1, 2]')
  expect(await scene.type('bundles')).toMatch(/odd\.yaml is left out: "skills:" is a list of names\.$/)
  expect(await scene.doctor()).toContainEqual(expect.stringContaining('odd.yaml is left out'))
  await scene.type('bundles delete ship')
  expect(scene.commands.has('ship')).toBe(false)
  await expect(scene.type('bundles show ship')).rejects.toThrow('There is no bundle ship')
  await expect(scene.type('bundles lisst')).rejects.toThrow('Did you mean list?')
})

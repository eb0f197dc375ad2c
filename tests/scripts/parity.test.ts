import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { parityPage } from '../../scripts/parity.mjs'

let root: string
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'parity-'))
  await mkdir(join(root, 'docs'))
})
afterEach(() => rm(root, { recursive: true }))

const facts = {
  commands: [
    { path: [], flags: [{ names: ['-V', '--version'] }] },
    { path: ['chat'], flags: [{ names: ['-q', '--query'] }] },
    { path: ['config', 'get'], flags: [{ names: ['--json'] }] },
  ],
  slash: [{ name: 'new', aliases: ['reset'] }],
  keys: ['model.default', 'hooks'],
  variables: { read: ['HERMES_HOME'], terminal: ['TERMINAL_TIMEOUT'], keys: [['OPENAI_API_KEY', 'openai']] },
}
const page = async (data: object) => {
  await writeFile(join(root, 'docs/parity.json'), JSON.stringify(data))
  return parityPage(root, facts)[0]!.text
}

it('shows each row with its state; what the sources have is here, whatever was meant to come later', async () => {
  const text = await page({
    commands: {
      chat: 'here',
      'config get': 'later: the terminal',
      cron: 'later: schedules',
      login: 'renamed: auth add',
    },
    flags: { '-q': 'here', '--version': 'here' },
    'slash commands': { reset: 'here', pet: 'not here: mascots' },
    keys: { 'model.default': 'here', 'hooks.EVENT': 'here' },
    variables: { HERMES_HOME: 'here', OPENAI_API_KEY: 'later: models', TERMINAL_ENV: 'here' },
  })
  expect(text).toContain('| commands | 2 | 1 | 0 | 1 | 0 | 4 |')
  for (const row of ['| `config get` | here |', '| `cron` | later: schedules |', '| `/pet` | not here: mascots |'])
    expect(text).toContain(row)
  const lines = parityPage(root, facts).map((file) => file.text.split('\n').filter((line) => line.startsWith('  [')))
  expect(lines.slice(1)).toEqual([
    ['  ["pet", "There is no /pet here: mascots."],'],
    [
      '  ["cron", "hermes cron is not here yet; it comes with: schedules."],',
      '  ["login", "hermes login is called auth add here."],',
    ],
  ])
})

it.each([
  [{ commands: { chat: '' } }, 'commands, chat: has no state'],
  [{ commands: { chat: 'soon' } }, 'commands, chat: has no state'],
  [{ commands: { chat: 'later:' } }, 'commands, chat: has no state'],
  [{ commands: { chat: null } }, 'commands, chat: has no state'],
  [{ commands: { cron: 'here' } }, 'commands, cron: is said to be here, and is not'],
  [{ flags: { '--json': 'here' } }, 'flags, --json: is said to be here, and is not'],
  [{ 'slash commands': { goal: 'here' } }, 'slash commands, goal: is said to be here, and is not'],
  [{ keys: { 'model.defualt': 'here' } }, 'keys, model.defualt: is said to be here, and is not'],
  [{ variables: { HERMES_HOEM: 'here' } }, 'variables, HERMES_HOEM: is said to be here, and is not'],
  [{ commands: { chat: 'not here: nobody talks' } }, 'commands, chat: is said to be gone, and is here'],
  [{ comands: { chat: 'here' } }, 'comands: no such section'],
])('refuses %j', async (data, mistake) => {
  await expect(page(data)).rejects.toThrow(mistake)
})

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { checkConfig, homeLayout, loadConfig, platformEntry, setConfigValue } from './index.js'

async function homeWith(text: string) {
  const home = await mkdtemp(join(tmpdir(), 'hermes-config-'))
  onTestFinished(() => rm(home, { recursive: true }))
  await writeFile(homeLayout(home).config, text)
  const entry = async (name: string) => platformEntry(name, (await loadConfig({ home, env: { ROOM: 'blue' } })).own)
  return { home, entry }
}

it('what is said of a platform of an extension is read as that of Telegram, and its own keys are kept', async () => {
  const { entry } = await homeWith(`
platforms:
  lobby: { allowed_users: [123456789012345678, 007], require_mention: "yes", url: http://x, rooms: { main: "\${ROOM}" } }
platform_hints: { lobby: "Speak softly." }
platform_toolsets: { lobby: [file] }
`)
  expect(await entry('lobby')).toEqual({
    settings: expect.objectContaining({
      ...{ enabled: true, allowed_users: ['123456789012345678', '007'], require_mention: true, allow_all_users: false },
      ...{ url: 'http://x', rooms: { main: 'blue' } },
    }),
    hint: { append: 'Speak softly.' },
    toolsets: ['file'],
    problems: [],
  })
  const { settings } = await entry('other')
  expect(settings).toMatchObject({ enabled: true, allowed_users: [], allowed_chats: [] })
  expect(settings).not.toHaveProperty('token')
})

it('a mistake leaves it without settings, with its place; hints and toolsets have what is said elsewhere', async () => {
  const { home, entry } = await homeWith(
    'platforms:\n  lobby:\n    allow_all_users: maybe\nplatform_toolsets: { lobby: 7 }\n',
  )
  const { settings, toolsets, problems } = await entry('lobby')
  const { config } = homeLayout(home)
  expect([settings, toolsets]).toEqual([null, undefined])
  expect(problems).toEqual([
    `${config}:3:22: platforms.lobby.allow_all_users: it must be true or false, found the text "maybe".`,
    `${config}:4:29: platform_toolsets.lobby: it must be a list of texts, found 7.`,
  ])
})

it('names of other platforms harm nothing, are named as the keys of an extension, and can be set', async () => {
  const { home } = await homeWith('platforms:\n  discord: { reply_to_mode: all }\n')
  expect(await loadConfig({ home, env: {} })).toMatchObject({ source: 'file', problems: [] })
  expect(await checkConfig({ home, env: {} })).toMatchObject([{ unknownKey: 'platforms.discord', isHarmless: true }])
  await setConfigValue({ home, key: 'platforms.lobby.enabled', value: 'false' })
  expect((await loadConfig({ home, env: {} })).own.map(({ key }) => key)).toEqual([
    'platforms.discord',
    'platforms.lobby',
  ])
  await expect(setConfigValue({ home, key: 'platforms.telegrm.token', value: 'x' })).rejects.toThrow(
    /Did you mean platforms\.telegram\.token\?/,
  )
})

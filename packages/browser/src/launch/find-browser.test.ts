import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { findBrowser } from './find-browser.js'

async function folders(programs: Readonly<Record<string, readonly string[]>>) {
  const root = await mkdtemp(join(tmpdir(), 'hermes-find-'))
  onTestFinished(() => rm(root, { recursive: true }))
  for (const [folder, names] of Object.entries(programs)) {
    await mkdir(join(root, folder))
    for (const name of names) await writeFile(join(root, folder, name), '', { mode: 0o755 })
  }
  const env = {
    PATH: Object.keys(programs)
      .map((folder) => join(root, folder))
      .join(delimiter),
  }
  const find = (executable: string | null = null) => findBrowser({ env, executable, installed: [] })
  return { root, env, find }
}

it.each([
  'google-chrome-stable',
  'google-chrome',
  'chrome',
  'chromium',
  'chromium-browser',
  'brave-browser',
  'brave',
  'microsoft-edge-stable',
  'microsoft-edge',
])('finds %s', async (name) => {
  const { root, find } = await folders({ bin: [name] })
  expect(await find()).toBe(join(root, 'bin', name))
})

it('takes Chrome before Chromium, that before Brave, and that before Edge, wherever on the path they are', async () => {
  const all = { first: ['microsoft-edge', 'brave'], second: ['chromium'], third: ['google-chrome-stable'] }
  const { root, find } = await folders(all)
  expect(await find()).toBe(join(root, 'third', 'google-chrome-stable'))
})

it('takes the program that is named, and what is no program for none', async () => {
  const { root, find } = await folders({ bin: ['my-chrome'] })
  expect(await find('my-chrome')).toBe(join(root, 'bin', 'my-chrome'))
  await writeFile(join(root, 'bin', 'plain'), '', { mode: 0o644 })
  for (const name of ['plain', join(root, 'bin', 'plain'), 'nowhere'])
    await expect(find(name)).rejects.toThrow(
      `browser.executable of config.yaml is ${name}, and there is no such program.`,
    )
})

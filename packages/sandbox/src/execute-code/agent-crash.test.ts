import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdir, readFile, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { needs } from '@hermes/testkit/daemons'
import { expect, it, onTestFinished, vi } from 'vitest'
import { codeFolderIn } from '../local/code-folder.js'
import { codeScene, isAlive, PATH, pythonMissing } from './__fixtures__/code-scene.js'

const fixture = (name: string) => fileURLToPath(new URL(name, import.meta.url))

needs(pythonMissing)('a killed agent', () => {
  it('ends a program whose agent is killed, after it noticed; its folder goes later', async () => {
    const { tempDir, python } = await codeScene()
    const loader = fixture('../../../testkit/src/__fixtures__/load-sources.mjs')
    const script = fixture('./__fixtures__/code-agent.mjs')
    const args = ['--conditions=@hermes/source', '--import', loader, script, tempDir, PATH]
    const agent = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
    onTestFinished(() => void agent.kill('SIGKILL'))
    const [line] = (await once(agent.stdout, 'data')) as [Buffer]
    agent.kill('SIGKILL')
    await once(agent, 'exit')
    await vi.waitFor(() => expect(isAlive(Number(line))).toBe(false), { timeout: 10_000 })
    const daemon = Number(await readFile(join(tempDir, 'daemon'), 'utf8'))
    await vi.waitFor(() => expect(isAlive(daemon)).toBe(false), { timeout: 10_000 })
    expect(await readFile(join(tempDir, 'noticed'), 'utf8')).toBe('Agent process disconnected')

    const all = codeFolderIn(tempDir)
    const folders = await readdir(all)
    expect(folders).toHaveLength(1)
    await utimes(join(all, folders[0]!), 0, 0)
    expect((await python('print(1)')).status).toBe('success')
    expect(await readdir(all)).toEqual([])
  })
})

// Copies of the sessions, and ways back from damage, as a person meets them.
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { runCli } from '../support/cli.js'
import { useScene } from '../support/scene.js'

const scene = useScene()

const hermes = (args: readonly string[]) => runCli(args, scene)

async function talk(query: string): Promise<void> {
  scene.server.enqueue({ text: `Yes, ${query}` })
  expect((await hermes(['chat', '-q', query, '--base-url', scene.server.baseUrl, '-m', 'm'])).exitCode).toBe(0)
}

describe('hermes backup', () => {
  it('says in an empty home that there is nothing to copy', async () => {
    const nothing = await hermes(['backup', 'create'])
    expect(nothing).toMatchObject({ exitCode: 1, stdout: '' })
    expect(nothing.stderr).toMatch(/^hermes: There are no sessions yet: .*state\.db does not exist\.\n$/)
    const none = 'There are no backups yet; hermes backup create makes one.\n'
    expect(await hermes(['backup'])).toMatchObject({ exitCode: 0, stdout: '', stderr: none })
    expect(await hermes(['backup', 'verify'])).toMatchObject({ exitCode: 2, stderr: `hermes: ${none}` })
  })

  it('copies, checks and goes back, and keeps what was there before', async () => {
    await talk('remember the kettle')
    const created = await hermes(['backup', 'create'])
    expect(created).toMatchObject({ exitCode: 0, stderr: '' })
    const name = /state-\d{8}-\d{6}\.db/.exec(created.stdout)![0]
    await talk('remember the cup')
    expect((await hermes(['backup', 'verify', name])).stdout).toBe(`${name} is sound: 1 sessions, 2 messages\n`)
    expect((await hermes(['backup', 'restore', name])).exitCode).toBe(2)
    const restored = await hermes(['backup', 'restore', name, '--yes'])
    expect(restored).toMatchObject({ exitCode: 0, stderr: '' })
    expect((await hermes(['sessions', 'list'])).stdout).not.toContain('cup')
    const saved = /What was there before: (.*)\n/.exec(restored.stdout)![1]!
    expect((await hermes(['backup', 'restore', saved, '-y'])).exitCode).toBe(0)
    expect((await hermes(['sessions', 'list'])).stdout).toContain('cup')
    expect((await hermes(['backup', 'list', '--json'])).stdout.trim().split('\n')).toHaveLength(3)
  })

  it('refuses a damaged copy, and saves what can be read of a damaged store', async () => {
    for (const word of ['kettle', 'cup', 'spoon']) await talk(`${word} ${'and more '.repeat(150)}`)
    await hermes(['backup', 'create'])
    const [name] = await readdir(join(scene.home, 'backups'))
    for (const file of [join(scene.home, 'backups', name!), join(scene.home, 'state.db')]) {
      const bytes = await readFile(file)
      const page = Math.floor(bytes.indexOf('cup and more') / 4096) * 4096
      await writeFile(file, bytes.fill(0xff, page, page + 4096))
    }
    const verified = await hermes(['backup', 'verify'])
    expect(verified).toMatchObject({ exitCode: 1, stdout: '' })
    expect(verified.stderr).toMatch(/^state-.* is damaged: .*\n$/)
    expect((await hermes(['backup', 'restore', '-y'])).stderr).toMatch(
      /^hermes: .* is damaged .* and was not used\.\n$/,
    )
    const recovered = await hermes(['backup', 'recover'])
    expect(recovered).toMatchObject({ exitCode: 0 })
    const path = recovered.stdout.split(' ')[0]!
    expect((await hermes(['backup', 'restore', path, '-y'])).exitCode).toBe(0)
    expect((await hermes(['doctor', '--offline'])).stdout).toContain('Session database is sound')
    expect((await hermes(['sessions', 'list'])).stdout).toContain('kettle')
  })
})

import { chmod, lchown, mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { needs } from '@hermes/testkit/daemons'
import { expect, it, onTestFinished } from 'vitest'
import { createLocalEnvironment } from './local-environment.js'

async function shared() {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'hermes-links-')))
  onTestFinished(() => rm(root, { recursive: true, force: true }))
  const at = (...parts: string[]) => join(root, ...parts)
  await mkdir(at('shared/own'), { recursive: true })
  await mkdir(at('theirs'))
  await writeFile(at('theirs/file'), 'x')
  await chmod(at('shared'), 0o1777)
  const environment = createLocalEnvironment({ cwd: root, home: root, env: {}, outputDir: at('out') })
  onTestFinished(() => environment.close())
  return { at, environment }
}

it('follows links of the own user, and of others where not everybody writes', async () => {
  const { at, environment } = await shared()
  await symlink(at('theirs'), at('shared/link'))
  await symlink(at('shared/link'), at('out-of-it'))
  expect(await environment.realpath(at('out-of-it/file'))).toBe(at('theirs/file'))
  expect(await environment.realpath(at('shared/link/new'))).toBe(at('theirs/new'))
})

needs(process.getuid?.() === 0 ? null : 'only root gives files to others')(
  'of somebody else, a link in a shared folder',
  () => {
    it('is followed neither by its maker nor by where it leads', async () => {
      const { at, environment } = await shared()
      const refused = { code: 'environment.foreign_link' }
      await symlink(at('theirs'), at('shared/planted'))
      await lchown(at('shared/planted'), 1234, 1234)
      await expect(environment.realpath(at('shared/planted/file'))).rejects.toMatchObject(refused)
      await expect(environment.realpath(at('shared/own/../planted'))).rejects.toMatchObject(refused)
      await lchown(at('theirs'), 1234, 1234)
      await symlink(at('theirs'), at('shared/own-link'))
      await symlink(at('shared/own-link'), at('behind'))
      await expect(environment.realpath(at('behind/file'))).rejects.toMatchObject(refused)
      await symlink(at('theirs'), at('elsewhere'))
      expect(await environment.realpath(at('elsewhere/file'))).toBe(at('theirs/file'))
    })
  },
)

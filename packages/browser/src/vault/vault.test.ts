import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { codeOf, createVault } from './vault.js'

const LOGIN = { name: 'shop', origin: 'https://shop.test', user: 'ann', password: 'canary-opal-kestrel' }
let folder: string
let path: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hermes-vault-'))
  path = join(folder, 'deep', 'vault.json')
})
afterAll(() => rm(folder, { recursive: true, force: true }))

it('keeps logins so that only the passphrase gives them back', async () => {
  const vault = createVault(path)
  expect(await vault.exists()).toBe(false)
  await expect(vault.list()).rejects.toThrow('locked')
  await vault.unlock('open sesame')
  await Promise.all([vault.put(LOGIN), vault.put({ ...LOGIN, name: 'other' })])
  expect((await stat(path)).mode & 0o777).toBe(0o600)
  expect(await readFile(path, 'utf8')).not.toMatch(/canary|ann|shop/)
  const again = createVault(path)
  await expect(again.unlock('open says me')).rejects.toThrow('not the passphrase')
  expect(again.isOpen).toBe(false)
  await again.unlock('open sesame')
  expect(await again.list()).toEqual([
    { name: 'shop', origin: 'https://shop.test', user: 'ann', hasCodes: false },
    { name: 'other', origin: 'https://shop.test', user: 'ann', hasCodes: false },
  ])
  expect(await again.remove('other')).toBe(true)
  expect(await again.remove('other')).toBe(false)
})

it('says what is wrong with a login or a file, and quotes no password', async () => {
  const vault = createVault(path)
  await vault.unlock('open sesame')
  for (const wrong of [
    { origin: 'https://shop.test/login' },
    { origin: 'file:///x' },
    { name: 'a b' },
    { password: '' },
    { seed: '1!' },
  ])
    await expect(vault.put({ ...LOGIN, ...wrong })).rejects.toThrow(/^The login was not kept: (?!.*canary)/)
  await writeFile(join(folder, 'broken.json'), '{')
  await expect(createVault(join(folder, 'broken.json')).unlock('x')).rejects.toThrow('is no vault')
})

it('makes the codes of RFC 6238', () => {
  const login = { ...LOGIN, seed: 'GEZD GNBV GY3T QOJQ GEZD GNBV GY3T QOJQ' }
  const codes = [59, 1111111109, 1234567890, 20000000000].map((seconds) => codeOf(login, seconds * 1000))
  expect(codes).toEqual(['287082', '081804', '005924', '353130'])
  expect(codeOf(LOGIN, 0)).toBeNull()
})

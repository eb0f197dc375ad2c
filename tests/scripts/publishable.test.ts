import { execFile, execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { problemsOfTarball } from '../../scripts/publishable.mjs'

const script = join(import.meta.dirname, '../../scripts/publishable.mjs')
const DAY_MS = 86_400_000
let root: string

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'publishable-'))
})
afterEach(() => rm(root, { recursive: true }))

async function write(path: string, content: string) {
  await mkdir(dirname(join(root, path)), { recursive: true })
  await writeFile(join(root, path), content)
}

/** What the script says, in a process of its own, so that this one can serve. */
async function ask(name: string, ...input: readonly unknown[]): Promise<unknown> {
  const words = input.map((argument) => JSON.stringify(argument)).join()
  const code = `import { ${name} } from ${JSON.stringify(script)}; console.log(JSON.stringify(${name}(${words})))`
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', code])
  return JSON.parse(stdout)
}

describe('a tarball', () => {
  async function pack(manifest: object): Promise<string> {
    await write('package/package.json', JSON.stringify({ name: 'a', version: '1.0.0', ...manifest }))
    await write('package/dist/index.js', '')
    execFileSync('tar', ['-czf', 'a.tgz', 'package'], { cwd: root })
    return join(root, 'a.tgz')
  }

  it('is fit to publish when it brings what its manifest names', async () => {
    const exports = {
      '.': { types: './dist/index.js', default: './dist/index.js' },
      './package.json': './package.json',
    }
    const tarball = await pack({ exports, scripts: { test: 'vitest' }, dependencies: { b: '^1.2.0' } })
    expect(problemsOfTarball(tarball)).toEqual([])
  })

  it.each([
    ['a range of the workspace', { dependencies: { b: 'workspace:^' } }, /b by "workspace:\^"/],
    ['a range of the catalog', { optionalDependencies: { b: 'catalog:' } }, /b by "catalog:"/],
    ['a script that runs at install', { scripts: { postinstall: 'node x.js' } }, /script "postinstall"/],
    ['an export that is missing', { exports: { './x': { default: './dist/x.js' } } }, /names dist\/x\.js/],
    ['a program that is missing', { bin: { a: 'dist/bin.js' } }, /names dist\/bin\.js/],
  ])('is not for %s', async (_, manifest, problem) => {
    expect(problemsOfTarball(await pack(manifest))).toEqual([expect.stringMatching(problem)])
  })
})

describe('what is depended on', () => {
  /** Days since each was published; `null` where the registry does not say. */
  const AGES = { accepted: 6, old: 8, undated: null, young: 6 }
  let registry: Server

  beforeEach(async () => {
    registry = createServer((request, response) => {
      const { port } = registry.address() as AddressInfo
      const name = request.url!.slice(1) as keyof typeof AGES
      const dist = { tarball: `http://127.0.0.1:${port}/${name}-1.0.0.tgz`, integrity: INTEGRITY }
      const days = AGES[name]
      const published = new Date(Date.now() - (days ?? 0) * DAY_MS).toISOString()
      const found = {
        name,
        'dist-tags': { latest: '1.0.0' },
        versions: { '1.0.0': { name, version: '1.0.0', dist } },
        ...(days === null ? {} : { time: { created: published, modified: published, '1.0.0': published } }),
      }
      response.writeHead(name in AGES ? 200 : 404, { 'content-type': 'application/json' })
      response.end(JSON.stringify(found))
    }).listen(0, '127.0.0.1')
    await once(registry, 'listening')
    const { port } = registry.address() as AddressInfo
    await write('.npmrc', `registry=http://127.0.0.1:${port}/\n`)
    await write(
      'pnpm-workspace.yaml',
      `packages: []\npmOnFail: ignore\nstoreDir: ${join(root, 'store')}\ncacheDir: ${join(root, 'cache')}\n`,
    )
    const dependencies = Object.fromEntries(Object.keys(AGES).map((name) => [name, '1.0.0']))
    await write('package.json', JSON.stringify({ name: 'a', private: true, dependencies }))
    await write('pnpm-lock.yaml', lockfile(Object.keys(AGES)))
  })
  afterEach(() => {
    registry.close()
  })

  const problem = async (...more: unknown[]) => await ask('problemOfDependencies', root, ...more)

  it('is fit where what is younger than a week is accepted', async () => {
    expect(await problem(['accepted@1.0.0', 'young@1.0.0'])).toBeNull()
  })

  it('is not when another version of the young one is accepted; for a build it needs no date', async () => {
    const text = await problem(['accepted@1.0.0', 'young@1.0.1'])
    expect(text).toMatch(/young@1\.0\.0 was published at/)
    expect(text).not.toMatch(/(?:accepted|old|undated)@1/)
  })

  it('is not for a release where the registry gives no dates', async () => {
    const text = await problem()
    expect(text).toMatch(/undated@1\.0\.0/)
    expect(text).not.toMatch(/old@1/)
  })
})

const INTEGRITY = `sha512-${Buffer.alloc(64).toString('base64')}`

function lockfile(names: readonly string[]): string {
  const each = (write: (name: string) => string) => names.map(write).join('')
  return `lockfileVersion: '9.0'

settings:
  autoInstallPeers: true
  excludeLinksFromLockfile: false

importers:

  .:
    dependencies:
${each((name) => `      ${name}:\n        specifier: 1.0.0\n        version: 1.0.0\n`)}
packages:
${each((name) => `\n  ${name}@1.0.0:\n    resolution: {integrity: ${INTEGRITY}}\n`)}
snapshots:
${each((name) => `\n  ${name}@1.0.0: {}\n`)}`
}

import { execFile, execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'

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
    expect(await ask('problemsOfTarball', tarball)).toEqual([])
  })

  it.each([
    ['a range of the workspace', { dependencies: { b: 'workspace:^' } }, /b by "workspace:\^"/],
    ['a range of the catalog', { optionalDependencies: { b: 'catalog:' } }, /b by "catalog:"/],
    ['a script that runs at install', { scripts: { postinstall: 'node x.js' } }, /script "postinstall"/],
    ['an export that is missing', { exports: { './x': { default: './dist/x.js' } } }, /names dist\/x\.js/],
    ['a program that is missing', { bin: { a: 'dist/bin.js' } }, /names dist\/bin\.js/],
  ])('is not for %s', async (_, manifest, problem) => {
    expect(await ask('problemsOfTarball', await pack(manifest))).toEqual([expect.stringMatching(problem)])
  })
})

describe('what is depended on', () => {
  let registry: Server
  let publishedMs: number | null

  beforeEach(async () => {
    registry = createServer((request, response) => {
      const { port } = registry.address() as AddressInfo
      const dist = { tarball: `http://127.0.0.1:${port}/b-1.0.0.tgz`, integrity: INTEGRITY }
      const published = publishedMs === null ? null : new Date(publishedMs).toISOString()
      const found = {
        name: 'b',
        'dist-tags': { latest: '1.0.0' },
        versions: { '1.0.0': { name: 'b', version: '1.0.0', dist } },
        ...(published === null ? {} : { time: { created: published, modified: published, '1.0.0': published } }),
      }
      response.writeHead(request.url === '/b' ? 200 : 404, { 'content-type': 'application/json' })
      response.end(JSON.stringify(found))
    }).listen(0, '127.0.0.1')
    await once(registry, 'listening')
    const { port } = registry.address() as AddressInfo
    await write(
      '.npmrc',
      `registry=http://127.0.0.1:${port}/
`,
    )
    await write(
      'pnpm-workspace.yaml',
      `packages: []\npmOnFail: ignore\nstoreDir: ${join(root, 'store')}\ncacheDir: ${join(root, 'cache')}\n`,
    )
    await write('package.json', JSON.stringify({ name: 'a', private: true, dependencies: { b: '1.0.0' } }))
    await write('pnpm-lock.yaml', LOCKFILE)
  })
  afterEach(() => {
    registry.close()
  })

  it('is fit when it is older than a week', async () => {
    publishedMs = Date.now() - 8 * DAY_MS
    expect(await ask('problemOfDependencies', root)).toBeNull()
  })

  it('is not when a version is younger, unless that very version is accepted, not another one', async () => {
    publishedMs = Date.now() - 6 * DAY_MS
    expect(await ask('problemOfDependencies', root, ['b@1.0.0'])).toBeNull()
    expect(await ask('problemOfDependencies', root, ['b@1.0.1'])).toMatch(/b@1\.0\.0 was published at/)
  })

  it('is not for a release where the registry gives no dates, and is for a build', async () => {
    publishedMs = null
    expect(await ask('problemOfDependencies', root)).toMatch(/b@1\.0\.0/)
    expect(await ask('problemOfDependencies', root, [])).toBeNull()
  })
})

const INTEGRITY = `sha512-${Buffer.alloc(64).toString('base64')}`

const LOCKFILE = `lockfileVersion: '9.0'

settings:
  autoInstallPeers: true
  excludeLinksFromLockfile: false

importers:

  .:
    dependencies:
      b:
        specifier: 1.0.0
        version: 1.0.0

packages:

  b@1.0.0:
    resolution: {integrity: ${INTEGRITY}}

snapshots:

  b@1.0.0: {}
`

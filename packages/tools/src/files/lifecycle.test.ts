import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { JsonObject } from '@hermes/contracts'
import type { Tool } from '@hermes/contracts/tool'
import { expect, it } from 'vitest'
import { call, createToolContext, temporaryEnvironment } from '../__fixtures__/test-context.js'
import { createPatchTool, createWriteFileTool } from '../index.js'

const PLAIN = '{"name":"a","scripts":{"test":"vitest"}}'
const HOOKED = '{"name":"a","scripts":{"test":"vitest","postinstall":"node x.js"}}'

/** A folder with a `package.json`, and what is asked once more because it runs later; `deny` refuses that. */
async function setUp(text: string | null, { deny = false } = {}) {
  const { folder, environment } = await temporaryEnvironment()
  const file = join(folder, 'package.json')
  if (text !== null) await writeFile(file, text)
  const runsLater = (action: object) => 'runsLater' in action
  const context = createToolContext({ environment, deny: (action) => deny && runsLater(action) })
  const use = (tool: Tool, args: JsonObject) => call(tool, args, context)
  const requested = () => context.permitted.filter(runsLater)
  return { folder, use, requested, text: () => readFile(file, 'utf8') }
}

const WAYS: readonly (readonly [name: string, use: (scene: Awaited<ReturnType<typeof setUp>>) => Promise<unknown>])[] =
  [
    ['write_file', ({ use }) => use(createWriteFileTool(), { path: 'package.json', content: HOOKED })],
    [
      'an edit',
      ({ use }) =>
        use(createPatchTool(), {
          path: 'package.json',
          old_string: '"vitest"',
          new_string: '"vitest","postinstall":"node x.js"',
        }),
    ],
    [
      'a patch',
      ({ use }) =>
        use(createPatchTool(), {
          mode: 'patch',
          patch: `*** Begin Patch\n*** Update File: package.json\n@@\n-${PLAIN}\n+${HOOKED}\n*** End Patch\n`,
        }),
    ],
  ]

it.each(WAYS)(
  'a package.json that gets an install script by %s is asked about once more, by its name',
  async (_, by) => {
    const scene = await setUp(PLAIN)
    await by(scene)
    expect(await scene.text()).toContain('postinstall')
    expect(scene.requested()).toEqual([
      {
        type: 'write',
        path: join(scene.folder, 'package.json'),
        operation: 'write',
        backend: 'local',
        runsLater: true,
      },
    ])
  },
)

it.each(WAYS)('a package.json stays as it was where %s is not permitted', async (_, by) => {
  const scene = await setUp(PLAIN, { deny: true })
  await by(scene)
  expect(await scene.text()).toBe(PLAIN)
})

it.each([
  ['other scripts', PLAIN, PLAIN.replace('vitest', 'vitest run'), 0],
  ['a version', HOOKED, HOOKED.replace('"a"', '"b"'), 0],
  ['the same install script', HOOKED, HOOKED, 0],
  ['another install script', HOOKED, HOOKED.replace('x.js', 'y.js'), 1],
  ['none any more', HOOKED, PLAIN, 1],
  ['hooks of git', PLAIN, '{"husky":{"hooks":{"pre-commit":"x"}}}', 1],
  ['a first one with an install script', null, HOOKED, 1],
  ['a first one without', null, PLAIN, 0],
])('a package.json with %s', async (_, before, after, expected) => {
  const { use, requested } = await setUp(before)
  await use(createWriteFileTool(), { path: 'package.json', content: after })
  expect(requested()).toHaveLength(expected)
})

it('a link to a package.json is asked about as the file it leads to', async () => {
  const { folder, use, requested } = await setUp(PLAIN)
  await symlink('package.json', join(folder, 'notes.txt'))
  await use(createWriteFileTool(), { path: 'notes.txt', content: HOOKED })
  expect(requested()).toMatchObject([{ path: join(folder, 'package.json') }])
})

it.each([
  ['write_file', createWriteFileTool(), { path: 'build/common.mk', content: 'all:\n\tevil\n' }],
  ['an edit', createPatchTool(), { path: 'build/common.mk', old_string: 'true', new_string: 'evil' }],
  [
    'a patch',
    createPatchTool(),
    {
      mode: 'patch',
      patch: '*** Begin Patch\n*** Update File: build/common.mk\n@@\n all:\n-\ttrue\n+\tevil\n*** End Patch\n',
    },
  ],
] as const)('a file that a Makefile includes from elsewhere is asked about once more by %s', async (_, tool, args) => {
  for (const deny of [false, true]) {
    const { folder, use, requested } = await setUp(null, { deny })
    const included = join(folder, 'build/common.mk')
    await mkdir(join(folder, 'build'))
    await mkdir(join(folder, 'packages/a'), { recursive: true })
    await writeFile(join(folder, 'packages/a/Makefile'), '-include ../../build/common.mk\n')
    await writeFile(included, 'all:\n\ttrue\n')
    await use(tool, args)
    if (!deny) expect(requested()).toMatchObject([{ type: 'write', path: included, runsLater: true }])
    expect(await readFile(included, 'utf8')).toBe(deny ? 'all:\n\ttrue\n' : 'all:\n\tevil\n')
  }
})

it('the Makefile itself, and what none includes, is asked about as any file', async () => {
  const { folder, use, requested } = await setUp(null)
  await writeFile(join(folder, 'Makefile'), 'include $(DEPS)\n')
  for (const path of ['Makefile', 'other.mk']) await use(createWriteFileTool(), { path, content: 'all:\n\tx\n' })
  expect(requested()).toEqual([])
})

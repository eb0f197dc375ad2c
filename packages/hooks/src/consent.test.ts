import { mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { openConsents } from './consent.js'
import type { HookDeclaration } from './declarations.js'
import { EVENTS } from './event-table.js'

let folder: string
beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'consent-')))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

const hook = (command: string): HookDeclaration => ({
  ...{ form: 'claude', event: 'PreToolUse', row: EVENTS.claude['PreToolUse']!, matcher: null, only: null, command },
  ...{ timeoutMs: 1_000, onFailure: 'default', isAsync: false, source: 'x', project: null },
})

it.each(['sh guard', './guard', 'bash -c "sh guard"', '"$CLAUDE_PROJECT_DIR"/guard', 'A=1 sh<guard'])(
  'a yes to %s is for what the file holds',
  async (command) => {
    const consents = openConsents(join(folder, 'consents.json'))
    const places = { userHome: '/nowhere', folder }
    await writeFile(join(folder, 'guard'), 'exit 2')
    expect(await consents.state(hook(command), places)).toBe('unknown')
    await consents.agree([hook(command)], places)
    expect(await consents.state(hook(command), places)).toBe('agreed')
    await writeFile(join(folder, 'guard'), 'exit 0')
    expect(await consents.state(hook(command), places)).toBe('changed')
  },
)

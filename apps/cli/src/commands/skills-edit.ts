import { cp, mkdtemp, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { homeLayout } from '@hermes/config'
import { UsageError } from '../errors.js'
import { homeCommand } from '../home-command.js'
import type { Io } from '../io.js'
import { homeOf } from '../open-cli.js'
import { editorOf, runEditor } from './run-editor.js'

/** Shows a skill of one's own in the person's editor; what comes out is checked before it counts. */
export async function skillsEdit(io: Io, name: string): Promise<number> {
  const editor = editorOf(io)
  if (editor === null)
    throw new UsageError(`There is no terminal for an editor here. Use: hermes skills edit ${name} --file FILE`)
  const current = join(homeLayout(homeOf(io)).skills, name, 'SKILL.md')
  const folder = await mkdtemp(join(io.tempDir, 'hermes-skill-'))
  const file = join(folder, 'SKILL.md')
  try {
    const before = /^[a-z0-9-]+$/.test(name) ? await readFile(current, 'utf8').catch(() => null) : null
    // What is no skill of the home is told by the command itself.
    if (before === null) return await homeCommand(io, 'skills', { words: ['edit', name] })
    await cp(current, file)
    await runEditor(editor, file)
    if ((await readFile(file, 'utf8')) === before) {
      io.stdout.write('Nothing was changed.\n')
      return 0
    }
    return await homeCommand(io, 'skills', { words: ['edit', name], file })
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

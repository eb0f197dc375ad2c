import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { checkConfig, homeLayout, readText } from '@hermes/config'
import { errorLine } from '@hermes/contracts'
import { writePrivate } from '@hermes/files'
import { EXIT, UsageError } from '../errors.js'
import { canAsk, type Io } from '../io.js'
import { homeOf } from '../open-cli.js'
import { printable } from '../render/style.js'
import { editorOf, runEditor } from './run-editor.js'

const BEGIN = `# yaml-language-server: $schema=https://unpkg.com/@hermes/config/generated/config.schema.json
# What may be here: hermes config show --all
`

type Decision = 'keep' | 'again' | 'drop'

/**
 * `hermes config edit`: the editor gets a copy. One that is not sound takes the place of config.yaml only where the person says so; where nobody
 * can be asked, it does not, and the exit code is 1.
 */
export async function configEdit(io: Io): Promise<number> {
  const editor = editorOf(io)
  if (editor === null)
    throw new UsageError('There is no terminal for an editor here. Change one value: hermes config set KEY VALUE')
  const file = homeLayout(homeOf(io)).config
  const before = await readText(file).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return ''
    throw new UsageError(`Cannot read ${file}: ${errorLine(error)}`)
  })
  const folder = await mkdtemp(join(io.tempDir, 'hermes-config-'))
  const copy = homeLayout(folder).config
  try {
    await writeFile(copy, before || BEGIN, { mode: 0o600 })
    for (;;) {
      await runEditor(editor, copy)
      const after = await readFile(copy, 'utf8')
      if (after === (before || BEGIN)) return unchanged(io)
      const problems = await problemsOf(io, folder, file)
      for (const line of problems) io.stderr.write(`${printable(line)}\n`)
      const decision = problems.length === 0 ? 'keep' : await ask(io)
      if (decision === 'again') continue
      if (decision === 'drop') return unchanged(io, EXIT.failed)
      await keep(file, before, after)
      io.stdout.write(`Kept in ${file}.\n`)
      return EXIT.ok
    }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** What something else wrote meanwhile stays: the edited text is put beside it. */
async function keep(file: string, before: string | null, after: string): Promise<void> {
  const now = await readText(file).catch(() => '')
  if ((now ?? '') === (before ?? '')) return writePrivate(file, after)
  await writePrivate(`${file}.edited`, after)
  throw new UsageError(`${file} was changed by something else meanwhile, so it stays. Your text is in ${file}.edited.`)
}

function unchanged(io: Io, exitCode: number = EXIT.ok): number {
  io.stderr.write('Nothing was changed.\n')
  return exitCode
}

async function problemsOf(io: Io, folder: string, file: string): Promise<readonly string[]> {
  const problems = await checkConfig({ home: folder, env: io.env })
  return problems
    .filter(({ isHarmless, unknownKey }) => !isHarmless && unknownKey === undefined)
    .map(({ message }) =>
      message
        .replaceAll(homeLayout(folder).config, file)
        .replace(/ The defaults are used; nothing was overwritten\..*$/, ''),
    )
}

async function ask(io: Io): Promise<Decision> {
  if (!canAsk(io)) return 'drop'
  const { createAsker } = await import('../interactive/person.js')
  const options = [
    { label: 'edit it again', key: 'e', decision: 'again' },
    { label: 'keep it all the same: the last good values count until it is sound', key: 'k', decision: 'keep' },
    { label: 'throw the change away', key: 't', decision: 'drop' },
  ] as const
  const answer = await createAsker(io).pick({
    title: 'This is not sound. What now?',
    options: [...options],
    freeText: false,
  })
  return answer.type === 'option' ? options[answer.index]!.decision : 'drop'
}

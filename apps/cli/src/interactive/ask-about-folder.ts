import { type Runtime, trustQuestion } from '@hermes/runtime'
import { confirm } from '../confirm.js'
import type { Io } from '../io.js'
import { printable } from '../render/style.js'

const SHOWN = 10

/** Asks once about the project here, whose files and programs nobody trusts yet, and about hooks that wait for a consent. */
export async function askAboutFolder(io: Io, { hooks, trust }: Pick<Runtime, 'hooks' | 'trust'>): Promise<void> {
  await askForTrust(io, trust)
  const { hooks: listed } = await hooks.list(io.cwd)
  const waiting = listed.filter(({ consent }) => consent !== 'agreed')
  if (waiting.length === 0) return
  const lines = waiting
    .slice(0, SHOWN)
    .map(
      ({ hook, consent }) =>
        `  ${hook.event}: ${hook.command}${consent === 'changed' ? ' (changed since your last yes)' : ''}`,
    )
  const more = waiting.length > SHOWN ? [`  and ${waiting.length - SHOWN} more`] : []
  const title = printable(
    ['Hooks run programs at events, as you, outside the isolation:', ...lines, ...more, 'Let them run?'].join('\n'),
  )
  if (await confirm(io, title, 'yes')) await hooks.agree(io.cwd)
}

/** The answer is kept until what the project brings is another. */
async function askForTrust(io: Io, trust: Runtime['trust']): Promise<void> {
  const cover = await trust.look(io.cwd)
  const question = trustQuestion(cover)
  if (question !== null) await trust.answer(cover.folder, await confirm(io, printable(question), 'yes'))
}

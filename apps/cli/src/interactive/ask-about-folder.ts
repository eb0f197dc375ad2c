import { type Runtime, trustQuestion } from '@hermes/runtime'
import { confirm } from '../confirm.js'
import type { Io } from '../io.js'
import { printable } from '../render/style.js'

/** Of hooks at once: a yes is for what was shown. */
const SHOWN = 10

/** Asks once about the project here, whose files and programs nobody trusts yet, and about hooks that wait for a consent. */
export async function askAboutFolder(io: Io, { hooks, trust }: Pick<Runtime, 'hooks' | 'trust'>): Promise<void> {
  await askForTrust(io, trust)
  const { hooks: listed } = await hooks.list(io.cwd)
  const waiting = listed.filter(({ consent }) => consent !== 'agreed')
  for (let from = 0; from < waiting.length; from += SHOWN) {
    const shown = waiting.slice(from, from + SHOWN)
    const lines = shown.map(
      ({ hook, consent }) =>
        `  ${hook.event}: ${hook.command}${consent === 'changed' ? ' (changed since your last yes)' : ''}`,
    )
    const rest = waiting.length - from - shown.length
    const question = rest === 0 ? 'Let them run?' : `Let them run? (${rest} more after these)`
    const title = ['Hooks run programs at events, as you, outside the isolation:', ...lines, question].join('\n')
    if (!(await confirm(io, printable(title), 'yes'))) return
    await hooks.agree(
      io.cwd,
      shown.map(({ number }) => number),
    )
  }
}

/** The answer is kept until what the project brings is another. */
async function askForTrust(io: Io, trust: Runtime['trust']): Promise<void> {
  const cover = await trust.look(io.cwd)
  const question = trustQuestion(cover)
  if (question !== null)
    await trust.answer(cover.folder, await confirm(io, printable(question), 'yes', { needsEnter: true }))
}

import type { FolderCover } from '@hermes/config'

const SHOWN = 10

/** What a person is asked about a project that they have not answered for, or that is another one since; `null` where nothing is to be asked. */
export function trustQuestion({ folder, state, brings, changed, isRepository }: FolderCover): string | null {
  if (state === 'trusted' || state === 'declined' || (brings.length === 0 && !isRepository)) return null
  const lines = brings.map(({ kind, paths }) => `  ${kind}: ${paths.slice(0, SHOWN).join(', ')}`)
  const note = changed.length > 0 ? [`  changed since your last yes: ${changed.slice(0, SHOWN).join(', ')}`] : []
  return [
    lines.length > 0
      ? `${folder} brings what instructs the agent or runs by itself:`
      : `${folder} is a project you have not answered for yet.`,
    ...lines,
    ...note,
    'Until you trust it, its files count as text from outside: more is asked, and commands lose the network.',
    'Trust it?',
  ].join('\n')
}

// What waits for a yes, as a person sees it.
import type { JsonObject } from '@hermes/contracts'
import type { CommandOutput } from '@hermes/contracts/extension'
import { visibleText } from '@hermes/safety'
import type { SkillCapability, SkillHead } from '../format/skill.js'
import type { OfferedSkill } from '../install/installer.js'
import { shownPath } from '../install/plain.js'
import { sourceTrust } from '../install/source-trust.js'

/** A skill that waits, as a person sees it before they say yes. */
export function factsOf(
  offered: OfferedSkill,
  trusted: readonly string[],
): { readonly text: string; readonly isRisky: boolean } {
  const { name, from, pin, scanned, installed, warnings } = offered
  const { head, files, bytes, findings } = scanned
  const trust = sourceTrust(from, trusted)
  const isRisky = warnings.length > 0 || (trust === 'community' && findings.some(({ severity }) => severity === 'high'))
  const changes = installed === null ? [] : changesBetween(installed.files, files)
  const lines = [
    `${name}: ${head.description.slice(0, 300)}`,
    `from ${from}${pin === null ? '' : ` at ${pin.slice(0, 12)}`}${trust === 'trusted' ? ', a source that you trust' : ''}`,
    `files (${Object.keys(files).length}, ${Math.ceil(bytes / 1024)} KB): ${Object.keys(files).map(shownPath).join(', ')}`,
    ...(changes.length > 0 ? [`since the installed one: ${changes.join(', ')}`] : []),
    `its programs: ${mayDo(head, installed?.head.capabilities)}`,
    ...(head.variables.length > 0 ? [wants(head)] : []),
    ...warnings.map((text) => `LOOK: ${text}`),
    ...findings.map(
      ({ severity, text }) =>
        `${severity === 'note' ? 'note' : severity === 'high' ? 'LOOK' : 'NOT INSTALLED'}: ${text}`,
    ),
  ]
  return { text: visibleText(lines.join('\n')), isRisky }
}

/** How what waits under `id` is installed, or not; nothing where the caller asks for itself (`isAnswered`). */
export function question(name: string, id: string, isRisky: boolean, args: JsonObject): readonly CommandOutput[] {
  if (args['isAnswered'] === true) return []
  const answer = `skills accept ${id}${isRisky ? ' --force' : ''}`
  return [
    { type: 'text', text: `It does nothing yet. To install it: hermes ${answer}` },
    {
      type: 'choice',
      question: `Install ${name}?`,
      options: [
        { label: 'Install', line: `/${answer}` },
        { label: 'No', line: `/skills discard ${id}` },
      ],
    },
  ]
}

/** What is held back from its programs, and what an update would newly let them do. */
export function mayDo(
  { capabilities }: Pick<SkillHead, 'capabilities'>,
  before: SkillHead['capabilities'] = capabilities,
): string {
  const isNew = (one: SkillCapability) => (before.includes(one) ? '' : ' (new)')
  const granted = new Set(capabilities)
  return [
    granted.has('exec') ? `run${isNew('exec')}` : 'run only after a yes',
    granted.has('network') ? `use the network${isNew('network')}` : 'no network',
    granted.has('secrets') ? `get the variables it wants${isNew('secrets')}` : 'no keys',
  ].join(', ')
}

function wants({ capabilities, variables }: SkillHead): string {
  const none = capabilities.includes('secrets') ? '' : ', and gets none: it has not declared secrets'
  return `wants the variables: ${variables.join(', ')}${none}`
}

function changesBetween(before: Readonly<Record<string, string>>, after: Readonly<Record<string, string>>) {
  const all = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort()
  return all.flatMap((path) =>
    before[path] === after[path]
      ? []
      : [
          `${shownPath(path)} ${before[path] === undefined ? 'is new' : after[path] === undefined ? 'is gone' : 'is another one'}`,
        ],
  )
}

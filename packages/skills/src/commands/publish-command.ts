import { HermesError, type JsonObject } from '@hermes/contracts'
import type { CommandContext, CommandResult } from '@hermes/contracts/extension'
import { shownPath } from '../install/plain.js'
import { publish, readPublication } from '../install/publish.js'
import type { SkillLibrary } from '../skill-library.js'

/** Shows what would be published where; with a yes it is. */
export async function publishSkill(
  [name, to, ...more]: readonly string[],
  args: JsonObject,
  { cwd, signal }: CommandContext,
  { library }: { readonly library: SkillLibrary },
): Promise<CommandResult> {
  if (name === undefined || to === undefined || more.length > 0)
    throw new HermesError('Use: hermes skills publish NAME FOLDER, or NAME OWNER/REPOSITORY of GitHub.', {
      code: 'commands.usage',
    })
  const publication = await readPublication(name, to, { library, cwd })
  if (args['yes'] === true) return { type: 'text', text: await publish(publication, { library, signal }) }
  const { files, findings, where } = publication
  const lines = [`${name} to ${where}`, `files (${files.length}): ${files.map(shownPath).join(', ')}`, ...findings]
  const line = `/skills publish ${name} ${to} --yes`
  return [
    { type: 'text', text: lines.join('\n') },
    { type: 'text', text: `Nothing was published yet. To publish it: hermes ${line.slice(1)}` },
    {
      type: 'choice',
      question: `Publish ${name}?`,
      options: [
        { label: 'Publish', line },
        { label: 'No', line: `/skills inspect ${name}` },
      ],
    },
  ]
}

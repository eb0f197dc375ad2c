import { errorLine } from '@hermes/contracts'
import type { Extension, ExtensionApi } from '@hermes/contracts/extension'
import { attachSkills } from './attach-skills.js'
import type { BundleStore } from './bundles/bundle-store.js'
import { bundlesCommand } from './commands/bundles-command.js'
import { curatorCommand } from './commands/curator-command.js'
import { journeyCommand, refineCommand } from './commands/journey-command.js'
import { countLine, reloadCommand, SkillCommands, skillCommand } from './commands/skill-commands.js'
import type { SkillsCommandParts } from './commands/skills-command.js'
import { skillsCommand } from './commands/typed-skills.js'
import { watchSessions } from './learning/session-watch.js'
import type { SkillPrompt } from './prompt-skills.js'
import { skillManageTool } from './tools/skill-manage.js'
import { skillViewTool } from './tools/skill-view.js'
import { skillsListTool } from './tools/skills-list.js'

/** What the extension is made of. */
interface ExtensionParts extends SkillsCommandParts {
  readonly bundles: BundleStore
  readonly prompt: Pick<SkillPrompt, 'settle'>
}

/** What skills add to agents and people: tools, commands, what a message brings along, and a check of `hermes doctor`. */
export function skillsExtension(parts: ExtensionParts): Extension {
  const { library, prompt } = parts
  return {
    name: 'skills',
    setup(api) {
      addTools(api, parts)
      // An interrupt ends what it waits for; references come after it.
      api.hooks.on('input', async (event) => ({ after: await attachSkills(event, library, parts.bundles) }), {
        order: 5,
      })
      watchSessions(api, library)
      const commands = new SkillCommands(library, parts.bundles, api.commands)
      addCommands(api, commands, parts)
      api.doctor.check({ name: 'skills', run: () => check(parts) })
      // Commands of Hermes and of the person come first, and the start does not wait for files.
      const started = Promise.resolve()
        .then(() => (library.home.takesCommands === false ? [] : commands.start()))
        .catch((error: unknown) =>
          library.home.logger.warn('Skills are no commands of their own.', { error: errorLine(error) }),
        )
      return async () => {
        await started
        await Promise.all([library.usage.flush(), prompt.settle()])
      }
    },
  }
}

function addTools(api: ExtensionApi, { library, writer }: ExtensionParts): void {
  api.tools.add(skillViewTool(library))
  api.tools.add(skillsListTool(library), { deferred: true })
  api.tools.add(skillManageTool(writer), { deferred: true })
}

function addCommands(api: ExtensionApi, commands: SkillCommands, parts: ExtensionParts): void {
  const { library, writer, curator, bundles } = parts
  const refresh = () => commands.refresh()
  api.commands.add(skillCommand(library))
  api.commands.add(bundlesCommand({ library, bundles, refresh }))
  api.commands.add(curatorCommand({ library, curator }))
  api.commands.add(journeyCommand({ library, writer }))
  api.commands.add(refineCommand({ library, writer }))
  api.commands.add(skillsCommand(parts, refresh))
  api.commands.add(reloadCommand(library, refresh))
}

async function check({ library, bundles, writer }: ExtensionParts) {
  const { skills, problems } = await library.index(library.home.cwd)
  const [{ problems: odd }, waiting] = await Promise.all([bundles.list(), writer.staged.list()])
  const waits =
    waiting.length === 0 ? [] : [`Changes of skills wait for your yes: ${waiting.length}. hermes skills pending`]
  return [
    ...[`Skills: ${countLine(skills)}`, ...waits].map((text) => ({ level: 'ok', text }) as const),
    ...[...problems, ...odd].map((text) => ({ level: 'warn', text }) as const),
  ]
}

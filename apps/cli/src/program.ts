import { Argument, type Command, Option } from 'commander'
import { ENTRY_POINTS } from './entry-points.js'
import type { Action } from './io.js'
import { type Io, withoutNotices } from './io.js'
import { addAuth } from './program/auth.js'
import { addBackup } from './program/backup.js'
import { addBrowser } from './program/browser.js'
import { addChat, createProgram } from './program/chat.js'
import { addCheckpoints } from './program/checkpoints.js'
import { addConfig } from './program/config.js'
import { exampleText } from './program/examples.js'
import { addFallback } from './program/fallback.js'
import { addGrowth } from './program/growth.js'
import { addHooks } from './program/hooks.js'
import { addImportAgent } from './program/import-agent.js'
import { addMcp } from './program/mcp.js'
import { addLearning, addMemory } from './program/memory.js'
import { addMoa } from './program/moa.js'
import { addModel } from './program/model.js'
import { addPairing } from './program/pairing.js'
import { addPlugins } from './program/plugins.js'
import { addPolicy } from './program/policy.js'
import { addProfile } from './program/profile.js'
import { addPrompt } from './program/prompt.js'
import { addBranching } from './program/sessions-branching.js'
import { addMarks, addMigrateSessions, addStoreCommands } from './program/sessions-store.js'
import { addSkills } from './program/skills.js'
import { addUpkeep } from './program/upkeep.js'
import { addUsage } from './program/usage.js'
import { addVault } from './program/vault.js'

/** The table of commands. A command that was named on the line is handed to `choose`; nothing runs before. */
export function buildProgram(choose: (action: Action) => void, io: Io): Command {
  const program = createProgram(io)
  addChat(program, choose)
  addSetup(program, choose)
  addModel(program, choose)
  addAuth(program, choose)
  addFallback(program, choose)
  addMoa(program, choose)
  addUsage(program, choose)
  addSessions(program, choose)
  addMigrateSessions(program, choose)
  addCheckpoints(program, choose)
  addBackup(program, choose)
  addConfig(program, choose)
  addProfile(program, choose)
  addMcp(program, choose)
  addBrowser(program, choose)
  addVault(program, choose)
  addMemory(program, choose)
  addLearning(program, choose)
  addSkills(program, choose)
  addGrowth(program, choose)
  addPlugins(program, choose)
  addPrompt(program, choose)
  addPolicy(program, choose)
  addHooks(program, choose)
  addPairing(program, choose)
  addTools(program, choose)
  program
    .command('doctor')
    .description('check the setup and say what to do')
    .option('--offline', 'do not ask the model server')
    .option('--fix', 'first show what can be set right, and do it: permissions of files, old names of keys')
    .option('-y, --yes', 'with --fix: do not ask')
    .action(({ fix, yes, ...options }) =>
      choose(async (world) => {
        if (fix) await (await import('./upkeep/doctor-fix.js')).doctorFix(world, { yes })
        return (await import('./home-command.js')).homeCommand(withoutNotices(world), 'doctor', options)
      }),
    )
  addImportAgent(program, choose)
  addUpkeep(program, choose)
  program
    .command('demo')
    .description('watch the agent fix a small broken project; needs no key and no network')
    .addOption(new Option('--record <file>', 'record a live endpoint instead').hideHelp())
    .addOption(new Option('--base-url <url>', 'the endpoint to record').hideHelp())
    .action((options) => choose(async (world) => (await import('./commands/demo.js')).demo(world, options)))
  program
    .command('completion')
    .description('print a completion script for a shell')
    .addArgument(new Argument('<shell>', 'which one').choices(['bash', 'zsh', 'fish', 'powershell']))
    .action((shell) =>
      choose(async (world) => (await import('./commands/completion.js')).completion(world, shell, program)),
    )
  for (const [name, { description }] of Object.entries(ENTRY_POINTS)) program.command(name).description(description)
  program.addHelpText('afterAll', ({ command }) => exampleText(command))
  for (const command of program.commands) command.exitOverride().copyInheritedSettings(program)
  return program
}

function addSetup(program: Command, choose: (action: Action) => void): void {
  program
    .command('setup')
    .description('choose a model: finds keys and local servers, asks for the rest, tests the choice')
    .option('--provider <name>', 'provider to use; asks nothing')
    .option('--model <id>', 'model to use')
    .option('--base-url <url>', 'any OpenAI-compatible endpoint')
    .option('--key-env <name>', 'the environment variable that holds the key')
    .action((options) => choose(async (world) => (await import('./commands/setup.js')).setup(world, options)))
}

function addTools(program: Command, choose: (action: Action) => void): void {
  const tools = program.command('tools').description('tools and toolsets: which there are, which a new session gets')
  const load = () => import('./commands/tools.js')
  const platform = ['--platform <name>', 'on one platform only: cli, acp, gateway, telegram …'] as const
  tools
    .command('list', { isDefault: true })
    .description('all of them, and which work here')
    .option('--json', 'as JSON')
    .action(({ json }) =>
      choose(async (world) =>
        json ? (await load()).toolsJson(world) : (await import('./home-command.js')).homeCommand(world, 'tools', {}),
      ),
    )
  tools
    .command('enable <toolset...>')
    .description('give them to new sessions')
    .option(...platform)
    .action((names, options) => choose(async (world) => (await load()).toolsEnable(world, names, options)))
  tools
    .command('disable <toolset...>')
    .description('take them away')
    .option(...platform)
    .action((names, options) => choose(async (world) => (await load()).toolsDisable(world, names, options)))
}

function addSessions(program: Command, choose: (action: Action) => void): void {
  const sessions = program
    .command('sessions')
    .description(
      'list, search, show, rename, tag, pin, archive, fork, export, import, prune, clear and delete past sessions',
    )
  sessions
    .command('list', { isDefault: true })
    .description('the newest sessions')
    .option('-n, --limit <n>', 'how many', Number, 20)
    .option('--source <name>', 'only those from here: cli, telegram …')
    .option('--tag <tag>', 'only those with this tag')
    .option('--archived', 'those that were archived')
    .option('--json', 'as JSON lines')
    .action(({ json, ...args }) =>
      choose(async (world) => (await import('./home-command.js')).homeCommand(world, 'sessions', args, { json })),
    )
  sessions
    .command('show <session>')
    .description('a whole session: id, unique start of an id, or title')
    .option('--json', 'log entries as JSON lines')
    .action((name, options) =>
      choose(async (world) => (await import('./commands/sessions.js')).showSession(world, name, options)),
    )
  sessions
    .command('rename <session> <title...>')
    .description('give a session a title')
    .action((name, title: readonly string[]) =>
      choose(async (world) =>
        (await import('./commands/sessions-edit.js')).renameSession(world, name, title.join(' ')),
      ),
    )
  sessions
    .command('tag <session> [tags...]')
    .description('put words on a session to find it by; without words, show those it has')
    .option('--remove', 'take them away instead')
    .action((name, tags: readonly string[], options) =>
      choose(async (world) => (await import('./commands/sessions-edit.js')).tagSession(world, name, tags, options)),
    )
  addMarks(sessions, choose)
  addStoreCommands(sessions, choose)
  addBranching(sessions, choose)
  sessions
    .command('clear <session>')
    .description('remove all messages of a session and keep it with its title; asks first')
    .option('-y, --yes', 'do not ask')
    .action((name, options) =>
      choose(async (world) => (await import('./commands/sessions-edit.js')).clearSession(world, name, options)),
    )
  sessions
    .command('delete <session>')
    .description('delete a session for good; asks first')
    .option('-y, --yes', 'do not ask')
    .action((name, options) =>
      choose(async (world) => (await import('./commands/sessions-edit.js')).deleteSession(world, name, options)),
    )
}

import { Argument, type Command, Option } from 'commander'
import type { Action } from '../io.js'

/** `hermes permissions …`, `hermes approvals …`, `hermes audit …` and `hermes trust …`. */
export function addPolicy(program: Command, choose: (action: Action) => void): void {
  addPermissions(program, choose)
  addApprovals(program, choose)
  addAudit(program, choose)
  addTrust(program, choose)
}

function addPermissions(program: Command, choose: (action: Action) => void): void {
  const permissions = program
    .command('permissions')
    .description('what the agent may do without asking: permissions.yaml')
  const load = () => import('../commands/permissions.js')
  permissions
    .command('list', { isDefault: true })
    .description('the rules in their order; the last one that matches wins')
    .option('--json', 'as JSON')
    .action((options) => choose(async (world) => (await load()).permissionsList(world, options)))
  permissions
    .command('explain <what...>')
    .description(
      "what would be decided, and why: 'git push', 'outside COMMAND', 'write PATH', 'read PATH', 'fetch URL', 'send TARGET'",
    )
    .option('--tool <name>', 'the tool that would ask')
    .option('--surface <name>', 'where: cli, gateway, acp …', 'cli')
    .option('--user <name>', 'for whom')
    .option('--yolo', 'as with --yolo')
    .option('--json', 'as JSON')
    .action((what: readonly string[], options) =>
      choose(async (world) => (await load()).permissionsExplain(world, what.join(' '), options)),
    )
  permissions
    .command('add <pattern>')
    .description("add a rule at the end, where it counts before all others: add 'terminal(git push*)' ask")
    .addArgument(new Argument('<decision>').choices(['allow', 'ask', 'deny']))
    .action((pattern, decision) => choose(async (world) => (await load()).permissionsAdd(world, pattern, decision)))
  permissions
    .command('remove <pattern>')
    .description('take a rule out')
    .action((pattern) => choose(async (world) => (await load()).permissionsRemove(world, pattern)))
}

function addApprovals(program: Command, choose: (action: Action) => void): void {
  const approvals = program
    .command('approvals')
    .description('list and answer open approvals and questions, also those of other sessions')
  const call = (words: readonly string[], options = {}) =>
    choose(async (world) => (await import('../home-command.js')).homeCommand(world, 'approvals', { words }, options))
  approvals
    .command('list', { isDefault: true })
    .description('what waits for an answer, oldest first')
    .option('--json', 'as JSON lines')
    .action((options) => call([], options))
  approvals
    .command('answer <id>')
    .description(
      'answer one, by its id or the unique start of it; what was parked or refused meanwhile goes on with: hermes -r SESSION',
    )
    .addArgument(
      new Argument(
        '<answer...>',
        'once, session, always or deny; yes and no do too. To a question of the model: a number or your words',
      ),
    )
    .action((id: string, words: readonly string[]) => call([id, ...words]))
  approvals
    .command('revoke <id>')
    .description('take back an answer that was not used yet, or a question')
    .action((id) => call(['revoke', id]))
}

function addAudit(program: Command, choose: (action: Action) => void): void {
  const audit = program
    .command('audit')
    .description('the audit trail: which actions were allowed, asked about or refused, and why')
  const load = () => import('../commands/audit.js')
  audit
    .command('list', { isDefault: true })
    .description('the newest decisions, without reads that nothing objected to')
    .option('-n, --limit <n>', 'how many', Number, 20)
    .option('--days <n>', 'how far back', Number)
    .option('--session <session>', 'one session only: id, unique start of an id, or title')
    .addOption(new Option('--decision <what>', 'only these').choices(['allow', 'ask', 'deny', 'parked']))
    .addOption(new Option('--kind <what>', 'only these').choices(['spawn', 'read', 'write', 'fetch', 'send']))
    .option('--tool <name>', 'only those of one tool')
    .option('--text <words>', 'part of the action or the rule')
    .option('--json', 'as JSON lines')
    .action((options) => choose(async (world) => (await load()).auditList(world, options)))
  audit
    .command('surfaces')
    .description('the files of this folder that run or instruct later: for agents, git, editors, CI, package managers')
    .option('--json', 'as JSON lines')
    .action((options) =>
      choose(async (world) => (await import('../commands/audit-surfaces.js')).auditSurfaces(world, options)),
    )
  audit
    .command('verify')
    .description('check that nothing was changed or taken away; exit code 1 names the first broken record')
    .option('--head <hash>', 'a hash that verify printed earlier: it has to be there still')
    .option('--json', 'as JSON')
    .action((options) => choose(async (world) => (await load()).auditVerify(world, options)))
  audit
    .command('prune')
    .description('take old decisions away; what stays can still be verified')
    .requiredOption('--days <n>', 'older than so many days', Number)
    .option('-y, --yes', 'without asking')
    .action((options) => choose(async (world) => (await load()).auditPrune(world, options)))
}

function addTrust(program: Command, choose: (action: Action) => void): void {
  const trust = program
    .command('trust')
    .description('which projects may bring instructions, hooks, plugins, servers and linters of their own')
  const call = (words: readonly string[], options = {}) =>
    choose(async (world) => (await import('../home-command.js')).homeCommand(world, 'trust', { words }, options))
  trust
    .command('list', { isDefault: true })
    .description('this project and what it brings, and all that were answered for')
    .option('--json', 'as JSON lines')
    .action((options) => call(['list'], options))
  trust
    .command('add [folder]')
    .description('trust the project of a folder, by default of this one, as it is now')
    .action((folder?: string) => call(['add', ...(folder === undefined ? [] : [folder])]))
  trust
    .command('remove [folder]')
    .description('take that back')
    .action((folder?: string) => call(['remove', ...(folder === undefined ? [] : [folder])]))
}

// The architecture as data: who may import whom, and who may touch the outside world.

/** Row of each package, by folder name. A package imports lower rows only. */
const ROWS = {
  contracts: 0,
  registry: 0,
  files: 1,
  safety: 1,
  transports: 2,
  'credential-pool': 2,
  compression: 2,
  memory: 2,
  storage: 2,
  sandbox: 2,
  checkpoints: 2,
  skills: 2,
  mcp: 2,
  hooks: 2,
  telemetry: 2,
  plugins: 2,
  scheduler: 2,
  platform: 2,
  browser: 2,
  web: 2,
  config: 2,
  models: 3,
  tools: 3,
  'agent-core': 4,
  commands: 4,
  runtime: 5,
  host: 6,
  cli: 7,
  gateway: 7,
  acp: 7,
}

/** Imports allowed although the rows say no. `typesOnly` and `dynamicOnly` narrow them. */
const EXCEPTIONS = [
  { from: 'registry', to: 'contracts', typesOnly: true },
  { from: 'cli', to: 'gateway', dynamicOnly: true },
  { from: 'cli', to: 'acp', dynamicOnly: true },
  { from: 'gateway', to: 'platform-email', dynamicOnly: true },
  { from: 'gateway', to: 'platform-telegram', dynamicOnly: true },
]

/** Packages that may import less than their row allows. */
const ONLY = {
  'agent-core': ['contracts', 'registry', 'safety', 'models'],
  commands: ['contracts', 'registry', 'safety', 'storage'],
  'platform-email': ['contracts', 'platform'],
  'platform-telegram': ['contracts', 'platform'],
}

/** Folders and files of a package that do not know others of it: the loop, and the agent around it, run without any extension. */
const ROOMS = [
  ...['agent.ts', 'answers/', 'context-window/', 'delegation/', 'events/', 'extension-registry/', 'hooks/', 'loop/'],
  ...[
    'outside-text/',
    'permits/',
    'planning/',
    'program-calls/',
    'prompt/',
    'session/',
    'steering/',
    'stores/',
    'tools/',
  ],
].map((name) => ({ room: `packages/agent-core/src/${name}`, not: 'packages/agent-core/src/extensions/' }))

/** Test-only packages: any test may import them, no other file may. */
const TEST_ONLY = ['testkit']

/** Native, optional or slow to load: a root entry reaches them by `await import()` only. */
const HEAVY = [
  'better-sqlite3',
  'kysely',
  'node-pty',
  'openai',
  'pg',
  'playwright',
  'playwright-core',
  '@anthropic-ai/*',
  '@aws-sdk/*',
  '@electric-sql/*',
  '@modelcontextprotocol/*',
  '@daytona/*',
  '@vercel/sandbox',
  'modal',
  'linkedom',
  '@mozilla/readability',
  'turndown',
  '@pydantic/genai-prices',
]

/** What starts processes, opens connections, or runs text as code. Writing by node:fs is found by the functions used. */
const SINK_MODULES = [
  ...[
    'node:child_process',
    'node:cluster',
    'node:worker_threads',
    'node:vm',
    'node:wasi',
    'node:repl',
    'node:inspector',
  ],
  ...['node:dgram', 'node:dns', 'node:dns/promises', 'node:http', 'node:http2', 'node:https', 'node:net', 'node:tls'],
  ...['node:sqlite', 'better-sqlite3', 'node-pty', 'pg', 'pino', 'undici', 'ws', 'ssh2', '@hono/node-server'],
  ...['openai', '@anthropic-ai/sdk', '@aws-sdk/*', 'oauth4webapi', '@modelcontextprotocol/*', 'playwright*'],
  ...['execa', 'cross-spawn', 'zx', 'axios', 'got', 'node-fetch', 'modal', '@daytona/*', '@vercel/sandbox'],
  ...['grammy', 'imapflow', 'nodemailer'],
]

/** Where a sink or a global may be used, why, and who answers for it. An entry nobody uses is reported. */
const ALLOWED = [
  {
    files: ['packages/host/src/live-session.ts'],
    uses: ['agent factory'],
    owner: 'host',
    reason: 'agents of a home are made for sessions that the host keeps, so that no entry point manages its own',
  },
  {
    files: ['apps/gateway/src/gateway-state.ts'],
    uses: ['fs write'],
    owner: 'gateway',
    reason: 'each gateway writes into a file of the home how it is doing, and takes it away at its end',
  },
  {
    files: ['apps/gateway/src/platforms/media-cache.ts'],
    uses: ['fs write'],
    owner: 'gateway',
    reason: 'files that people sent are kept in the home for a while, under names of our own',
  },
  {
    files: ['packages/platforms/email/src/inbox.ts', 'packages/platforms/email/src/outbox.ts'],
    uses: ['imapflow', 'nodemailer'],
    owner: 'platform-email',
    reason: 'the mail servers that the person configured: one that is read from, one that mail is given to',
  },
  {
    files: ['apps/gateway/src/loop-watch.ts'],
    uses: ['node:worker_threads'],
    owner: 'gateway',
    reason: 'a thread with a fixed text, which ends this process when its event loop stands still',
  },
  {
    files: ['apps/gateway/src/boots.ts'],
    uses: ['fs write'],
    owner: 'gateway',
    reason: 'a start leaves an empty file in the home, which is taken away once it went well',
  },
  {
    files: ['apps/gateway/src/service/{supervisor,service}.ts'],
    uses: ['node:child_process', 'fs write'],
    owner: 'gateway',
    reason: 'the service that the person has installed or started; the commands are fixed',
  },
  {
    files: ['packages/platforms/telegram/src/*.ts'],
    uses: ['grammy'],
    owner: 'platform-telegram',
    reason: 'the Bot API that the person configured, through the fetch that is pinned to its address',
  },
  {
    files: ['packages/browser/src/**'],
    uses: ['playwright-core', 'playwright-core (types)', 'fs write'],
    owner: 'browser',
    reason:
      'the browser is a program that the environment started against a permit; its pages reach the network through the proxy alone, and it writes the folders of its profiles, cookies of profiles that the person named, and the vault',
  },
  {
    files: ['packages/browser/src/guard/proxy.ts'],
    uses: ['node:http', 'node:net'],
    owner: 'browser',
    reason: 'the proxy on 127.0.0.1 that browser contexts are held to: it connects through `connectChecked` alone',
  },
  {
    files: ['packages/sandbox/src/**'],
    uses: ['node:child_process', 'node:net', 'fs write'],
    owner: 'sandbox',
    reason:
      'commands are started and files written here, each against a permit; beside that only its own files, and the folders that config.yaml keeps in step with another side',
  },
  {
    files: ['packages/sandbox/src/local/pty.ts', 'packages/sandbox/src/cloud/load-sdk.ts'],
    uses: ['createRequire', 'import(…)'],
    owner: 'sandbox',
    reason: 'node-pty and the SDKs of clouds are optional: bundlers must not look for them',
  },
  {
    files: ['packages/sandbox/src/local/local-read-many.ts'],
    uses: ['node:worker_threads'],
    owner: 'sandbox',
    reason: 'reads the files of a long search in threads; their text is fixed',
  },
  {
    files: ['packages/web/src/page/page-thread.ts'],
    uses: ['node:worker_threads'],
    owner: 'web',
    reason: 'pages are turned into text in a thread that is ended when one takes too long; its text is fixed',
  },
  {
    files: ['packages/memory/src/providers/local-vectors.ts'],
    uses: ['import(…)'],
    owner: 'memory',
    reason: 'sqlite-vec is optional: bundlers must not look for it',
  },
  {
    files: ['packages/skills/src/{library,install,bundles,curator,learning}/*.ts'],
    uses: ['fs write'],
    owner: 'skills',
    reason:
      'skills of the home: written by an agent after they were checked, installed, published and answered for by the person, archived and brought back',
  },
  {
    files: ['packages/plugins/src/{agree,commands/*,install/*,process/start-process}.ts'],
    uses: ['fs write'],
    owner: 'plugins',
    reason:
      'plugins are put into the home and removed from it as the person said; a new one is written where they said',
  },
  {
    files: ['packages/plugins/src/extension/inside.ts', 'packages/plugins/src/child/child.ts'],
    uses: ['import(…)', 'createRequire', 'fetch', 'process.env'],
    owner: 'plugins',
    reason:
      'the modules that the person agreed to: inside where they agreed to that, else in a process that may do nothing by itself',
  },
  {
    files: ['packages/plugins/src/{child,process}/*.ts'],
    uses: ['fetch', 'process.env'],
    owner: 'plugins',
    reason:
      'the process of a plugin has no variables but its own; its fetch is a call to Hermes, which asks the policy',
  },
  {
    files: [
      'packages/mcp/src/connection/*.ts',
      'packages/mcp/src/servers/list-tools.ts',
      'packages/mcp/src/tools/calls.ts',
      'packages/mcp/src/servers/server-skills.ts',
      'packages/mcp/src/login/*.ts',
    ],
    uses: ['@modelcontextprotocol/client', 'fetch'],
    owner: 'mcp',
    reason:
      'the client of servers gets programs that the environment started against a permit, and a fetch that is pinned to the address the person configured',
  },
  {
    files: ['packages/mcp/src/serve/*.ts'],
    uses: ['@modelcontextprotocol/server'],
    owner: 'mcp',
    reason: 'answers clients on streams and requests that an app hands over; what they may do is asked of the home',
  },
  {
    files: ['packages/mcp/src/login/login-files.ts'],
    uses: ['fs write'],
    owner: 'mcp',
    reason: 'takes away a login that the person gives up',
  },
  {
    files: [
      'packages/transports/src/wires/*-client.ts',
      'packages/transports/src/wires/*/*-client.ts',
      'packages/transports/src/wires/limited-bodies.ts',
    ],
    uses: ['fetch', 'openai', '@anthropic-ai/sdk', '@aws-sdk/client-bedrock-runtime'],
    owner: 'transports',
    reason:
      'clients of models get the fetch that is pinned to their base URL; embedded without a runtime, that of the program',
  },
  {
    files: ['packages/transports/src/recording/*.ts'],
    uses: ['node:http', 'fetch'],
    owner: 'transports',
    reason: 'serves a recording on loopback, and records what the given or global fetch brings',
  },
  {
    files: ['packages/credential-pool/src/oauth/browser-login.ts'],
    uses: ['node:http'],
    owner: 'credential-pool',
    reason: 'waits on loopback for the redirect of a login that the person started',
  },
  {
    files: ['packages/credential-pool/src/oauth/*.ts'],
    uses: ['oauth4webapi'],
    owner: 'credential-pool',
    reason: 'logins that the person started, through the fetch that is passed in',
  },
  {
    files: ['packages/files/src/*.ts'],
    uses: ['fs write', 'better-sqlite3'],
    owner: 'files',
    reason: 'files of the home that their owners name, and locks for them',
  },
  {
    files: ['packages/config/src/load-config.ts'],
    uses: ['fs write'],
    owner: 'config',
    reason: 'old copies of config.yaml go, in the home',
  },
  {
    files: ['packages/config/src/profiles/*.ts'],
    uses: ['fs write'],
    owner: 'config',
    reason: 'profiles are made, copied, renamed, unpacked and deleted below the home, as the person said',
  },
  {
    files: ['packages/credential-pool/src/auth-store.ts'],
    uses: ['fs write'],
    owner: 'credential-pool',
    reason: 'an auth.json that cannot be used gets another name, in the home',
  },
  {
    files: ['packages/memory/src/memory-files.ts'],
    uses: ['fs write'],
    owner: 'memory',
    reason: 'memories, in the home',
  },
  {
    files: ['packages/memory/src/providers/local-vectors.ts'],
    uses: ['fs write', 'better-sqlite3'],
    owner: 'memory',
    reason: 'vectors of what is remembered, in the home',
  },
  {
    files: ['packages/storage/src/sqlite/{file,schema}/*.ts', 'packages/storage/src/shared/rescue.ts'],
    uses: ['fs write', 'better-sqlite3', 'node:sqlite'],
    owner: 'storage',
    reason: 'the store and its copies, in the home; what a full disk takes no more goes where the program says',
  },
  {
    files: ['packages/storage/src/rescue-files.ts'],
    uses: ['fs write'],
    owner: 'storage',
    reason: 'takes a file of rescued words away from writers, and removes it once they are in the store',
  },
  {
    files: ['packages/storage/src/sqlite/file/health.ts'],
    uses: ['node:worker_threads', 'createRequire'],
    owner: 'storage',
    reason: 'looks at the file in a thread; its text is fixed',
  },
  {
    files: ['packages/storage/src/sqlite/file/database-thread.ts'],
    uses: ['node:worker_threads', 'createRequire'],
    owner: 'storage',
    reason: 'runs what takes long in a thread: searches, and moving the log into the file; its text is fixed',
  },
  {
    files: ['packages/storage/src/postgres/server/connection.ts'],
    uses: ['pg'],
    owner: 'storage',
    reason: 'the server that the person keeps the sessions on',
  },
  {
    files: ['packages/storage/src/import/opencode.ts', 'packages/storage/src/import/own-database.ts'],
    uses: ['better-sqlite3'],
    owner: 'storage',
    reason: 'reads a transcript that the person asked to import',
  },
  {
    files: ['packages/storage/src/import/own-database.ts'],
    uses: ['fs write'],
    owner: 'storage',
    reason: 'reads a store of another version from a copy in the temporary folder, which goes again',
  },
  {
    files: ['packages/checkpoints/src/{*,*/*}.ts'],
    uses: ['fs write'],
    owner: 'checkpoints',
    reason: 'snapshots, in the home; a workspace is written in a restore only, against a permit',
  },
  {
    files: ['packages/tools/src/search/expression-matcher.ts'],
    uses: ['node:vm'],
    owner: 'tools',
    reason: 'a pattern of a search runs under a time limit; the text of the script is fixed',
  },
  {
    files: ['packages/tools/src/search/matching-thread.ts'],
    uses: ['node:worker_threads'],
    owner: 'tools',
    reason: 'a pattern of a search that takes long runs in a thread; its text is fixed',
  },
  {
    files: [
      'packages/runtime/src/home/file-logger.ts',
      'packages/runtime/src/home/make-home.ts',
      'packages/runtime/src/environment/remote-options.ts',
      'packages/runtime/src/context/kept-results.ts',
    ],
    uses: ['fs write', 'pino'],
    owner: 'runtime',
    reason: 'the home, its log, results too long to be shown, and the folder of ssh connections in it',
  },
  {
    files: ['packages/runtime/src/browser/home-browser.ts'],
    uses: ['WebSocket'],
    owner: 'runtime',
    reason: 'the browser elsewhere that the person chose, against a permit for its address',
  },
  {
    files: ['packages/runtime/src/models/traffic.ts'],
    uses: ['fs write'],
    owner: 'runtime',
    reason: 'the recording that --record names',
  },
  {
    files: ['packages/runtime/src/context/own-context-engine.ts'],
    uses: ['createRequire', 'import(…)'],
    owner: 'runtime',
    reason: 'the engine that config.yaml names, which the person put there',
  },
  {
    files: ['packages/runtime/src/extensions/load-extensions.ts'],
    uses: ['import(…)'],
    owner: 'runtime',
    reason: 'the extensions that config.yaml names, from a folder of the home that nobody but its owner can write to',
  },
  {
    files: ['packages/testkit/src/**'],
    uses: ['node:child_process', 'node:http', 'node:net', 'node:tls', 'fetch', 'fs write'],
    owner: 'testkit',
    reason: 'real servers, processes and folders for tests; never published',
  },
  {
    files: ['packages/testkit/src/clouds/modal-protocol.ts'],
    uses: ['createRequire'],
    owner: 'testkit',
    reason: 'a test server takes its protocol out of the package that tests talk to it with',
  },
  {
    files: ['packages/testkit/src/needs.ts'],
    uses: ['process.env'],
    owner: 'testkit',
    reason: 'HERMES_TEST_REQUIRE turns skipped tests into failures',
  },
  {
    files: ['packages/testkit/src/daemons/programs.ts'],
    uses: ['process.env'],
    owner: 'testkit',
    reason: 'PATH says which programs this machine has',
  },
  {
    files: ['apps/cli/src/batch.ts'],
    uses: ['fs write'],
    owner: 'cli',
    reason: 'answers of a batch, beside the file of questions that the person named',
  },
  {
    files: ['apps/cli/src/start/kept-code.ts'],
    uses: ['fs write', 'node:vm'],
    owner: 'cli',
    reason: 'what V8 compiled of the program itself, in a folder of the home, before there is a policy',
  },
  {
    files: ['apps/cli/src/interactive/attach-image.ts'],
    uses: ['fs write'],
    owner: 'cli',
    reason:
      "makes the folder for the person's clipboard image; what writes into it is a command of theirs, under the policy",
  },
  {
    files: [
      'apps/cli/src/commands/{memory-edit,config-edit,skills-edit,run-editor}.ts',
      'apps/cli/src/external-editor.ts',
    ],
    uses: ['node:child_process', 'fs write'],
    owner: 'cli',
    reason: "the person's own editor, on a copy in a temporary folder",
  },
  {
    files: ['apps/cli/src/commands/worktree.ts'],
    uses: ['node:child_process'],
    owner: 'cli',
    reason: "git in the person's own repository, for a command that they typed; hooks of the repository are off",
  },
  {
    files: ['apps/cli/src/commands/demo.ts', 'apps/cli/src/demo/project.ts'],
    uses: ['node:child_process', 'fs write'],
    owner: 'cli',
    reason: 'the demo project in a temporary folder, and its test before and after; the command is fixed',
  },
  {
    files: ['apps/cli/src/commands/profile.ts', 'apps/cli/src/upkeep/dump.ts'],
    uses: ['fs write'],
    owner: 'cli',
    reason: 'a profile or a report goes into the new file that the person named',
  },
  {
    files: ['apps/cli/src/import-agent/{plan,journal}.ts'],
    uses: ['fs write'],
    owner: 'cli',
    reason: 'a copy of the home that an import is tried on, and what an import made, which the person takes back',
  },
  {
    files: ['apps/cli/src/upkeep/doctor-fix.ts'],
    uses: ['fs write'],
    owner: 'cli',
    reason: 'permissions of files of the home, after the person said yes',
  },
  {
    files: ['apps/cli/src/upkeep/uninstall.ts'],
    uses: ['node:child_process', 'fs write'],
    owner: 'cli',
    reason: 'removes the program, and the home with --data, after the person said yes; the command is fixed',
  },
  {
    files: ['apps/cli/src/commands/sessions-export.ts'],
    uses: ['fs write'],
    owner: 'cli',
    reason: 'a new file that the person named',
  },
  {
    files: ['apps/cli/src/editor/history.ts'],
    uses: ['fs write'],
    owner: 'cli',
    reason: 'lines typed before, in the home',
  },
  {
    files: ['apps/gateway/src/*.ts'],
    uses: ['@hono/node-server'],
    owner: 'gateway',
    reason: 'the server that the person started',
  },
]

export const RULES = {
  rows: ROWS,
  exceptions: EXCEPTIONS,
  only: ONLY,
  rooms: ROOMS,
  testOnly: TEST_ONLY,
  heavy: HEAVY,
  sinkModules: SINK_MODULES,
  allowed: ALLOWED,
}

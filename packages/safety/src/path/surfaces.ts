/** A file that something runs or obeys later, without anybody deciding then. */
export interface Surface {
  /** What takes it up: "git", "npm", "agents". */
  readonly by: string
  /** What it does, for a person. */
  readonly does: string
}

interface SurfaceRow extends Surface {
  /** Over the whole path in lower case, with slashes. */
  readonly pattern: RegExp
}

const row = (by: string, does: string, pattern: string): SurfaceRow => ({
  by,
  does,
  pattern: new RegExp(`(?:^|/)(?:${pattern})$`),
})
const OBEYED = 'agents take their orders from it'
const RUN = 'programs named in it run later'

/** Every kind of file that instructs agents, or names what runs later, in a project or a home. */
const SURFACES: readonly SurfaceRow[] = Object.freeze([
  row(
    'agents',
    OBEYED,
    '(?:agents|claude|gemini|copilot-instructions|\\.?hermes|soul|qwen|warp|conventions)(?:\\.local|\\.override)?\\.md',
  ),
  row(
    'agents',
    OBEYED,
    '\\.(?:cursorrules|windsurfrules|clinerules|goosehints|roorules|aider\\.conf\\.yml|rules)(?:/.*)?',
  ),
  row(
    'agents',
    OBEYED,
    '\\.(?:claude|codex|cursor|windsurf|gemini|continue|kiro|roo|amazonq|junie|agents|opencode|hermes)/.+',
  ),
  row('agents', OBEYED, '\\.github/(?:instructions|prompts|chatmodes|agents)/.+|\\.github/copilot-instructions\\.md'),
  row(
    'agents',
    OBEYED,
    '(?:skills|commands|prompts)/(?:.+/)?skill\\.md|\\.skills/.+|skills/[^/]+/(?:scripts|references)/.+',
  ),
  row('agents', RUN, '\\.?mcp\\.json|mcp_settings\\.json|claude_desktop_config\\.json'),
  row('editors', RUN, '\\.vscode/(?:tasks|launch|settings|mcp|extensions)\\.json|[^/]+\\.code-workspace'),
  row(
    'editors',
    RUN,
    '\\.idea/(?:runconfigurations/.+|workspace\\.xml|externaldependencies\\.xml)|\\.(?:n?vimrc|exrc|nvim\\.lua|lvimrc|dir-locals\\.el)|\\.zed/(?:tasks|settings|debug)\\.json',
  ),
  row('editors', RUN, '\\.devcontainer(?:/.+)?\\.json|\\.devcontainer/.+|\\.gitpod\\.yml'),
  row(
    'git',
    RUN,
    '\\.husky/.+|\\.githooks/.+|\\.git/(?:(?:modules|worktrees)/.+/)?(?:hooks/.+|config(?:\\.worktree)?|info/attributes)',
  ),
  row(
    'git',
    RUN,
    '\\.gitattributes|\\.gitmodules|\\.?lefthook(?:-local)?\\.(?:ya?ml|toml|json)|\\.pre-commit-config\\.yaml|\\.lintstagedrc(?:\\.\\w+)?|\\.simple-git-hooks\\.\\w+|\\.overcommit\\.yml',
  ),
  row(
    'ci',
    RUN,
    '\\.github/(?:workflows|actions)/.+|\\.gitlab-ci\\.ya?ml|\\.gitlab/ci/.+|\\.circleci/.+|\\.travis\\.yml|azure-pipelines\\.ya?ml|jenkinsfile|bitbucket-pipelines\\.ya?ml|\\.drone\\.ya?ml|\\.woodpecker(?:/.+|\\.ya?ml)|\\.buildkite/.+|\\.forgejo/workflows/.+|\\.gitea/workflows/.+|\\.ci/.+|appveyor\\.yml|cloudbuild\\.ya?ml|\\.tekton/.+',
  ),
  row(
    'package managers',
    RUN,
    '\\.npmrc|\\.yarnrc(?:\\.yml)?|\\.yarn/(?:plugins|releases)/.+|\\.pnpmfile\\.c?js|bunfig\\.toml|pip\\.conf|\\.pypirc|\\.cargo/config(?:\\.toml)?|\\.bundle/config|\\.mvn/.+|\\.gradle/init\\.gradle|gradle/wrapper/.+',
  ),
  row('shells', RUN, '\\.envrc|\\.tool-versions|\\.mise\\.toml|mise\\.toml|\\.autoenv|\\.direnvrc|\\.sdkmanrc'),
  row('python', RUN, 'conftest\\.py|sitecustomize\\.py|usercustomize\\.py|[^/]+\\.pth|\\.pdbrc'),
  row(
    'debuggers',
    RUN,
    '\\.gdbinit|\\.lldbinit|\\.irbrc|\\.pryrc|\\.psqlrc|\\.sqliterc|\\.rprofile|\\.julia/config/startup\\.jl',
  ),
])

/** What takes up the file at `path` later; `null` where nothing does. Absolute or relative, links followed by whoever asks. */
export function surfaceOf(path: string): Surface | null {
  const lower = path.toLowerCase().replaceAll('\\', '/')
  const found = SURFACES.find(({ pattern }) => pattern.test(lower))
  return found ? { by: found.by, does: found.does } : null
}

/** Folders of a project in which such files lie, with those around them. Hooks that `husky` makes anew each time call others that count. */
const LATER_FOLDERS =
  /^(?:\.(?:claude|codex|cursor|windsurf|gemini|continue|kiro|roo|amazonq|junie|agents|opencode|hermes|clinerules|roorules|rules|vscode|idea|zed|devcontainer|githooks|gitlab|circleci|woodpecker|buildkite|ci|tekton|cargo|bundle|mvn|skills)(?:\/.+)?|\.husky(?:\/(?!_(?:\/|$)).+)?|\.git(?:\/(?:hooks|info))?|\.(?:github|forgejo|gitea)(?:\/(?:workflows|actions|instructions|prompts|chatmodes|agents)(?:\/.+)?)?|skills(?:\/.+)?|\.yarn(?:\/(?:plugins|releases))?|gradle(?:\/wrapper)?)$/i

/** Made by programs, in numbers, and taken up by nobody who works in the project. */
const OF_PROGRAMS = /^(?:node_modules|bower_components|__pycache__|site-packages|venv|target)$/i

/**
 * Whether a folder, from the root of a project with slashes, may hold files that something takes up later: every plain one, since agents and package
 * managers obey those of sub-folders too, and of those that begin with a dot the ones that are known for it.
 */
export function mayHoldLaterFiles(folder: string): boolean {
  const names = folder.split('/')
  if (names.some((name) => OF_PROGRAMS.test(name))) return false
  const hidden = names.findIndex((name) => name.startsWith('.'))
  return hidden === -1 || LATER_FOLDERS.test(names.slice(hidden).join('/'))
}

/** Whether a link at `path`, from the root of a project with slashes, would be taken for such a folder. */
export function isLaterFolder(path: string): boolean {
  const names = path.split('/')
  const hidden = names.findIndex((name) => name.startsWith('.'))
  return LATER_FOLDERS.test(hidden === -1 ? (names.at(-1) ?? '') : names.slice(hidden).join('/'))
}

/** Of what is longer each change counts: such files name programs, and are a few kilobytes. */
const MAX_COMPARED_CHARS = 250_000
const isTooLong = (...texts: readonly string[]): boolean => texts.some(({ length }) => length > MAX_COMPARED_CHARS)

/** Settings of git that name programs, or where programs and further settings are. */
const PROGRAM_SETTING =
  /^\s*(?:hookspath|fsmonitor|sshcommand|\w*pager|\w*editor|askpass|helper|command|cmd|textconv|clean|smudge|process|driver|external|insteadof|pushinsteadof|path|gitproxy|program|uploadpack|receivepack|proxy|update|templatedir|attributesfile)\s*=/i
/** Written by `husky` whenever a project is installed. */
const OF_HUSKY = /^\s*hookspath\s*=\s*\.husky(?:\/_)?\s*$/i

/** Whether settings of git name other programs than before. */
export function changesGitPrograms(before: string, after: string): boolean {
  if (isTooLong(before, after)) return before !== after
  return programSettings(before) !== programSettings(after)
}

function programSettings(text: string): string {
  let section = ''
  return text
    .split('\n')
    .filter((line) => {
      // A setting may stand behind the name of its section.
      const [header = '', name = ''] = /^\s*\[([^\]]*)\]/.exec(line) ?? []
      if (header !== '') section = name
      const setting = line.slice(header.length)
      return !OF_HUSKY.test(setting) && (/^\s*(?:alias|include)/i.test(section) || PROGRAM_SETTING.test(setting))
    })
    .join('\n')
}

/** Whether a workspace of JetBrains' editors, which they write whenever the person does something, runs other programs than before. */
export function changesIdeaRuns(before: string, after: string): boolean {
  return ideaRuns(before) !== ideaRuns(after)
}

function ideaRuns(text: string): string {
  const left = text.split(/<component\s+/).map((part) => {
    const end = part.indexOf('</component>')
    return end >= 0 && HARMLESS_IDEA.test(part) ? part.slice(end) : part
  })
  return left.join('\n')
}

/** What is open, selected, searched for, measured: nothing of it runs. */
const HARMLESS_IDEA =
  /^name="(?:ChangeListManager|FileEditorManager|FindInProjectRecents|Git\.\w+(?:\.\w+)*|ProjectColorInfo|ProjectId|ProjectLevelVcsManager|ProjectView\w*|PropertiesComponent|RecentsManager|SpellCheckerSettings|ToolWindowManager|Vcs\.Log\.\w+(?:\.\w+)*|VcsManagerConfiguration|XDebuggerManager|EditorHistoryManager|FileTemplateManagerImpl|ComposerSettings|GitToolBox\w*|GithubPullRequestsUISettings|TaskManager|TypeScriptGeneratedFilesManager|StructureViewFactory|Bookmarks\w*|HighlightingSettingsPerFile)"/

/** Scripts that npm and its kin run by themselves. */
const LIFECYCLE = Object.freeze([
  ...['preinstall', 'install', 'postinstall', 'preprepare', 'prepare', 'postprepare', 'prepublish', 'prepublishOnly'],
  ...['prepack', 'postpack', 'preuninstall', 'uninstall', 'postuninstall', 'publish', 'postpublish', 'dependencies'],
])
const HOOKS = Object.freeze([
  'husky',
  'lint-staged',
  'simple-git-hooks',
  'gitHooks',
  'pre-commit',
  'pre-push',
  'lefthook',
  'ghooks',
])
/** The same, in the text of a command that changes a `package.json`. */
const IN_TEXT =
  /\b(?:(?:pre|post)?(?:install|prepare|publish|pack)(?:Only)?|(?:pre|post)uninstall|husky|lint-staged|simple-git-hooks|gitHooks|ghooks)\b["']?\s*[\]:=]|scripts\.(?:(?:pre|post)?(?:install|prepare|publish|pack)(?:Only)?|(?:pre|post)uninstall)\b/

/** Whether a `package.json` names other programs than before to be run by itself. What cannot be read counts as nothing named. */
export function changesLifecycle(before: string, after: string): boolean {
  if (isTooLong(before, after)) return before !== after
  return JSON.stringify(lifecycleOf(before)) !== JSON.stringify(lifecycleOf(after))
}

function lifecycleOf(text: string): unknown {
  const parsed = parsedObject(text)
  const scripts = (parsed['scripts'] ?? {}) as Record<string, unknown>
  return [LIFECYCLE.map((name) => scripts[name] ?? null), HOOKS.map((name) => parsed[name] ?? null)]
}

function parsedObject(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
  } catch {
    return {}
  }
}

/** Whether the text of a command speaks of such parts. */
export function mentionsLifecycle(text: string): boolean {
  return IN_TEXT.test(text)
}

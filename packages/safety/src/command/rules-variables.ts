import type { Assignment } from '../shell/script.js'
import { resolveShellPath } from './context.js'
import { type Invocation, readOptions, texts } from './invocation.js'
import { isOrdinaryRecipe } from './ordinary-recipe.js'
import type { Payload } from './payloads.js'
import type { CommandRule } from './rule.js'
import { isBeyond } from './write-targets.js'

/** Variables whose value is a command that some program runs. */
const COMMANDS =
  /^(?:(?:GIT_|MAN|BAT_|AWS_|SYSTEMD_|PSQL_)?PAGER|(?:GIT_|GIT_SEQUENCE_|HG|SVN_|KUBE_|SUDO_|BUNDLER_|GEM_)?EDITOR|VISUAL|FCEDIT|GIT_SSH(?:_COMMAND)?|(?:GIT|SSH|SUDO)_ASKPASS|GIT_EXTERNAL_DIFF|GIT_PROXY_COMMAND|(?:RSYNC|CVS)_RSH|SVN_SSH|PROMPT_COMMAND|LESS(?:OPEN|CLOSE)|BROWSER|RUSTC|RUSTDOC|RUSTC_(?:WORKSPACE_)?WRAPPER|CARGO_\w+_(?:RUNNER|LINKER|WRAPPER)|CC|CXX|LD|AR|MAKE|SHELL|C(?:XX)?_COMPILER_LAUNCHER|CMAKE_\w+_LAUNCHER|GOFLAGS_EXEC|npm_config_(?:script_shell|shell|editor|git))$/i
/** Variables that have a program load code, take its commands from elsewhere, or read settings that name programs. */
const CODE =
  /^(?:LD_PRELOAD|LD_AUDIT|DYLD_INSERT_LIBRARIES|DYLD_FORCE_FLAT_NAMESPACE|BASH_ENV|PYTHONSTARTUP|PYTHONHOME|PYTHONBREAKPOINT|PERL5DB|LUA_INIT(?:_\d_\d)?|GCONV_PATH|OPENSSL_(?:CONF|MODULES|ENGINES)|GIT_EXEC_PATH|GIT_TEMPLATE_DIR|GIT_CONFIG(?:_(?:GLOBAL|SYSTEM|COUNT|PARAMETERS|(?:KEY|VALUE)_\d+))?|R_PROFILE(?:_USER)?|GDK_PIXBUF_MODULE_FILE|npm_config_(?:node_options|globalconfig|userconfig)|JULIA_LOAD_PATH|BASH_(?:CMDS|ALIASES)|CURL_HOME|WGETRC|VIMINIT|EXINIT|MYVIMRC)$/i
/** Folders that programs and their parts are looked for in. */
const SEARCHED =
  /^(?:PATH|FPATH|PYTHONPATH|NODE_PATH|PERL5LIB|PERLLIB|RUBYLIB|CLASSPATH|LUA_C?PATH|(?:LD|DYLD)_(?:FALLBACK_)?LIBRARY_PATH|GEM_PATH|ZDOTDIR|CDPATH)$/
/** Options of other programs, and what of them loads code. */
const OPTIONS: Readonly<Record<string, RegExp>> = Object.freeze({
  NODE_OPTIONS: /(?:^|\s)(?:-r|--require|--import|--(?:experimental-)?loader)\b/,
  BUN_OPTIONS: /(?:^|\s)(?:-r|--preload|--require|--import)\b/,
  PERL5OPT: /-[MmId]/,
  RUBYOPT: /-[rI]/,
  JAVA_TOOL_OPTIONS: /-(?:javaagent|agent\w*):|-XX:On/,
  _JAVA_OPTIONS: /-(?:javaagent|agent\w*):|-XX:On/,
  JDK_JAVA_OPTIONS: /-(?:javaagent|agent\w*):|-XX:On/,
  MAVEN_OPTS: /-(?:javaagent|agent\w*):|-XX:On/,
  MAKEFLAGS: /--eval|SHELL=|-f/,
  GOFLAGS: /-(?:exec|toolexec|vettool)\b/,
  RUSTFLAGS: /linker=/,
})
const NOTHING = /^(?:|0|none|\/dev\/null)$/
const OF_THE_SYSTEM = /^\/(?:usr|opt|bin|sbin|lib|snap|nix|Library|System|Applications)\//

/** Rules about variables and options that decide what really runs. */
export const VARIABLE_RULES: readonly CommandRule[] = Object.freeze([
  {
    rule: 'program-by-variable',
    reason: 'sets a variable that decides which program or code runs',
    matches: (invocation: Invocation) =>
      assignments(invocation).some((one) => decides(one, invocation)) ||
      filledNames(invocation).some((name) => COMMANDS.test(name) || CODE.test(name) || SEARCHED.test(name)) ||
      // What is set by such a name later is another variable.
      (/^(?:declare|typeset|local)$/.test(invocation.name) &&
        invocation.context.isolated !== true &&
        texts(invocation.args).some((word) => /^-[a-zA-Z]*n/.test(word))) ||
      (invocation.name === 'hash' && texts(invocation.args).includes('-p')) ||
      (invocation.name === 'enable' && texts(invocation.args).includes('-f')),
  },
  {
    rule: 'proxy-by-variable',
    reason: 'has programs send what they send by way of another machine',
    matches: (invocation: Invocation) => assignments(invocation).some(leadsElsewhere),
  },
  {
    rule: 'program-by-option',
    reason: 'has another program run code from outside the workspace, or one that deletes',
    matches: (invocation: Invocation) =>
      namedCode(invocation).some((path) => isElsewhere(path, invocation)) ||
      texts(invocation.args).some((word) => DELETERS.test(word) || word.startsWith('ext::')),
  },
  {
    rule: 'program-settings',
    reason: 'changes settings that decide what programs do everywhere',
    matches: ({ name, args }: Invocation) => {
      const lines = [texts(args), readOptions(args, ['--userconfig', '--prefix', '-C']).operands].map((words) =>
        words.join(' '),
      )
      return SETTINGS.some(([program, words]) => program.test(name) && lines.some((line) => words.test(line)))
    },
  },
])

const SETTINGS: readonly (readonly [program: RegExp, words: RegExp])[] = Object.freeze([
  [/^p?npm$|^yarn$/, /^(?:config|c) (?:set|delete|edit)\b(?!.*--location[= ]project)|^set\b/],
  [/^pip[\d.]*$/, /^config (?:set|unset|edit)\b/],
  [/^poetry$/, /^config (?!.*(?:--list|--local))\S+ \S/],
  [/^(?:conda|mamba|micromamba)$/, /^config --(?:set|add|append|prepend|remove)/],
  [/^bundle$/, /^config (?:set )?--global|^config set (?!--local)/],
  [/^(?:gsettings|dconf)$/, /^(?:set|write|reset|load)\b/],
  [/^defaults$/, /^(?:write|delete|import|rename)\b/],
  [/^xdg-(?:mime|settings)$/, /^(?:default|install|set)\b/],
  [/^update-alternatives$/, /--(?:set|install|config|remove)/],
  [/^(?:code|cursor|codium|subl|idea)$/, /--(?:un)?install-extension\b/],
  [/^gh$/, /^(?:alias (?:set|import)|extension install|config set|ext install)\b/],
  [/^go$/, /^env -[wu]\b/],
  [/^gem$/, /^sources (?:-a|--add)/],
  [/^composer$/, /^(?:config|global) .*(?:-g|--global|require)/],
])

/** Commands in variables that some program is going to run. */
export function variablePayloads(invocation: Invocation): readonly Payload[] {
  return assignments(invocation).flatMap(({ name, value }): Payload[] => {
    // A prompt is expanded each time it is shown.
    if (/^PS[0-4]$/.test(name)) return [{ type: 'text', text: `: ${value.text}` }]
    if (!COMMANDS.test(name) || !/\s/.test(value.text)) return []
    return [{ type: 'text', text: value.text.replace(/^[|!]\s*/, '') }]
  })
}

/** What is set for a program; `make` takes variables among its arguments. */
function assignments({ name, args, variables }: Invocation): readonly Assignment[] {
  if (!/^g?make$|^bmake$/.test(name)) return variables
  const set = args.flatMap((value) => {
    const [whole, variable = ''] = /^(\w+)[:?]?=/.exec(value.text) ?? []
    return whole === undefined ? [] : [{ name: variable, value: { ...value, text: value.text.slice(whole.length) } }]
  })
  return [...variables, ...set]
}

/** Variables that a builtin fills with text which is not looked at here. */
function filledNames({ name, args }: Invocation): readonly string[] {
  const words = texts(args)
  if (name === 'printf')
    return words[0] === '-v' ? words.slice(1, 2) : (/^-v(\w+)/.exec(words[0] ?? '')?.slice(1) ?? [])
  return /^(?:read|mapfile|readarray|getopts)$/.test(name) ? words.map((word) => word.replace(/\[.*$/s, '')) : []
}

/** Whoever may speak to one host would speak to that one first. */
function leadsElsewhere({ name, value: { text } }: Assignment): boolean {
  return /^(?:(?:https?|all|ftp|socks)_proxy|npm_config_(?:https?_)?proxy)$/i.test(name) && !NO_PROXY.test(text)
}

const NO_PROXY = /^(?:|none|(?:\w+:\/\/)?(?:localhost|127(?:\.\d+){3}|\[::1\])(?::\d+)?\/?)$/i

function decides({ name, value }: Assignment, invocation: Invocation): boolean {
  const { text, dynamic } = value
  if (NOTHING.test(text)) return false
  if (CODE.test(name)) return true
  if (name === 'ENV') return /^(?:[/~.]|\$)/.test(text)
  if (Object.hasOwn(OPTIONS, name)) return OPTIONS[name]!.test(text)
  if (SEARCHED.test(name)) return text.split(':').some((folder) => isTemporary(folder, name))
  if (!COMMANDS.test(name)) return false
  const [program = ''] = text.replace(/^[|!]\s*/, '').split(/\s/)
  return (dynamic && !program.includes('/')) || (program.includes('/') && isElsewhere(program, invocation))
}

/** A folder that anybody may write, or for programs the one at hand. */
function isTemporary(folder: string, name: string): boolean {
  if (name === 'PATH' && /^(?:|\.\/?)$/.test(folder)) return true
  return /^\/(?:tmp|var\/tmp|dev\/shm|private\/tmp)(?:\/|$)/.test(folder)
}

// No section of a setting is longer, and each dot may begin one: without the bound a word of dots takes time by its square.
const CODE_OPTION =
  /^-{0,2}[\w.-]{0,80}(?:shell|wrapper|exec\w*|cmd|command|tool|hooks?|plugins?|loader|require|import|preload|askpass|pager|editor|program|agent\w*|init-file|exec-path|template|smtp-server|rcfile|init-script|rustc|runner|linker|interpreter|launcher|compiler|script-path)$/i
const CODE_VALUE = new RegExp(
  `(?:^|[\\s.])(${CODE_OPTION.source.slice(1, -1)})["']?\\s*[=:]\\s*["']?([~/][^"'\\s]*)`,
  'i',
)

/** Short options that name code, by program. */
const SHORT_CODE: Readonly<Record<string, RegExp>> = Object.freeze({
  'node ruby tsx bun': /^-[rI]$/,
  'perl raku': /^-[IM]$/,
  pytest: /^-p$/,
  'gradle gradlew': /^-I$/,
  'scp sftp': /^-[SD]$/,
  'gcc g++ cc c++ clang clang++': /^-B$/,
})

/** Files that an option names as code to run, and what recipes are taken from. */
function namedCode({ name, args }: Invocation): readonly string[] {
  const words = texts(args)
  const hasRecipes = /^(?:g?make|bmake|ninja|just|task|rake|mage|npm|pnpm|yarn)$/.test(name)
  const recipes =
    hasRecipes && !isOrdinaryRecipe(name, words)
      ? words.flatMap((word, at) => {
          const hanging = /^(?:-[Cf]|--(?:directory|file|makefile|prefix|dir|cwd|justfile|taskfile)=)([~/.].*)$/.exec(
            word,
          )?.[1]
          const isNamed = /^(?:-[Cf]|--(?:directory|file|makefile|prefix|dir|cwd|justfile|taskfile))$/.test(
            words[at - 1] ?? '',
          )
          return hanging ?? (isNamed ? word : [])
        })
      : []
  const short = Object.entries(SHORT_CODE).find(([programs]) => programs.split(' ').includes(name))?.[1]
  const named = words.flatMap((word, at) => {
    const before = words[at - 1] ?? ''
    const isNext = before.startsWith('-') && (CODE_OPTION.test(before) || short?.test(before)) && /^[~/]/.test(word)
    const hanging = short?.test(word.slice(0, 2)) ? /^-\w([~/].*)$/.exec(word)?.[1] : undefined
    return CODE_VALUE.exec(word)?.[2] ?? hanging ?? (isNext ? word : [])
  })
  return [...recipes, ...named]
}

/** Programs that such an option may name and that delete or change files when they are given words. */
const DELETERS =
  /(?:^|[.\s-])(?:executable|command|cmd|exec|program|shell|tool)\s*[=:]\s*["']?(?:\S*\/)?(?:rm|shred|unlink|rmdir|dd|truncate|mkfs\S*|find|xargs)["']?$/i

function isElsewhere(path: string, { context }: Invocation): boolean {
  if (context.isolated || OF_THE_SYSTEM.test(path)) return false
  const { workspace = [] } = context
  if (isTemporary(path, '')) return true
  const isSomewhere = /^[/~]/.test(resolveShellPath(path, context))
  return workspace.length > 0 && isSomewhere && isBeyond(path, workspace, context)
}

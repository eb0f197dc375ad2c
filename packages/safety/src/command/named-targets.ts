import { posix } from 'node:path'
import { isWithin } from '../path/check-path.js'
import type { Assignment } from '../shell/script.js'
import { type CommandContext, resolveShellPath } from './context.js'
import { type Invocation, texts } from './invocation.js'
import { isOrdinaryRecipe } from './ordinary-recipe.js'
import { PROGRAMS } from './program-tables.js'
import { onlySays } from './programs.js'
import { gitCommand } from './rules-git.js'
import { filesOfSql } from './sql.js'

/** Ends of names of options, settings and variables that say where to something is put, whatever the program. */
const PLACE =
  /(?:^|[-_.:])(?:target(?:[-_]?dir(?:ectory)?)?|prefix|dest(?:ination|dir|[-_]?path)?|dst(?:root)?|install(?:[-_]?(?:dir|root|path|base|prefix|location)|[-_](?:lib|scripts|data|purelib|platlib))|installroot|out|out(?:put)?[-_]?(?:dir(?:ectory)?|file(?:name)?|path|folder|prefix|template)?|log[-_]?(?:file|path)|report[-_]?file|result[-_]?file|trace(?:[-_]?file)?|(?:dump|save|export|write|extract|backup|copy|move)(?:[-_]?(?:to|dir|file|path|as))?|into|download[-_]?(?:dir|path)|bin[-_]?dir|libdir|datadir|sysconfdir|mandir|global[-_]?(?:dir|folder|bin[-_]?dir)|modules[-_]?(?:dir|folder)|userbase|gobin|histfile|home[-_]?dir)$/i
/** The same of options alone: what programs keep, count or measure there, and often empty first. */
const KEPT_PLACE =
  /(?:^|[-_.:])(?:base-?temp|(?:cache|coverage|reports?|temp(?:orary)?|tmp|work|dist|spec|scratch|site|declaration|env|prof|media)[-_]?(?:dir(?:ectory)?|folder|path|location)|cache|extract-media|derived-?data-?path|(?:cover|cpu|mem|block|mutex)profile|junit-?xml|(?:iid|cid|pid|metadata-)file|redirect-warnings|output[-_]?base|output[-_]?user[-_]?root|tsbuildinfo-?file)$/i
/** The same where only the whole name says so. */
const PLACE_ALONE = /^(?:root|install|dir|to|d)$/i
/** Names that end like one and say something else. */
const NOT_A_PLACE = /^(?:dry-?run-?to|rustc?-?target|exec-?prefix-?map|file-prefix-map|.*prefix-map)$/i

/** Programs that put what they make at their last operand. */
interface LastOperand {
  readonly programs: RegExp
  /** Verbs that do so. Default: whatever it is told. */
  readonly verbs?: RegExp
  /** From how many operands behind the verb the last is one that is made; with fewer, it is read. Default 2. */
  readonly from?: 1
  /** Options whose next word is no operand. */
  readonly valued?: RegExp
}

const LAST: readonly LastOperand[] = Object.freeze([
  {
    programs: /^(?:docker|podman|nerdctl|kubectl|oc|lxc|incus|multipass|adb)$/,
    verbs: /^(?:container )?(?:cp|copy|pull|transfer|file pull)(?= |$)/,
  },
  {
    programs: /^(?:aws|gsutil|gcloud|s3cmd|mc|rclone|az|s5cmd)$/,
    verbs:
      /(?:^| )(?:cp|mv|sync|rsync|copy|copyto|get|mirror|download|download-batch|scp|get-object|get-object-torrent|get-job-output|invoke)(?= |$)/,
  },
  { programs: /^(?:hg|svn)$/, verbs: /^(?:clone|checkout|co|export)(?= |$)/ },
  { programs: /^(?:unrar|rar)$/, verbs: /^[xe](?= |$)/ },
  { programs: /^(?:virtualenv|venv|mkfifo|mktemp)$/, from: 1 },
  { programs: /^uv$/, verbs: /^venv(?= |$)/, from: 1, valued: /^(?:-p|--(?:python|prompt|index-url|cache-dir))$/ },
  { programs: /^split$/, valued: /^(?:-[abClnt]|--(?:bytes|lines|line-bytes|number|separator|suffix-length))$/ },
  // Without a name these put what they make next to what they read.
  { programs: /^(?:pdftotext|inkscape)$/, from: 1, valued: /^-(?:[flrxyWH]|enc|opw|upw)$/ },
  { programs: /^pdftoppm$/, valued: /^-(?:[flrxyWH]|opw|upw|scale-to(?:-[xy])?)$/ },
  {
    programs:
      /^(?:cargo|uv|poetry|pdm|mix|rails|django-admin|flutter|dart|npm|pnpm|yarn|bun|deno|dotnet|composer|nuxi|hugo)$/,
    verbs: /^(?:new|init|create(?:-project)?|startproject|startapp)(?= |$)/,
    from: 1,
  },
  { programs: /^(?:tesseract|qpdf)$/ },
  { programs: /^(?:degit|ditto|link|gs|cwebp|dwebp|pdfunite|sox|svgexport|cabextract)$/ },
  { programs: /^ffmpeg$/, from: 1, valued: /^-i$/ },
  { programs: /^(?:convert|magick|img2pdf|rsvg-convert)$/, verbs: /^(?!identify(?: |$))/ },
  { programs: /^(?:sftp|ncftpget|lftpget)$/, verbs: /^(?=.*:)/ },
])
/** Archives that are written, and their programs. */
const ARCHIVES: readonly (readonly [programs: RegExp, verb: RegExp])[] = Object.freeze([
  [/^7z[azr]?$/, /^[aud]$/],
  [/^(?:rar)$/, /^[audm]$/],
  [/^(?:ar|gcc-ar|llvm-ar)$/, /^-?[rqdm]/],
  [/^zip$/, /^/],
])
/** Programs that change the files they are given, always or with an option. */
const IN_PLACE: readonly (readonly [programs: RegExp, option: RegExp | null])[] = Object.freeze([
  [
    /^(?:gzip|gunzip|bzip2|bunzip2|xz|unxz|lzma|unlzma|compress|uncompress|dos2unix|unix2dos|sponge|mogrify|optipng|jpegoptim|strip|patchelf|chrpath|rename|prename|perl-rename|mmv|fallocate|setfattr|sd|autopep8|pngquant)$/,
    null,
  ],
  [/^(?:qpdf)$/, /^--replace-input$/],
  [/^(?:dart|deno|zig|terraform|tofu|mix|crystal|buf)$/, /^(?:fmt|format|fix)$/],
  [/^(?:golangci-lint|codespell|swift-format)$/, /^(?:--fix|-w|-i|--write-changes|--in-place)$/],
  [/^(?:black|isort|rustfmt|djlint|pyupgrade|yapf)$/, null],
  [/^ruff$/, /^(?:format|--fix|--fix-only|--add-noqa)$/],
  [
    /^(?:prettier|eslint|biome|stylelint|rubocop|standard|xo|markdownlint|oxlint|dprint|ktlint)$/,
    /^(?:-w|-i|-A|-a|--write|--fix\w*|--apply\S*|--in-?place|--autocorrect\S*)$/,
  ],
  [
    /^(?:gofmt|goimports|shfmt|clang-format|yq|xmlstarlet|exiftool|terraform|sqlfluff|gofumpt)$/,
    /^(?:-w|-i|-L|--write|--inplace|--in-place|--overwrite_original|-[\w:]+=.*|ed)$/,
  ],
])
/** Verbs of git that change a tree or a repository; those that only look are not among them. */
const GIT_CHANGES =
  /^(?:add|am|apply|bisect|branch|checkout|cherry-pick|clean|clone|commit|fetch|filter-\w+|gc|init|merge|mv|pull|push|rebase|reset|restore|revert|rm|stash|submodule|switch|tag|update-ref|worktree|read-tree|checkout-index|sparse-checkout|config|remote|notes|replace)$/

/**
 * Paths that the words of a program name as where it puts something: the value of an option, a setting or a variable called like a place, an
 * operand of a program that is known to write there, a file that SQL writes. As written; of the general forms only what begins at the root,
 * in a home folder or above the folder at hand.
 */
export function namedTargets(invocation: Invocation): readonly string[] {
  const { name } = invocation
  if (name === 'git') return ofGit(invocation)
  if (onlySays(name))
    return [...fromVariables(invocation), ...changedInPlace(name, texts(invocation.args), invocation.context)]
  const module = moduleOf(invocation)
  const called = module?.name ?? name
  // A quoted tilde is left to the program, and many put the home folder in its place.
  const words = (module?.words ?? texts(invocation.args)).map((word) => word.replace(/(^|=)\.\/~(?=\/|$)/, '$1~'))
  return [
    ...fromVariables(invocation),
    ...fromOptions(called, words),
    ...renames(called, words),
    ...operandTargets(called, words, invocation),
    ...filesOfSql(invocation),
  ]
}

/** `python -m pip install …` is `pip install …`, `npx vite` is `vite`. */
function moduleOf({ name, args }: Invocation): { readonly name: string; readonly words: readonly string[] } | null {
  const words = texts(args)
  if (/^(?:npx|pnpx|bunx|uvx)$/.test(name) && /^\w/.test(words[0] ?? ''))
    return { name: words[0]!.replace(/@.*$/, ''), words: words.slice(1) }
  const at = words.indexOf('-m')
  if (!/^python[\d.]*$/.test(name) || at === -1 || words.slice(0, at).some((word) => !word.startsWith('-'))) return null
  return { name: words[at + 1] ?? '', words: words.slice(at + 2) }
}

const CONTAINERS = /^(?:docker(?:-compose)?|podman(?:-compose)?|nerdctl|kubectl|oc|lxc|incus|distrobox|toolbox)$/

const isPlace = (path: string): boolean => /^(?:[/~]|\.\.(?:\/|$)|\$)/.test(path)

function saysPlace(name: string, path = ''): boolean {
  // Only with more rights, which ask by themselves, is anything put there; what is configured names it every day.
  if (/prefix$/i.test(name) && /^\/usr(?:\/local)?\/?$/.test(path)) return false
  return (PLACE.test(name) || PLACE_ALONE.test(name)) && !NOT_A_PLACE.test(name)
}

/** `coverageDirectory` is `coverage-directory`. */
const optionSaysPlace = (name: string, path: string): boolean => {
  const parted = name.replace(/([a-z\d])(?=[A-Z])/g, '$1-')
  return saysPlace(name, path) || saysPlace(parted, path) || KEPT_PLACE.test(name) || KEPT_PLACE.test(parted)
}

/** Where the option that names a place in general says which project, or which environment, something is done with. */
const ABOUT: readonly (readonly [programs: RegExp, option: RegExp, words: RegExp])[] = Object.freeze([
  [
    /^(?:vite|vitest|astro|nuxt|nuxi|next|serve|jest|parcel)$/,
    /^--(?:root|dir)(?:=|$)/,
    /^(?!.*(?:^| )(?:build|generate|export)(?: |$))/,
  ],
  [
    /^(?:conda|mamba|micromamba)$/,
    /^(?:-p|--prefix)(?:=|$)/,
    /^(?:list|info|search|compare|export|env (?:export|list))(?: |$)/,
  ],
])

/** The words without options that only say what is looked at, or worked on. */
function withoutAbout(name: string, words: readonly string[]): readonly string[] {
  if (isOrdinaryRecipe(name, words)) return []
  const [, option] = ABOUT.find(([programs, , verbs]) => programs.test(name) && verbs.test(words.join(' '))) ?? []
  if (!option) return words
  return words.filter(
    (word, at) => !option.test(word) && !(option.test(words[at - 1] ?? '') && !words[at - 1]!.includes('=')),
  )
}

function fromOptions(name: string, all: readonly string[]): readonly string[] {
  const about = withoutAbout(name, all)
  const words = /^bundler?$/.test(name) ? about.map((word) => word.replace(/^--path(?==|$)/, '--install-path')) : about
  // The paths of another machine say nothing about this one.
  if (
    /^(?:ssh|mosh|vagrant|flyctl?|heroku)$/.test(name) ||
    (CONTAINERS.test(name) && words.some((word) => /^(?:run|exec|create)$/.test(word)))
  )
    return []
  const letters = [
    ...(PROGRAMS.withoutOutput.has(name) ? [] : ['o']),
    ...(Object.hasOwn(PROGRAMS.shortPlaces, name) ? PROGRAMS.shortPlaces[name]! : []),
  ]
  return words.flatMap((word, at) => {
    const before = words[at - 1] ?? ''
    const [, option = '', value = ''] =
      /^[-/]+(?:p(?:roperty)?:)?D?([a-zA-Z_][\w.:-]*?)[=:]+(\S[\s\S]*)$/.exec(word) ??
      /^([a-zA-Z_][\w.-]*)=(\S[\s\S]*)$/.exec(word) ??
      []
    if (option !== '' && isPlace(value) && optionSaysPlace(option.replace(/^D(?=[A-Z])/, ''), value)) return [value]
    if (isPlace(word)) {
      const isLong = /^--?[a-zA-Z][\w.-]+$/.test(before) && optionSaysPlace(before.replace(/^-+D?(?=\w\w)/, ''), word)
      const isShort = letters.some((letter) => new RegExp(`^-[a-zA-Z]{0,3}${letter}$`).test(before))
      return isLong || isShort ? [word] : []
    }
    const hanging = /^-([a-zA-Z])([/~$][\s\S]*|\.\.\/[\s\S]*)$/.exec(word)
    return hanging && letters.includes(hanging[1]!) ? [hanging[2]!] : []
  })
}

/** Variables that say where programs put things, set in front of one or for those to come. */
function fromVariables({ name, variables, args }: Invocation): readonly string[] {
  const isMake = /^g?make$|^bmake$|^ninja$/.test(name)
  const notified: readonly Pick<Assignment, 'name' | 'value'>[] = isMake
    ? args.flatMap((value) => {
        const [whole, variable = ''] = /^(\w+)[:?+]?=/.exec(value.text) ?? []
        return whole === undefined
          ? []
          : [{ name: variable, value: { ...value, text: value.text.slice(whole.length) } }]
      })
    : []
  return (
    [...variables, ...notified]
      .filter((one) => isPlace(one.value.text) && (WRITTEN_BY.test(one.name) || saysPlace(one.name, one.value.text)))
      // One that is only set is known by its value where it is used.
      .filter((one) => isMake || WRITTEN_BY.test(one.name) || (name !== '' && /[A-Z]/.test(one.name)))
      .map((one) => one.value.text)
  )
}

/** Variables under which a program writes what it says or counts. */
const WRITTEN_BY =
  /^(?:GIT_(?:TRACE\w*|WORK_TREE|DIR|INDEX_FILE|OBJECT_DIRECTORY)|SSLKEYLOGFILE|NODE_V8_COVERAGE|COVERAGE_FILE|LLVM_PROFILE_FILE|GCOV_PREFIX|PYTHONPYCACHEPREFIX|PYTHONUSERBASE|PIP_(?:LOG|TARGET|PREFIX|ROOT)|HISTFILE|MALLOC_TRACE|GMON_OUT_PREFIX|npm_config_(?:prefix|cache|logs_dir)|CARGO_INSTALL_ROOT|DENO_INSTALL_ROOT|UV_TOOL_(?:BIN_)?DIR|PIPX_(?:HOME|BIN_DIR)|GEM_HOME|GOBIN)$/

/** Names of unpacked files are changed by a rule that puts a folder in front: `-s ',^,/home/ada/,'`. */
function renames(name: string, words: readonly string[]): readonly string[] {
  if (!/^(?:pax|bsdtar|tar|gtar)$/.test(name)) return []
  return words.flatMap((word, at) => {
    const isNext = /^(?:-s|--transform|--xform)$/.test(words[at - 1] ?? '')
    const rule = isNext ? word : (/^(?:--transform=|--xform=|-s(?=[^\w\s]))(.+)$/s.exec(word)?.[1] ?? '')
    const [, mark = '', body = ''] = /^s?([^\w\s])(.+)$/s.exec(rule) ?? []
    const put = mark === '' ? '' : (body.split(mark)[1] ?? '')
    return isPlace(put) ? [put] : []
  })
}

function operandTargets(name: string, words: readonly string[], { context }: Invocation): readonly string[] {
  const operands = words.filter((word) => !word.startsWith('-'))
  const [first = ''] = operands
  const found: string[] = []
  const last = operands.at(-1) ?? ''
  found.push(...lastOperand(name, words))
  if (name === 'pax' && words.some((word) => /^-[a-z]*w/.test(word)) && words.some((word) => /^-[a-z]*r/.test(word)))
    found.push(last)
  if (name === 'cpio' && words.some((word) => /^-[a-z]*p|^--pass/.test(word))) found.push(last)
  if (/^(?:g?tar|bsdtar)$/.test(name)) found.push(...createdByTar(words))
  const archive = ARCHIVES.find(([programs]) => programs.test(name))
  const isBare = archive && archive[1].source === '^'
  if (archive && (isBare || archive[1].test(first.replace(/^-/, '')))) found.push((isBare ? first : operands[1]) ?? '')
  found.push(...changedInPlace(name, words, context))
  return found.filter((path) => path !== '' && isPlace(resolveShellPath(path, context)))
}

/** The folder that a program runs in, where that is neither of the workspace nor beside it, as `../lib` is, but in the person's home. */
export function awayFolder(context: CommandContext): string | null {
  const { cwd, workspace = [] } = context
  if (cwd === undefined || workspace.length === 0) return null
  const folder = resolveShellPath('.', context)
  const roots = workspace.map((root) => resolveShellPath(root, context))
  const isBeside = roots.some((root) => {
    const parent = posix.dirname(root)
    return isWithin(root, folder) || posix.dirname(folder) === parent || (parent !== '~' && isWithin(folder, parent))
  })
  return folder.startsWith('~/') && !isBeside && !roots.some((root) => isWithin(folder, root)) ? folder : null
}

/** Files that a program changes where they lie. */
function changedInPlace(name: string, words: readonly string[], context: CommandContext): readonly string[] {
  const isChanging = ([programs, option]: (typeof IN_PLACE)[number]) =>
    programs.test(name) && (option === null || words.some((word) => option.test(word)))
  if (!IN_PLACE.some(isChanging)) return []
  const isQuiet = words.some((word) => /^-\w*[clt]$|^--(?:stdout|check|list|test|diff|to-stdout|keep)$/.test(word))
  const isInfo = /2(?:unix|dos)$/.test(name) && words.some((word) => /^(?:-i|--info)/.test(word))
  const { cwd, workspace = [] } = context
  const roots = workspace.map((folder) => resolveShellPath(folder, context))
  const isAway =
    cwd !== undefined && roots.length > 0 && !roots.some((root) => isWithin(resolveShellPath('.', context), root))
  return isQuiet || isInfo ? [] : words.filter((word) => !word.startsWith('-') && (isAway || isPlace(word)))
}

/** What a program makes at its last operand; `-` is one. */
const lastOperand = (name: string, words: readonly string[]): readonly string[] =>
  LAST.filter(({ programs }) => programs.test(name)).flatMap((entry) => lastOf(entry, words))

function lastOf({ verbs = /^/, from, valued }: LastOperand, words: readonly string[]): readonly string[] {
  const operands = words.filter(
    (word, at) => (word === '-' || !word.startsWith('-')) && !valued?.test(words[at - 1] ?? ''),
  )
  const spoken = operands.join(' ')
  const verb = verbs.exec(spoken)
  if (verb === null) return []
  const rest = spoken
    .slice(verb.index + verb[0].length)
    .split(' ')
    .filter((word) => word !== '')
  const last = operands.at(-1) ?? ''
  return rest.length >= (from ?? 2) && isPlace(last) ? [last] : []
}

/** The archive that `tar cf` makes. */
function createdByTar(words: readonly string[]): readonly string[] {
  const isCreating = words.some(
    (word, at) =>
      /^--(?:create|append|update)$|^-[a-zA-Z]*[cru]/.test(word) || (at === 0 && /^[a-zA-Z]*[cru]/.test(word)),
  )
  if (!isCreating) return []
  return words.flatMap((word, at) => {
    const before = words[at - 1] ?? ''
    if (/^-[a-zA-Z]*f$|^--file$/.test(before) || (at === 1 && /^[a-zA-Z]*f$/.test(before))) return [word]
    return word.startsWith('--file=') ? [word.slice(7)] : []
  })
}

/** The tree that git changes where it is told to work elsewhere, and what it makes anew. */
function ofGit(invocation: Invocation): readonly string[] {
  const { verb, rest } = gitCommand(invocation.args)
  const all = texts(invocation.args)
  const front = all.slice(0, all.length - rest.length)
  const trees = front.flatMap((word, at) => {
    if (/^(?:-C|--work-tree|--git-dir)$/.test(front[at - 1] ?? '')) return [word]
    return /^--(?:work-tree|git-dir)=(.+)$/.exec(word)?.[1] ?? []
  })
  const words = texts(rest).filter((word) => !word.startsWith('-'))
  const made =
    verb === 'clone' || (verb === 'submodule' && words[0] === 'add')
      ? words.slice(-1)
      : verb === 'init'
        ? words.slice(0, 1)
        : verb === 'bundle' && words[0] === 'create'
          ? words.slice(1, 2)
          : verb === 'worktree'
            ? placesOfWorktree(words)
            : []
  const isConfig = verb === 'config' && !isListing(verb, words, texts(rest))
  const own = texts(rest).flatMap((word, at, all) => {
    if (isConfig && /^(?:-f|--file)$/.test(all[at - 1] ?? '')) return [word]
    if (isConfig && word.startsWith('--file=')) return [word.slice(7)]
    // Such a patch names files anywhere.
    if (verb === 'apply' && word === '--unsafe-paths') return ['..']
    return verb === 'apply' && word.startsWith('--directory=') ? [word.slice(12)] : []
  })
  const long = fromOptions(
    'git',
    texts(rest).filter((word, at, own) => !(verb === 'archive' && isOfArchive(word, own[at - 1] ?? ''))),
  )
  const places = [...trees, awayFolder(invocation.context) ?? []].flat()
  const changed = GIT_CHANGES.test(verb) && !isListing(verb, words, texts(rest)) ? places : []
  return [...fromVariables(invocation), ...changed, ...made.filter(isPlace), ...own.filter(isPlace), ...long]
}

/** One beside the workspace is made where nothing is, and taken away where nothing was changed; git sees to both. */
function placesOfWorktree([verb = '', ...words]: readonly string[]): readonly string[] {
  const places = verb === 'move' ? words : /^(?:add|remove)$/.test(verb) ? words.slice(0, 1) : []
  return places.filter((path) => !/^(?:\.\.\/)+[^./]/.test(path))
}

/** `--prefix` names folders in the archive. */
const isOfArchive = (word: string, before: string): boolean => word.startsWith('--prefix') || before === '--prefix'

/** Verbs that change something only with more words behind them. */
function isListing(verb: string, operands: readonly string[], words: readonly string[]): boolean {
  if (/^(?:branch|tag|remote|notes)$/.test(verb)) return operands.length === 0 || words.includes('--list')
  if (verb === 'config') return operands.length < 2 || words.some((word) => /^--(?:get|list)/.test(word))
  return (
    /^(?:stash|worktree|bisect|submodule|sparse-checkout)$/.test(verb) &&
    /^(?:list|show|log|status)$/.test(operands[0] ?? '')
  )
}

import { parseShell } from '../shell/parse.js'
import type { Group, Pipeline, Redirect, Script, SimpleCommand, Stage, Word } from '../shell/script.js'
import { MAX_EXPANDED_CHARS, type Spent } from '../shell/shell-text.js'
import { type CommandContext, knownVariables, resolveShellPath } from './context.js'
import { mayReachFloor } from './floor-words.js'
import type { Input, Invocation } from './invocation.js'
import { texts } from './invocation.js'
import { printedText, redirectedText } from './known-text.js'
import { payloads } from './payloads.js'
import { printsEnvironment } from './prints-environment.js'
import { PROGRAMS } from './program-tables.js'
import { gitCommand } from './rules-git.js'
import { takesPrivate } from './rules-secrets.js'
import { variablePayloads } from './rules-variables.js'
import { supposedTexts } from './supposed.js'
import { assignedVariables, MAX_LAYERS, namedFolders, unwrap, wrapperFiles } from './wrappers.js'
import { writeTargets } from './write-targets.js'

const MAX_NESTING = 8
/** No kernel takes a longer one as an argument; what is not followed asks. */
export const MAX_COMMAND_CHARS = 131_072
const MAX_INVOCATIONS = 2000
/** Programs at the other end of pipes, counted for each program that looks at them. */
const MAX_PIPED = 50_000
/** So many of them are looked at in any case. */
const FEW_PIPED = 200
const MAX_SUPPOSED = 2000
/** Of all texts in the line, and of those that may only be commands: the same may be read again and again. */
const MAX_TEXT_CHARS = 400_000
/** Of all commands, those found in others too. */
const MAX_ALL_WORDS = 50_000
const MAX_DOWNLOADS = 500

/** Everything a command line would run, in order. */
export interface Collected {
  readonly invocations: readonly Invocation[]
  /** What programs may run by words that nothing is known about; a guess, and no reason to say that something happens. */
  readonly supposed: readonly Invocation[]
  /** Names of functions that start themselves again beside themselves. */
  readonly forkBombs: readonly string[]
  /** Names of functions that it defines. */
  readonly functions: readonly string[]
  /** False when quoting is broken or nesting is too deep to follow. */
  readonly complete: boolean
  /** It runs more programs, or has more words, than are followed. */
  readonly isTooLong: boolean
  /** Texts that were left before their end, because of their length or nesting: what comes there is not known at all. */
  readonly unfollowed: readonly Unfollowed[]
}

/** A text that was not followed to its end, and where it would run. */
export interface Unfollowed {
  readonly text: string
  readonly context: CommandContext
}

interface Scope {
  cwd: string | undefined
  /** Folders that it came from, the last one at the end. */
  before: readonly (string | undefined)[]
  readonly via: Invocation['via']
  readonly elevated: boolean
  readonly nesting: number
}

const NO_INPUT: Input = Object.freeze({ from: [], text: null })

/** Lists the programs that `command` runs, those inside substitutions, `bash -c`, `xargs`, `find -exec` and `eval` included. */
export function collectInvocations(command: string, context: CommandContext): Collected {
  return collectWith({ chars: 0, expanded: 0 }, command, context)
}

/** What all texts of one line use up together. */
interface SpentByLine extends Spent {
  /** Characters of texts that were read. */
  chars: number
}

function collectWith(spent: SpentByLine, command: string, context: CommandContext): Collected {
  const collector = new Collector(context, spent)
  collector.text(command, {
    cwd: context.cwd,
    before: [],
    via: null,
    elevated: false,
    nesting: 0,
  })
  return collector
}

/** The base name of a program, unicode look-alikes folded. */
function programName(word: Word): string {
  const text = /[^\x20-\x7e]/.test(word.text) ? word.text.normalize('NFKC').replace(/\p{C}/gu, '') : word.text
  return text.slice(text.lastIndexOf('/') + 1).replace(/\.exe$/i, '')
}

class Collector implements Collected {
  readonly invocations: Invocation[] = []
  readonly supposed: Invocation[] = []
  readonly forkBombs: string[] = []
  readonly functions: string[] = []
  complete = true
  readonly unfollowed: Unfollowed[] = []
  isTooLong = false
  #downloads: ReadonlySet<string> = new Set()
  #exposed: ReadonlySet<string> = new Set()
  #carriesPrivate = false
  readonly #made = new Map<string, string>()
  /** Texts that shells read as their input, which are followed as what they run; and those that were supposed, with where. */
  readonly #scripts = new Set<string>()
  readonly #supposedIn = new Set<string>()
  #piped = 0
  #words = 0
  readonly #spent: SpentByLine
  readonly #context: CommandContext
  readonly #variables: ReadonlyMap<string, string>

  constructor(context: CommandContext, spent: SpentByLine) {
    const { cwd } = context
    this.#spent = spent
    this.#context = { ...(cwd === undefined ? {} : { workspace: [cwd] }), ...context }
    this.#variables = knownVariables(context)
  }

  text(command: string, scope: Scope, input: Input = NO_INPUT): Invocation[] {
    const unfollowed: Unfollowed = { text: command, context: contextIn(scope.cwd, this.#context) }
    if (scope.nesting > MAX_NESTING) {
      this.complete = false
      this.unfollowed.push(unfollowed)
      return []
    }
    this.#spent.chars += command.length
    if (command.length > MAX_COMMAND_CHARS || this.#spent.chars > MAX_TEXT_CHARS) {
      this.unfollowed.push(unfollowed)
      return this.#overrun()
    }
    const { script, complete, isCut, isTooLong } = parseShell(command, this.#variables, this.#spent)
    this.complete &&= complete
    this.isTooLong ||= isTooLong
    const found = this.#script(script, scope, input)
    if (isCut || this.isTooLong) this.unfollowed.push(unfollowed)
    return found
  }

  #script(script: Script, scope: Scope, input: Input): Invocation[] {
    return script.pipelines.flatMap((pipeline) => this.#pipeline(pipeline, scope, input))
  }

  #pipeline(pipeline: Pipeline, scope: Scope, outer: Input): Invocation[] {
    const all: Invocation[] = []
    let input = outer
    for (const stage of pipeline.stages) {
      // Stages of a pipe run in shells of their own: a `cd` there ends with them.
      const own = pipeline.stages.length > 1 ? { ...scope } : scope
      const found = this.#stage(stage, own, withRedirects(input, stage.redirects))
      all.push(...found)
      const last = found.at(-1)
      input = { from: [...input.from, ...found], text: found.length === 1 && last ? printedText(last) : null }
    }
    return all
  }

  #stage(stage: Stage, scope: Scope, input: Input): Invocation[] {
    if (stage.type === 'simple') return this.#simple(stage, scope, input)
    if (stage.functionName !== null) {
      this.functions.push(stage.functionName)
      if (restartsItself(stage, stage.functionName)) this.forkBombs.push(stage.functionName)
    }
    const head = stage.head.flatMap((script) => this.#script(script, { ...scope }, NO_INPUT))
    const { redirects, read } = this.#expanded(stage.redirects, scope)
    const files = redirects.filter(({ body }) => body === null)
    const opened = files.length > 0 ? this.#command({ words: [], redirects: files }, scope, input) : []
    const isRead = files.some(({ operator }) => operator === '<')
    const inner = this.#script(stage.script, stage.subshell ? { ...scope } : scope, {
      ...input,
      from: isRead ? [...input.from, ...opened] : input.from,
    })
    const written = stage.redirects.filter(isWrittenTo)
    const taken = this.#redirectScripts(written, scope, { from: [...input.from, ...inner], text: null })
    return [...head, ...inner, ...read, ...taken]
  }

  #simple(command: SimpleCommand, scope: Scope, input: Input): Invocation[] {
    const scripts = command.assignments.flatMap(({ value }) => value.scripts)
    const inner = scripts.flatMap((script) => this.#script(script, { ...scope }, NO_INPUT))
    this.#carry(inner)
    const { redirects, read } = this.#expanded(command.redirects, scope)
    const found = this.#command({ ...command, redirects }, scope, { ...input, from: [...input.from, ...read] })
    const [own] = found
    const written = command.redirects.filter(isWrittenTo)
    this.#redirectScripts(written, scope, { from: found, text: own ? printedText(own) : null })
    return [...inner, ...found]
  }

  /** Redirects with what substitutions in their targets print, where that is known, and the programs whose output is read. */
  #expanded(all: readonly Redirect[], scope: Scope): { readonly redirects: Redirect[]; readonly read: Invocation[] } {
    const read: Invocation[] = []
    const redirects = all.map((redirect) => {
      if (isWrittenTo(redirect)) return redirect
      const inner = this.#redirectScripts([redirect], scope, NO_INPUT)
      if (redirect.operator.startsWith('<')) read.push(...inner)
      const [target] = withPrinted([redirect.target], [inner]) ?? []
      return target ? { ...redirect, target } : redirect
    })
    return { redirects, read }
  }

  /** Those of `>(…)` read what is written there. */
  #redirectScripts(redirects: readonly Redirect[], scope: Scope, written: Input): Invocation[] {
    return redirects.flatMap(({ scripts, target }) => [
      ...scripts.flatMap((script) => this.#script(script, { ...scope }, NO_INPUT)),
      ...this.#scriptsOf(target, scope, written),
    ])
  }

  #scriptsOf({ text, scripts }: Word, scope: Scope, written: Input): Invocation[] {
    return scripts.flatMap((script) => this.#script(script, { ...scope }, text.startsWith('>(') ? written : NO_INPUT))
  }

  #command(
    command: Pick<SimpleCommand, 'words' | 'redirects'> & Partial<SimpleCommand>,
    scope: Scope,
    piped: Input,
  ): Invocation[] {
    this.#words += command.words.length
    if (this.isTooLong || this.invocations.length >= MAX_INVOCATIONS || this.#words > MAX_ALL_WORDS)
      return this.#overrun()
    const input = this.#lookedAt(piped)
    const innerOf = command.words.map((word) =>
      word.text.startsWith('>(') ? [] : this.#scriptsOf(word, scope, NO_INPUT),
    )
    const unwrapped = unwrap(command.words, programName)
    const cwd = this.#goneTo(unwrapped.folders, scope.cwd)
    const nested: Scope = {
      ...scope,
      cwd,
      via: unwrapped.xargs ? 'xargs' : scope.via,
      elevated: scope.elevated || unwrapped.elevated,
      nesting: scope.nesting + 1,
    }
    this.complete &&= unwrapped.layers.length <= MAX_LAYERS
    if (unwrapped.splitText !== null) return this.text(unwrapped.splitText, nested, input)
    const [program = EMPTY, ...args] = unwrapped.words
    if (unwrapped.words.length < command.words.length && /\s/.test(program.text) && !program.dynamic) {
      return this.text(texts(unwrapped.words).join(' '), nested, input)
    }
    const invocation: Invocation = {
      name: programName(program),
      program,
      written: [
        ...(command.assignments ?? []).map(({ name, value }) => `${name}=${value.text}`),
        ...texts(command.words),
      ].join(' '),
      layers: [
        ...unwrapped.layers.map(([outer = EMPTY, ...more]) => [programName(outer), ...texts(more)].join(' ')),
        ...withoutGitOptions(programName(program), args),
      ],
      args,
      redirects: [
        // The shell opens files before the program goes elsewhere.
        ...(unwrapped.folders.length > 0
          ? command.redirects.map((one) => openedIn(one, scope.cwd))
          : command.redirects),
        ...wrapperFiles(unwrapped, programName, 'write').map((target) => redirectTo('>', target)),
        ...wrapperFiles(unwrapped, programName, 'read').map((target) => redirectTo('<', target)),
      ],
      input,
      inner: innerOf.flat(),
      elevated: nested.elevated,
      via: nested.via,
      variables: [...(command.assignments ?? []), ...assignedVariables(unwrapped)],
      context: contextIn(cwd, this.#context),
      downloads: this.#downloads,
      exposed: this.#exposed,
      carriesPrivate: this.#carriesPrivate,
      made: new Map(this.#made),
    }
    this.invocations.push(invocation)
    this.#follow(invocation, scope)
    const added = unwrapped.xargs ? withInput(unwrapped.words, input) : null
    const beside = added ? this.#command({ words: added, redirects: [] }, { ...nested }, NO_INPUT) : []
    const printed = withPrinted(command.words, innerOf)
    const own: Scope = { ...nested, cwd: scope.cwd }
    const again = printed ? this.#command({ words: printed, redirects: [] }, own, NO_INPUT) : []
    if (printed && ENTERS.test(invocation.name)) Object.assign(scope, { cwd: own.cwd, before: own.before })
    nested.cwd = this.#goneTo(namedFolders(invocation.name, args), cwd)
    this.#suppose({ ...invocation, context: contextIn(nested.cwd, this.#context) })
    // What it hands on is not known, but for `tee`, which hands on what it reads.
    const handed: Input = { from: [...input.from, invocation], text: invocation.name === 'tee' ? input.text : null }
    for (const word of command.words) if (word.text.startsWith('>(')) this.#scriptsOf(word, scope, handed)
    const isRead = RUNS_TEXT.test(invocation.name) && invocation.redirects.some(({ operator }) => operator === '<')
    const run = this.#payloads(invocation, nested, isRead ? { ...input, from: [...input.from, invocation] } : input)
    if (IN_THIS_SHELL.test(invocation.name)) Object.assign(scope, { cwd: nested.cwd, before: nested.before })
    return [invocation, ...run, ...beside, ...again]
  }

  /** Where somebody is who goes from `cwd` to each of the folders. */
  #goneTo(folders: readonly Word[], cwd: string | undefined): string | undefined {
    return folders.reduce<string | undefined>(
      (at, { text, dynamic }) => (dynamic ? undefined : resolveShellPath(text, contextIn(at, this.#context))),
      cwd,
    )
  }

  /** The input with as many programs behind it as are looked at. */
  #lookedAt(input: Input): Input {
    this.#piped += input.from.length
    if (this.#piped <= MAX_PIPED || input.from.length <= FEW_PIPED) return input
    this.complete = false
    return { ...input, from: input.from.slice(0, FEW_PIPED) }
  }

  #overrun(): Invocation[] {
    this.complete = false
    this.isTooLong = true
    return []
  }

  #suppose(invocation: Invocation): void {
    if (this.#context.supposed) return
    const { isolated, outside } = invocation.context
    const isHeld = isolated === true && outside !== true
    // Of an isolated command only what speaks of the hard floor counts.
    const counts = (text: string) => !this.#scripts.has(text) && (!isHeld || mayReachFloor(text))
    const { texts: all, isWhole } = supposedTexts(invocation, counts)
    this.complete &&= isWhole
    for (const text of all) {
      const place = `${invocation.context.cwd ?? ''}\0${text}`
      if (this.#supposedIn.has(place)) continue
      this.#supposedIn.add(place)
      if (this.supposed.length >= MAX_SUPPOSED || this.#spent.chars > MAX_TEXT_CHARS) {
        this.complete = false
        return
      }
      const supposed = isHeld ? 'isolated' : 'unisolated'
      const context: CommandContext = { ...invocation.context, isolated: true, supposed }
      const { invocations, isTooLong } = collectWith(this.#spent, text, context)
      this.supposed.push(...invocations)
      // Broken quoting is what speech has, too; so many words are not.
      this.complete &&= !isTooLong && this.#spent.expanded <= MAX_EXPANDED_CHARS
    }
  }

  #payloads(invocation: Invocation, scope: Scope, input: Input): Invocation[] {
    const isFind = ['find', 'fd', 'fdfind'].includes(invocation.name)
    const elevated = scope.elevated || invocation.name === 'su'
    const own: Scope = { ...scope, elevated, via: isFind ? 'find' : scope.via }
    const found = this.#payloadsIn(invocation, own, input)
    if (IN_THIS_SHELL.test(invocation.name)) Object.assign(scope, { cwd: own.cwd, before: own.before })
    return found
  }

  #payloadsIn(invocation: Invocation, own: Scope, input: Input): Invocation[] {
    return [...payloads(invocation), ...variablePayloads(invocation)].flatMap((payload) => {
      if (payload.type === 'text') {
        if (payload.text === input.text) this.#scripts.add(payload.text)
        // `eval` and `source` run in this shell, everything else in one of its own.
        return this.text(payload.text, IN_THIS_SHELL.test(invocation.name) ? own : { ...own }, input)
      }
      if (own.nesting > MAX_NESTING) {
        this.complete = false
        return []
      }
      return this.#command({ words: payload.words, redirects: [] }, { ...own }, input)
    })
  }

  /** Keeps what later commands depend on: the directory, and what was downloaded where. */
  #follow(invocation: Invocation, scope: Scope): void {
    const args = texts(invocation.args)
    if (ENTERS.test(invocation.name)) this.#enter(invocation, scope)
    if (KEEPS_READ.test(invocation.name)) this.#carry([invocation, ...invocation.input.from, ...invocation.inner])
    if (invocation.name === 'popd') [scope.cwd, scope.before] = [scope.before.at(-1), scope.before.slice(0, -1)]
    const written = writeTargets(invocation)
    const sources = written.length > 0 ? [invocation, ...invocation.input.from] : []
    if (sources.some((one) => printsEnvironment(one) || takesPrivate(one)))
      this.#exposed = this.#withPaths(this.#exposed, written, invocation.context)
    for (const { path, text } of writtenTexts(invocation)) {
      const file = resolveShellPath(path, invocation.context)
      if (this.#made.size < MAX_MADE)
        this.#made.set(file, `${this.#made.get(file) ?? ''}${text}\n`.slice(0, MAX_KNOWN_CHARS))
    }
    if (!PROGRAMS.fetchers.includes(invocation.name)) return
    const urls = args.filter((arg) => /^https?:/.test(arg)).map((arg) => arg.split(/[?#]/)[0]!.replace(/^.*\//, ''))
    const outputs = args.filter((_, index) =>
      /^(?:-[a-zA-Z]*[oO]|--output|--output-document)$/.test(args[index - 1] ?? ''),
    )
    const redirected = invocation.redirects.filter((redirect) => redirect.operator.includes('>'))
    const folder = args.find((_, index) => /^(?:-P|--directory-prefix|--output-dir)$/.test(args[index - 1] ?? ''))
    const placed = folder === undefined ? [] : [...urls, ...outputs].map((file) => `${folder}/${file}`)
    const paths = [...urls, ...placed, ...outputs, ...redirected.map((redirect) => redirect.target.text)]
    this.#downloads = this.#withPaths(this.#downloads, paths, invocation.context)
  }

  /** What these print, or read, later commands of the line have in variables or open files. */
  #carry(from: readonly Invocation[]): void {
    this.#carriesPrivate ||= from.some(takesPrivate)
  }

  #enter({ name, args, context }: Invocation, scope: Scope): void {
    const target = args.find((word) => !word.text.startsWith('-'))
    // Of a process it is enough to know that it is one.
    const isProcess = /^\/proc\/[^/]+\/?$/.test(target?.text ?? '')
    // A function of that name may go anywhere.
    const isUnknown =
      this.functions.includes(name) || /^\+\d/.test(target?.text ?? '') || ((target?.dynamic ?? false) && !isProcess)
    const from = scope.cwd
    if (isUnknown) scope.cwd = undefined
    else if (target === undefined && args.some(({ text }) => text === '-')) scope.cwd = scope.before.at(-1)
    else if (target === undefined && name === 'pushd') scope.cwd = scope.before.at(-1)
    else scope.cwd = resolveShellPath(target?.text ?? '~', { ...context, cwd: scope.cwd })
    scope.before = [...scope.before, from].slice(-MAX_FOLDERS)
  }

  /** The same with more paths, for the invocations to come; those before keep theirs. */
  #withPaths(before: ReadonlySet<string>, paths: readonly string[], context: CommandContext): ReadonlySet<string> {
    const all = new Set(before)
    for (const path of paths) if (path !== '' && all.size < MAX_DOWNLOADS) all.add(resolveShellPath(path, context))
    this.complete &&= all.size < MAX_DOWNLOADS
    return all
  }
}

/** The context in another folder, or in one that is not known. */
function contextIn(cwd: string | undefined, { cwd: _, ...context }: CommandContext): CommandContext {
  return cwd === undefined ? context : { ...context, cwd }
}

const EMPTY: Word = Object.freeze({ text: '', mask: '', dynamic: false, splits: false, scripts: [] })

/** `git push` for `git -C folder push`. */
function withoutGitOptions(name: string, args: readonly Word[]): readonly string[] {
  if (name !== 'git' || !args[0]?.text.startsWith('-')) return []
  const { verb, rest } = gitCommand(args)
  return [[name, verb, ...texts(rest)].join(' ')]
}

/** What goes to a folder, and what runs text in the shell that reads it. */
const ENTERS = /^(?:cd|pushd)$/
/** Shells of this machine, which hand on what they read. */
const RUNS_TEXT = /^(?:(?:ba|da|z|k|mk|a|fi|tc|c|rba)?sh|eval)$/
/** What keeps something that it reads in the shell. */
const KEEPS_READ = /^(?:read|mapfile|readarray|exec|printf|export|declare|typeset|local|readonly)$/
const IN_THIS_SHELL = /^(?:eval|source|\.)$/
/** The way back is known for so many. */
const MAX_FOLDERS = 20

const redirectTo = (operator: string, target: Word): Redirect => ({ operator, target, body: null, scripts: [] })

/** A redirect whose file is named from the root, or from a home folder. */
function openedIn(redirect: Redirect, cwd: string | undefined): Redirect {
  const { target, body, operator } = redirect
  if (cwd === undefined || body !== null || operator === '<<<' || /^[/~\d]|^-$/.test(target.text)) return redirect
  return {
    ...redirect,
    target: { ...target, text: `${cwd}/${target.text}`, mask: 'q'.repeat(cwd.length + 1) + target.mask },
  }
}

const MAX_KNOWN_CHARS = 10_000
const MAX_MADE = 20
const MAX_ADDED_WORDS = 200
const MAX_ADDED_CHARS = 100_000

function known(text: string): Word {
  return { ...EMPTY, text, mask: 'd'.repeat(text.length) }
}

/** What the program writes into which file, where that text is known. */
function writtenTexts(invocation: Invocation): readonly { readonly path: string; readonly text: string }[] {
  const { name, redirects, input } = invocation
  const text = name === 'tee' ? input.text : printedText(invocation)
  if (text === null) return []
  const files = redirects.filter(({ operator, target }) => operator.includes('>') && !target.dynamic)
  const paths = [...files.map(({ target }) => target.text), ...(name === 'tee' ? writeTargets(invocation) : [])]
  return paths.map((path) => ({ path, text }))
}

/** The words with those of the input that `xargs` adds to them, where it is known. */
function withInput(words: readonly Word[], { text }: Input): readonly Word[] | null {
  if (text === null || text.length > MAX_KNOWN_CHARS) return null
  const added = text.split(/[\s\0]+/).filter((word) => word !== '')
  const places = words.filter((word) => word.text.includes('{}'))
  if (added.length * Math.max(1, places.length) > MAX_ADDED_WORDS) return null
  const put = places.reduce((sum, word) => sum + word.text.split('{}').length - 1, 0)
  if (put * text.length > MAX_ADDED_CHARS) return null
  if (places.length === 0) return [...words, ...added.map(known)]
  return words.flatMap((word) =>
    word.text.includes('{}') ? added.map((one) => known(word.text.replaceAll('{}', one))) : [word],
  )
}

/** The words with what `$(echo …)` and the like stand for, where that follows from the command alone. */
function withPrinted(words: readonly Word[], innerOf: readonly (readonly Invocation[])[]): readonly Word[] | null {
  const printed = words.map((word, at): Word | null => {
    const part = substitutionIn(word)
    const last = innerOf[at]!.at(-1)
    const result = part && last ? printedText(last) : null
    if (part === null || result === null || result.length > MAX_KNOWN_CHARS) return null
    const text = word.text.slice(0, part.start) + result.replace(/(?<!\n)\n+$/, '') + word.text.slice(part.end)
    return { ...known(text), splits: word.splits }
  })
  if (printed.every((word) => word === null)) return null
  return words.flatMap((word, at) => {
    const found = printed[at]
    // What it runs was listed already.
    if (found == null) return [{ ...word, scripts: [] }]
    if (!word.splits) return [found]
    return found.text
      .split(/\s+/)
      .filter((part) => part !== '')
      .map(known)
  })
}

/** Where in a word its one substitution stands; `null` where other things in it are only known later. */
function substitutionIn({ text, mask, scripts }: Word): { readonly start: number; readonly end: number } | null {
  if (scripts.length !== 1 || scripts[0]!.pipelines.length !== 1) return null
  const start = mask.indexOf('d')
  const end = mask.lastIndexOf('d') + 1
  const isOne = /^(?:\$\(.*\)|`.*`)$/s.test(text.slice(start, end)) && !mask.slice(start, end).match(/[^d]/)
  return isOne ? { start, end } : null
}

/** `> >(…)`, whose program reads what is written there. */
const isWrittenTo = ({ operator, target }: Redirect): boolean =>
  !operator.startsWith('<') && target.text.startsWith('>(')

function withRedirects(input: Input, redirects: readonly Redirect[]): Input {
  const text = redirectedText(redirects)
  return text === null ? input : { from: input.from, text }
}

function restartsItself(group: Group, name: string): boolean {
  return group.script.pipelines.some((pipeline) => {
    if (pipeline.stages.some((stage) => stage.type === 'group' && restartsItself(stage, name))) return true
    if (pipeline.stages.length < 2 && !pipeline.background) return false
    return pipeline.stages.some((stage) => stage.type === 'simple' && stage.words[0]?.text === name)
  })
}

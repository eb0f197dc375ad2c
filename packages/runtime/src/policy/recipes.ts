import { basename, extname } from 'node:path'

/** What a file says that a build tool or a package manager runs. */
export interface Recipe {
  /** What shells run, each line in one of its own. */
  readonly script: string
  /** Other files of the same kind that it takes in, as it names them. */
  readonly included: readonly string[]
  /** Whether all that it has run is written there. */
  readonly isFollowed: boolean
  /** Programs are looked for among the packages that are installed beside it first. */
  readonly isOfPackage: boolean
}

/** A longer line, and a longer value, is not followed. */
const [MAX_LINE, MAX_VALUE] = [10_000, 500]
/** In the place of what is known only when it runs. */
// biome-ignore lint/suspicious/noTemplateCurlyInString: it is one of a shell
const UNKNOWN = '${HERMES_UNKNOWN}'

/** What a Makefile, a manifest of a package, a justfile or the settings of yarn have run; `null` for any other file. Never throws. */
export function recipeOf(file: string, text: string): Recipe | null {
  const name = basename(file)
  if (/^(?:[\w.-]*[._-])?(?:GNUm|[mM])akefile\b/.test(name) || /^\.ma?k$/.test(extname(name))) return ofMake(text)
  if (name === 'package.json') return ofPackage(text)
  if (/^\.yarnrc(?:\.yml)?$/.test(name)) return ofYarn(text)
  return /^\.?[jJ]ustfile$/.test(name) || extname(name) === '.just' ? ofJust(text) : null
}

/** A recipe of such lines. */
function recipe(lines: readonly string[], more: Partial<Recipe> = {}): Recipe {
  const run = [...new Set(lines)].filter((line) => line !== '' && !line.startsWith('#'))
  const { included = [], isFollowed = true, isOfPackage = false } = more
  return {
    ...{ script: run.map((line) => `(${line}\n)`).join('\n'), included, isOfPackage },
    isFollowed: isFollowed && run.every((line) => line.length <= MAX_LINE),
  }
}

/** All of its scripts: they name each other, and some run beside others. */
function ofPackage(text: string): Recipe {
  try {
    const { scripts = {} } = JSON.parse(text) as { readonly scripts?: Readonly<Record<string, unknown>> }
    const lines = Object.values(scripts).filter((script) => typeof script === 'string')
    return recipe(lines, { isOfPackage: true })
  } catch {
    // Nothing of it is run either.
    return recipe([], { isOfPackage: true })
  }
}

/** What it runs itself by, and its plugins. */
function ofYarn(text: string): Recipe {
  const files = [...text.matchAll(/^[\s-]{0,20}(?:yarnPath|yarn-path|path)[:\s]\s{0,20}["']?([^"'\s]{1,500})/gm)]
  return recipe(files.map(([, file = '']) => `node ./${file}`))
}

/** What `make` knows by itself; another value from outside ends grants of the session. */
const OF_MAKE = Object.freeze({
  ...{ CC: 'cc', CXX: 'c++', CPP: 'cc -E', LD: 'ld', AR: 'ar', AS: 'as', RM: 'rm -f', MAKE: 'make' },
  ...{ CURDIR: '.', PWD: '.' },
})
const VARIABLE = /^ {0,20}(?:export\s|override\s|private\s)?\s{0,20}([\w.-]{1,80})\s{0,20}(:{0,3}|[?+!])=(.*)$/
/** Settings by which other words mean something else than they do by themselves. */
const STEERS = /^(?:SHELL|\.SHELLFLAGS|MAKEFLAGS|\.RECIPEPREFIX)$/
const USUAL_SHELL = /^\s*(?:(?:\/usr)?\/bin\/)?(?:env\s+)?(?:ba|da|z)?sh\s*$/
/** What changes how the rest is read, or makes more of it. */
const MAKES_MORE = /^\.ONESHELL\b|^-?load\s|\$[({](?:eval|guile|file)\s/

function ofMake(text: string): Recipe {
  const all = text.replace(/\r?\n/g, '\n').replace(/\\\n/g, ' ').split('\n')
  const written = all.map((line) => line.slice(0, MAX_LINE))
  const values = variablesOf(written)
  const [lines, included]: [string[], string[]] = [[], []]
  let isFollowed = all.every((line) => line.length <= MAX_LINE)
  let isDefining = false
  for (const line of written) {
    for (const [, command = ''] of line.matchAll(/\$[({]shell\s((?:[^(){}]|\([^(){}]*\)|\{[^(){}]*\})*)[)}]/g))
      lines.push(command)
    if (MAKES_MORE.test(line)) isFollowed = false
    if (/^\s{0,20}(?:override\s)?\s{0,20}define\b/.test(line)) isDefining = true
    else if (/^\s{0,20}endef\b/.test(line)) isDefining = false
    else if (line.startsWith('\t') || isDefining) lines.push(line)
    else {
      const [, name, operator, value = ''] = VARIABLE.exec(line) ?? []
      if (name !== undefined && STEERS.test(name) && !(name === 'SHELL' && USUAL_SHELL.test(value))) isFollowed = false
      if (operator === '!') lines.push(value)
      const [, names] = /^ {0,20}[-s]?include\s([^#]*)/.exec(line) ?? []
      if (names !== undefined) included.push(...expanded(names, values).trim().split(/\s+/))
      // `target: needed ; command`
      const end = line.indexOf(';')
      const rule = line.slice(0, Math.max(end, 0))
      if (name === undefined && rule.includes(':') && !rule.startsWith('#')) lines.push(line.slice(end + 1))
    }
  }
  const isWritten = (name: string) => !/[*?[]/.test(name.replaceAll(UNKNOWN, '*'))
  const run = lines.map((line) => expanded(line, values).replace(/^[\s@+-]+/, ''))
  return recipe(run, { included: included.filter(isWritten), isFollowed: isFollowed && included.every(isWritten) })
}

/** What variables hold; `null` for those that are set twice, or only where they are not set outside: they may be either. */
function variablesOf(lines: readonly string[]): ReadonlyMap<string, string | null> {
  const values = new Map<string, string | null>(Object.entries(OF_MAKE))
  const own = new Set<string>()
  for (const line of lines) {
    const [, name, operator = '', value = ''] = line.startsWith('\t') ? [] : (VARIABLE.exec(line) ?? [])
    if (name === undefined) continue
    const isSure = !own.has(name) && !/[?+!]/.test(operator) && value.length <= MAX_VALUE
    values.set(name, isSure ? value.trim() : null)
    own.add(name)
  }
  return values
}

const PASSES = 5

/** The line with variables of known value in their place. What functions and automatic variables come to is not known. */
function expanded(line: string, values: ReadonlyMap<string, string | null>): string {
  let text = line.replaceAll('$$', '\0')
  for (let pass = 0; pass < PASSES && text.includes('$') && text.length <= MAX_LINE; pass++)
    text = text
      .replace(/\$\(([^$(){}]*)\)|\$\{([^$(){}]*)\}/g, (_, one?: string, other?: string) => {
        return values.get((one ?? other ?? '').trim()) ?? '\u0001'
      })
      .replace(/\$[@<^*?+|%]/g, '\u0001')
  if (text.length > MAX_LINE) return UNKNOWN
  return text.replaceAll('$', '\u0001').replaceAll('\u0001', UNKNOWN).replaceAll('\0', '$')
}

/** Modules have files of their own; another shell, or another language, reads lines in another way. */
const READ_OTHERWISE =
  /^mod\??\s|^set\s+(?:shell|windows-shell|script-interpreter|working-directory)\b|^\[(?:script|working-directory)|^\s{1,20}#!/

function ofJust(text: string): Recipe {
  const all = text.replace(/\r?\n/g, '\n').replace(/\\\n/g, ' ').split('\n')
  const [lines, included]: [string[], string[]] = [[], []]
  for (const line of all.map((line) => line.slice(0, MAX_LINE))) {
    for (const [, command = ''] of line.matchAll(/`([^`]+)`/g)) lines.push(command)
    const [, file] = /^import\??\s{1,20}["']([^"']+)["']/.exec(line) ?? []
    if (file !== undefined) included.push(file)
    if (/^\s/.test(line)) lines.push(line.replace(/\{\{[^}]{0,500}\}\}/g, UNKNOWN).replace(/^[\s@-]+/, ''))
  }
  const isFollowed = all.every((line) => line.length <= MAX_LINE && !READ_OTHERWISE.test(line))
  return recipe(lines, { included, isFollowed })
}

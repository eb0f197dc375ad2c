import { access, open, readdir, stat } from 'node:fs/promises'
import { dirname, extname, join, resolve } from 'node:path'
import { HERE, NEAREST, scriptLoads } from '@hermes/safety'
import { recipeOf } from './recipes.js'

/** So many files are followed, each as far as that, so that looking at a large project holds no command up. */
const [MAX_FILES, MAX_BYTES] = [200, 200_000]
const MAX_ENTRIES = 2_000

/** What scripts of a language load of the files beside them. */
interface Language {
  /** Where the files may lie that `text`, the contents of `file`, loads. `roots` are folders of the scripts that were begun with. */
  readonly loaded: (text: string, file: string, roots: readonly string[]) => readonly string[]
  /** Names beside a script that may be loaded in the place of what is installed. */
  readonly beside?: (folder: string) => Promise<readonly string[]>
}

const JAVASCRIPT: Language = {
  loaded: (text, file) =>
    [
      ...text.matchAll(/\b(?:from|import|require|resolve)[\s(]{0,20}["'`](\.{1,2}(?:\/[^"'`\n]{0,200})?)["'`]/g),
    ].flatMap(([, path = '']) => {
      const target = join(dirname(file), path)
      const bare = target.replace(/\.[cm]?jsx?$/, '')
      return [
        target,
        ...SCRIPTS_OF_NODE.flatMap((extension) => [`${target}${extension}`, join(target, `index${extension}`)]),
        ...(bare === target ? [] : [`${bare}.ts`, `${bare}.tsx`, `${bare}.mts`, `${bare}.cts`]),
      ]
    }),
}
const SCRIPTS_OF_NODE = ['.js', '.cjs', '.mjs', '.json', '.ts', '.tsx', '.jsx', '.node']

const PYTHON: Language = {
  loaded: (text, file, roots) =>
    modulesOf(text).flatMap((module) => {
      const dots = /^\.*/.exec(module)![0].length
      const path = module.slice(dots).replaceAll('.', '/')
      const own = join(dirname(file), ...Array.from({ length: Math.max(0, dots - 1) }, () => '..'))
      return [...new Set(dots > 0 ? [own] : [own, ...roots])].flatMap((root) => {
        const parts = path.split('/').map((_, at, all) => all.slice(0, at + 1).join('/'))
        return [...parts.map((part) => join(root, part, '__init__.py')), join(root, `${path}.py`)]
      })
    }),
  // The folder of a script comes before what is installed, also for what that loads.
  beside: async (folder) => {
    const entries = await readdir(folder, { withFileTypes: true }).catch(() => [])
    const names = entries.slice(0, MAX_ENTRIES).map(async (entry) => {
      if (!entry.isDirectory()) return /\.(?:py|pyc|so|pyd)$/.test(entry.name) ? [entry.name] : []
      return access(join(folder, entry.name, '__init__.py')).then(
        () => [`${entry.name}/`],
        () => [],
      )
    })
    return (await Promise.all(names)).flat().sort()
  },
}

const IMPORT =
  /^[ \t]{0,40}(?:from[ \t]+([.\w]{1,200})[ \t]+)?import(?:[ \t]*\(([^)]{0,2000})|[ \t]+([^#;\n]{0,2000}))/gm

/** The modules that a text of Python names: `a.b`, and for `from a import b` also `a.b`, which may be one. */
function modulesOf(text: string): readonly string[] {
  return [...text.matchAll(IMPORT)].flatMap(([, from, several, names = several ?? '']) => {
    const named = names.split(/[,\s\\]+/).filter((name) => /^[\w.]+$/.test(name))
    if (from === undefined) return named
    return [from, ...named.map((name) => (from.endsWith('.') ? `${from}${name}` : `${from}.${name}`))]
  })
}

/** The words behind what loads a file, as far as they are written there. */
const words = (pattern: RegExp, extensions: readonly string[]): Language => ({
  loaded: (text, file, roots) =>
    [...text.matchAll(pattern)].flatMap(([, path = '']) =>
      [dirname(file), ...roots].flatMap((root) => extensions.map((extension) => join(root, `${path}${extension}`))),
    ),
})

/** Shells are followed as the policy follows a command line. */
const SHELL = 'shell'
const RUBY = words(/\b(?:require_relative|require|load)[\s(]{1,20}["']((?:\.{0,2}\/)?[\w./-]{1,200})["']/g, ['', '.rb'])
const PERL = words(/\b(?:require|do)[\s(]{1,20}["']([\w./-]{1,200})["']/g, [''])

const LANGUAGES: Readonly<Record<string, Language | typeof SHELL>> = {
  ...Object.fromEntries(['.js', '.cjs', '.mjs', '.jsx', '.ts', '.cts', '.mts', '.tsx'].map((one) => [one, JAVASCRIPT])),
  ...{ '.py': PYTHON, '.pyw': PYTHON, '.rb': RUBY, '.pl': PERL, '.pm': PERL },
  ...{ '.sh': SHELL, '.bash': SHELL, '.zsh': SHELL, '.rake': RUBY },
}

/** Of scripts without an extension their first line says what they are written in. */
const FIRST_LINES: readonly (readonly [line: RegExp, language: Language | typeof SHELL])[] = [
  [/^#!.{0,200}\bpython/, PYTHON],
  [/^#!.{0,200}\b(?:node|bun|deno|tsx)\b/, JAVASCRIPT],
  [/^#!.{0,200}\b(?:ba|da|z|k)?sh\b/, SHELL],
  [/^#!.{0,200}\bruby\b/, RUBY],
  [/^#!.{0,200}\bperl\b/, PERL],
]

const languageOf = (file: string, text: string): Language | typeof SHELL | undefined =>
  LANGUAGES[extname(file)] ?? FIRST_LINES.find(([line]) => line.test(text))?.[1]

/** Where scripts are started. */
interface StartOptions {
  /** Absolute path of the folder that the command runs in. */
  readonly cwd: string
  readonly userHome: string
  /** Those of the files that are run as recipes. */
  readonly recipes: ReadonlySet<string>
}

/** What scripts load of other files. */
interface ImportedFiles {
  readonly files: readonly string[]
  /** Names beside a script that may stand in the place of installed modules, behind their folder. */
  readonly beside: readonly string[]
  /** Whether all that is loaded by scripts of shells, and by recipes, is written in them. */
  readonly isFollowed: boolean
}

/**
 * What the scripts among `files` load of the files beside them, and what those load, as far as it is written there. Of a large project the
 * first two hundred files count.
 */
export async function importedFiles(
  files: readonly string[],
  { cwd, userHome, recipes }: StartOptions,
): Promise<ImportedFiles> {
  const seen = new Set(files)
  // A module is named from the folder that its package lies in.
  const roots = [...new Set(files.flatMap((file) => [dirname(file), dirname(dirname(file))]))].slice(0, MAX_ROOTS)
  const beside = new Map<string, readonly string[]>()
  const queue: Script[] = files.map((file) => ({
    file,
    started: file,
    cwd,
    isBegun: true,
    isRecipe: recipes.has(file),
    isInstalled: recipes.has(file) && INSTALLED.test(file),
  }))
  let isFollowed = true
  const follow = (text: string, script: Script): readonly Script[] => {
    const loads = scriptLoads(text, { ...script, userHome })
    isFollowed &&= loads.isFollowed
    const files = loads.files.map(({ path, cwd, isSourced }): Script => {
      const target = path.replace(/^~(?=\/|$)/, userHome)
      return {
        ...{ ...script, file: target, started: isSourced ? script.started : target },
        ...{ cwd, isBegun: true, isSourced, isRecipe: false },
      }
    })
    const { packages } = script
    if (packages === undefined) return files
    const installed = loads.programs.map((name) => join(packages, NEAREST, 'node_modules', '.bin', name))
    return [
      ...files,
      ...installed.map(
        (file): Script => ({
          ...{ ...script, file, started: file, isBegun: true, isSourced: false, isRecipe: false, isInstalled: true },
        }),
      ),
    ]
  }
  for (let at = 0; at < queue.length && at < MAX_FILES; at++) {
    const script = queue[at]!
    const { file, isBegun } = script
    // What starts an installed program counts, not all that was installed with it.
    if (script.isInstalled) continue
    const { text, isWhole } = await beginningOf(file)
    const recipe = script.isRecipe ? recipeOf(file, text) : null
    const language = languageOf(file, text) ?? (script.isSourced ? SHELL : undefined)
    if (recipe === null && language === undefined) continue
    const folder = dirname(file)
    const next: Script[] = []
    if (recipe !== null) {
      isFollowed &&= recipe.isFollowed && isWhole
      // Where a recipe is named by its path, either may be the folder that its lines run in.
      const places = [...new Set([folder, script.cwd])]
      for (const place of places)
        for (const name of recipe.included) next.push({ ...script, file: resolve(place, name) })
      for (const place of recipe.isOfPackage ? [folder] : places)
        next.push(
          ...follow(recipe.script, { ...script, cwd: place, packages: recipe.isOfPackage ? folder : script.packages }),
        )
    } else if (language === SHELL) {
      isFollowed &&= isWhole
      next.push(...follow(text, script))
    } else if (language) {
      if (isBegun && language.beside && !beside.has(folder)) beside.set(folder, await language.beside(folder))
      for (const path of new Set(language.loaded(text, file, roots)))
        next.push({ file: path, started: path, cwd: script.cwd, isBegun: false, isRecipe: false })
    }
    const named = await Promise.all(
      next.map(async (one) => ({ ...one, ...(one.isRecipe ? null : await fileOf(one.file)) })),
    )
    const unseen = named.filter(({ file }) => !seen.has(file))
    const found = await Promise.all(unseen.map(async (one) => ((await isFile(one.file)) ? one : null)))
    for (const one of found) {
      if (one === null || seen.has(one.file)) continue
      if (queue.length >= MAX_FILES) {
        isFollowed &&= recipe === null && language !== SHELL
        continue
      }
      seen.add(one.file)
      queue.push(one)
    }
  }
  return {
    files: queue.slice(files.length).map(({ file }) => file),
    beside: [...beside].flatMap(([folder, names]) => [folder, ...names]),
    isFollowed,
  }
}

/** A file that is looked through, and how it comes to run. */
interface Script {
  readonly file: string
  /** What runs it: itself, or who sources it. */
  readonly started: string
  readonly cwd: string
  /** It is run, not imported. */
  readonly isBegun: boolean
  readonly isSourced?: boolean
  /** A build tool or a package manager runs what it says. */
  readonly isRecipe: boolean
  /** A program of an installed package. */
  readonly isInstalled?: boolean
  /** The folder whose installed packages its programs are looked for in first. */
  readonly packages?: string | undefined
}

/** The file that a path of what decides about a command stands for, whether it is there or not, and whether it is run as a recipe. */
export async function fileOf(path: string): Promise<{ readonly file: string; readonly isRecipe: boolean }> {
  const parts = path.split('/')
  const mark = parts.findIndex((part) => part === NEAREST || part === HERE)
  if (mark === -1) return { file: path, isRecipe: false }
  const name = parts.slice(mark + 1)
  const inFolder = (depth: number) => [...parts.slice(0, depth), ...name].join('/')
  for (let depth = mark; depth >= 1 && parts[mark] === NEAREST; depth--)
    if (await isFile(inFolder(depth))) return { file: inFolder(depth), isRecipe: true }
  return { file: inFolder(mark), isRecipe: true }
}

/** As much of a file as is followed; a program of another kind may be large. */
async function beginningOf(file: string): Promise<{ readonly text: string; readonly isWhole: boolean }> {
  const handle = await open(file).catch(() => null)
  if (handle === null) return { text: '', isWhole: true }
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(MAX_BYTES), 0, MAX_BYTES, 0)
    return { text: buffer.toString('utf8', 0, bytesRead), isWhole: bytesRead < MAX_BYTES }
  } catch {
    return { text: '', isWhole: true }
  } finally {
    await handle.close()
  }
}

const INSTALLED = /\/node_modules\/\.bin\/[^/]+$/
const MAX_ROOTS = 10

const isFile = (path: string): Promise<boolean> =>
  stat(path).then(
    (info) => info.isFile(),
    () => false,
  )

import { resolveShellPath } from './context.js'
import { type Invocation, texts } from './invocation.js'
import { printedText } from './known-text.js'
import { readsInput } from './payloads.js'
import { PROGRAMS } from './program-tables.js'
import { interpreterOf, onlySays } from './programs.js'

/** What an interpreter is given to run, by an option, on standard input, or in a file that the same line made. */
export function inlineCode(invocation: Invocation): readonly string[] {
  const { name, args, inner, input } = invocation
  const words = texts(args)
  // What a substitution prints is read as a file of code by compilers and runners.
  const isPrinted = !onlySays(name) && words.some((word) => word.startsWith('<('))
  const printed = isPrinted ? inner.flatMap((one) => printedText(one) ?? []) : []
  const family = interpreterOf(name)
  if (/^(?:n?vim?|ex|view)$/.test(name))
    return [
      ...printed,
      ...words.filter((word, at) => /^(?:-c|--cmd)$/.test(words[at - 1] ?? '') || /^\+[^\d/]/.test(word)),
    ]
  if (family === null) return printed
  const options = PROGRAMS.interpreters[family]!
  const code = words.flatMap((word, at) => {
    const before = words[at - 1] ?? ''
    if (options.includes(before) || (/^-\w*[eEc]$/.test(before) && family !== 'node')) return [word]
    const option = options.find((one) => word.startsWith(one.startsWith('--') ? `${one}=` : one))
    return option === undefined || options.includes(word) ? [] : [word.slice(option.length)]
  })
  if (family === 'python') code.push(...codeOfModule(words))
  code.push(
    ...words.flatMap((word) => /\bdata:(?:text|application)\/(?:java|type)script[^,]*,(.*)$/s.exec(word)?.[1] ?? []),
  )
  const piped = input.text !== null && readsInput(invocation) ? [input.text] : []
  return [...code, ...piped, ...printed, ...madeCode(invocation)]
}

/** Modules whose words are code, behind their own options. */
function codeOfModule(words: readonly string[]): readonly string[] {
  const at = words.indexOf('-m')
  return at !== -1 && /^(?:timeit|pdb|profile|cProfile|code|trace)$/.test(words[at + 1] ?? '')
    ? words.slice(at + 2)
    : []
}

/** Text of the files that the same line wrote before, where an interpreter is given one of them. */
function madeCode({ args, context, made }: Invocation): readonly string[] {
  return texts(args).flatMap((word) => made.get(resolveShellPath(word, context)) ?? [])
}

/**
 * Whether the code deletes files or starts programs, whatever the language. Isolation holds programs that code starts, as it holds those that
 * a script of the workspace starts, and what everyday code also does: it copies, renames, and calls methods named `delete`.
 */
export function isRiskyCode(code: string, isIsolated: boolean): boolean {
  return RISKY.test(code) || (!isIsolated && (STARTS_PROGRAMS.test(code) || RISKY_UNISOLATED.test(code)))
}

const RISKY =
  /rmtree|unlink|rmdir|removedirs|\brm(?:Sync)?\b|os\.remove|`[^`]*\brm\b|File\.delete|FileUtils|do shell script|Remove-Item|urlopen.*exec|\bgit\b.{0,20}(?:\breset\b.{0,10}--hard|\bclean\b.{0,10}-\w*f|\bpush\b.{0,40}(?:--force|-f\b))|\bmkfs|\bdd\b.{0,10}\bof=/

const STARTS_PROGRAMS =
  /os\.system|popen|subprocess|child_process|execSync|spawnSync|\bsystem\s*\(|\bfork\b|exec\s*\(|shell_exec|\beval\b|\biex\b|Invoke-Expression/

const RISKY_UNISOLATED =
  /Deno\.(?:remove|run|Command)|Bun\.(?:spawn|\$)|os\.execute|RemoveAll|exec\.Command|REMOVE_RECURSE|execute_process|delete-(?:directory|file)|shell-command|call-process|start-process|remove_(?:dir|tree|file)|remove-tree|rm_r?f?\b|File\.rm|System\.cmd|:os\.cmd|os:cmd|file:del|Command::new|deleteRecursively|Files\.delete|ProcessBuilder|getRuntime|\bsyscmd|esyscmd|truncate\s*\(|run\s*\(\s*`|run-program|process::Command|os\.rename|shutil|ctypes|\bpty\.spawn|os\.exec|os\.kill|process\.kill|unlinkSync|\bdelete\s*\(|deleteDir|removeItem|file\s+delete|\b(?:system|exec)\s*["'@$]|\bqx\s*[/{(|]|%x[({[|]|__import__|getattr\s*\(\s*(?:os|builtins|shutil|__)|\brunpy|marshal\.loads|process\.binding|new Function|require\s*\(\s*["'][^"')]*["']\s*\+|open\w*\s*\(?\s*\w*\s*,?\s*["']\s*(?:\||-\|)|\.rm_rf|fs\.rm\b/

/** Whether the code opens a file to write to it, or has other words for that. */
export function mayWriteFiles(code: string): boolean {
  return WRITES.test(code)
}

/** `open(path, 'a')`, `path.open('w')`, `open F, '>', path`, `open(path, O_WRONLY)`. */
const WRITES =
  /write|append|copy|rename|link|FileHandler|basicConfig|open\w*\s*\((?:[\s\S]{0,200}?,)?\s*(?:mode\s*[=:]\s*)?["'`][rbt]*[wax+][wabtx+]*["'`]|open\b[^\n]{0,200}?["'`]\s*\+?>|\bO_(?:WRONLY|RDWR|CREAT|APPEND|TRUNC)/i

/** Paths in code that begin with the home folder or the root, as the code may put them together. */
export function pathsInCode(code: string): readonly string[] {
  const literals = [...code.slice(0, MAX_CODE_CHARS).matchAll(/["'`]((?:~|\.{0,2})?\/?[^"'`\s$;|&<>()]{2,200})["'`]/g)]
  // `">>$ENV{HOME}/x"`, `"#{Dir.home}/x"`, "`${home}/x`"
  const joined = [
    ...code
      .slice(0, MAX_CODE_CHARS)
      .matchAll(/(?:["'`]\s*>{1,2}\s*(?=[~/])|[$#]\w{0,9}\{[^}]{1,40}\}|\$HOME)([~/][^"'`\s;|&<>()]{2,200})/g),
  ]
  const all = [...new Set([...literals, ...joined].map(([, path = '']) => path))].slice(0, MAX_PATHS)
  const named = all.filter((path) => /^[~/.]/.test(path))
  if (!HOME_IN_CODE.test(code)) return named
  // What is put behind the home folder: `/.ssh/id_rsa`, or `.ssh/id_rsa`.
  const behind = all.filter((path) => !path.startsWith('~') && !/^\/(?:home|Users|tmp|etc)\//.test(path))
  return [...named, ...behind.map((path) => `~/${path.replace(/^\.?\//, '')}`)]
}

const MAX_CODE_CHARS = 50_000
const MAX_PATHS = 300
const HOME_IN_CODE =
  /expanduser|homedir\s*\(|Path\.home|\bHOME\b|Dir\.home|USERPROFILE|home_dir|UserHomeDir|getenv|user\.home/

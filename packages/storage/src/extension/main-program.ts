import { type ProgramRun, programsRun } from '@hermes/safety'

/** The program that a command line is about. */
export interface MainProgram {
  /** Without the digits of a version: `pip` for `pip3`, and for `python -m pip`. */
  readonly name: string
  /** What it is to do, `install`; no text where its first word is none of that kind. */
  readonly verb: string
  /** `pip install`. */
  readonly label: string
  readonly operands: readonly string[]
  /** Program and arguments, freed of wrappers. */
  readonly words: readonly string[]
  /** A program given as text; no text without one. */
  readonly inlineCode: string
  /** The whole line. */
  readonly line: string
}

/** What comes around a command and is not what it is about. */
const AROUND = new Set(
  'cd pushd popd export set source . echo printf true false : sleep exit wait unset trap sudo env eval'.split(' '),
)
/** Their failure is an answer. */
const ANSWERS = new Set(
  'test [ [[ grep egrep fgrep rg ag ack pgrep diff cmp which type command find ls ping kill pkill'.split(' '),
)
/** Test runners, linters, type checkers: they fail until the code is right. */
const CHECKS =
  /^(?:py\.?test|jest|vitest|mocha|ava|tap|karma|playwright|cypress|rspec|phpunit|tox|nox|ctest|bats|unittest|tsc|eslint|biome|prettier|ruff|mypy|pyright|flake8|pylint|black|rubocop|shellcheck|golangci-lint|clippy|stylelint)$/
const CHECKING_WORD =
  /^(?:tests?|t|lint|check|typecheck|type-check|types|vet|clippy|fmt|format|verify|spec|e2e)(?:[:-].*)?$/
/** Saves what was done; it mends nothing. */
const BOOKKEEPING = /^git (?:add|commit|stash|status|tag)\b/
const VERB = /^[a-z][a-z-]*$/
const INTERPRETER = /^(?:python|node|ruby|perl|php|bash|sh|zsh|deno|bun)$/

/** What a command line is about: its last program that does more than prepare or look. `null` where nothing is to be learnt from its failure. */
export function mainProgram(command: string): MainProgram | null {
  const all = programsRun(command)
  const main = all.findLast((run) => !run.looks && !AROUND.has(run.name)) ?? null
  if (main === null || all.some(isCheck)) return null
  if (ANSWERS.has(main.name)) return null
  let name = withoutVersion(main.name)
  let args = main.args
  if (name === 'python' && args[0] === '-m' && args[1] !== undefined) [name, args] = [args[1], args.slice(2)]
  const plain = args.filter((word) => !word.startsWith('-'))
  const first = plain[0] ?? ''
  const verb = !INTERPRETER.test(name) && VERB.test(first) ? first : ''
  const code = INTERPRETER.test(name) ? args.findIndex((word) => /^-(?:[a-z]*c|e|p|-eval)$/.test(word)) : -1
  return {
    name,
    verb,
    label: `${name} ${verb}`.trim(),
    operands: verb === '' ? plain : plain.slice(1),
    words: [name, ...args],
    inlineCode: (code < 0 ? '' : args[code + 1]) ?? '',
    line: command,
  }
}

/** `pip` for `pip3.12`. */
function withoutVersion(name: string): string {
  let end = name.length
  while (end > 0 && '0123456789.'.includes(name[end - 1]!)) end--
  return name.slice(0, end)
}

/** What a command line does that may have mended something. */
export function stepsOf(command: string): readonly ProgramRun[] {
  const runs = programsRun(command).filter((run) => !AROUND.has(run.name) || run.writes)
  return runs.filter((run) => !isCheck(run) && !BOOKKEEPING.test([run.name, ...run.args].join(' ')))
}

function isCheck({ name, args }: ProgramRun): boolean {
  if (CHECKS.test(name)) return true
  const words = args.filter((word) => !word.startsWith('-')).slice(0, 2)
  return words.some((word, index) => CHECKS.test(word) || (index < 2 && CHECKING_WORD.test(word) && isRunner(name)))
}

function isRunner(name: string): boolean {
  return /^(?:npm|pnpm|yarn|bun|deno|cargo|go|make|just|task|mvn|gradle|gradlew|dotnet|mix|rake|bundle|uv|poetry|hatch|tox|npx|swift|zig|sbt|nx|turbo)$/.test(
    name,
  )
}
